"""Valid stored documents, and their HTML and plain text."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.definitions.richtext.html import to_html
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.nodes import blocks, to_text
from proofroom.definitions.richtext.schema import (
    EMPTY,
    MAX_PROBLEMS,
    MAX_TEXT,
    is_document,
    validate,
)

Node = dict[str, Any]


def doc(*content: Node) -> Node:
    return {"type": "doc", "content": list(content)}


def paragraph(*content: Node) -> Node:
    return {"type": "paragraph", "content": list(content)}


def text(value: str, *marks: Node) -> Node:
    return {"type": "text", "text": value, "marks": list(marks)}


def test_what_the_editor_writes_is_valid() -> None:
    attrs = {"href": "/a", "target": "_blank", "rel": "noopener", "class": None, "title": None}
    cell = {"colspan": 1, "rowspan": 2, "colwidth": [100]}
    document = doc(
        {"type": "heading", "attrs": {"level": 6}},
        paragraph(text("x", {"type": "bold"}, {"type": "link", "attrs": attrs})),
        {
            "type": "orderedList",
            "attrs": {"start": 3, "type": None},
            "content": [{"type": "listItem", "content": [{"type": "paragraph"}]}],
        },
        {
            "type": "codeBlock",
            "attrs": {"language": None},
            "content": [{"type": "text", "text": "a\n"}],
        },
        {
            "type": "table",
            "content": [
                {
                    "type": "tableRow",
                    "content": [
                        {"type": "tableHeader", "attrs": cell, "content": [{"type": "paragraph"}]}
                    ],
                }
            ],
        },
        paragraph({"type": "image", "attrs": {"src": "/a.png", "alt": None, "title": None}}),
    )

    assert validate(document) == []
    assert validate(EMPTY) == []


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (doc({"type": "video"}), "doc.content.0: unknown node 'video'; known: blockquote, "),
        (doc({"type": "listItem"}), "doc.content.0: listItem cannot stand in doc."),
        (doc(text("x")), "doc.content.0: text cannot stand in doc."),
        (
            doc({"type": "bulletList", "content": []}),
            "doc.content.0: bulletList must not be empty.",
        ),
        (doc({"type": "heading"}), "doc.content.0: heading needs the attribute 'level'."),
        (
            doc({"type": "heading", "attrs": {"level": True}}),
            "doc.content.0: heading cannot have level = 'True'.",
        ),
        (
            doc({"type": "paragraph", "attrs": {"style": "x"}}),
            "doc.content.0: paragraph has no attribute 'style'.",
        ),
        (doc({"type": "paragraph", "html": "x"}), "doc.content.0: paragraph has no key 'html'."),
        (
            doc(paragraph(text("x", {"type": "blink"}))),
            "doc.content.0.content.0: unknown mark 'blink'; known: link, ",
        ),
        (
            doc(paragraph(text("x", {"type": "bold"}, {"type": "bold"}))),
            "doc.content.0.content.0: the mark 'bold' is given twice or has unknown keys.",
        ),
        (
            doc(paragraph(text(""))),
            "doc.content.0.content.0: text must be a string that is not empty.",
        ),
        (doc(paragraph(text("a\x00"))), "doc.content.0.content.0: text has control characters."),
        (
            doc({"type": "codeBlock", "content": [text("x", {"type": "bold"})]}),
            "doc.content.0.content.0: text in a codeBlock has no marks.",
        ),
        (
            doc({"type": "codeBlock", "attrs": {"language": 'x" y'}}),
            "doc.content.0: codeBlock cannot have language = ",
        ),
        (
            doc(
                {
                    "type": "bulletList",
                    "content": [{"type": "listItem", "content": [{"type": "horizontalRule"}]}],
                }
            ),
            "doc.content.0.content.0: a listItem begins with a paragraph.",
        ),
        (doc(paragraph(text("x" * (MAX_TEXT + 1)))), "The document is too large: "),
        ({"type": "paragraph"}, "Rich text must be an object "),
    ],
)
def test_one_mistake_gives_one_sentence_that_names_the_place(document: Node, problem: str) -> None:
    problems = validate(document)

    assert len(problems) == 1
    assert problems[0].startswith(problem)


def test_nesting_and_the_number_of_problems_are_capped() -> None:
    node: Node = paragraph(text("x"))
    for _ in range(5):
        node = {"type": "blockquote", "content": [node]}

    assert validate(doc(node)) == []
    assert validate(doc({"type": "blockquote", "content": [node]})) == [
        "doc.content.0" + ".content.0" * 5 + ": blockquote is nested too deep."
    ]
    assert len(validate(doc(*[{"type": "video"}] * 100))) == MAX_PROBLEMS


@pytest.mark.parametrize(
    "value", [None, [], "x", {"type": "paragraph"}, {"type": "doc", "content": {}}]
)
def test_other_values_are_no_documents(value: object) -> None:
    assert not is_document(value)
    assert is_document(EMPTY)


def test_headings_get_ids_that_are_unique_on_the_page() -> None:
    taken = {"main"}

    html = to_html(
        from_markdown("# Main\n\n## \u00dcber *uns*!\n\n## \u00fcber uns\n\n### ?"),
        heading_ids=taken,
    )

    assert html.split("\n") == [
        '<h1 id="main-2">Main</h1>',
        '<h2 id="\u00fcber-uns">\u00dcber <em>uns</em>!</h2>',
        '<h2 id="\u00fcber-uns-2">\u00fcber uns</h2>',
        '<h3 id="section">?</h3>',
    ]
    assert taken == {"main", "main-2", "\u00fcber-uns", "\u00fcber-uns-2", "section"}


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("# a", "<h1>a</h1>"),
        ("[a **b**](/c 'd')", '<p><a href="/c" title="d">a <strong>b</strong></a></p>'),
        (
            "[a](https://b.example)",
            '<p><a href="https://b.example" rel="noopener noreferrer">a</a></p>',
        ),
        ("![a](/b.png)", '<p><img src="/b.png" alt="a" loading="lazy" decoding="async"></p>'),
        ("```py\na<b\n```", '<pre tabindex="0"><code class="language-py">a&lt;b</code></pre>'),
        ("3. a\n   - b", '<ol start="3">\n<li>a\n<ul>\n<li>b</li>\n</ul></li>\n</ol>'),
        ("~~a~~ `b`\\\nc", "<p><s>a</s> <code>b</code><br>c</p>"),
        (
            "|a|\n|-:|\n|b|c|",
            '<div class="table-scroll" role="region" aria-label="Table" tabindex="0">\n<table>\n'
            '<thead>\n<tr><th scope="col" class="align-right">a</th></tr>\n</thead>\n'
            '<tbody>\n<tr><td class="align-right">b | c</td></tr>\n</tbody>\n</table>\n</div>',
        ),
    ],
)
def test_html(source: str, html: str) -> None:
    assert to_html(from_markdown(source)) == html


def test_plain_text_separates_blocks_and_cells() -> None:
    document = from_markdown(
        "# A\n\nb\\\nc\n\n- d\n  - e\n\n|f|g|\n|-|-|\n|h|i|\n\n___\n\n![](/x.png)"
    )

    assert to_text(document) == "A\n\nb\nc\n\nd\ne\n\nf\tg\nh\ti"
    assert blocks(document) == ["A", "b c", "d e", "f g h i", "---", "[image /x.png]"]
