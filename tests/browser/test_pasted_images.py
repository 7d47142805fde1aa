"""External images in pasted text, and the `/` menu, in a real browser."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from playwright.sync_api import expect

from media.models import Asset
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.schema import validate
from proofroom_apps.imports.html_reader import SOURCE_IDS, blocks_of_html, frames_to_links
from tests import make
from tests.browser.test_looks import serious_in_any_light
from tests.browser.test_rich_text import PASTE, editor_of, go_to_end, save, text_of
from tests.imports.html_cases import CASES
from tests.media.pictures import picture
from tests.receiver import Reply, reach, serving

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASTE_FILE = """(place, bytes) => {
  const data = new DataTransfer();
  const content = Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0));
  data.items.add(new File([content], "image.png", { type: "image/png" }));
  place.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""

COPY = """(place) => {
  const data = new DataTransfer();
  place.dispatchEvent(new ClipboardEvent("copy", { clipboardData: data, bubbles: true, cancelable: true }));
  return ["text/html", "text/plain"].map((kind) => data.getData(kind));
}"""


def encoded(size: tuple[int, int]) -> str:
    return base64.b64encode(picture("PNG", size)).decode()


def images_of(document: Any) -> list[tuple[str, str]]:
    nodes = [node for block in document["content"] for node in block.get("content", [])]
    return [
        (node["attrs"]["src"], node["attrs"]["alt"]) for node in nodes if node["type"] == "image"
    ]


def words_of(document: Any) -> str:
    nodes = [node for block in document["content"] for node in block.get("content", [])]
    return "|".join(node.get("text", "*") for node in nodes)


def test_pasted_images_come_into_the_library(open_page: Any, settings: Any) -> None:
    post = make.post(markdown="")
    reach(settings)
    page = open_page()
    with serving() as other:
        other.say("/beans.png", Reply(body=picture("PNG", (60, 30))))
        html = (
            f'<p>One <img src="{other.url("/beans.png")}" alt="Beans"> two '
            f'<img src="data:image/png;base64,{encoded((40, 20))}" alt="Data"> three '
            f'<img src="{other.url("/gone.png")}" alt="Gone"><img src="file:///C:/image001.png">'
            f'<img src="{other.url("/pixel.gif")}" width="1" height="1"></p>'
        )
        other.say("/gone.png", Reply(404))
        editor = editor_of(page, post)
        editor.click()
        editor.evaluate(PASTE, html)
        panel = page.locator(".rt-images")
        expect(panel.locator("[data-images-said]")).to_have_text(
            "The pasted text contains 4 images from elsewhere."
        )
        assert other.requests == []
        assert serious_in_any_light(page) == []
        panel.get_by_role("button", name="Import 4 images into the library").click()
        expect(panel.locator("[data-images-said]")).to_have_text(
            "2 images imported. 2 images could not be imported. Markers show their places and "
            "are not saved."
        )
        reasons = panel.locator("li").all_inner_texts()
        assert serious_in_any_light(page) == []
        panel.get_by_role("button", name="Close").click()
        expect(panel).to_be_hidden()
        markers = page.locator(".rt-page .rt-marker").all_inner_texts()
        page.keyboard.press("Control+a")
        copied = editor.evaluate(COPY)
        save(page)

    assert reasons == [
        "gone.png The other site responded with status 404.",
        "image001.png It is a file on the computer it was copied from. Insert it from there.",
    ]
    assert markers == ["[Image not imported: Gone]", "[Image not imported: image001.png]"]
    assert ["not imported" in one or "three" not in one for one in copied] == [False, False]
    made = {asset.alt_text: asset for asset in Asset.objects.all()}
    document = text_of(post)
    assert images_of(document) == [
        (made[name].file.storage.url(made[name].file.name), name) for name in ("Beans", "Data")
    ]
    assert words_of(document) == "One |*| two |*| three "


def test_what_is_left_out_or_not_decided_is_never_loaded(open_page: Any) -> None:
    posts = [make.post("Undecided", markdown=""), make.post("Left out", markdown="")]
    page = open_page()
    html = '<p>Before <img src="https://pictures.example/a.png" alt="A"> after</p>'
    for post in posts:
        editor = editor_of(page, post)
        editor.click()
        editor.evaluate(PASTE, html)
        button = page.locator(".rt-images").get_by_role("button", name="Leave it out")
        button.wait_for()
        if post.title == "Left out":
            button.click()
        save(page)

    assert [words_of(text_of(post)) for post in posts] == [
        "Before  after",
        "Before  after",
    ]
    assert not Asset.objects.exists()


def test_a_picture_on_the_clipboard_is_imported_and_undo_takes_it_out(open_page: Any) -> None:
    posts = [make.post("Kept", markdown="Text"), make.post("Undone", markdown="Text")]
    page = open_page()
    for post in posts:
        editor = editor_of(page, post)
        go_to_end(page, editor)
        editor.evaluate(PASTE_FILE, encoded((60, 30)))
        page.get_by_role("button", name="Import image into the library").click()
        page.locator(".rt-page img.rt-image").wait_for()
        if post.title == "Undone":
            editor.focus()
            page.keyboard.press("Control+z")
            page.locator(".rt-page img.rt-image").wait_for(state="detached")
            page.keyboard.type("!")
        save(page)

    made = Asset.objects.get()
    assert images_of(text_of(posts[0])) == [(made.file.storage.url(made.file.name), "")]
    assert words_of(text_of(posts[1])).replace("!", "") == "Text"


def test_users_who_may_not_upload_are_refused(open_page: Any) -> None:
    post = make.post(markdown="", locale="de")
    page = open_page("translator")
    editor = editor_of(page, post)
    editor.click()
    editor.evaluate(PASTE, '<p><img src="https://pictures.example/a.png" alt="A"></p>')

    expect(page.locator("[data-images-said]")).to_contain_text("Your role cannot upload images")
    expect(page.get_by_role("button", name="Import")).to_have_count(0)


def test_a_slash_on_an_empty_line_inserts_blocks(open_page: Any) -> None:
    post = make.post(markdown="")
    page = open_page()
    editor = editor_of(page, post)
    editor.click()
    menu = page.locator(".rt-menu")
    page.keyboard.type("/")
    expect(menu).to_be_visible()
    expect(menu.get_by_role("option")).to_have_count(12)
    active = editor.get_attribute("aria-activedescendant")
    assert menu.locator(f"#{active}").inner_text().startswith("Heading 2")
    assert serious_in_any_light(page) == []
    page.keyboard.type("h3")
    page.keyboard.press("Enter")
    page.keyboard.type("Steps\n/numbered")
    page.keyboard.press("Enter")
    page.keyboard.type("grind")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.type("/quo")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    page.keyboard.type("said")
    assert editor.get_attribute("aria-activedescendant") is None
    save(page)

    kinds = [block["type"] for block in text_of(post)["content"]]
    assert kinds == ["heading", "orderedList", "blockquote"]


def test_a_typed_slash_stays_where_nothing_is_chosen(open_page: Any) -> None:
    post = make.post(markdown="")
    page = open_page()
    editor_of(page, post).click()
    menu = page.locator(".rt-menu")
    page.keyboard.type("and/or")
    expect(menu).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.type("/")
    expect(menu).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    page.keyboard.type("head")
    expect(menu).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.type("/usr/bin")
    expect(menu).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.type("/ ")
    expect(menu).to_be_hidden()
    page.keyboard.type("x")
    save(page)

    texts = [block["content"][0]["text"] for block in text_of(post)["content"]]
    assert texts == ["and/or", "/head", "/usr/bin", "/ x"]


def test_a_slash_adds_a_module_below(open_page: Any) -> None:
    post = make.post(markdown="Text")
    page = open_page()
    go_to_end(page, editor_of(page, post))
    page.keyboard.type("\n/add module")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("searchbox").or_(
        page.locator("[data-picker-words]")
    ).first.wait_for()
    page.keyboard.type("callout")
    page.locator("[data-pick]:not([hidden])").first.wait_for()
    page.keyboard.press("Enter")
    page.locator("[data-module^=new-]").wait_for()

    after = page.locator(f"#m-{make.module_id(post, 'prose')} + [data-module]")
    expect(after).to_have_attribute("data-module", "new-1")
    assert page.locator(".rt-page").first.inner_text().strip() == "Text"


PASTED = """async (sources) => {
  const { createEditor, documentOf } = await import("/static/cms/vendor/richtext.js");
  return sources.map((html) => {
    const content = { type: "doc", content: [{ type: "paragraph" }] };
    const editor = createEditor({
      element: document.createElement("div"), content, attributes: {}, onChange() {}, onMove() {}, onImages() {},
      note: (name) => `[Image not imported: ${name}]`,
    });
    editor.view.pasteHTML(html);
    return documentOf(editor);
  });
}"""


def imported(html: str) -> dict[str, Any]:
    blocks = frames_to_links(blocks_of_html(html))
    for block in blocks:
        attrs = block.get("attrs")
        if isinstance(attrs, dict):
            attrs.pop(SOURCE_IDS, None)
    return {"type": "doc", "content": blocks}


def test_the_editor_and_the_importer_make_the_same_of_html(open_page: Any) -> None:
    page = open_page()
    page.goto("/admin/")

    pasted = page.evaluate(PASTED, [html for html, _said in CASES])

    assert [to_markdown(document).strip() for document in pasted] == [said for _html, said in CASES]
    assert [validate(document) for document in pasted] == [[]] * len(CASES)
    assert pasted == [imported(html) for html, _said in CASES]
