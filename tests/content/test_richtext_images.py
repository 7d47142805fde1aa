"""Images with a caption, an alignment and a size: stored, rendered, written as Markdown, compared, translated."""

from __future__ import annotations

from typing import Any

from content.comparison.comparison import ValueShape, compare
from content.translations.xliff.inline import CAPTION, document_of, segments_of, with_alts
from proofroom.definitions.richtext.html import to_html
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.nodes import to_text
from proofroom.definitions.richtext.schema import validate
from proofroom_apps.imports.html_reader import blocks_of_html


def image(**layout: Any) -> dict[str, Any]:
    return {"type": "image", "attrs": {"src": "/cup.png", "alt": "A cup", **layout}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def doc(*content: dict[str, Any], block: str = "paragraph", **attrs: Any) -> dict[str, Any]:
    return {"type": "doc", "content": [{"type": block, **attrs, "content": [*content]}]}


IMG = '<img src="/cup.png" alt="A cup" loading="lazy" decoding="async">'


def test_a_figure_stands_between_the_paragraphs_around_it() -> None:
    laid_out = image(caption='A "cup" & tea', align="left", size="small")
    figure = (
        f'<figure class="rich-figure align-left size-small">{IMG}'
        "<figcaption>A &quot;cup&quot; &amp; tea</figcaption></figure>"
    )

    assert to_html(doc(image())) == f"<p>{IMG}</p>"
    assert to_html(doc(laid_out)) == figure
    assert to_html(doc(text("a"), {"type": "hardBreak"}, laid_out, text("b"))) == (
        f"<p>a</p>\n{figure}\n<p>b</p>"
    )
    heading = doc(text("a"), image(size="full"), block="heading", attrs={"level": 2})
    assert to_html(heading) == f'<h2>a</h2>\n<figure class="rich-figure size-full">{IMG}</figure>'
    item = doc({"type": "listItem", "content": [doc(laid_out)["content"][0]]}, block="bulletList")
    assert to_html(item) == f"<ul>\n<li>{figure}</li>\n</ul>"
    linked = {**image(caption="c"), "marks": [{"type": "link", "attrs": {"href": "/x"}}]}
    assert to_html(doc(linked)) == (
        f'<figure class="rich-figure"><a href="/x">{IMG}</a><figcaption>c</figcaption></figure>'
    )
    foreign = doc(
        {**image(caption="c"), "attrs": {"src": "https://e.org/a.png", "alt": "A", "caption": "c"}}
    )
    assert to_html(foreign, remote_images=False) == (
        '<figure class="rich-figure"><p>A</p><figcaption>c</figcaption></figure>'
    )
    assert to_text(doc(laid_out)) == 'A cup A "cup" & tea'


def test_unknown_values_are_problems_and_never_reach_a_page() -> None:
    wrong = doc(image(align="top", size='x" onload="', caption=3))

    assert validate(wrong) == [
        f"doc.content.0.content.0: image cannot have {name} = {value!r}."
        for name, value in (("align", "top"), ("size", 'x" onload="'), ("caption", "3"))
    ]
    assert to_html(wrong) == f"<p>{IMG}</p>"
    assert validate(doc(image(align=None, size=None, caption=None))) == []


def test_the_layout_is_written_after_the_image_in_markdown() -> None:
    laid_out = doc(image(caption='A "cup" [1]', align="left", size="small"), text("{size=full} x"))

    markdown = to_markdown(laid_out)

    assert markdown == (
        '![A cup](/cup.png){align=left size=small caption="A \\"cup\\" \\[1\\]"}{size=full} x\n'
    ).replace("}{size", "}&#123;size")
    assert from_markdown(markdown) == laid_out
    # Braces of other tools stay text.
    for braces in ("{align=top}", "{width=50%}", "{size=full size=full}", "{.left}", "{}"):
        read = from_markdown(f"![A cup](/cup.png){braces}")
        assert read == doc(image(), text(braces)), braces
    assert from_markdown("a {align=left}") == doc(text("a {align=left}"))


def test_a_change_of_caption_or_place_is_shown_as_a_change_of_the_image() -> None:
    shape = ValueShape("richtext")
    before, after = doc(image(caption="Old", align="left")), doc(image(caption="New", align="left"))

    found = compare(before, after, shape).differences

    assert [(one.kind, one.before, one.after) for one in found] == [
        (
            "image",
            "/cup.png · alt: “A cup” · align: left · caption: Old",
            "/cup.png · alt: “A cup” · align: left · caption: New",
        )
    ]
    bare = compare(doc(image()), doc(image(size="small")), shape).differences
    assert [one.kind for one in bare] == ["image"]


def test_a_caption_is_translated_as_a_text_of_its_own() -> None:
    source = doc(text("Before "), image(caption="A caption", size="small"))
    segments = segments_of(source, "u1")

    assert segments.alts == {"1": "A cup", f"1{CAPTION}": "A caption"}
    placeholder = next(segments.sources[0].iter("{urn:oasis:names:tc:xliff:document:2.0}ph"))
    assert placeholder.get("subFlows") == f"u1:alt-1 u1:alt-1{CAPTION}"
    texts = {"1": "Eine Tasse", f"1{CAPTION}": "Eine Beschriftung"}
    made, missing = document_of(source, segments.sources, segments.codes, alts=texts)
    assert missing == []
    expected = {"src": "/cup.png", "alt": "Eine Tasse", "title": None}
    expected |= {"caption": "Eine Beschriftung", "size": "small"}
    assert made["content"][0]["content"][1]["attrs"] == expected
    again = with_alts(made, segments.codes, {f"1{CAPTION}": "Neu"})
    assert again["content"][0]["content"][1]["attrs"] == {**expected, "caption": "Neu"}


def test_figures_of_other_systems_keep_caption_and_place() -> None:
    figure = "<figure class='wp-block-image alignright'>%s<figcaption>%s</figcaption></figure>"
    picture = "<img src='/cup.png' alt='A cup'>"

    assert (
        blocks_of_html(figure % (picture, "A <b>good</b> cup"))
        == doc(image(caption="A good cup", align="right"))["content"]
    )
    # A caption with a link, and that of several images, stay paragraphs.
    for inside in ((picture, "by <a href='/me'>me</a>"), (picture * 2, "Two cups")):
        found = blocks_of_html(figure % inside)
        assert [block["type"] for block in found] == ["paragraph", "paragraph"]
    assert (
        blocks_of_html("<p>a <img class='alignleft' src='/cup.png' alt='A cup'></p>")
        == doc(text("a "), image(align="left"))["content"]
    )
