"""Rich text as segments of XLIFF, and back: every mark, link and image survives, and nothing foreign comes in."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, tostring

import pytest

from content.translations.xliff.inline import (
    InlineError,
    document_of,
    plain_of,
    segments_of,
    storable,
    tag,
)


def text(words: str, *marks: Any) -> dict[str, Any]:
    found = [{"type": one} if isinstance(one, str) else one for one in marks]
    return {"type": "text", "text": words, **({"marks": found} if found else {})}


def doc(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "doc", "content": [*blocks]}


def paragraph(*inline: dict[str, Any]) -> dict[str, Any]:
    return {"type": "paragraph", "content": [*inline]}


LINK = {"type": "link", "attrs": {"href": "/tea", "title": "Tea", "target": "_blank"}}
IMAGE = {"type": "image", "attrs": {"src": "/media/cup.png", "alt": "A cup", "title": None}}
DOCUMENT = doc(
    {"type": "heading", "attrs": {"level": 2}, "content": [text("Water")]},
    paragraph(
        text("Read "),
        text("the ", LINK),
        text("bold", LINK, "bold"),
        text(" one"),
        {"type": "hardBreak"},
        text("x", "code", "italic"),
        IMAGE,
    ),
    {"type": "codeBlock", "attrs": {"language": None}, "content": [text("a = 1")]},
    {
        "type": "bulletList",
        "content": [{"type": "listItem", "content": [paragraph(text("First", "strike"))]}],
    },
    {"type": "paragraph"},
)


def as_targets(document: Any) -> list[Element]:
    """Return the sources as targets, as of a translator who changes nothing."""
    return segments_of(document).sources


def test_each_block_is_a_segment_and_its_marks_are_codes() -> None:
    found = segments_of(DOCUMENT, "modules.m.props.content")

    assert [plain_of(one) for one in found.sources] == [
        "Water",
        "Read {1:the {2:bold}} one{3:}{4:{5:x}}{6:}",
        "{7:First}",
    ]
    markup = tostring(found.sources[1], encoding="unicode")
    assert 'type="link"' in markup
    assert 'subType="xlf:lb"' in markup
    assert 'subFlows="modules.m.props.content:alt-6"' in markup
    assert found.alts == {"6": "A cup"}


def test_what_nobody_translated_comes_back_as_it_was() -> None:
    made, missing = document_of(DOCUMENT, as_targets(DOCUMENT), segments_of(DOCUMENT).codes)

    assert segments_of(made).codes == segments_of(DOCUMENT).codes
    assert [plain_of(one) for one in as_targets(made)] == [
        plain_of(one) for one in as_targets(DOCUMENT)
    ]
    assert made["content"][2] == DOCUMENT["content"][2]
    assert made["content"][4] == {"type": "paragraph"}
    assert missing == []


def target(markup: str) -> Element:
    from defusedxml.ElementTree import fromstring

    found: Element = fromstring(f'<target xmlns="{tag("x")[1:-2]}">{markup}</target>')
    return found


def translated(markup: str, **options: Any) -> Any:
    source = doc(paragraph(text("See "), text("tea", LINK), IMAGE))
    codes = segments_of(source).codes
    made, missing = document_of(source, [target(markup)], codes, **options)
    return made["content"][0]["content"], missing


def test_codes_move_and_links_keep_their_address() -> None:
    inline, missing = translated('<ph id="2"/><pc id="1">Tee</pc> ansehen')

    assert inline == [IMAGE, text("Tee", LINK), text(" ansehen")]
    assert missing == []


OWN_LINK = {"type": "link", "attrs": {"href": "/de/tee", "title": "Tee", "target": None}}
OWN_IMAGE: dict[str, Any] = {
    "type": "image",
    "attrs": {"src": "/media/de.png", "alt": "Tasse", "title": "Groß"},
}


def test_the_translation_keeps_its_own_links_and_images() -> None:
    present = doc(paragraph(OWN_IMAGE, text("alter Tee", OWN_LINK)))

    inline, _missing = translated('<pc id="1">Tee</pc><ph id="2"/>', present=present)

    assert inline == [text("Tee", OWN_LINK), OWN_IMAGE]
    inline, _missing = translated('<ph id="2"/>', present=present, alts={"2": "Eine Tasse"})
    assert inline[0]["attrs"] == {**OWN_IMAGE["attrs"], "alt": "Eine Tasse"}


def test_links_and_images_of_the_translation_are_found_by_address_first() -> None:
    def image(name: str, alt: str) -> dict[str, Any]:
        return {"type": "image", "attrs": {"src": f"/{name}.png", "alt": alt, "title": None}}

    source = doc(paragraph(image("a", "A"), image("b", "B"), image("c", "C")))
    present = doc(paragraph(image("b", "Zwei"), image("x", "Eins"), image("c", "Drei")))
    codes = segments_of(source).codes

    def images(present: Any) -> Any:
        made, _missing = document_of(source, as_targets(source), codes, present=present)
        return made["content"][0]["content"]

    assert images(present) == [image("x", "Eins"), image("b", "Zwei"), image("c", "Drei")]
    # If the number differs, only equal addresses are the same image.
    del present["content"][0]["content"][1]
    assert images(present) == [image("a", "A"), image("b", "Zwei"), image("c", "Drei")]


def test_the_translation_keeps_its_own_blocks_of_code() -> None:
    def code(words: str) -> dict[str, Any]:
        return {"type": "codeBlock", "attrs": {"language": None}, "content": [text(words)]}

    source = doc(code("print('a')"), paragraph(text("x")), code("b"))
    for present, expected in (
        (doc(code("print('ä')"), code("b")), ["print('ä')", "b"]),
        (doc(code("ä")), ["print('a')", "b"]),
        (None, ["print('a')", "b"]),
    ):
        made, _missing = document_of(source, as_targets(source), {}, present=present)
        found: Any = made["content"]
        assert [found[0], found[2]] == [*map(code, expected)]


def test_split_codes_and_annotations_of_tools_are_read() -> None:
    inline, missing = translated(
        '<mrk id="m1" type="term">Zum</mrk> <sc id="1"/>Tee<ec startRef="1"/><cp hex="001a"/>'
    )

    assert inline == [text("Zum"), text(" "), text("Tee", LINK)]
    assert missing == ["2"]


@pytest.mark.parametrize(
    "markup",
    [
        '<pc id="9">x</pc>',  # not of the source
        '<ph id="1"/>',  # a mark is no image
        '<pc id="1">a</pc><pc id="1">b</pc>',  # twice
        '<sc id="1"/>never closed',
        '<ec startRef="1"/>',
        "<script>x</script>",
        '<pc id="1">' + "<mrk>" * 60 + "</mrk>" * 60 + "</pc>",
    ],
)
def test_codes_that_do_not_fit_are_refused(markup: str) -> None:
    with pytest.raises(InlineError):
        translated(markup)


def test_lines_that_a_tool_wrapped_are_joined() -> None:
    inline, _missing = translated('Zum\n   <pc id="1">Tee\n</pc><ph id="2"/>')

    assert inline == [text("Zum "), text("Tee ", LINK), {**IMAGE}]


def test_characters_that_xml_cannot_have_are_left_out() -> None:
    assert storable("a\x0bb\ud800c\ufffe\n\t") == "abc\n\t"
