"""The header of the form: badge, sentence, main button and menu agree in every state, for every role."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import product
from typing import Any, Final

import pytest
from django.test import Client

from content.models import Post, Status
from content.posts.publish import set_status
from proofroom_apps.editorial.post_editor.publish_state import PostState, header_of
from tests import make
from tests.admin.pages import fields, url

SignedIn = Callable[..., Client]
MOMENT: Final = datetime(2031, 5, 3, 9, 0, tzinfo=UTC)
ADMIN: Final = {
    "may_save": True,
    "may_stage": True,
    "may_publish": True,
    "may_archive": True,
    "may_trash": True,
    "may_approve": True,
}
WRITER: Final = {"may_save": True, "may_stage": True}
STAGER: Final = {"may_stage": True}
OPEN: Final = {"has_steps": True, "open_step": "The step “Legal” is open."}
SUBMIT: Final = "save-review"

# Status, more of the state, permissions, dirty; then badge, main button and its action (* if
# disabled).
TABLE: Final[list[tuple[str, dict[str, Any], dict[str, bool], bool, str, str, str]]] = [
    ("draft", {}, ADMIN, False, "draft", "Publish", "publish"),
    ("draft", {}, ADMIN, True, "draft", "Publish", "publish"),
    ("draft", {}, WRITER, False, "draft", "Save draft", "save*"),
    ("draft", {}, WRITER, True, "draft", "Save draft", "save"),
    ("draft", {}, {}, False, "draft", "", ""),
    ("draft", {"publish_at": MOMENT}, ADMIN, False, "scheduled", "Publish now", "publish"),
    ("draft", {"publish_at": MOMENT}, ADMIN, True, "scheduled", "Save changes", "save"),
    ("draft", {"publish_at": MOMENT}, WRITER, False, "scheduled", "Save changes", "save*"),
    ("draft", {"published_at": MOMENT}, ADMIN, False, "unpublished", "Publish", "publish"),
    ("draft", {"is_placeholder": True}, ADMIN, False, "ai-review", "Review proposal", "ai_review"),
    ("draft", {"is_placeholder": True}, ADMIN, True, "ai-review", "Save draft", "save"),
    ("draft", {"is_variation": True}, ADMIN, True, "draft", "Save draft", "save"),
    (
        "draft",
        {"is_variation": True, "is_running": True},
        ADMIN,
        True,
        "published",
        "Publish changes",
        "save",
    ),
    ("published", {}, ADMIN, False, "published", "Publish changes", "save*"),
    ("published", {}, ADMIN, True, "published", "Publish changes", "save"),
    ("published", {"changes_in_review": 2}, ADMIN, False, "review", "Review changes", "review"),
    ("published", {"changes_in_review": 2}, ADMIN, True, "review", "Publish changes", "save"),
    ("published", {}, STAGER, False, "published", "Submit for review", "save-review*"),
    ("published", {}, STAGER, True, "published", "Submit for review", "save-review"),
    ("published", {}, {}, True, "published", "", ""),
    ("draft", OPEN, ADMIN, False, "draft", "Open the steps", "steps"),
    ("draft", OPEN, ADMIN, True, "draft", "Save draft", "save"),
    ("draft", OPEN, WRITER, False, "draft", "Save draft", "save*"),
    ("draft", {"has_steps": True}, ADMIN, False, "draft", "Publish", "publish"),
    ("draft", {"has_steps": True}, ADMIN, True, "draft", "Save draft", "save"),
    (
        "draft",
        {**OPEN, "publish_at": MOMENT},
        ADMIN,
        False,
        "scheduled",
        "Open the steps",
        "steps",
    ),
    (
        "draft",
        {**OPEN, "publish_at": MOMENT},
        WRITER,
        True,
        "scheduled",
        "Save changes",
        "save",
    ),
    ("published", {"has_steps": True}, ADMIN, True, "published", "Submit for review", SUBMIT),
    (
        "published",
        {"has_steps": True},
        ADMIN,
        False,
        "published",
        "Submit for review",
        f"{SUBMIT}*",
    ),
    ("archived", {}, ADMIN, False, "archived", "Restore as draft", "unarchive"),
    ("archived", {}, ADMIN, True, "archived", "Save changes", "save"),
    ("archived", {}, STAGER, True, "archived", "Submit for review", "save-review"),
]


@pytest.mark.parametrize(("status", "more", "rights", "is_dirty", "badge", "label", "does"), TABLE)
def test_the_badge_and_the_main_button_fit_the_state(
    status: str,
    more: dict[str, Any],
    rights: dict[str, bool],
    is_dirty: bool,
    badge: str,
    label: str,
    does: str,
) -> None:
    header = header_of(PostState(status, **more, **rights), is_dirty=is_dirty)

    primary = header.primary
    assert header.badge.kind == badge
    assert (primary.label if primary else "") == label
    shown = primary.do + primary.page + ("" if primary.is_enabled else "*") if primary else ""
    assert shown == does


def test_a_draft_with_an_open_step_offers_no_publication() -> None:
    for is_dirty in (False, True):
        header = header_of(PostState("draft", **OPEN, **ADMIN), is_dirty=is_dirty)

        shown = [header.primary, header.secondary, *header.menu]
        assert not {"publish", "schedule"} & {one.do or one.dialog for one in shown if one}

    scheduled = PostState("draft", publish_at=MOMENT, **OPEN, **ADMIN)
    header = header_of(scheduled, is_dirty=False)
    assert "Change schedule…" in [one.label for one in header.menu]
    for state in (scheduled, PostState("draft", publish_at=MOMENT, **OPEN, **WRITER)):
        for is_dirty in (False, True):
            assert "automatically" not in header_of(state, is_dirty=is_dirty).hint
    passed = PostState("draft", publish_at=MOMENT, has_steps=True, **ADMIN)
    assert "automatically" in header_of(passed, is_dirty=False).hint
    assert header_of(passed, is_dirty=True).hint == "With these changes, the steps begin again."


EVERY: Final = [
    PostState(
        status,
        publish_at=MOMENT if scheduled and status == "draft" else None,
        in_review=in_review,
        changes_in_review=changes,
        is_placeholder=placeholder and status == "draft",
        **{**rights, **({"may_save": False} if in_review else {})},
    )
    for status, scheduled, in_review, changes, placeholder, rights in product(
        Status.values,
        (False, True),
        (False, True),
        (0, 2),
        (False, True),
        (ADMIN, WRITER, STAGER, {}),
    )
]


@pytest.mark.parametrize("is_dirty", [False, True])
def test_no_state_contradicts_itself(is_dirty: bool) -> None:
    for state in EVERY:
        header = header_of(state, is_dirty=is_dirty)
        main = header.primary
        shown = (main, header.secondary, *header.menu)
        actions = [action for action in shown if action is not None]
        done = [action.do for action in actions if action.do]

        assert header.hint
        assert len(done) == len(set(done)), state  # nothing is offered twice
        if state.status == "published" and not state.in_review:
            assert "publish" not in done, state
        if state.status != "published":
            assert not {"unpublish"} & set(done), state
        if state.in_review or not state.may_save:
            assert not {"save", "publish", "unpublish", "archive", "unarchive"} & set(done), state
        if is_dirty and main is not None:  # what is typed is never left behind by the main button
            assert main.do, state
            assert main.is_enabled, state
        if not (state.may_save or state.may_stage):
            assert (main, done) == (None, []), state
        if main is None:
            assert "view this post" in header.hint


def test_the_menu_keeps_its_dialogs_and_pages_where_changes_wait_in_review() -> None:
    for state in EVERY:
        clean, dirty = (header_of(state, is_dirty=is_dirty) for is_dirty in (False, True))
        main = clean.primary.page if clean.primary else ""
        offered = [
            {
                (one.dialog, one.page)
                for one in header.menu
                if one.dialog or one.page not in ("", main)
            }
            for header in (clean, dirty)
        ]
        assert offered[0] == offered[1], state


@pytest.mark.django_db
@pytest.mark.parametrize("status", ["draft", "published", "archived"])
def test_only_a_draft_offers_a_schedule(signed_in: SignedIn, status: str) -> None:
    post, client = make.post(status="draft"), signed_in()
    if status != "draft":
        set_status(post_id=post.pk, status=status, actor=make.actor("admin"))

    page = client.get(url(post)).content.decode()
    sent = fields(client.get(url(post)))
    answer = client.post(url(post), {**sent, "do": "schedule", "schedule_at": "2031-05-03T09:00"})

    assert "post.publishAt" not in sent
    assert page.count('data-dialog="schedule"') == (2 if status == "draft" else 0)
    assert ('id="schedule"' in page) == (status == "draft")
    assert answer.status_code == (302 if status == "draft" else 422)
    post.refresh_from_db()
    assert post.publish_at == (MOMENT if status == "draft" else None)


@pytest.mark.django_db
def test_every_page_of_a_post_has_the_same_tabs(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in("admin")
    german = make.post("Kaffee", locale="de", translation_of=post)

    def tabs(post: Post, page: str, query: str = "") -> tuple[list[str], list[str]]:
        shown = client.get(url(post, page) + query).content.decode()
        listed = shown.split('aria-label="Pages of this post"')[1].split("</div>")[0]
        labels = re.findall(r"<a [^>]+>([^<]+?)\s*<", listed)
        return labels, re.findall(r'<a [^>]+aria-current="page">([^<]+?)\s*<', listed)

    expected = ["Edit", "Review", "AI Review", "Preview page", "Checks", "Comments"]
    expected += ["Revisions", "Heatmap", "AI activity", "Log", "View on site"]
    for page, query, current in (
        ("change", "", ["Edit"]),
        ("change", "?layer=review", ["Edit"]),
        ("review", "?layer=review", ["Review"]),
        ("review", "?layer=ai-review", ["AI Review"]),
        ("preview", "", ["Preview page"]),
        ("checks", "", ["Checks"]),
        ("comments", "", ["Comments"]),
        ("revisions", "", ["Revisions"]),
        ("translations", "", []),
        ("variations", "", []),
    ):
        assert tabs(post, page, query) == (expected, current)
    translated = [*expected[:3], "Translate", *expected[3:]]
    assert tabs(german, "change") == (translated, ["Edit"])
    assert tabs(german, "translate") == (translated, ["Translate"])


@pytest.mark.django_db
def test_a_global_module_leads_to_its_page(signed_in: SignedIn) -> None:
    shared = make.global_module()
    for title in ("One", "Two"):
        post = make.post(title)
        sent = fields(signed_in().get(url(post)))
        added = signed_in().post(
            url(post), {**sent, "add": f"{shared.type}@newsletter", "do": "add"}
        )
        assert signed_in().post(url(post), {**fields(added), "do": "save"}).status_code == 302

    page = signed_in().get(url(post)).content.decode()

    assert f'href="/admin/content/moduleinstance/{shared.pk}/change/">Edit global module' in page
    assert "(used in 2 posts)" in page
    assert "Edit global module" not in signed_in("translator").get(url(post)).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("status", "do", "after"),
    [
        ("draft", "publish", "published"),
        ("published", "unpublish", "draft"),
        ("published", "archive", "archived"),
        ("archived", "unarchive", "draft"),
    ],
)
def test_a_button_saves_what_is_typed_and_moves_the_post(
    signed_in: SignedIn, status: str, do: str, after: str
) -> None:
    post, client = make.post(status="draft" if status == "archived" else status), signed_in()
    if status == "archived":
        set_status(post_id=post.pk, status=status, actor=make.actor("admin"))
    sent = {**fields(client.get(url(post))), "post.title": "Typed", "do": do}

    answer: Any = client.post(url(post), sent, headers={"Accept": "application/json"}).json()

    post.refresh_from_db()
    assert (post.status, post.title) == (after, "Typed")
    assert answer == {"stays": False, "url": url(post)}
    assert client.get(url(post)).status_code == 200


@pytest.mark.django_db
def test_a_draft_is_scheduled_and_the_schedule_removed(signed_in: SignedIn) -> None:
    post, client = make.post(status="draft"), signed_in()
    sent = {**fields(client.get(url(post))), "schedule_at": "2031-05-03T09:00"}

    client.post(url(post), {**sent, "do": "schedule"})
    post.refresh_from_db()
    assert (post.status, post.publish_at) == ("draft", MOMENT)
    page = client.get(url(post))
    assert "Scheduled for" in page.content.decode()
    client.post(url(post), {**fields(page), "do": "unschedule"})
    post.refresh_from_db()
    assert post.publish_at is None


@pytest.mark.django_db
def test_a_translator_does_not_publish_by_a_forged_button(signed_in: SignedIn) -> None:
    post, client = make.post(status="draft"), signed_in("translator")
    page = client.get(url(post))
    assert 'value="publish"' not in page.content.decode()

    refused = client.post(url(post), {**fields(page), "do": "publish"})

    assert refused.status_code == 403
    assert Post.objects.get(pk=post.pk).status == "draft"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("2020-01-01T10:00", "Choose a time in the future."),
        ("", "Choose a date and a time."),
    ],
)
def test_a_time_that_cannot_be_scheduled_is_refused_in_its_dialog(
    signed_in: SignedIn, typed: str, sentence: str
) -> None:
    post, client = make.post(status="draft"), signed_in()
    post.publish_at = MOMENT
    post.save(update_fields=["publish_at"])
    sent = {**fields(client.get(url(post))), "schedule_at": typed}

    answer = client.post(url(post), {**sent, "do": "schedule"})

    page = answer.content.decode()
    dialog = page[page.index('<dialog class="schedule" id="schedule"') :].partition("</dialog>")[0]
    assert answer.status_code == 422
    assert " data-open>" in dialog
    assert f'value="{typed}"' in dialog
    assert f">{sentence}</p>" in dialog
    assert "Nothing was saved" not in page
    assert 'data-touched="[]"' in page
    post.refresh_from_db()
    assert post.publish_at == MOMENT


@pytest.mark.django_db
def test_the_date_of_publication_is_changed_in_its_dialog(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    first = post.published_at
    sent = fields(client.get(url(post)))

    client.post(url(post), {**sent, "do": "save", "post.title": "Typed"})
    post.refresh_from_db()
    assert (post.title, post.published_at) == ("Typed", first)
    shown = f"{first:%Y-%m-%dT%H:%M}" if first else ""
    assert (
        f'name="published_at" form="edit-form" value="{shown}"'
        in client.get(url(post)).content.decode()
    )
    unchanged = fields(client.get(url(post))) | {"published_at": [shown], "do": ["publication"]}
    same = client.post(url(post), unchanged)
    post.refresh_from_db()
    assert (same.status_code, post.published_at) == (302, first)
    sent = fields(client.get(url(post))) | {"published_at": ["2019-03-04T05:06"]}
    client.post(url(post), {**sent, "do": "publication"})

    post.refresh_from_db()
    assert post.published_at == datetime(2019, 3, 4, 5, 6, tzinfo=UTC)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("2131-01-01T10:00", "The date of publication cannot be in the future. Schedule a draft instead."),
        ("", "A published post has a date of publication."),
        ("soon", "Choose a date and a time."),
    ],
)  # fmt: skip
def test_a_date_of_publication_that_cannot_be_is_refused_in_its_dialog(
    signed_in: SignedIn, typed: str, sentence: str
) -> None:
    post, client = make.post(), signed_in()
    sent = {**fields(client.get(url(post))), "published_at": typed}

    answer = client.post(url(post), {**sent, "do": "publication"})

    page = answer.content.decode()
    dialog = page[page.index('id="publication"') :].partition("</dialog>")[0]
    assert answer.status_code == 422
    assert " data-open>" in dialog
    assert f">{sentence}</p>" in dialog
    assert "Nothing was saved" not in page
    before = post.published_at
    post.refresh_from_db()
    assert post.published_at == before


@pytest.mark.django_db
def test_only_publishers_are_offered_the_date_of_publication(signed_in: SignedIn) -> None:
    make.site_role("writer", "posts.view", "posts.edit")
    post, client = make.post(), signed_in("writer")
    page = client.get(url(post))
    assert 'id="publication"' not in page.content.decode()

    forged = {**fields(page), "do": "publication", "published_at": "2019-03-04T05:06"}

    assert client.post(url(post), forged).status_code == 403
