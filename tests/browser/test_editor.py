"""The post form in a browser: by keyboard, restored after a crash, shared by two users, and without scripts."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from content.models import Autosave, Post
from content.posts.edit import edit_post
from content.posts.page_lock import lock_page
from content.store import document_edits
from tests import make
from tests.browser.test_looks import serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def opened(page: Any, post: Post) -> None:
    page.goto(f"/admin/content/post/{post.pk}/change/")
    page.wait_for_selector("[data-edit][data-ready]")


def kinds(post: Post) -> list[str]:
    return [module.type for module in make.layers(post).live.modules]


def added(page: Any, words: str, name: str) -> Any:
    """Add a module with the keyboard only."""
    page.locator(".module-item > details > summary").last.focus()
    page.keyboard.press("n")
    page.wait_for_selector(".pick:visible")
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    return page.wait_for_selector(f"[data-module={name}] [data-controls] :focus")


def ask_twice(page: Any) -> None:
    """Add two items to the module's list, and move the second to the front."""
    page.locator("#m-new-2 button", has_text="Add question").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#m-new-2 [data-item] :focus")
    page.keyboard.type("First?")
    page.locator("#m-new-2 [data-item] button", has_text="Duplicate").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#m-new-2 [data-item$='items.1'] :focus")
    page.keyboard.press("Control+A")
    page.keyboard.type("Second?")
    page.locator("#m-new-2 [data-item$='items.1'] > [data-item-handle]").focus()
    page.keyboard.press("ArrowUp")


def copy_remove_and_undo(page: Any) -> None:
    """Copy the callout, remove the copy and undo."""
    page.locator("#m-new-1 > details > summary").focus()
    page.keyboard.press("d")
    page.wait_for_selector("#m-new-3 [data-controls] :focus")
    page.locator("#m-new-3 > details > summary").focus()
    page.keyboard.press("x")
    page.wait_for_selector("#m-new-3[data-removed] .module-undo button:focus")
    page.keyboard.press("Enter")
    page.wait_for_selector("#m-new-3:not([data-removed])")


def test_a_post_is_built_by_keyboard_and_saved(open_page: Any) -> None:
    post = make.post()
    page = open_page()
    opened(page, post)

    added(page, "callout", "new-1")
    page.keyboard.type("A callout")
    added(page, "questions answers", "new-2")
    page.keyboard.type("More questions")
    ask_twice(page)
    page.locator("#m-new-2 > .module-tools [data-handle]").focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator("main p[role=status]", has_text="moved to")).to_contain_text(
        "moved to 4 of 5", use_inner_text=True
    )
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    copy_remove_and_undo(page)
    page.wait_for_selector("[data-save-state][data-state=dirty]")
    assert serious_in_any_light(page) == []
    with page.expect_navigation():
        page.keyboard.press("Control+s")

    assert kinds(post) == ["hero", "prose", "faq", "faq", "callout", "callout"]
    modules = make.layers(post).live.modules
    items: Any = modules[3].props["items"]
    assert [item["question"] for item in items] == ["Second?", "First?"]
    assert [module.props["title"] for module in modules[4:]] == ["A callout", "A callout"]


def test_saving_while_writing_in_a_new_module_keeps_the_cursor(open_page: Any) -> None:
    post = make.post()
    page = open_page()
    opened(page, post)

    added(page, "callout", "new-1")
    page.keyboard.type("A callout")
    with page.expect_navigation():
        page.keyboard.press("Control+s")
    page.wait_for_selector("[data-edit][data-ready]")
    page.wait_for_function("() => document.activeElement.value === 'A callout'")
    page.keyboard.press("End")
    page.keyboard.type(" and more")
    page.keyboard.press("Control+s")
    page.wait_for_selector("[data-save-state][data-state=clean]")

    assert make.layers(post).live.modules[-1].props["title"] == "A callout and more"


def test_what_was_typed_and_not_saved_comes_back_and_saving_keeps_the_place(
    open_page: Any,
) -> None:
    post = make.post()
    page = open_page()
    opened(page, post)
    page.fill("#f-post-title", "Typed before the crash")
    page.wait_for_selector("[data-save-state]:has-text('Unsaved changes backed up')")
    page.close(run_before_unload=False)

    page = open_page()  # another machine
    opened(page, post)
    bar = page.locator("[data-copy-offer]").bounding_box()
    assert bar["y"] + bar["height"] <= page.locator(".edit-main").bounding_box()["y"]
    assert serious_in_any_light(page) == []
    page.locator("[data-copy-offer] button", has_text="Restore").click()
    page.wait_for_selector("[data-edit][data-sent][data-ready]")
    assert page.input_value("#f-post-title") == "Typed before the crash"
    assert Post.objects.get(pk=post.pk).title == "How to brew filter coffee"
    page.fill("#f-post-title", "")
    page.keyboard.press("Control+s")
    page.wait_for_selector("#f-post-title[aria-invalid=true]")
    page.wait_for_selector("[data-edit][data-ready]")
    assert page.evaluate("() => document.activeElement.id") == "f-post-title"
    page.fill("#f-post-title", "Typed before the crash")
    page.fill("#f-post-excerpt", "Also this")
    page.keyboard.press("Control+s")
    page.wait_for_selector("[data-save-state][data-state=clean]")
    assert page.evaluate("() => document.activeElement.id") == "f-post-excerpt"
    post.refresh_from_db()
    assert (post.title, post.excerpt) == ("Typed before the crash", "Also this")

    opened(page, post)
    expect(page.locator("[data-copy-offer]")).to_have_count(0)
    assert not Autosave.objects.exists()


def test_text_survives_a_page_lock_that_came_while_it_was_typed(open_page: Any) -> None:
    post = make.post()
    page = open_page("editor")
    opened(page, post)
    page.fill("#f-post-excerpt", "Typed before the lock")
    until = timezone.now() + timedelta(hours=1)
    lock_page(post_id=post.pk, until=until, actor=make.actor("admin"))

    page.get_by_role("button", name="Publish changes").click()
    page.get_by_role("button", name="Break lock…").wait_for()
    expect(page.locator("#f-post-excerpt")).to_be_disabled()
    # The page stores no copy of its own, which would lack all fields.
    assert page.locator("[data-edit]").get_attribute("data-autosave") is None
    page.get_by_role("button", name="Break lock…").click()
    page.locator("dialog[open]").get_by_role("button", name="Break lock").click()
    page.locator("[data-copy-offer] button", has_text="Restore").click()
    page.wait_for_selector("[data-edit][data-sent][data-ready]")

    assert page.input_value("#f-post-excerpt") == "Typed before the lock"
    assert page.input_value("#f-post-title") == post.title


def test_input_typed_before_the_form_was_read_survives(open_page: Any) -> None:
    post = make.post()
    page = open_page()
    page.add_init_script(
        """if (self === top) document.addEventListener("readystatechange", () => {
            const form = document.querySelector("[data-edit]:not([data-ready])");
            if (!form) return;
            new MutationObserver((_, observer) => {
                observer.disconnect();
                const field = document.querySelector("#f-post-title");
                field.value = "Typed at once";
                field.dispatchEvent(new Event("input", { bubbles: true }));
            }).observe(form, { attributeFilter: ["data-ready"] });
        })"""
    )
    opened(page, post)

    page.wait_for_selector("[data-save-state]:has-text('Unsaved changes backed up')")

    assert ["post.title", "Typed at once"] in Autosave.objects.get().entries


def test_typing_past_the_offer_of_a_copy_loses_nothing(open_page: Any) -> None:
    post = make.post()
    for field in ("title", "excerpt"):
        page = open_page()
        opened(page, post)
        page.fill(f"#f-post-{field}", "Typed and left")
        page.wait_for_selector("[data-save-state]:has-text('Unsaved changes backed up')")
        page.close(run_before_unload=False)

    page = open_page()
    opened(page, post)
    offers = page.locator(".copy-offered")
    assert ["Excerpt" in offers.nth(0).inner_text(), "Title" in offers.nth(1).inner_text()] == [
        True,
        True,
    ]
    offers.nth(1).locator("button", has_text="Restore").click()
    page.wait_for_selector("[data-edit][data-sent][data-ready]")
    assert page.input_value("#f-post-title") == "Typed and left"
    expect(offers).to_contain_text("Excerpt", use_inner_text=True)
    page.wait_for_selector("[data-save-state]:has-text('Unsaved changes backed up')")
    assert Autosave.objects.count() == 2
    page.keyboard.press("Control+s")
    page.wait_for_selector("[data-save-state][data-state=clean]")
    (left,) = Autosave.objects.all()
    assert ["post.excerpt", "Typed and left"] in left.entries


def test_a_new_post_is_autosaved_before_it_is_created(open_page: Any) -> None:
    page = open_page()
    page.goto("/admin/content/post/add/")
    page.fill("#title", "Not created yet")
    page.wait_for_selector("[data-copy-state]:has-text('Unsaved changes backed up')")

    page = open_page()
    page.goto("/admin/content/post/add/")
    page.locator("[data-copy-offer] button", has_text="Restore").click()
    page.wait_for_function("() => document.querySelector('#title')?.value === 'Not created yet'")
    page.get_by_role("button", name="Create draft").click()
    page.wait_for_selector("[data-edit]")

    assert Post.objects.get().title == "Not created yet"
    assert not Autosave.objects.exists()


def test_two_editors_know_of_one_another_and_the_second_chooses(open_page: Any) -> None:
    post = make.post()
    first, second = open_page("admin"), open_page("editor")
    opened(first, post)
    opened(second, post)
    second.wait_for_selector(".person:has-text('admin')")
    first.wait_for_selector(".person:has-text('editor')")

    first.fill("#f-post-title", "By the first")
    first.keyboard.press("Control+s")
    first.wait_for_selector("[data-save-state][data-state=clean]")
    second.fill("#f-post-title", "By the second")
    second.keyboard.press("Control+s")
    choice = second.locator(".choice")
    choice.wait_for()
    assert serious_in_any_light(second) == []
    choice.locator("input[value=theirs]").check(force=True)
    second.fill("#f-post-excerpt", "Of the second")
    second.keyboard.press("Control+s")
    second.wait_for_selector(".choice", state="detached")

    post.refresh_from_db()
    assert (post.title, post.excerpt) == ("By the first", "Of the second")
    second.goto("/admin/password_change/")
    first.wait_for_selector(".person", state="detached")


def long_post() -> Post:
    """Create a post with enough modules to be collapsed."""
    post = make.post()

    def add(document: Any) -> Any:
        for number in range(9):
            document, _ = document_edits.add_module(
                document, type="callout", props={"title": f"No. {number}"}
            )
        return document

    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=add)
    return post


def test_a_long_post_works_without_scripts_and_on_a_phone(open_page: Any) -> None:
    post = long_post()
    last = make.layers(post).live.modules[-1].id
    page = open_page(scripts=False)
    page.goto(f"/admin/content/post/{post.pk}/change/")
    page.locator(f"#m-{last} > details > summary").click()
    page.locator(f"#m-{last} button", has_text="Show the fields").click()
    page.fill(f"#f-modules-{last}-props-title", "Without scripts")
    page.locator(f"#m-{last} button", has_text="Move up").click()
    page.get_by_role("button", name="Publish changes").click()
    page.wait_for_selector(".messagelist")

    modules = make.layers(post).live.modules
    assert (modules[-2].id, modules[-2].props["title"]) == (last, "Without scripts")
    phone = open_page("admin", width=360)
    opened(phone, post)
    phone.locator("[data-pick-open]").click()
    phone.wait_for_selector(".pick")
    assert phone.evaluate("() => document.documentElement.scrollWidth") <= 360
    assert serious_in_any_light(phone) == []


def test_a_module_is_found_by_its_name_before_any_description(open_page: Any) -> None:
    post = make.post()
    page = open_page()
    opened(page, post)

    added(page, "quote", "new-1")

    expect(page.locator("#m-new-1")).to_have_attribute("data-type", "blockquote")


def test_a_form_is_picked_and_an_address_that_cannot_play_says_so(open_page: Any) -> None:
    make.form()
    post = make.post()
    page = open_page()
    opened(page, post)

    added(page, "form", "new-1")
    page.locator("#m-new-1 select[name$='props.form']").select_option("contact")
    added(page, "embed", "new-2")
    page.fill("#m-new-2 input[name$='props.url']", "https://example.com/video")
    page.locator(
        "#m-new-2 .link-state", has_text="does not allow embedding from example.com"
    ).wait_for()


def test_a_changed_slug_says_where_the_old_address_leads(open_page: Any) -> None:
    post = make.post(status="published")
    page = open_page()
    opened(page, post)

    page.fill("#f-post-slug", "another-way")
    page.keyboard.press("Control+s")

    page.locator("[data-address-notice]", has_text=f"{post.path} redirects there.").wait_for()
    assert page.locator("[data-editor-header] [data-path]").inner_text().endswith("/another-way")


def test_keys_that_strike_text_through_save_nothing(open_page: Any) -> None:
    post = make.post()
    page = open_page()
    opened(page, post)

    page.fill("#f-post-excerpt", "Typed")
    page.keyboard.press("Control+Shift+s")
    page.wait_for_selector("[data-save-state]:has-text('Unsaved changes backed up')")

    post.refresh_from_db()
    assert post.excerpt == ""


def test_tabs_beside_the_content_are_opened_by_keyboard_and_remembered(open_page: Any) -> None:
    post = make.post()
    make.edited(post, {"title": "A second version"})
    page = open_page(width=1440)
    opened(page, post)

    settings = page.get_by_role("tab", name="Settings")
    expect(settings).to_have_attribute("aria-selected", "true")
    expect(page.locator("[role=tabpanel]:visible")).to_have_attribute("id", "rail-settings")
    settings.focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("() => document.activeElement.id") == "tab-history"
    page.locator("#rail-history .history li").nth(1).wait_for()
    expect(page.locator("#rail-history .history-changes").first).to_contain_text(
        "Title", use_inner_text=True
    )
    assert serious_in_any_light(page) == []
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.fill("#f-post-metaTitle", "For search")
    expect(page.locator("[data-p-title]")).to_have_text("For search", use_inner_text=True)
    page.keyboard.press("Control+s")
    page.wait_for_selector("[data-save-state][data-state=clean]")

    opened(page, post)
    expect(page.locator("[role=tabpanel]:visible")).to_have_attribute("id", "rail-seo")
    post.refresh_from_db()
    assert post.meta_title == "For search"


def test_the_sidebar_can_be_hidden_and_comes_back_with_a_field_in_it(open_page: Any) -> None:
    post = make.post()
    page = open_page(width=1440)
    opened(page, post)
    room = page.locator("#rail-content").bounding_box()["width"]
    toggle = page.get_by_role("button", name="Sidebar")

    toggle.click()
    assert page.locator("#rail-content").bounding_box()["width"] > room + 100
    expect(page.locator("[role=tabpanel]:visible, [role=tab]:visible")).to_have_count(0)

    # The page is delivered without it, to avoid layout shifts.
    page.goto(f"/admin/content/post/{post.pk}/change/")
    expect(toggle).to_have_attribute("aria-expanded", "false")
    page.wait_for_selector("[data-edit][data-ready]")
    expect(page.locator("[role=tabpanel]:visible")).to_have_count(0)

    page.goto(f"/admin/content/post/{post.pk}/change/#f-post-metaTitle")
    page.reload()
    page.wait_for_selector("#f-post-metaTitle:focus")
    expect(toggle).to_have_attribute("aria-expanded", "true")


def test_the_outline_shows_the_position_and_changes_in_a_long_post(
    open_page: Any,
) -> None:
    post = make.post()

    def fill(document: Any) -> Any:
        for number in range(30):
            document, _id = document_edits.add_module(
                document, type="callout", props={"title": f"Callout {number}"}
            )
        return document

    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=fill)
    page = open_page(width=1440)
    opened(page, post)
    page.get_by_role("tab", name="Outline").click()
    place = page.locator("[data-outline] a[aria-current=location]")
    changed = page.locator("[data-changed]:visible")
    expect(page.locator("[data-outline] :is([data-changed], [data-wrong]):visible")).to_have_count(
        0
    )

    last = page.locator("[data-module]", has_text="Callout 29")
    last.locator("summary").first.click()
    last.locator("[data-controls] input[type=text]").first.fill("The end")
    page.locator("[data-outline] .is-in-view", has_text="The end").wait_for()
    page.wait_for_function(
        """() => {
          const place = document.querySelector("[data-outline] a[aria-current=location]");
          const cards = [...document.querySelectorAll("[data-module]")];
          const first = cards.find((card) => card.getBoundingClientRect().bottom > 112);
          return place?.closest("li").dataset.outlineOf === first.dataset.module;
        }"""
    )
    expect(place).to_have_count(1)
    # The panel scrolls along, so that the current place is visible.
    panel = page.locator("#rail-outline").bounding_box()
    assert panel["y"] < place.bounding_box()["y"] < panel["y"] + panel["height"]
    page.locator("[data-outline] > li", has=changed).filter(has_text="The end").wait_for()


def test_the_outline_leads_to_modules_and_moves_them(open_page: Any) -> None:
    post = make.post()
    page = open_page(width=1440)
    opened(page, post)
    added(page, "callout", "new-1")
    page.keyboard.type("A callout")

    page.get_by_role("tab", name="Outline").click()
    lines = page.locator("[data-outline] > li")
    page.locator("[data-outline-of=new-1]", has_text="A callout").wait_for()
    assert serious_in_any_light(page) == []
    page.locator("[data-outline-of=new-1] [data-handle]").focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator("main p[role=status]", has_text="moved to")).to_contain_text(
        "moved to 3 of 4", use_inner_text=True
    )
    assert page.evaluate("() => document.activeElement.matches('[data-outline] [data-handle]')")
    expect(lines.nth(2)).to_have_attribute("data-outline-of", "new-1")
    lines.nth(1).locator("a").click()
    assert (
        page.evaluate("() => document.activeElement.closest('[data-module]').dataset.type")
        == "prose"
    )
    with page.expect_navigation():
        page.keyboard.press("Control+s")

    assert kinds(post) == ["hero", "prose", "callout", "faq"]


def test_a_slash_on_a_module_opens_the_list_of_modules(open_page: Any) -> None:
    post = make.post()
    page = open_page()
    opened(page, post)

    page.fill("#f-post-excerpt", "Tea")
    page.keyboard.type("/Coffee")
    assert page.input_value("#f-post-excerpt") == "Tea/Coffee"
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("/")
    page.wait_for_selector("[data-picker-words]:focus")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="SEO").focus()
    page.keyboard.press("/")
    expect(page.locator(".picker[open]")).to_have_count(0)  # it searches
    page.keyboard.press("Escape")
    page.locator(".module-item > details > summary").first.focus()
    page.keyboard.press("/")
    page.wait_for_selector("[data-picker-words]:focus")
    page.wait_for_selector(".pick:visible")
    page.keyboard.type("callout")
    page.keyboard.press("Enter")
    page.wait_for_selector("#m-new-1 [data-controls] :focus")

    order = page.locator("[data-module]").evaluate_all(
        "(all) => all.map((one) => one.dataset.type)"
    )
    assert order[:2] == ["hero", "callout"]


def test_a_refused_save_opens_the_tab_with_the_error(open_page: Any) -> None:
    post = make.post()
    page = open_page(width=1440)
    opened(page, post)

    page.get_by_role("tab", name="SEO").click()
    page.fill("#f-post-canonicalUrl", "no address")
    page.get_by_role("tab", name="Agents").click()
    page.keyboard.press("Control+s")

    page.wait_for_selector("#f-post-canonicalUrl[aria-invalid=true]:focus")
    expect(page.get_by_role("tab", name="SEO (needs correction)")).to_have_attribute(
        "aria-selected", "true"
    )
    page.get_by_role("tab", name="Settings").click()
    page.locator("a[href='#f-post-canonicalUrl']").click()
    page.wait_for_selector("#f-post-canonicalUrl:focus")


def test_a_phone_shows_the_content_as_the_first_tab(open_page: Any) -> None:
    post = make.post()
    page = open_page(width=390)
    opened(page, post)

    expect(page.locator("#f-post-title")).to_be_visible()
    page.get_by_role("tab", name="Content").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#f-post-title")).to_be_hidden()
    page.fill("#f-post-orderIndex", "7")
    page.get_by_role("tab", name="Content").click()
    page.fill("#f-post-excerpt", "Both are saved")
    page.keyboard.press("Control+s")
    page.wait_for_selector("[data-save-state][data-state=clean]")

    post.refresh_from_db()
    assert (post.order_index, post.excerpt) == (7, "Both are saved")
    heights = [page.locator(name).bounding_box()["height"] for name in (".post-tabs", ".rail-tabs")]
    assert heights[0] < 60
    assert heights[1] < 80  # two rows, so that no tab is cut
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert serious_in_any_light(page) == []


def test_a_save_that_fails_says_so_until_something_else_is_typed(open_page: Any) -> None:
    post = make.post(excerpt="Old", status="published")
    page = open_page()
    opened(page, post)
    problem = page.locator("[data-save-problem]")
    save = page.locator("button[name=do][value=save]")
    page.fill('[name="post.excerpt"]', "Typed")
    page.context.clear_cookies(name="sessionid")
    # By then the form was read again, because the button took the focus from the field.
    with page.expect_request("**/autosave/"):
        save.click()
    assert problem.inner_text().startswith("Not saved: you are logged out")
    expect(problem.get_by_role("link", name="Log in again in another window")).to_be_visible()
    page.fill('[name="post.excerpt"]', "Typed on")
    problem.wait_for(state="hidden")

    post.refresh_from_db()
    assert post.excerpt == "Old"


def test_what_was_typed_is_saved_after_logging_in_again_in_another_window(open_page: Any) -> None:
    post = make.post(excerpt="Old")
    page = open_page()
    opened(page, post)
    page.fill('[name="post.excerpt"]', "Typed before the session ended")
    page.context.clear_cookies(name="sessionid")
    other = page.context.new_page()
    other.goto("/admin/login/?next=/admin/")
    other.fill("#id_username", "editor@example.com")
    other.fill("#id_password", make.PASSWORD)
    other.press("#id_password", "Enter")
    other.wait_for_url("**/admin/")

    page.bring_to_front()
    page.keyboard.press("Control+s")

    page.wait_for_selector("[data-save-state]:text('Saved just now')")
    assert Post.objects.get(pk=post.pk).excerpt == "Typed before the session ended"


def held_back(page: Any, part: str) -> list[Any]:
    """Hold requests to matching URLs until `continue_()`."""
    routes: list[Any] = []
    page.route(re.compile(part), lambda route: routes.append(route))
    return routes


def test_what_is_typed_while_it_is_saved_is_offered_where_the_page_loads_anew(
    open_page: Any,
) -> None:
    post = make.post(excerpt="Old")
    page = open_page()
    opened(page, post)
    page.fill('[name="post.excerpt"]', "One ")  # stored without the blank, so the page loads again
    page.wait_for_selector("[data-save-state]:text('1 unsaved change · Unsaved changes backed up')")
    saves = held_back(page, r"/change/\?$")
    with page.expect_request(re.compile(r"/change/\?$")):
        page.keyboard.press("Control+s")
    page.keyboard.type("and much more")

    with page.expect_navigation():
        saves[0].continue_()
        page.unroute_all()

    page.wait_for_selector("[data-edit][data-ready]")
    assert Post.objects.get(pk=post.pk).excerpt == "One"
    page.locator("[data-copy-offer] button", has_text="Restore").click()
    page.wait_for_selector("[data-edit][data-ready]")
    assert page.input_value('[name="post.excerpt"]').endswith("and much more")


def test_nothing_can_be_typed_while_new_modules_get_their_ids(open_page: Any) -> None:
    post = make.post(excerpt="Old")
    page = open_page()
    opened(page, post)
    added(page, "callout", "new-1")
    page.keyboard.type("A callout")
    saves = held_back(page, r"/change/\?$")
    with page.expect_request(re.compile(r"/change/\?$")):
        page.keyboard.press("Control+s")

    page.keyboard.type(" and more")
    saves[0].fulfill(body="no answer of the server")

    page.wait_for_selector("[data-save-state][data-state=failed]")
    page.keyboard.type("!")
    page.unroute_all()
    with page.expect_navigation():
        page.keyboard.press("Control+s")
    assert make.layers(post).live.modules[-1].props["title"] == "A callout!"


def test_two_copies_made_at_once_are_two_modules(open_page: Any) -> None:
    page = open_page()
    opened(page, make.post())
    page.locator(".module-item > details > summary").last.focus()
    made = held_back(page, "/module/$")
    for _number in range(2):
        with page.expect_request(re.compile("/module/$")):
            page.keyboard.press("d")

    for route in made:
        route.continue_()

    page.wait_for_selector("#m-new-1")
    page.wait_for_selector("#m-new-2")


def test_json_is_folded_and_an_error_in_it_opens_it_with_its_line(open_page: Any) -> None:
    post = make.post()
    post.jsonld_overrides = {"@type": "Recipe", "name": "Coffee"}
    post.save()
    page = open_page()
    opened(page, post)
    page.click("[data-tab=seo]")
    field = page.locator("#f-post-jsonldOverrides")
    preview = page.locator("[data-field='post.jsonldOverrides'] [data-json-preview]")
    expect(field).to_be_hidden()
    expect(preview).to_have_text('{ "@type": "Recipe", "name": "Coffee" }', use_inner_text=True)

    page.click("#f-post-jsonldOverrides-label")
    field.fill('{\n  "@type": "Recipe",\n}')
    expect(preview).to_have_text('{ "@type": "Recipe", }', use_inner_text=True)
    page.keyboard.press("Control+s")
    page.wait_for_selector("#f-post-jsonldOverrides-errors")

    expect(page.locator("#f-post-jsonldOverrides-errors")).to_contain_text(
        "Line 3: remove the comma before “}”.", use_inner_text=True
    )
    expect(field).to_be_visible()
    expect(page.locator("[id='f-post-robotsJson-more']")).to_be_hidden()
    assert serious_in_any_light(page) == []


def test_a_module_that_does_not_load_says_so_in_its_place_and_is_tried_again(
    open_page: Any,
) -> None:
    page = open_page()
    opened(page, long_post())
    card = page.locator(".module-item").last
    page.route(re.compile("/module/"), lambda route: route.fulfill(body="no module"))

    card.locator("summary").first.click()
    notice = card.locator("[data-failure]")
    notice.wait_for()
    expect(notice).to_contain_text(
        "This module could not be loaded. Check your connection.", use_inner_text=True
    )
    expect(card.locator("[data-closed]")).to_be_hidden()
    notice.locator("button").click()  # still out of reach
    page.wait_for_selector("[data-failure] button:focus")
    expect(page.locator("[data-failure]")).to_have_count(1)
    assert serious_in_any_light(page) == []

    page.unroute_all()
    notice.locator("button").click()
    page.wait_for_selector("[data-module] [data-controls] input:focus")
    expect(page.locator("[data-failure]")).to_have_count(0)
    assert page.evaluate("document.activeElement.value") == "No. 8"


def test_a_module_that_could_not_be_added_is_tried_again_in_its_place(open_page: Any) -> None:
    page = open_page()
    opened(page, make.post())
    page.locator(".module-item > details > summary").last.focus()
    page.route(re.compile("/module/$"), lambda route: route.fulfill(body="no module"))

    page.keyboard.press("d")
    page.wait_for_selector(".module-item:last-child [data-failure] button:focus")
    page.unroute_all()
    page.keyboard.press("Enter")

    page.wait_for_selector("#m-new-2 [data-controls] :focus")
    expect(page.locator("[data-failure]")).to_have_count(0)


def test_modules_to_choose_from_that_could_not_be_loaded_are_tried_again(open_page: Any) -> None:
    page = open_page()
    opened(page, make.post())
    page.route(re.compile("/picker/"), lambda route: route.fulfill(body="no modules"))

    page.locator("[data-pick-open]").click()
    notice = page.locator("[data-picker] [data-failure]")
    expect(notice).to_contain_text("The modules could not be loaded.")
    page.unroute_all()
    notice.get_by_role("button", name="Try again").click()

    expect(page.locator("[data-picker] [data-pick]").first).to_be_visible()
    expect(notice).to_have_count(0)
    expect(page.locator("[data-picker-words]")).to_be_focused()


@pytest.mark.parametrize("status", ["published", "draft"])
def test_a_page_of_the_editor_has_one_primary_button(open_page: Any, status: str) -> None:
    post = make.post(status=status)
    page = open_page("admin")
    opened(page, post)
    primary = page.locator(".default:visible")
    clean = primary.count()

    page.fill("#f-post-excerpt", "Typed")
    page.wait_for_selector("[data-save-state][data-state=dirty]")

    assert (clean, primary.count()) == (1, 1)
