"""What the HTML form of a page sent: the answers, and the page and module that they came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from forms.api.submit import MOST_BYTES
from forms.fields import HONEYPOT
from proofroom.core.json import Json
from proofroom.core.site_urls import locale_of
from proofroom.definitions import modules
from proofroom.definitions.prop_values import values_in
from proofroom.website import queries
from proofroom.website.rendering import full_props
from proofroom.website.variation_pages import page_with

ALONE: Final = "form"
"""Stands for the id of a module where the form is on a page of its own."""
_PAGE: Final = "_page"
_AT: Final = "_at"
_AGREED: Final = "_agreed"
_UNCOUNTED: Final = "_uncounted"
_TYPES: Final = ("application/x-www-form-urlencoded", "multipart/form-data")
_LONGEST_PATH: Final = 2000


@dataclass(frozen=True, slots=True)
class Sent:
    """`found` is the published page that holds the form in its module `at`; None where there is no such page.

    While variations of the page run, it is the arm that the visitor was shown. `has_agreed` says that the visitor
    agreed to be counted, where the site asks for that, and `is_for_looking` that the page was one to look at.
    """

    found: queries.FoundPost | None
    at: str
    locale: str
    values: Mapping[str, Json]
    has_agreed: bool = False
    is_for_looking: bool = False

    @property
    def is_counted(self) -> bool:
        """Whether it may be counted that somebody sent the form."""
        env = settings.CMS_ENV
        if self.is_for_looking or not env.analytics_tracking:
            return False
        return self.has_agreed or not env.analytics_consent

    @property
    def shown(self) -> dict[str, str]:
        """What the visitor finds again in the form. A box that is ticked sends a text, whatever it is."""
        return {
            name: _displayable(value)
            for name, value in self.values.items()
            if isinstance(value, str) and name != HONEYPOT
        }


def read_sent(request: HttpRequest, slug: str, locale: str) -> Sent | HttpResponse:
    """What was sent, or the answer to what cannot be read."""
    if _length(request) > MOST_BYTES:
        return HttpResponse("That is too much for a form.", status=413, content_type="text/plain")
    if request.content_type not in _TYPES:
        return HttpResponse("Send a form.", status=415, content_type="text/plain")
    values: dict[str, Json] = {
        name: sent[0] if len(sent) == 1 else list(sent) for name, sent in request.POST.lists()
    }
    values |= {name: [] for name in request.FILES}  # fits no field
    page, at = values.pop(_PAGE, None), values.pop(_AT, None)
    marks = (values.pop(_AGREED, None) == "1", values.pop(_UNCOUNTED, None) == "1")
    found = _page_with(slug, page, at)
    if found is None or not isinstance(at, str):
        return Sent(None, ALONE, locale, values, *marks)
    return Sent(found, at, found.post.locale, values, *marks)


def _length(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


def _page_with(slug: str, path: Json, at: Json) -> queries.FoundPost | None:
    """The published page at a path of this site, or the arm of it, if its module `at` holds the form.

    What is answered is made of the post that was found, never of the address that was sent.
    """
    if not isinstance(path, str) or not isinstance(at, str) or not path.startswith("/"):
        return None
    if len(path) > _LONGEST_PATH or path.startswith("//"):
        return None
    found = page_with(path, locale_of(path), at)
    if found is None:
        return None
    for item in queries.modules_of(found.post):
        definition = modules.get(item.type)
        if item.post_module_id == at and definition is not None:
            named = values_in(definition.Props, full_props(definition, item))
            is_there = any((kind, value) == ("form-reference", slug) for _, kind, value in named)
            return found if is_there else None
    return None


def _displayable(text: str) -> str:
    """The text without what no page can hold: NUL, and halves of characters."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()
