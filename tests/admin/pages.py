"""Helpers to read the admin's pages: addresses, forms, counts of queries."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from content.models import Post


def url(post: Post, page: str = "change", query: str = "") -> str:
    return f"/admin/content/post/{post.pk}/{page}/{query}"


def review(post: Post, layer: str = "ai-review") -> str:
    return url(post, "review", f"?layer={layer}")


class _Fields(HTMLParser):
    """The values of the page's forms as a browser without scripts would send them, by form."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[dict[str, list[str]]] = []
        self._name = ""
        self._kind = ""
        self._text: list[str] = []
        self._select = ""
        self._first = True

    def _put(self, name: str, value: str) -> None:
        if name and self.forms:
            self.forms[-1].setdefault(name, []).append(value)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        if tag == "form":
            self.forms.append({})
        elif tag == "input":
            kind = values.get("type", "text")
            if kind not in ("checkbox", "radio", "submit") or "checked" in values:
                on = "on" if kind == "checkbox" else ""
                self._put(values.get("name", ""), values.get("value", on))
        elif tag == "textarea":
            self._name, self._text = values.get("name", ""), []
        elif tag == "select":
            self._select, self._first = values.get("name", ""), True
        elif tag == "option" and self._select:
            chosen = "selected" in values
            if chosen and self.forms:
                self.forms[-1][self._select] = [values.get("value", "")]
            elif self._first:
                self._put(self._select, values.get("value", ""))
            self._first = False

    def handle_data(self, data: str) -> None:
        if self._name:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            # HTML parsers drop a line break right after the start tag.
            self._put(self._name, "".join(self._text).removeprefix("\n"))
            self._name = ""
        elif tag == "select":
            self._select = ""


def fields(response: Any, having: str = "version") -> dict[str, list[str]]:
    """Return the values of the form that has the field `having`."""
    parser = _Fields()
    parser.feed(response.content.decode())
    return next(form for form in parser.forms if having in form)
