"""Any document within the schema is unchanged after conversion to Markdown and back."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from proofroom.definitions.richtext.html import to_html
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.nodes import MARK_ORDER, to_text
from proofroom.definitions.richtext.schema import validate

Node = dict[str, Any]

# Signs of Markdown and awkward spaces come often, so that short examples already hurt.
SIGNS = list("*_~`[]()<>#+-=|:.!&;\\/\"' \t1a\u00e9\u00a0\u3000\u4e2d\U0001f600\u2028")
PIECES = st.sampled_from(
    [
        *SIGNS,
        "&amp;",
        "<br>",
        "```",
        "~~~",
        "<sup>",
        "</sub>",
        "---",
        "1.",
        "- ",
        "## ",
        "![",
        "](",
        "http://a.b",
        "ab",
    ]
)
CLEAN = st.characters(exclude_categories=("Cs", "Cc"))
TEXT = st.lists(st.one_of(PIECES, CLEAN, PIECES), min_size=1, max_size=6).map("".join)
HREF = st.sampled_from(
    ["https://example.org/a_b?c=1&copy;=2#d", "/a(b)c", "../x*y", "#top", "mailto:a@example.org"]
)


def link(href: str, title: str | None) -> Node:
    attrs = {"href": href, "title": title} if title else {"href": href}
    return {"type": "link", "attrs": attrs}


LINK = st.builds(link, HREF, st.none() | TEXT)


@st.composite
def marks(draw: st.DrawFn) -> list[Node]:
    names = draw(st.sets(st.sampled_from(MARK_ORDER[1:])))
    found = [draw(LINK)] if draw(st.integers(0, 3)) == 0 else []
    return found + [{"type": name} for name in MARK_ORDER[1:] if name in names]


@st.composite
def texts(draw: st.DrawFn) -> Node:
    node: Node = {"type": "text", "text": draw(TEXT)}
    if found := draw(marks()):
        node["marks"] = found
    return node


@st.composite
def images(draw: st.DrawFn) -> Node:
    attrs = {"src": draw(st.sampled_from(["/a.png", "https://example.org/i(1).jpg"]))}
    attrs["alt"] = draw(TEXT | st.just(""))
    if title := draw(st.none() | TEXT):
        attrs["title"] = title
    if draw(st.booleans()):
        layout = {
            "caption": draw(TEXT),
            "align": draw(st.sampled_from(["left", "center", "right", "full"])),
            "size": draw(st.sampled_from(["small", "medium", "full"])),
        }
        attrs |= {name: layout[name] for name in draw(st.sets(st.sampled_from(sorted(layout))))}
    node: Node = {"type": "image", "attrs": attrs}
    if draw(st.booleans()):
        node["marks"] = [draw(LINK)]
    return node


def joined(nodes: list[Node]) -> list[Node]:
    """Join adjacent texts with equal marks, as in the stored form."""
    found: list[Node] = []
    for node in nodes:
        last = found[-1] if found else None
        if (
            last
            and last["type"] == node["type"] == "text"
            and last.get("marks") == node.get("marks")
        ):
            found[-1] = {**last, "text": last["text"] + node["text"]}
        else:
            found.append(node)
    return found


BREAK = st.just({"type": "hardBreak"})
INLINE = st.lists(st.one_of(texts(), texts(), images(), BREAK), min_size=1, max_size=5).map(joined)
PARAGRAPH = st.builds(lambda content: {"type": "paragraph", "content": content}, INLINE)
EMPTY_PARAGRAPH: Node = {"type": "paragraph"}


@st.composite
def headings(draw: st.DrawFn) -> Node:
    node: Node = {"type": "heading", "attrs": {"level": draw(st.integers(1, 6))}}
    if content := draw(INLINE | st.just([])):
        node["content"] = content
    return node


@st.composite
def code_blocks(draw: st.DrawFn) -> Node:
    language = draw(st.none() | st.sampled_from(["python", "c++", "x.y-z"]))
    node: Node = {"type": "codeBlock", "attrs": {"language": language}}
    lines = draw(st.lists(TEXT | st.sampled_from(["", "  ", "\tx", "````"]), max_size=4))
    if text := "\n".join(lines):
        node["content"] = [{"type": "text", "text": text}]
    return node


@st.composite
def tables(draw: st.DrawFn) -> Node:
    aligns = draw(
        st.lists(st.sampled_from([None, "left", "center", "right"]), min_size=1, max_size=3)
    )
    rows = []
    for number in range(draw(st.integers(1, 3))):
        cells = []
        for align in aligns:
            cell: Node = {"type": "tableCell" if number else "tableHeader"}
            if align:
                cell["attrs"] = {"align": align}
            cells.append({**cell, "content": [draw(PARAGRAPH | st.just(EMPTY_PARAGRAPH))]})
        rows.append({"type": "tableRow", "content": cells})
    return {"type": "table", "content": rows}


def containers(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    blocks = st.lists(inner, min_size=1, max_size=3)

    def item(content: list[Node]) -> Node:
        begins = content and content[0]["type"] == "paragraph"
        return {"type": "listItem", "content": content if begins else [EMPTY_PARAGRAPH, *content]}

    items = st.lists(st.builds(item, blocks | st.just([])), min_size=1, max_size=3)
    start = st.sampled_from([0, 1, 7, 99, 999_999_998])
    return st.one_of(
        st.builds(lambda content: {"type": "bulletList", "content": content}, items),
        st.builds(
            lambda content, at: {"type": "orderedList", "attrs": {"start": at}, "content": content},
            items,
            start,
        ),
        st.builds(lambda content: {"type": "blockquote", "content": content}, blocks)
        | st.just({"type": "blockquote", "content": [EMPTY_PARAGRAPH]}),
    )


LEAF = st.one_of(
    PARAGRAPH,
    PARAGRAPH,
    headings(),
    code_blocks(),
    tables(),
    st.just({"type": "horizontalRule"}),
)
BLOCK = st.recursive(LEAF, containers, max_leaves=8)
DOCUMENT = st.builds(
    lambda content: {"type": "doc", "content": content}, st.lists(BLOCK, min_size=1, max_size=4)
)


@settings(max_examples=100, deadline=None)
@given(DOCUMENT)
def test_a_document_comes_back_from_its_markdown(document: Node) -> None:
    assert validate(document) == []

    assert from_markdown(to_markdown(document)) == document


@settings(max_examples=100, deadline=None)
@given(INLINE)
def test_inline_content_comes_back_from_its_markdown(content: list[Node]) -> None:
    document = {"type": "doc", "content": [{"type": "paragraph", "content": content}]}

    assert from_markdown(to_markdown(document)) == document


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(PIECES, st.just("\n"), st.text(max_size=3)), max_size=60).map("".join))
def test_any_text_becomes_a_valid_document_that_is_stable(text: str) -> None:
    document = from_markdown(text)

    assert validate(document) == []
    assert from_markdown(to_markdown(document)) == document
    assert isinstance(to_html(document), str)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.text(alphabet="abc\u00e9", min_size=1, max_size=5), min_size=1, max_size=8),
    st.data(),
)
def test_text_survives_any_surroundings(words: list[str], data: st.DataObject) -> None:
    around = st.sampled_from(
        [" ", "\n", "\n\n", "\n> ", "\n- ", "\n1. ", " **", "** ", " `", " | "]
    )
    source = "".join(data.draw(around) + word for word in words)

    kept = "".join(char for char in to_text(from_markdown(source)) if char.isalpha())

    assert kept == "".join(words)
