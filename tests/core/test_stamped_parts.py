"""Templates rendered once and filled per object: escaped, and never mixed up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pytest
from django.template import Context, Engine
from django.template.exceptions import TemplateSyntaxError
from django.utils import translation
from django.utils.safestring import SafeString

from proofroom.core.row_templates import cached_stamp

PARTS: Mapping[str, str] = {
    "line.html": '<li class="{{ kind }}">{{ words }}{% if is_new %} new{% endif %} {{ page }}</li>',
    "asking.html": "{% if words %}{{ words }}{% endif %}",
    "filtered.html": "{{ words|urlencode }}",
    "addressed.html": '<a href="{% url "admin:content_post_change" id %}">{{ id }} {{ words }}</a>',
    "hex.html": "{{ id.hex }}",
    "asking_for_id.html": "{% if id %}{{ id }}{% endif %}",
}
LOOP = (
    '{% load stamped %}{% for one in all %}{% stamped "line.html"'
    " with kind=one.kind is_new=one.is_new each words=one.words %}{% endfor %}"
)


def rendered(source: str, **values: object) -> str:
    loaders = [("django.template.loaders.locmem.Loader", dict(PARTS))]
    libraries = {"stamped": "proofroom.core.templatetags.stamped"}
    engine = Engine(loaders=loaders, libraries=libraries)
    return engine.from_string(source).render(Context({**values, "page": "of the page"}))


def test_each_thing_has_its_own_values_escaped_and_knows_nothing_else_of_the_page() -> None:
    page = rendered(
        LOOP,
        all=[
            {"kind": "a", "is_new": False, "words": "<b>\"'&"},
            {"kind": "a", "is_new": False, "words": "\ue000words\ue001"},
            {"kind": "<a>", "is_new": True, "words": 3},
            {"kind": "a", "is_new": False, "words": None},
        ],
    )

    assert page == (
        '<li class="a">&lt;b&gt;&quot;&#x27;&amp; </li><li class="a">\ue000words\ue001 </li>'
        '<li class="&lt;a&gt;">3 new </li><li class="a">None </li>'
    )


def test_values_that_are_equal_and_shown_otherwise_are_no_others() -> None:
    kinds: list[object] = [1, True, 1.0, SafeString("<b>"), "<b>"]
    page = rendered(LOOP, all=[{"kind": kind, "is_new": False, "words": ""} for kind in kinds])

    assert re.findall('class="(.*?)"', page) == ["1", "True", "1.0", "<b>", "&lt;b&gt;"]


def test_a_text_can_be_kept_under_a_name() -> None:
    source = '{% load stamped %}{% stamped "line.html" each words=words as kept %}[{{ kept }}]'

    assert rendered(source, words="<") == '[<li class="">&lt; </li>]'


@pytest.mark.parametrize("part", ["asking.html", "filtered.html", "hex.html", "asking_for_id.html"])
def test_what_differs_every_time_can_be_shown_and_nothing_else(part: str) -> None:
    with pytest.raises(TemplateSyntaxError):
        rendered(
            f'{{% load stamped %}}{{% stamped "{part}" each words=words id=id %}}',
            words="x",
            id=uuid4(),
        )


def test_an_id_is_filled_into_addresses_too() -> None:
    ids = [uuid4(), uuid4()]
    source = (
        "{% load stamped %}{% for id in ids %}"
        '{% stamped "addressed.html" each id=id words=words %}{% endfor %}'
    )

    # A text that looks like an id stays unchanged.
    words = str(ids[0])

    assert rendered(source, ids=ids, words=words) == "".join(
        f'<a href="/admin/content/post/{id_}/change/">{id_} {words}</a>' for id_ in ids
    )


def test_a_kept_stamp_is_made_for_each_language_and_while_templates_are_written_each_time(
    settings: Any,
) -> None:
    with translation.override("en"):
        english = cached_stamp("admin/posts/row_menu.html")
    with translation.override("de"):
        german = cached_stamp("admin/posts/row_menu.html")
        assert cached_stamp("admin/posts/row_menu.html") is german
        settings.DEBUG = True
        assert cached_stamp("admin/posts/row_menu.html") is not german

    assert english is not german


@pytest.mark.parametrize("rest", ["words=words", "with", "each words=words as", "in page"])
def test_a_call_that_says_something_else_is_refused(rest: str) -> None:
    with pytest.raises(TemplateSyntaxError):
        rendered(f'{{% load stamped %}}{{% stamped "line.html" {rest} %}}', words="x")
