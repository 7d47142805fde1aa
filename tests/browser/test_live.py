"""Two users in two browsers: changes by one appear on the other's open pages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WATCH, violations
from tests.make import PASSWORD
from tests.migrated import give_database
from tests.served import prepare, served

pytestmark = pytest.mark.browser
SCENE = """
import json
from tests import make
from tests.browser.scene import coffee
for role in ("admin", "editor", "translator"):
    make.user(role)
print(json.dumps([str(coffee().pk), str(make.post("Other").pk)]))
"""
Enter = Callable[..., Any]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    folder = tmp_path_factory.mktemp("site")
    give_database(folder)
    ids = json.loads(prepare(folder, SCENE))
    with served(folder) as url:
        yield url, ids


@pytest.fixture
def enter(chromium: Any, site: Any) -> Iterator[Enter]:
    """`enter(role)`: a separate browser; no page may have an error or violate the policy."""
    problems: list[str] = []
    contexts = []
    with_scripts = []

    def entered(role: str, *, scripts: bool = True) -> Any:
        context = chromium.new_context(base_url=site[0], java_script_enabled=scripts)
        contexts.append(context)
        context.set_default_timeout(30_000)
        if scripts:
            context.add_init_script(WATCH)
            with_scripts.append(context)
        page = context.new_page()
        page.on(
            "console", lambda said: problems.append(said.text) if said.type == "error" else None
        )
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto("/admin/login/?next=/admin/inbox/")
        page.fill("#id_username", f"{role}@example.com")
        page.fill("#id_password", PASSWORD)
        page.press("#id_password", "Enter")
        page.wait_for_url("**/admin/inbox/")
        return page

    yield entered
    for context in contexts:
        for page in context.pages if context in with_scripts else ():
            problems += violations(page)
        context.close()
    assert problems == []


def listening(page: Any, address: str) -> None:
    """Open a page, and wait until it receives events."""
    page.goto(address)
    page.wait_for_selector("html[data-connected]")


def test_what_one_decides_the_others_inbox_and_review_page_show(enter: Enter, site: Any) -> None:
    _, (post_id, _) = site
    review = f"/admin/content/post/{post_id}/review/?layer=ai-review"
    editor, admin, translator = (enter(role) for role in ("editor", "admin", "translator"))
    entry = "#entries .badge-review"
    listening(admin, "/admin/inbox/")
    expect(admin.locator(entry)).to_have_count(0)
    listening(translator, review)
    translator.evaluate("() => { window.__same = true; }")

    editor.goto(review)
    editor.check('[data-change] >> nth=0 >> input[value="accept"]', force=True)
    editor.click("[data-take-button]")

    admin.wait_for_selector(entry)
    assert admin.inner_text("p[role=status].visually-hidden").startswith("editor: ")
    bar = translator.wait_for_selector("[data-live-notice] .notice")
    assert re.match(r"editor changed this post just now \(.+\)\. Reload", bar.inner_text())
    assert translator.evaluate("() => window.__same") is True


def test_typed_words_stay_and_ones_own_saving_is_no_news(enter: Enter, site: Any) -> None:
    _, (_, post_id) = site
    address = f"/admin/content/post/{post_id}/change/"
    editor, admin = enter("editor"), enter("admin")
    listening(admin, address)
    admin.fill('[name="post.excerpt"]', "Half a sentence")
    listening(editor, address)

    editor.fill('[name="post.title"]', "Another title")
    editor.click('button[value="save"]')
    editor.wait_for_selector("[data-save-state][data-state=clean]")

    admin.wait_for_selector("[data-live-notice] .notice")
    assert admin.input_value('[name="post.excerpt"]') == "Half a sentence"
    expect(editor.locator("[data-live-notice] .notice")).to_have_count(0)
    admin.once("dialog", lambda dialog: dialog.accept())
    admin.click("[data-live-notice] a")
    admin.wait_for_function(
        "() => document.querySelector('[name=\"post.title\"]').value === 'Another title'"
    )


def test_a_list_keeps_focus_and_waits_while_the_user_types(enter: Enter, site: Any) -> None:
    _, (_, post_id) = site
    admin, editor = enter("admin"), enter("editor")
    listening(admin, "/admin/")
    admin.evaluate(
        """() => {
          document.addEventListener("live", () => { window.__heard = true; });
          const box = document.createElement("input");
          box.id = "typing";
          document.querySelector("#panels").append(box);
          box.focus();
        }"""
    )

    editor.goto(f"/admin/content/post/{post_id}/change/")
    editor.fill('[name="post.excerpt"]', "Told")
    editor.click(".editor-main .menu-more")
    editor.click('button[value="save-review"]')
    admin.wait_for_function("() => window.__heard")
    admin.wait_for_timeout(1200)  # longer than a list waits otherwise
    expect(admin.locator("#typing")).to_have_count(1)

    link = "#panels a[href*='/content/post/'] >> nth=-1"
    admin.focus(link)
    focused = admin.get_attribute(link, "href")
    admin.wait_for_selector("#typing", state="detached")
    assert admin.evaluate("() => document.activeElement.getAttribute('href')") == focused


def test_without_scripts_the_pages_are_what_they_were(enter: Enter, site: Any) -> None:
    _, (post_id, _) = site
    page = enter("editor", scripts=False)

    for address in ("/admin/", "/admin/inbox/", f"/admin/content/post/{post_id}/change/"):
        assert page.goto(address).status == 200
        expect(page.locator("#content h1")).to_have_count(1)
        expect(page.locator("[data-live-notice] .notice")).to_have_count(0)
