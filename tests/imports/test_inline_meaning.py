"""Inline elements that change the meaning of a text are preserved by all imports."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from content.models import Post
from content.store.post_repository import load
from proofroom.definitions.richtext.html import to_html
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.nodes import to_text
from proofroom.definitions.richtext.schema import validate
from proofroom_apps.imports.formulas import with_formulas_as_text
from proofroom_apps.imports.html_reader import (
    blocks_of_html,
    count_simplified_html,
    frames_to_links,
)
from proofroom_apps.imports.markdown_content import read_markdown
from proofroom_apps.imports.rich_text import html_of
from tests import make
from tests.imports.command import call_import
from tests.imports.html_cases import CASES, NUMBERS


def markdown(html: str) -> str:
    document = {"type": "doc", "content": frames_to_links(blocks_of_html(html))}
    assert validate(document) == []
    return to_markdown(document).strip()


@pytest.mark.parametrize(("html", "said"), CASES)
def test_html_keeps_what_it_says(html: str, said: str) -> None:
    assert markdown(html) == said


def test_lettered_lists_keep_their_letters() -> None:
    (found,) = frames_to_links(blocks_of_html('<ol type="a" start="2"><li>b</ol>'))

    assert found["attrs"] == {"start": 2, "type": "a"}


def test_what_becomes_simpler_is_counted() -> None:
    html = "<math><mi>x</mi></math><ruby>a<rt>b</rt></ruby><ol reversed><li>a</ol><input type=checkbox>"

    assert sorted(count_simplified_html(html)) == [
        "check box, as ☐ or ☑",
        "formula <math>, of which the text is kept",
        "list that counts backwards, with its numbers as text",
        "reading of <ruby>, in brackets behind the words",
    ]


def test_an_open_formula_takes_nothing_with_it() -> None:
    assert with_formulas_as_text("a <math> b <math><mi>c</mi>") == "a  b c"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("10<sup>6</sup>", "10⁶"),
        ("H<sub>2</sub>O and x<sub>max</sub>", "H₂O and xmax"),
        ("x<sup>k</sup>, the 1<sup>st</sup>, 10<sup>6.5</sup>", "x^k, the 1st, 10^6.5"),
        ("an <sup>open tag and a closed one</sub>", "an <sup>open tag and a closed one</sub>"),
        ("`<sup>6</sup>` and \\<sup>6\\</sup>", "<sup>6</sup> and <sup>6</sup>"),
    ],
)
def test_markdown_and_plain_text_keep_numbers(source: str, text: str) -> None:
    document = from_markdown(source)

    assert to_text(document) == text
    assert from_markdown(to_markdown(document)) == document


def test_a_page_shows_superscripts_and_subscripts() -> None:
    document = from_markdown("**10<sup>6</sup>** and H<sub>2</sub>O")

    assert to_html(document) == "<p><strong>10<sup>6</sup></strong> and H<sub>2</sub>O</p>"


def test_markdown_of_other_sites_keeps_numbers() -> None:
    content = read_markdown("About 10<sup>6</sup> and <math><mi>x</mi><mo>=</mo><mn>2</mn></math>")

    assert (
        to_text({"type": "doc", "content": frames_to_links(content.blocks)})
        == "About 10⁶ and x = 2"
    )
    assert "formula <math>, of which the text is kept" in content.simpler


@pytest.mark.parametrize(
    "value",
    [
        [{"type": "p", "children": [{"text": "10"}, {"text": "6", "superscript": True}]}],
        {"type": "doc", "content": [{"type": "paragraph", "content": [
            {"type": "text", "text": "10"},
            {"type": "text", "text": "6", "marks": [{"type": "superscript"}]}]}]},
        {"root": {"children": [{"type": "paragraph", "children": [
            {"text": "10", "format": 0}, {"text": "6", "format": 64}]}]}},
        [{"_type": "block", "children": [{"text": "10", "marks": []}, {"text": "6", "marks": ["sup"]}]}],
        {"blocks": [{"type": "paragraph", "data": {"text": "10<sup>6</sup>"}}]},
    ],
    ids=["slate", "prosemirror", "lexical", "portable text", "editorjs"],
)  # fmt: skip
def test_rich_text_of_other_editors_keeps_numbers(value: object) -> None:
    from collections import Counter

    assert markdown(html_of(value, Counter())) == "10<sup>6</sup>"


@pytest.mark.django_db(transaction=True)
def test_titles_bodies_and_excerpts_of_wordpress_keep_numbers(tmp_path: Path) -> None:
    make.user("admin")
    path = tmp_path / "export.xml"
    path.write_text(
        '<rss xmlns:wp="http://wordpress.org/export/1.2/" xmlns:content="c" xmlns:excerpt="x/excerpt/"><channel>'
        "<item><title>E = mc&lt;sup&gt;2&lt;/sup&gt;</title><wp:post_id>1</wp:post_id>"
        "<wp:post_type>post</wp:post_type><wp:status>publish</wp:status><wp:post_name>e</wp:post_name>"
        f"<content:encoded><![CDATA[{NUMBERS}<math><mi>x</mi></math>]]></content:encoded>"
        "<excerpt:encoded><![CDATA[10<sup>6</sup> people]]></excerpt:encoded></item></channel></rss>"
    )

    out = StringIO()
    call_import("wordpress", str(path), stdout=out, stderr=out)

    post = Post.objects.get()
    document = load(post).modules[0].props["content"]
    assert post.title == "E = mc²"
    assert post.excerpt == "10⁶ people"
    assert to_text(document).startswith("About 10⁶ people on 5 m²; H₂O; see note¹")
    assert "Kept in a simpler form: formula <math>" in out.getvalue()


@pytest.mark.django_db(transaction=True)
def test_a_body_of_json_keeps_numbers(tmp_path: Path) -> None:
    make.user("admin")
    path = tmp_path / "posts.json"
    path.write_text(json.dumps([{"id": "1", "title": "One", "body": NUMBERS}]))

    call_import("json", str(path), stdout=StringIO())

    document = load(Post.objects.get()).modules[0].props["content"]
    assert "10<sup>6</sup>" in to_markdown(document)
