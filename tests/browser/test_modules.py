"""A page with every module: accessible, not too wide, and usable without scripts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import expect

from cms_project.security import content_security_policy
from content.document.document import PostDocument
from content.models import Post
from content.posts.edit import edit_post
from content.store import document_edits
from media.models import Asset
from media.tasks import make_variants
from proofroom.core.actor import Actor
from proofroom.definitions import modules
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom_apps.starter.demo.reading import read_posts, read_site
from proofroom_apps.starter.demo.seeding import ensure_image, ensure_post
from tests import make
from tests.browser.test_looks import serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ADDRESS = "/modules"
VIDEO = "https://vimeo.com/123456789"
FRAME = "https://player.vimeo.com/video/123456789?dnt=1&autoplay=1"
LOADED = """async () => {
  for (const image of document.images) image.loading = "eager";
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  return [...document.images].filter((image) => !image.naturalWidth).map((image) => image.src);
}"""


def demo_page() -> set[str]:
    """Create the sample page of modules, in English. Return its module types."""
    actor = Actor(user=make.user("editor"), via="command")
    site = read_site()
    page = next(post for post in read_posts() if (post.key, post.locale) == ("modules", "en"))
    images = {name: ensure_image(name, image, actor) for name, image in site.images.items()}
    for asset in Asset.objects.all():
        make_variants(str(asset.pk), "light")
    ensure_post(page, actor, images)
    return {type_name for type_name, _ in page.modules}


def page_with(*placed: tuple[str, Any]) -> Post:
    post = make.post()

    def add(document: PostDocument) -> PostDocument:
        for type_name, props in placed:
            document, _ = document_edits.add_module(document, type=type_name, props=props)
        return document

    edit_post(post_id=post.pk, actor=make.actor(), edit=add)
    return post


def test_every_module_can_be_read_by_everybody_in_both_themes_and_on_a_phone(
    open_page: Any,
) -> None:
    lists = {name for name in modules.names() if name.endswith("-list") and name != "features-list"}
    make.form()
    assert demo_page() >= set(modules.names()) - lists - {
        "form",
        "prose-with-form",
        "breadcrumb",
        "video",
    }
    for width in (1280, 320):
        page = open_page(None, width=width)
        page.goto(ADDRESS)

        assert serious_in_any_light(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert page.evaluate(LOADED) == []
        levels = page.locator("h1, h2, h3, h4").evaluate_all(
            "(found) => found.map((element) => Number(element.tagName[1]))"
        )
        assert levels[0] == 1
        assert all(below - above <= 1 for above, below in pairwise(levels))


def test_tabs_and_sections_work_with_the_keyboard_and_without_scripts(
    open_page: Any,
) -> None:
    tabs = [
        {"label": name, "title": f"About the {name}"} for name in ("Roastery", "Workshop", "Garden")
    ]
    sections = [{"title": "When it rains", "content": from_markdown("We ride in drizzle.")}]
    post = page_with(("tabbed-features", {"items": tabs}), ("accordions", {"items": sections}))
    page = open_page(None, scripts=False)
    page.goto(post.path)
    panels = page.locator(".tab-panel")

    page.get_by_role("radio", name="Roastery").focus()
    assert [panels.nth(at).is_visible() for at in range(3)] == [True, False, False]
    page.keyboard.press("ArrowRight")
    assert [panels.nth(at).is_visible() for at in range(3)] == [False, True, False]
    page.get_by_text("Garden", exact=True).click()
    assert [panels.nth(at).is_visible() for at in range(3)] == [False, False, True]

    rain = page.get_by_text("We ride in drizzle.")
    expect(rain).to_be_hidden()
    page.locator("summary", has_text="When it rains").focus()
    page.keyboard.press("Enter")
    expect(rain).to_be_visible()

    page.emulate_media(media="print")
    assert [panels.nth(at).is_visible() for at in range(3)] == [True, True, True]


def test_a_video_is_asked_for_on_a_click_and_not_before(open_page: Any, settings: Any) -> None:
    hosts = ("player.vimeo.com",)
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"embed_hosts": hosts})
    settings.SECURE_CSP = content_security_policy(frame_hosts=hosts)
    post = page_with(("embed", {"url": VIDEO, "title": "Hear it"}))
    page = open_page(None)
    asked: list[str] = []

    def answer(route: Any) -> None:
        asked.append(route.request.url)
        route.fulfill(content_type="text/html", body="<p>The video</p>")

    page.route("https://player.vimeo.com/**", answer)
    page.goto(post.path)
    button = page.frame_locator("iframe").get_by_text("Load video from Vimeo")
    button.wait_for()
    assert asked == []

    button.click()

    page.frame_locator("iframe").get_by_text("The video").wait_for()
    assert asked == [FRAME]
