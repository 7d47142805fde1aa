"""The rich-text editor in a real browser: its output, preserved content, and rejected content."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Post
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.schema import validate
from tests import make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

EVERYTHING = {
    "type": "doc",
    "content": [
        *[
            {
                "type": "heading",
                "attrs": {"level": level},
                "content": [{"type": "text", "text": f"Level {level}"}],
            }
            for level in range(1, 7)
        ],
        {
            "type": "paragraph",
            "content": [
                {
                    "type": "text",
                    "text": "all",
                    "marks": [
                        {
                            "type": "link",
                            "attrs": {"href": "/a", "title": "Where", "target": "_blank"},
                        },
                        {"type": "bold"},
                        {"type": "italic"},
                        {"type": "strike"},
                        {"type": "superscript"},
                        {"type": "subscript"},
                        {"type": "code"},
                    ],
                },
                {"type": "hardBreak"},
                {
                    "type": "image",
                    "attrs": {
                        "src": "/static/cms/favicon.svg",
                        "alt": "A",
                        "title": "T",
                        "caption": "C",
                        "align": "left",
                        "size": "small",
                    },
                },
            ],
        },
        {"type": "paragraph"},
        {
            "type": "orderedList",
            "attrs": {"start": 3, "type": "a"},
            "content": [
                {
                    "type": "listItem",
                    "content": [
                        {"type": "paragraph", "content": [{"type": "text", "text": "one"}]},
                        {
                            "type": "bulletList",
                            "content": [
                                {
                                    "type": "listItem",
                                    "content": [
                                        {"type": "paragraph"},
                                        {"type": "codeBlock", "attrs": {"language": "c++"}},
                                    ],
                                }
                            ],
                        },
                    ],
                }
            ],
        },
        {
            "type": "blockquote",
            "content": [
                {"type": "paragraph", "content": [{"type": "text", "text": "said"}]},
                {"type": "horizontalRule"},
            ],
        },
        {
            "type": "codeBlock",
            "attrs": {"language": None},
            "content": [{"type": "text", "text": "x = 1\n\ty"}],
        },
        {
            "type": "table",
            "content": [
                {
                    "type": "tableRow",
                    "content": [
                        {
                            "type": "tableHeader",
                            "attrs": {"colspan": 2, "align": "right"},
                            "content": [{"type": "paragraph"}],
                        }
                    ],
                },
                {
                    "type": "tableRow",
                    "content": [
                        {"type": "tableCell", "content": [{"type": "paragraph"}]},
                        {
                            "type": "tableCell",
                            "attrs": {"colwidth": [120]},
                            "content": [{"type": "paragraph"}, {"type": "paragraph"}],
                        },
                    ],
                },
            ],
        },
    ],
}
KNOWN = {
    "nodes": "blockquote bulletList codeBlock doc hardBreak heading horizontalRule image importedImage listItem "
    "orderedList paragraph table tableCell tableHeader tableRow text",
    "marks": "bold code italic link strike subscript superscript",
}
OPENED = """async (content) => {
  const { createEditor, documentOf } = await import("/static/cms/vendor/richtext.js");
  const place = document.createElement("div");
  const editor = createEditor({ element: place, content, attributes: {}, onChange() {}, onMove() {} });
  const names = (kind) => Object.keys(editor.schema[kind]).sort().join(" ");
  return { document: documentOf(editor), nodes: names("nodes"), marks: names("marks") };
}"""
PASTE = """(place, html) => {
  const data = new DataTransfer();
  data.setData("text/html", html);
  place.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""
DIRTY = """<html><head><style>p { color: red }</style></head><body><!--StartFragment-->
<h1 class="x">A <i>title</i></h1>
<b style="font-weight:normal" id="docs-internal-guid-1"><p dir="ltr" style="line-height:1.4"><span
style="font-weight:700;color:#f00">Bold</span> <span style="font-style:italic">slanted</span></p></b>
<p class="MsoListParagraph" style="margin-left:36pt;mso-list:l0 level1 lfo1"><![if !supportLists]><span
style="mso-list:Ignore">·<span style="font:7pt">&nbsp; </span></span><![endif]>first<o:p></o:p></p>
<p class="MsoListParagraph" style="mso-list:l0 level2 lfo1"><span style="mso-list:Ignore">o </span>inner</p>
<p class="MsoListParagraph" style="mso-list:l0 level1 lfo1"><span style="mso-list:Ignore">· </span>second</p>
<p class="MsoListParagraph" style="mso-list:l1 level1 lfo2"><span style="mso-list:Ignore">3. </span>third</p>
<p class="MsoListParagraph" style="mso-list:l1 level1 lfo2"><span style="mso-list:Ignore">4. </span>fourth</p>
<p onclick="alert(1)">A <a href="javascript:alert(1)">bad</a> and a <a href="https://example.com/" class="x">good</a>
link<script>alert(1)</script><img src="data:image/png;base64,AAAA" onerror="alert(1)"></p>
<figure><img src="/static/cms/favicon.svg" alt="F"><figcaption>From a
<b>site</b></figcaption></figure><p><img src="/static/cms/favicon.svg" alt="W"></p><p
class="MsoCaption">Figure 1</p><p class="MsoCaption">No image</p>
<font color="red"><u>plain</u></font><iframe src="https://example.com"></iframe></body></html>"""
CLEAN = """## A _title_

**Bold** _slanted_

- first
  - inner
- second

3. third
4. fourth

A bad and a [good](https://example.com/) link

![F](/static/cms/favicon.svg){caption="From a site"}

![W](/static/cms/favicon.svg){caption="Figure 1"}

No image

plain"""


def text_of(post: Post) -> Any:
    post.refresh_from_db()
    module = make.layers(post).live.module(make.module_id(post, "prose"))
    assert module is not None
    return module.props["content"]


def settle(editor: Any) -> None:
    """Wait until the editor has the selection. It sets its own 20 ms after the focus, which would undo
    earlier keys.
    """
    editor.evaluate("() => new Promise((done) => { setTimeout(done, 50); })")


def go_to_end(page: Any, editor: Any) -> None:
    editor.click()
    settle(editor)
    page.keyboard.press("Control+End")


def editor_of(page: Any, post: Post) -> Any:
    """Return the prose editor, which loads when its field is near the viewport."""
    page.goto(f"/admin/content/post/{post.pk}/change/")
    card = page.locator(f"#m-{make.module_id(post, 'prose')}")
    card.scroll_into_view_if_needed()
    found = card.locator(".rt-page")
    found.wait_for()
    return found


def save(page: Any) -> None:
    page.locator("[data-save-state][data-state=dirty]").wait_for()
    page.locator("[name=do][value=save]").first.click()
    page.locator("[data-save-state][data-state=clean]").wait_for()


def test_what_is_written_is_stored_as_it_looks(open_page: Any) -> None:
    post, image = make.post(markdown="A _first_ line."), make.image("scales.png", alt_text="Scales")
    other = make.post("Grinding by hand")
    page = open_page()
    editor = editor_of(page, post)
    go_to_end(page, editor)
    page.keyboard.type("\n## What you need\nBring ")
    page.keyboard.press("Control+b")
    page.keyboard.type("scales")
    page.keyboard.press("Control+b")
    page.keyboard.type(" and see ")
    page.keyboard.press("Control+k")
    page.keyboard.type("grind")
    page.get_by_role("option", name="Grinding by hand").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator(".rt-link [data-state=live]").wait_for()
    page.get_by_role("button", name="Insert link").click()
    editor.get_by_role("link", name="Grinding by hand").wait_for()
    settle(editor)
    page.keyboard.type("\n- coffee\nwater\n\n")
    page.locator(".rt [data-do=image]").click()
    page.locator("dialog [data-pick]").first.dblclick()
    # The library has an alt text, so none is asked for.
    page.locator("img.rt-image").wait_for()
    page.keyboard.press("ArrowLeft")
    bar = page.locator(".rt-image-bar")
    bar.wait_for()
    page.keyboard.press("Enter")
    page.keyboard.type("Accurate to a gram")
    bar.get_by_role("button", name="Align left, text on the right").click()
    bar.get_by_role("button", name="Small").click()
    bar.get_by_label("Alt text").fill("Kitchen scales")
    page.keyboard.press("Escape")
    page.locator(".rt-figure[data-place=left][data-size=small]").wait_for()
    page.keyboard.press("ArrowRight")
    bar.wait_for(state="hidden")

    save(page)

    url = image.file.storage.url(image.file.name)
    assert text_of(post) == from_markdown(
        "A _first_ line.\n\n## What you need\n\n"
        f"Bring **scales** and see [Grinding by hand]({other.path})\n\n- coffee\n- water\n\n![Kitchen scales]({url})"
        '{align=left size=small caption="Accurate to a gram"}'
    )


def test_every_kind_of_node_stays_and_dirty_text_comes_in_clean(open_page: Any) -> None:
    post = make.post(markdown="")
    assert validate(EVERYTHING) == []
    page = open_page(blocks_handlers=True)
    editor = editor_of(page, post)

    found = page.evaluate(OPENED, EVERYTHING)
    editor.click()
    editor.evaluate(PASTE, DIRTY)
    save(page)

    assert found == {"document": EVERYTHING, **KNOWN}
    assert text_of(post) == from_markdown(CLEAN)


def test_markdown_says_the_same_with_scripts_and_without(open_page: Any) -> None:
    posts = [make.post("With", markdown=""), make.post("Without", markdown="")]
    text = "## Steps\n\n1. grind\n2. pour\n\n> slowly, **slowly**"
    page = open_page()
    editor_of(page, posts[0])
    page.get_by_role("button", name="Markdown", exact=True).click()
    page.locator("textarea.richtext:visible").fill(text)
    page.get_by_role("button", name="Rich text", exact=True).click()
    page.locator(".rt-page ol").wait_for()
    save(page)
    plain = open_page("admin", scripts=False)
    plain.goto(f"/admin/content/post/{posts[1].pk}/change/")
    plain.locator("textarea.richtext").first.fill(text)
    plain.locator("[name=do][value=save]").first.click()
    plain.wait_for_load_state()

    assert [text_of(post) for post in posts] == [from_markdown(text)] * 2
