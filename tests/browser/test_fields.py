"""Form fields in a real browser: pickers by keyboard, files, authorship, and the preview beside the form."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.layers import approve, digest_of, submit
from content.models import Post
from content.posts.edit import edit_post
from content.store import document_edits
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import create_term
from tests import make
from tests.browser.test_looks import serious_in_any_light
from tests.browser.test_rich_text import editor_of, go_to_end, save

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def with_list() -> Post:
    """Create a page with a hero and a list of selected posts."""

    def fill(document: Any) -> Any:
        document, _ = document_edits.add_module(document, type="blog-list", index=1)
        return document

    post = make.post("Kettle", slug="kettle")
    return edit_post(post_id=post.pk, actor=make.actor("admin"), edit=fill)


def props_of(post: Post, type_: str) -> Any:
    post.refresh_from_db()
    return next(module for module in make.layers(post).live.modules if module.type == type_).props


def pick(page: Any, box: Any, words: str, name: str) -> None:
    """Find and select with the keyboard only."""
    box.focus()
    page.keyboard.type(words)
    page.locator(".found:not([hidden], [aria-busy]) [role=option]", has_text=name).first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def test_links_posts_and_files_are_chosen_by_keyboard(open_page: Any) -> None:
    post, image = with_list(), make.image("kettle.png", alt_text="A kettle")
    others = [make.post(title) for title in ("Grinding by hand", "Pouring in circles")]
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/change/")
    hero = page.locator(f"#m-{make.module_id(post, 'hero')}")
    chosen = page.locator(f"#m-{make.module_id(post, 'blog-list')}")

    link = hero.locator("[data-link]")
    pick(page, link, "circles", "Pouring in circles")
    hero.locator(".link-state[data-state=live]").wait_for()
    for words, title in (("grind", "Grinding by hand"), ("/blog/pour", "Pouring in circles")):
        pick(page, chosen.locator("[data-many=post-reference] [role=combobox]"), words, title)
    hero.locator("[data-choose]").focus()
    page.keyboard.press("Enter")
    page.locator("dialog [data-pick]").first.focus()
    page.keyboard.press("Enter")
    hero.locator("[data-thumbnail]:visible").wait_for()
    expect(hero.locator("[data-alt]")).to_have_text("A kettle", use_inner_text=True)
    assert serious_in_any_light(page) == []
    save(page)

    assert props_of(post, "hero")["ctaUrl"] == others[1].path
    assert props_of(post, "hero")["imageId"] == str(image.pk)
    assert props_of(post, "blog-list")["postIds"] == [str(other.pk) for other in others]


def test_an_answer_to_earlier_words_is_not_shown_while_more_are_typed(open_page: Any) -> None:
    post = with_list()
    for title in ("Grinding by hand", "Pouring in circles"):
        make.post(title)
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/change/")
    box = page.locator(
        f"#m-{make.module_id(post, 'blog-list')} [data-many=post-reference] [role=combobox]"
    )
    held: list[Any] = []

    def is_search(message: Any) -> bool:
        return "kind=post-reference" in message.url

    page.route(lambda url: "kind=post-reference" in url, lambda route: held.append(route))
    with page.expect_request(is_search):
        box.focus()
    # Control the debounce timer.
    page.evaluate(
        """() => {
          const wait = window.setTimeout;
          window.setTimeout = (call, pause, ...rest) => {
            if (pause !== 150) return wait(call, pause, ...rest);
            window.endOfPause = call;
            return 0;
          };
        }"""
    )
    page.keyboard.type("grind")
    with page.expect_response(is_search) as answered:
        held[0].continue_()
    answered.value.finished()
    page.evaluate("async () => { for (let turn = 0; turn < 20; turn += 1) await null }")
    options = page.locator(".found:not([hidden]) [role=option]")
    expect(options).to_have_count(0)

    page.unroute_all()
    with page.expect_request(is_search) as asked:
        page.evaluate("() => window.endOfPause()")
    options.first.wait_for()
    assert "q=grind" in asked.value.url


def test_the_page_beside_the_form_follows_and_leads_to_the_card(open_page: Any) -> None:
    post = make.post(markdown="First.\n\nLast.")
    page = open_page(width=1500)
    editor = editor_of(page, post)
    page.get_by_role("tab", name="Preview").click()
    frame = page.frame_locator(".live-preview iframe")
    frame.get_by_text("First.").wait_for()

    go_to_end(page, editor)
    page.keyboard.type(" Nobody saved this.")
    frame.get_by_text("Last. Nobody saved this.").wait_for()
    hero = make.module_id(post, "hero")
    page.locator(f"#m-{hero} .module-form").evaluate("(one) => { one.open = false }")
    frame.locator(f"[data-post-module-id='{hero}']").click()

    page.locator(f"#m-{hero} .module-form[open]").wait_for()
    title = page.locator(f"[name='modules.{hero}.props.title']")
    expect(title).to_be_focused()
    outlined = frame.locator(".live-field")
    expect(outlined).to_have_text(post.title)
    frame.get_by_text("Last. Nobody saved this.").click()
    expect(outlined).to_have_text("Last. Nobody saved this.")
    expect(editor).to_be_focused()
    # The cursor is in the paragraph.
    page.wait_for_function("() => getSelection().anchorNode?.textContent.startsWith('Last.')")
    # Links lead to their field too, and nowhere else. The keyboard reaches modules, and the preview from a field.
    frame.locator(".site-name").click()
    assert page.frames[1].url == "about:srcdoc"
    frame.locator(f"[data-post-module-id='{make.module_id(post, 'prose')}']").press("Enter")
    expect(page.locator(f"#m-{make.module_id(post, 'prose')} summary").first).to_be_focused()
    page.get_by_role("tab", name="Settings").click()
    title.focus()
    page.keyboard.press("Control+Alt+p")
    expect(page.get_by_role("tab", name="Preview")).to_have_attribute("aria-selected", "true")
    expect(outlined).to_have_text(post.title)
    expect(title).to_be_focused()
    post.refresh_from_db()
    assert (post.version, "Nobody" in str(make.layers(post).live.to_json())) == (1, False)


def test_the_edge_of_a_field_says_who_wrote_it(open_page: Any) -> None:
    post = make.post()
    make.staged(post, {"excerpt": "By an agent"})
    submit(post_id=post.pk, actor=make.actor("editor"))
    digest = digest_of(make.layers(post).review.changes)
    approve(post_id=post.pk, actor=make.actor("admin"), digest=digest)
    make.edited(post, {"title": "By a person"})
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/change/")

    edges = {
        name: page.locator(f"[data-field='post.{name}'] > .edge") for name in ("title", "excerpt")
    }
    edges["excerpt"].locator("summary").focus()
    page.keyboard.press("Enter")

    assert "edge-person" in str(edges["title"].get_attribute("class"))
    assert "edge-ai" in str(edges["excerpt"].get_attribute("class"))
    said = edges["excerpt"].locator(".origin").inner_text()
    assert said.startswith("AI: SEO specialist, approved by admin")
    page.get_by_role("tab", name="Agents").click()
    expect(page.get_by_text("AI wrote 1 of")).to_be_visible()


def test_a_term_is_made_while_writing_and_a_parent_is_found(open_page: Any) -> None:
    post = make.post("Kettle", slug="kettle")
    coffee = create_term(actor=make.actor("admin"), taxonomy="topics", name="Coffee", locale="en")
    page = open_page()
    page.goto(f"/admin/content/post/{post.pk}/change/")
    terms = page.locator("[data-many=terms]")

    pick(page, terms.locator("[role=combobox]"), "Grinding", "Create “Grinding”")
    terms.locator("label", has_text="Grinding").wait_for()
    save(page)

    made = Term.objects.get(slug="grinding")
    assert (made.taxonomy, made.locale) == ("topics", "en")
    assert list(post.post_terms.values_list("term_id", flat=True)) == [made.pk]
    box = terms.locator("[role=combobox]")
    box.focus()
    page.keyboard.type("grinding")
    page.locator(".found [role=option]", has_text="Grinding").first.wait_for()
    expect(page.locator(".found [role=option]", has_text="Create")).to_have_count(0)  # it is there

    page.goto("/admin/proofroom_taxonomies/term/add/?taxonomy=topics&locale=en")
    page.locator("[name=name]").fill("Roasting")
    pick(page, page.get_by_role("combobox", name="Parent term"), "cof", "Coffee")
    page.get_by_role("button", name="Create term").click()
    page.wait_for_url("**/term/?taxonomy=topics*")
    assert Term.objects.get(slug="roasting").parent_id == coffee.pk
