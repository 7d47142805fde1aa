"""The demo site as a crawler sees it: every linked page, image, feed and file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin, urlsplit
from xml.etree import ElementTree

import pytest
from django.contrib.staticfiles import finders
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.test import Client

from content.models import Post

pytestmark = pytest.mark.django_db
HOST = "http://127.0.0.1:8000"
BEGIN = ("/", "/de/", "/llms.txt", "/de/llms.txt", "/search?q=coffee", "/de/search?q=kaffee")
VOID = {
    "area",
    "br",
    "col",
    "embed",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "track",
    "wbr",
}


@dataclass
class Page(HTMLParser):
    """The data a crawler takes from a page."""

    address: str
    lang: str = ""
    title: str = ""
    headings: int = 0
    links: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    meta: dict[str, str] = field(default_factory=dict)
    canonical: list[str] = field(default_factory=list)
    alternates: dict[str, str] = field(default_factory=dict)
    data: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in VOID:
            self.open.append(tag)
        if tag == "html":
            self.lang = given.get("lang", "")
        self.headings += tag == "h1"
        self.ids += [given["id"]] if "id" in given else []
        if tag == "meta" and (name := given.get("name") or given.get("property")):
            self.meta[name] = given.get("content", "")
        if tag == "img" and "alt" not in given:
            self.faults.append(f"an image without alt: {given.get('src')}")
        if "style" in given or any(name.startswith("on") for name in given):
            self.faults.append(f"an inline style or script at {tag}")
        self._follow(tag, given)

    def _follow(self, tag: str, given: dict[str, str]) -> None:
        rel = given.get("rel", "")
        if tag == "link" and rel == "canonical":
            self.canonical.append(given["href"])
        if tag == "link" and "hreflang" in given:
            self.alternates[given["hreflang"]] = given["href"]
        for name in ("href", "src", "poster"):
            if name in given:
                self.links.append(given[name])
        self.links += [
            part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()
        ]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes something else")

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside == "title" and "svg" not in self.open:
            self.title += data
        if inside == "script" and data.strip():
            self.data.append(data)


def own(link: str, base: str) -> str | None:
    """Return path and query of an internal link; None for others."""
    target = urldefrag(urljoin(f"{HOST}{base}", link)).url
    return target.removeprefix(HOST) if target.startswith(HOST) else None


def is_file(path: str) -> bool | None:
    """Return True if a file of the site exists; None for other URLs."""
    bare = unquote(urlsplit(path).path)
    if bare.startswith("/static/"):
        return finders.find(bare.removeprefix("/static/")) is not None
    if bare.startswith("/media/"):
        return default_storage.exists(bare.removeprefix("/media/"))
    return None


def links_of(address: str, response) -> tuple[Page | None, list[str]]:
    kind = response["Content-Type"].partition(";")[0]
    body = response.getvalue().decode() if kind.startswith("text/") or "xml" in kind else ""
    if kind == "text/html":
        page = Page(address)
        page.feed(body)
        return page, page.links
    if kind in ("text/plain", "text/markdown"):
        return None, re.findall(r"\]\(<?([^)>\s]+)>?\)", body)
    if "xml" in kind:
        elements = ElementTree.fromstring(body).iter()  # noqa: S314  # our own
        named = ("loc", "link")
        return None, [
            item.text for item in elements if item.tag.rpartition("}")[2] in named and item.text
        ]
    return None, []


def crawl(client: Client) -> tuple[dict[str, Page], list[str]]:
    """Return every page by URL, and broken links."""
    pages: dict[str, Page] = {}
    broken: list[str] = []
    seen, waiting = set(BEGIN), [(address, "the beginning") for address in BEGIN]
    while waiting:
        address, source = waiting.pop()
        there = is_file(address)
        if there is not None:
            broken += [] if there else [f"{source}: {address} is no file"]
            continue
        response = client.get(address)
        if response.status_code != 200:
            broken.append(f"{source}: {address} answers {response.status_code}")
            continue
        page, links = links_of(address, response)
        if page is not None:
            pages[address] = page
            broken += [f"{address}: #{gone}" for gone in _gone(page)]
        for link in filter(None, (own(link, address) for link in links)):
            if link not in seen:
                seen.add(link)
                waiting.append((link, address))
    return pages, broken


def _gone(page: Page) -> Iterator[str]:
    for link in page.links:
        if link.startswith("#") and len(link) > 1 and unquote(link[1:]) not in page.ids:
            yield link


def repeated(values: list[object]) -> list[object]:
    return [value for value, count in Counter(values).items() if count > 1]


def test_the_demo_site_has_no_broken_link_and_every_page_says_what_it_is(client: Client) -> None:
    call_command("seed", verbosity=0)

    pages, broken = crawl(client)

    assert broken == []
    published = Post.objects.live().filter(is_placeholder=False)
    # Pages hidden from search engines may be unlinked, like testimonials quoted on other pages.
    unlinked = set(published.values_list("path", flat=True)) - set(pages)
    hidden = [post.path for post in published if (post.robots_json or {}).get("index") is False]
    assert unlinked - set(hidden) == set()
    faults = [
        f"{page.address}: {fault}"
        for page in pages.values()
        for fault in [*page.faults, *_missing(page), *map(str, repeated(list(page.ids)))]
    ]
    assert faults == []
    shown = [page for page in pages.values() if "noindex" not in page.meta.get("robots", "")]
    assert len(shown) > 15
    for name, values in (
        ("canonical", [page.canonical[0] for page in shown]),
        ("title", [(page.lang, page.title) for page in shown]),
        ("description", [(page.lang, page.meta["description"]) for page in shown]),
    ):
        assert repeated(list(values)) == [], name
    for page in shown:
        _check_alternates(page, pages)


def _missing(page: Page) -> Iterator[str]:
    language = "de" if page.address.startswith("/de/") else "en"
    if page.lang != language:
        yield f"lang is {page.lang!r}"
    if page.headings != 1:
        yield f"{page.headings} h1"
    if not page.title.strip():
        yield "no title"
    if "noindex" not in page.meta.get("robots", ""):
        if not page.meta.get("description", "").strip():
            yield "no description"
        if page.canonical != [f"{HOST}{page.address}"]:
            yield f"canonical {page.canonical}"
    for data in page.data:
        things = json.loads(data)
        if things.get("@context") != "https://schema.org" or not things.get("@type"):
            yield "structured data of no kind"
    if page.open:
        yield f"left open: {page.open}"


def _check_alternates(page: Page, pages: dict[str, Page]) -> None:
    """Check that alternates are mutual, and include the page itself."""
    if not page.alternates:
        return
    assert page.alternates[page.lang] == page.canonical[0]
    assert "x-default" in page.alternates
    for address in page.alternates.values():
        assert pages[address.removeprefix(HOST)].alternates == page.alternates, page.address
