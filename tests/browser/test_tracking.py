"""The tracking script in a browser: its requests and their times."""

from __future__ import annotations

import json

import pytest

from content.document.document import PostDocument
from content.models import Post
from content.posts.edit import edit_post
from content.store import document_edits
from proofroom.core.json import Json, JsonObject
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.visits import Calls

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TRACK = "**/api/public/analytics/track"
_OLD = "Object.defineProperty(window, 'navigation', { value: undefined })"
_AHEAD = "Object.defineProperty(document, 'prerendering', { value: true })"
_SAY = "([name, detail]) => document.dispatchEvent(new CustomEvent(name, { detail }))"


@pytest.fixture
def calls(open_page: OpenPage) -> Calls:
    return Calls(open_page)


def with_marks() -> Post:
    """Create a post that starts with a call to action, and has tabs."""
    post = make.post()
    hero = make.module_id(post, "hero")
    tabs: list[Json] = [{"label": name, "title": f"About {name}"} for name in ("First", "Second")]

    def edit(document: PostDocument) -> PostDocument:
        link: JsonObject = {"ctaLabel": "Order", "ctaUrl": "#order"}
        document = document_edits.update_module(document, hero, props=link)
        return document_edits.add_module(document, type="tabbed-features", props={"items": tabs})[0]

    return edit_post(post_id=post.pk, actor=make.actor(), edit=edit)


def test_a_view_goes_at_once_and_five_clicks_in_one_call(calls: Calls) -> None:
    post = make.post()
    page = calls.open(post)
    [view] = calls.rows(1)
    place = make.module_id(post, "prose")
    module = page.locator(f"#module-{place}")
    instance = module.get_attribute("data-module-instance-id")
    box = module.bounding_box()
    spots = [(int(box["x"]) + 40 * number, int(box["y"]) + 9) for number in range(1, 6)]

    for spot in spots:
        page.mouse.click(*spot)
    clicks = calls.rows(6)[1:]

    assert calls.sizes == [1, 5]
    assert (view.event_type, view.post_id, view.viewport_width) == ("view", post.pk, 1280)
    assert view.metadata == {"path": post.path, "locale": "en", "version": post.version}
    for (x, y), click in zip(spots, clicks, strict=True):
        told = click.metadata
        assert (click.event_type, click.post_id, click.x, click.y) == ("click", post.pk, x, y)
        assert (told["postModuleId"], told["moduleInstanceId"]) == (place, instance)
        assert told["selector"].startswith(f"#module-{place}")
        assert told["moduleX"] == pytest.approx((x - box["x"]) / box["width"], abs=0.0001)
        assert told["moduleY"] == pytest.approx((y - box["y"]) / box["height"], abs=0.0001)
    assert page.context.cookies() == []
    assert page.evaluate("() => localStorage.length + sessionStorage.length") == 0


def test_fewer_clicks_of_a_page_that_is_shown_go_after_ten_seconds_or_with_it(calls: Calls) -> None:
    page = calls.open(make.post(), stopped=True, before=_AHEAD)
    text = page.get_by_text("Grind the beans.")
    assert calls.sizes == []
    page.evaluate("document.dispatchEvent(new Event('prerenderingchange'))")
    calls.rows(1)

    text.click()
    page.clock.fast_forward(4_999)
    text.click()
    page.clock.fast_forward(5_000)
    assert calls.sizes == [1]
    with page.expect_request(TRACK):
        page.clock.fast_forward(1)
    text.click()
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide'))")
    calls.rows(4)
    page.clock.fast_forward(1)
    text.click()
    page.goto("about:blank")

    calls.rows(5)
    assert calls.sizes[:3] == [1, 2, 1]


def test_what_happens_without_a_network_is_sent_with_it_in_bounds(calls: Calls) -> None:
    page = calls.open(make.post())
    calls.rows(1)
    page.context.set_offline(True)
    page.wait_for_function("() => !navigator.onLine")
    page.get_by_text("Grind the beans.").click()
    page.evaluate(
        """() => {
          for (let number = 0; number < 250; number += 1) {
            // Of 500 letters with two bytes each a hundred would be too much for one call.
            document.documentElement.lang = number < 99 ? "en" : "ü".repeat(600);
            const detail = { name: `goal-${number}` };
            document.dispatchEvent(new CustomEvent("cms:goal", { detail }));
          }
        }"""
    )
    assert calls.sizes == [1]
    page.context.set_offline(False)

    events = calls.rows(201)[1:]
    # The calls are sent at once: any may be stored first.
    (_click,) = [one for one in events if "selector" in one.metadata]
    goals = sorted(one.metadata["goal"] for one in events if "selector" not in one.metadata)
    assert goals == sorted(f"goal-{n}" for n in range(199))
    assert {one.metadata["locale"] for one in events} == {"en", "ü" * 500}
    assert max(calls.sizes) == 100
    assert 50_000 < max(calls.bytes) < 60_000


def test_keys_and_labels_click_once_and_scripts_not_at_all(calls: Calls) -> None:
    page = calls.open(with_marks())
    calls.rows(1)  # The calls are independent: the view is stored before the first click is sent.
    order = page.get_by_role("link", name="Order")
    box = order.bounding_box()
    search = page.get_by_role("searchbox")

    order.press("Enter")
    order.click()
    page.get_by_text("Second", exact=True).click()
    search.fill("my secret")
    page.evaluate("document.querySelector('h1').click()")
    page.evaluate("document.querySelector('main p').dataset.uncounted = ''")
    page.locator("main p").first.click()
    for name in ("Not a name", "booked", "booked"):
        page.evaluate(_SAY, ["cms:goal", {"name": name}])
    search.click()
    key, mouse, label, said, field = calls.rows(6)[1:]

    assert calls.sizes == [1, 5]
    assert [one.metadata.get("goal") for one in (key, mouse, label, said, field)] == [
        "hero", None, None, "booked", None,
    ]  # fmt: skip
    assert key.x == pytest.approx(box["x"] + box["width"] / 2, abs=0.001)
    assert key.y == pytest.approx(box["y"] + box["height"] / 2, abs=0.001)
    assert key.metadata["selector"] == mouse.metadata["selector"]
    assert "label" in label.metadata["selector"]
    assert (said.x, said.y, said.metadata.get("selector")) == (None, None, None)
    assert "secret" not in json.dumps([one.metadata for one in calls.rows(6)])


@pytest.mark.parametrize("before", ["", _OLD], ids=["navigation", "history"])
def test_pages_that_scripts_put_together_are_views_of_their_own(calls: Calls, before: str) -> None:
    post, other = make.post(), make.post("Tea", slug="tea")
    page = calls.open(post, before=before, stopped=True, referer="https://search.example/?q=mine")
    calls.rows(1)

    page.get_by_text("Grind the beans.").click()
    page.evaluate("history.pushState({}, '', '/a?page=2'); delete document.body.dataset.postId")
    page.evaluate("id => { document.body.dataset.postId = id }", str(other.pk))
    calls.rows(3)
    page.evaluate("history.replaceState({}, '', '#part')")
    page.evaluate("history.pushState({}, '', '/a?page=2')")
    page.clock.fast_forward(1_000)
    page.evaluate("history.pushState({}, '', '/b')")
    page.evaluate("history.replaceState({}, '', '/b/')")
    page.clock.fast_forward(1_000)
    calls.rows(4)
    page.go_back()
    page.clock.fast_forward(1_000)
    calls.rows(5)
    page.evaluate(_SAY, ["cms:view", None])
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")

    stored = calls.rows(7)
    assert calls.sizes == [1, 2, 1, 1, 1, 1]
    assert [(one.event_type, one.metadata["path"]) for one in stored] == [
        ("view", post.path), ("click", post.path), ("view", "/a"), ("view", "/b/"),
        ("view", "/a"), ("view", "/a"), ("view", "/a"),
    ]  # fmt: skip
    assert [one.post_id for one in stored] == [post.pk] * 2 + [other.pk] * 5
    assert [one.metadata.get("referrer") for one in stored] == ["search.example", *[None] * 6]


def test_a_page_may_say_itself_what_is_a_view(calls: Calls) -> None:
    page = calls.open(make.post(), stopped=True, marks="data-manual")
    calls.rows(1)

    page.evaluate("history.pushState({}, '', '/a')")
    page.evaluate("document.body.dataset.postId = ''")
    page.clock.fast_forward(5_000)
    page.evaluate("history.pushState({}, '', '/b')")
    page.evaluate(_SAY, ["cms:view", None])

    view = calls.rows(2)[1]
    assert calls.sizes == [1, 1]
    assert (view.event_type, view.post_id, view.metadata["path"]) == ("view", None, "/b")


def test_the_answer_to_a_form_is_clicked_and_not_viewed_again(calls: Calls) -> None:
    page = calls.open(make.post(), marks="data-again")
    for _ in range(5):
        page.get_by_text("Grind the beans.").click()

    assert {one.event_type for one in calls.rows(5)} == {"click"}


_FORM = """() => {
const form = document.createElement("form");
form.innerHTML = "<p>Some</p><p>Words</p>";
for (const name of ["id", "children", "elements"])
  form.append(Object.assign(document.createElement("input"), { name }));
document.querySelector("main").prepend(form);
return form.querySelector("p + p").getBoundingClientRect().toJSON();
}"""


def test_fields_may_be_called_as_they_like(calls: Calls) -> None:
    page = calls.open(make.post())
    calls.rows(1)
    box = page.evaluate(_FORM)
    for _ in range(5):
        page.mouse.click(box["x"] + 2, box["y"] + 2)
    for target in ("document", "document.forms[0]"):
        page.evaluate(
            f"() => {{ {target}.dispatchEvent(new Event('submit', {{ bubbles: true }})) }}"
        )

    told = [one.metadata["selector"] for one in calls.rows(6)[1:]]

    assert told == ["#main > form > p:nth-of-type(2)"] * 5
