"""Text typed into a field before its script has loaded stays, and triggers no shortcuts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Post
from proofroom.definitions.richtext.markdown_reader import from_markdown
from tests import make
from tests.browser.test_menus import a_menu
from tests.browser.test_rich_text import save, text_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
BUNDLE = "**/richtext*.js"
SENTENCE = "A sentence at once, and nothing of it is lost. "


class Held:
    """A request that is not answered until `release`."""

    def __init__(self, page: Any, address: str, *, is_open: bool = False) -> None:
        self.routes: list[Any] = []
        self.is_open = is_open
        page.route(address, self.hold)

    def hold(self, route: Any) -> None:
        if self.is_open:
            route.continue_()
        else:
            self.routes.append(route)

    def release(self) -> None:
        self.is_open = True
        for route in self.routes:
            route.continue_()


def field_of(page: Any, post: Post) -> Any:
    """Return the prose textarea, whose editor has not loaded."""
    page.goto(f"/admin/content/post/{post.pk}/change/")
    area = page.locator(f"#m-{make.module_id(post, 'prose')} textarea.richtext")
    area.scroll_into_view_if_needed()
    area.click()
    return area


def editor_of(page: Any, post: Post) -> Any:
    return page.locator(f"#m-{make.module_id(post, 'prose')} .rt-page")


def test_words_typed_before_the_editor_loads_go_on_in_it(open_page: Any) -> None:
    post = make.post(markdown="Before.")
    page = open_page()
    held = Held(page, BUNDLE)
    area = field_of(page, post)
    area.press("Control+End")

    page.keyboard.type(" " + SENTENCE)
    held.release()
    editor_of(page, post).wait_for()
    page.keyboard.type("More of it.")
    save(page)

    expect(page.locator("dialog[open]")).to_have_count(0)
    assert text_of(post) == from_markdown(f"Before. {SENTENCE}More of it.")


def test_typing_goes_on_while_the_editor_takes_the_place_of_the_field(open_page: Any) -> None:
    post = make.post(markdown="")
    page = open_page()
    held = Held(page, BUNDLE)
    field_of(page, post)
    words = "".join(f"word{number} " for number in range(60))

    page.keyboard.type(words[:80])
    held.release()
    page.keyboard.type(words[80:] + "end", delay=15)
    editor_of(page, post).wait_for()
    save(page)

    assert text_of(post) == from_markdown(words + "end")


@pytest.mark.parametrize(
    ("markdown", "keys", "expected"),
    [
        ("one\n\ntwo", ["Control+Home", "End"], "oneX\n\ntwo"),
        ("# Head\n\ntwo", ["Control+Home"], "# XHead\n\ntwo"),
        ("- a\n- b", ["Control+Home", "End"], "- aX\n- b"),
        ("a **bold** end", ["Control+Home", *["ArrowRight"] * 5], "a **bXold** end"),
        ("a [link](/there) end", ["Control+End"], "a [link](/there) endX"),
        ("one two", ["Control+Home", *["Shift+ArrowRight"] * 3], "X two"),
    ],
)
def test_the_cursor_stays_where_it_was(
    open_page: Any, markdown: str, keys: list[str], expected: str
) -> None:
    post = make.post(markdown=markdown)
    page = open_page()
    held = Held(page, BUNDLE)
    area = field_of(page, post)
    for key in keys:
        area.press(key)

    held.release()
    expect(editor_of(page, post)).to_be_focused()
    page.keyboard.type("X")
    save(page)

    assert text_of(post) == from_markdown(expected)


def test_the_cursor_of_a_typed_text_stays_within_its_lines(open_page: Any) -> None:
    post = make.post(markdown="")
    page = open_page()
    held = Held(page, BUNDLE)
    area = field_of(page, post)
    page.keyboard.type("## Steps\n\n- first\nlast words")
    for key in ("ArrowUp", "Home", "ArrowRight", "ArrowRight"):
        area.press(key)

    held.release()
    expect(editor_of(page, post)).to_be_focused()
    page.keyboard.type("very ")
    save(page)

    assert text_of(post) == from_markdown("## Steps\n\n- very first\nlast words")


def test_what_was_typed_before_can_be_undone_and_redone(open_page: Any) -> None:
    post = make.post(markdown="Before.")
    page = open_page()
    held = Held(page, BUNDLE)
    area = field_of(page, post)
    area.press("Control+End")
    page.keyboard.type(" After.")
    held.release()
    editor = editor_of(page, post)
    expect(editor).to_have_text("Before. After.")

    page.keyboard.press("Control+z")
    expect(editor).to_have_text("Before.")
    page.keyboard.press("Control+Shift+z")
    expect(editor).to_have_text("Before. After.")
    save(page)

    assert text_of(post) == from_markdown("Before. After.")


def test_a_word_that_is_composed_is_not_broken_off(open_page: Any) -> None:
    post = make.post(markdown="")
    page = open_page()
    held = Held(page, BUNDLE)
    area = field_of(page, post)
    method = page.context.new_cdp_session(page)
    method.send("Input.imeSetComposition", {"text": "にほ", "selectionStart": 2, "selectionEnd": 2})

    with page.expect_response("**/vendor/richtext*.js"):
        held.release()
    method.send(
        "Input.imeSetComposition", {"text": "にほん", "selectionStart": 3, "selectionEnd": 3}
    )
    expect(area).to_be_visible()
    expect(area).to_have_value("にほん")
    method.send("Input.insertText", {"text": "日本"})
    expect(editor_of(page, post)).to_have_text("日本")
    save(page)

    assert text_of(post) == from_markdown("日本")


def test_a_form_sent_before_the_editor_loads_saves_the_words(open_page: Any) -> None:
    post = make.post(markdown="Before.")
    page = open_page()
    Held(page, BUNDLE)
    area = field_of(page, post)
    area.press("Control+End")

    page.keyboard.type(" After.")
    save(page)

    assert text_of(post) == from_markdown("Before. After.")


def test_what_is_typed_over_words_that_were_refused_is_sent(open_page: Any) -> None:
    post = make.post(markdown="Before.")
    page = open_page()
    held = Held(page, BUNDLE, is_open=True)
    page.goto(f"/admin/content/post/{post.pk}/change/")
    page.locator(f"#m-{make.module_id(post, 'prose')}").scroll_into_view_if_needed()
    editor = editor_of(page, post)
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" Refused.")
    page.fill("[name='post.slug']", "not a slug!")
    page.locator("[data-save-state][data-state=dirty]").wait_for()
    held.is_open = False
    page.locator("[name=do][value=save]").first.click()
    page.locator("[aria-invalid=true]").first.wait_for()
    area = page.locator(f"#m-{make.module_id(post, 'prose')} textarea.richtext")
    area.click()
    area.press("Control+End")

    page.keyboard.type(" Typed.")
    page.fill("[name='post.slug']", "a-slug")
    held.release()
    expect(editor_of(page, post)).to_have_text("Before. Refused. Typed.")
    save(page)

    assert text_of(post) == from_markdown("Before. Refused. Typed.")


def test_letters_rest_after_the_field_below_them_went_away(open_page: Any) -> None:
    page = open_page()
    page.goto("/admin/")
    page.evaluate(
        """() => {
          const area = document.createElement("textarea");
          area.id = "gone";
          document.querySelector("main").prepend(area);
          area.focus();
        }"""
    )
    page.keyboard.type("letters")
    menu = page.locator("[data-new-menu]")

    page.evaluate("() => document.querySelector('#gone').remove()")
    page.keyboard.type("cc cc")
    expect(menu).not_to_have_attribute("open", "")
    page.wait_for_timeout(1100)
    page.keyboard.press("c")

    expect(menu).to_have_attribute("open", "")


def test_letters_are_keys_at_once_where_the_field_was_left(open_page: Any) -> None:
    page = open_page()
    page.goto("/admin/")
    page.locator("[data-open-palette]").click()
    page.keyboard.type("words")

    page.keyboard.press("Escape")
    page.keyboard.press("c")

    expect(page.locator("[data-new-menu]")).to_have_attribute("open", "")


def test_words_typed_before_the_editor_of_the_post_runs_can_be_saved(open_page: Any) -> None:
    post = make.post("Before", markdown="")
    page = open_page()
    held = Held(page, "**/editor/editor*.js")
    page.goto(f"/admin/content/post/{post.pk}/change/", wait_until="commit")

    page.fill("[name='post.title']", "Typed at once")
    held.release()
    save(page)

    post.refresh_from_db()
    assert post.title == "Typed at once"


def test_words_of_a_new_post_typed_before_its_script_are_kept(open_page: Any) -> None:
    page = open_page()
    held = Held(page, "**/editor/autosave*.js")
    page.goto("/admin/content/post/add/?type=blog", wait_until="commit")

    page.fill("#title", "Typed at once")
    with page.expect_response("**/autosave/**"):
        held.release()


def test_a_module_that_arrives_takes_no_focus_from_typing(open_page: Any) -> None:
    post = make.post("Before", markdown="")
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/change/")
    title = page.locator("[name='post.title']")
    held = Held(page, "**/module/**")
    page.locator("[data-pick-open]").first.click()
    page.keyboard.type("callout")
    page.keyboard.press("Enter")
    title.click()
    page.keyboard.press("End")
    page.keyboard.type(" and")

    held.release()
    page.locator("[data-module^='new-'] [data-controls]").wait_for()
    page.keyboard.type(" after")

    expect(title).to_have_value("Before and after")


def test_the_next_tag_is_typed_while_the_one_before_is_created(open_page: Any) -> None:
    for number in range(13):
        make.term(f"Topic {number}", taxonomy="tags")
    post = make.post("Tagged", markdown="")
    page = open_page("admin")
    page.goto(f"/admin/content/post/{post.pk}/change/")
    held = Held(page, "**/api/taxonomies/*/terms")
    search = page.locator("[data-creatable] .reference-search").first
    search.press_sequentially("Milk")
    page.get_by_role("option", name="Milk").first.wait_for()
    search.press("ArrowDown")
    search.press("Enter")

    search.fill("")
    search.press_sequentially("Oat")
    held.release()
    page.locator("[data-checks] .check", has_text="Milk").wait_for()

    expect(search).to_have_value("Oat")


def test_what_is_typed_while_a_row_is_added_stays(open_page: Any) -> None:
    page = open_page()
    page.goto(a_menu("Home"))
    held = Held(page, "**/proofroom_menus/menu/*/change/")
    page.fill("#new-label", "Tea")
    page.fill("#new-url", "/tea")
    page.get_by_role("button", name="Add", exact=True).click()

    page.fill("#new-label", "Coffee")
    held.release()
    page.get_by_role("button", name="Move Tea", exact=True).wait_for()

    expect(page.locator("#new-label")).to_have_value("Coffee")
    expect(page.locator("#new-url")).to_have_value("")


def test_enter_in_a_search_takes_nothing_of_the_words_before(open_page: Any) -> None:
    make.post("Green tea", slug="green")
    make.post("Black coffee", slug="black")
    page = open_page()
    page.goto(a_menu("Home"))
    find = page.get_by_label("Find a page")
    find.press_sequentially("green")
    page.locator(".menu-found button", has_text="Green tea").wait_for()

    find.fill("")
    page.keyboard.type("black")
    page.keyboard.press("Enter")
    expect(page.locator(".menu-found button", has_text="Black coffee")).to_be_focused()


def test_leaving_a_link_field_while_it_searches_keeps_what_is_typed(open_page: Any) -> None:
    make.post("Green tea", slug="green")
    post = make.post("Links", markdown="")
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/change/")
    page.locator("#f-post-canonicalUrl, [data-link=link]").first.wait_for(state="attached")
    link = page.locator("input[data-link=link]:visible").first
    link.scroll_into_view_if_needed()
    link.click()
    page.keyboard.type("green")
    page.get_by_role("option", name="Green tea").wait_for()
    page.keyboard.press("ArrowDown")

    page.keyboard.type(" olive")
    page.keyboard.press("Tab")

    expect(link).to_have_value("green olive")
