"""Outlines of pages: rendered once for pages that differ in their own parts only, and never unlike the page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.template import Context, Engine, Library

from proofroom.core.caching import fragments as fragment_module
from proofroom.core.caching.fragments import FragmentStore
from proofroom.core.caching.outlines import render_outlined

register = Library()


@register.simple_tag(takes_context=True)
def everything(context: Context) -> str:
    return str(sorted(map(str, context.flatten().values())))


@register.simple_tag
def people() -> str:
    return str(get_user_model().objects.count())


PAGES: Mapping[str, str] = {
    "base.html": (
        "{% load kept %}{{ calls }}<title>{% block title %}{% shown title site %}{% endblock %}</title>"
        "{% block main %}{% endblock %}{% for item in menu %}{{ item }}{% endfor %}"
    ),
    "part.html": "<p>{{ text }}{{ more }}</p>",
    "page.html": (
        "{% extends 'base.html' %}{% load kept %}{% block main %}"
        "{% include_kept 'part.html' with more=end %}{% shown content %}{% endblock %}"
    ),
    "direct.html": "{% load kept %}{{ calls }}{{ title }}{% shown content %}",
    "loop.html": "{% load kept %}{{ calls }}{% for item in menu %}{% shown item %}{% endfor %}",
    "with.html": "{% load kept %}{{ calls }}{% with end=title %}{% include_kept 'part.html' %}{% endwith %}",
    "set.html": "{% load kept %}{{ calls }}{% firstof site as text %}{% include_kept 'part.html' %}",
    "reset.html": "{% load kept %}{{ calls }}{{ text }}{% firstof site as text %}{% include_kept 'part.html' %}",
    "filter.html": "{% load kept %}{{ calls }}{% filter upper %}{% shown content %}{% endfilter %}",
    "spaceless.html": (
        "{% load kept %}{{ calls }}{% spaceless %}<i>{% shown content %}</i>{% endspaceless %}"
    ),
    "lower.html": "{% load kept %}{% filter lower %}{% shown content %}{% endfilter %}",
    "lines.html": "{% load kept %}{% filter linebreaks %}{% shown content %}{% endfilter %}",
    "safe.html": "{% load kept %}{% autoescape off %}{% shown content %}{% endautoescape %}{% shown title %}",
    "zone.html": (
        "{% load kept i18n tz %}{% shown title %}{% language 'de' %}{% timezone 'Asia/Tokyo' %}"
        "{% include_kept 'time.html' with moment=moment %}{% endtimezone %}{% endlanguage %}"
    ),
    "time.html": "{{ moment|date:'F H' }}",
    "whole.html": "{% load kept own %}{{ calls }}{% everything %}",
    "query.html": "{% load kept own %}{{ calls }}{% people %}",
}
ENGINE = Engine(
    loaders=[
        (
            "django.template.loaders.cached.Loader",
            [("django.template.loaders.locmem.Loader", dict(PAGES))],
        )
    ],
    libraries={
        "kept": "proofroom.core.templatetags.kept",
        "i18n": "django.templatetags.i18n",
        "tz": "django.templatetags.tz",
        "own": __name__,
    },
)
NAMES: Mapping[str, object] = {
    "title": "A & B", "site": "Site", "text": "x", "end": "!", "content": "<b> <i>", "menu": ["One"],
}  # fmt: skip


class Calls:
    """Shows as nothing, and counts how often it is shown."""

    def __init__(self) -> None:
        self.number = 0

    def __str__(self) -> str:
        self.number += 1
        return ""


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    found = Calls()
    known = fragment_module._plain
    monkeypatch.setattr(
        fragment_module, "_plain", lambda value: "calls" if value is found else known(value)
    )
    return found


def render(store: FragmentStore, page: str, calls: Calls | str = "", **names: object) -> str:
    values = {**NAMES, **names, "calls": calls, "fragments": store}
    return render_outlined(ENGINE.get_template(page), values)


def plain(page: str, **names: object) -> str:
    return str(ENGINE.get_template(page).render(Context({**NAMES, **names})))


OTHERS: list[dict[str, Any]] = [
    {}, {"title": "", "content": "&"}, {"title": "C", "content": "<u>a</u> <u>b</u>"},
    {"content": "A &amp; <i>b</i>\n\n<i>c</i>"}, {"moment": datetime(2026, 5, 31, 20, tzinfo=UTC)},
    {"text": "<y>", "end": 0}, {"menu": ["Two", "<Three>"]}, {"menu": []}, {"site": "Other", "title": None},
]  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("page", sorted(set(PAGES) - {"part.html", "whole.html"}))
def test_a_page_is_what_its_template_makes(page: str) -> None:
    store = FragmentStore(most_bytes=1_000_000)

    # What is the same in every way to write it comes first.
    for names in [{"title": "1", "content": "1"}, *OTHERS, *OTHERS]:
        assert render(store, page, **names) == plain(page, **names), names


@pytest.mark.parametrize("page", ["page.html", "set.html"])
def test_pages_share_an_outline(page: str, calls: Calls) -> None:
    store = FragmentStore(most_bytes=1_000_000)
    render(store, page, calls)
    drawn = calls.number

    for names in ({"title": "C"}, {"content": "D"}, {"end": "E"}, {"title": "", "content": "F"}):
        render(store, page, calls, **names)

    assert calls.number == drawn


@pytest.mark.parametrize("names", [{"menu": ["Two"]}, {"site": "Other", "title": ""}])
def test_what_the_outline_shows_by_itself_makes_another_one(
    names: dict[str, Any], calls: Calls
) -> None:
    store = FragmentStore(most_bytes=1_000_000)
    render(store, "direct.html", calls)
    render(store, "page.html", calls)
    drawn = calls.number

    render(store, "direct.html", calls, title="C")
    assert calls.number > drawn

    assert render(store, "page.html", calls, **names) == plain("page.html", **names)


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["filter.html", "whole.html", "query.html"])
def test_what_an_outline_would_say_otherwise_has_none(page: str, calls: Calls) -> None:
    store = FragmentStore(most_bytes=1_000_000)
    render(store, page, calls)
    drawn = calls.number

    render(store, page, calls)

    assert calls.number > drawn


def test_nobody_can_name_a_place() -> None:
    from proofroom.core.caching import outlines

    text = f"\ue000{outlines._SECRET[:-1]}0:0\ue001"
    store = FragmentStore(most_bytes=1_000_000)
    for _ in range(2):
        assert render(store, "page.html", content=text) == plain("page.html", content=text)
