"""Moving entries on the page of the calendar: for whom, to where, and what is refused."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from content.models import Layer, Post, ScheduledApproval
from proofroom.core.content_scope import ContentScope
from proofroom.core.json import format_time
from proofroom.core.models import Event
from proofroom_apps.comments.models import Comment
from proofroom_apps.releases.models import Release
from proofroom_apps.steps.models import StepRound
from tests import make
from tests.calendar.scenes import due_step, full_month, on

pytestmark = pytest.mark.django_db

MOVE = "/admin/calendar/move/"


def client_of(role: str = "editor", zone: str = "UTC") -> Client:
    client = Client()
    client.force_login(make.user(role))
    client.cookies["admin_time_zone"] = zone
    return client


def move(
    entry: str, seen: datetime, *, by: str = "editor", expect: int = 200, **values: str
) -> dict[str, Any]:
    """Move an entry as the script does, and return the answer."""
    body = {"entry": entry, "seen": format_time(seen), **values}
    response = client_of(by).post(MOVE, body, headers={"Accept": "application/json"})
    assert response.status_code == expect, response.content[:300]
    answer: dict[str, Any] = response.json()
    return answer


def movable(by: str, query: str = "month=2099-01") -> set[str]:
    shown = client_of(by).get(f"/admin/calendar/?{query}").content.decode()
    return set(re.findall(r'data-entry="([^"]+)"', shown))


def keys(scene: dict[str, Any]) -> dict[str, str]:
    return {
        "planned": f"publication:{scene['planned'].pk}",
        "ending": f"expiry:{scene['ending'].pk}",
        "approval": f"changes:{scene['approval'].pk}",
        "release": f"release:{scene['release'].pk}",
        "thread": f"comment:{scene['thread'].pk}",
        "about_file": f"comment:{scene['about_file'].pk}",
    }


def dates(scene: dict[str, Any]) -> list[datetime | None]:
    return [
        Post.objects.get(pk=scene["planned"].pk).publish_at,
        Post.objects.get(pk=scene["ending"].pk).unpublish_at,
        ScheduledApproval.objects.get().at,
        Release.objects.get().at,
        *(Comment.objects.get(pk=scene[name].pk).due_at for name in ("thread", "about_file")),
    ]


def test_each_kind_moves_to_a_day_at_the_same_time_and_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = full_month()
    post = due_step(monkeypatch, at=on(8))
    entries = {**keys(scene), "step": f"step:{post.pk}"}
    at = {name: on(day) for day, name in enumerate(entries, start=2)}
    version = scene["planned"].version

    answers = {name: move(key, at[name], day="2099-01-20") for name, key in entries.items()}

    assert dates(scene) == [on(20)] * 6
    step = StepRound.objects.get()
    assert step.due_at == step.remind_at == on(20)
    assert answers["planned"]["message"] == "“Planned” moved to 2099-01-20 09:00 (UTC)."
    assert "You approved it for this time." in answers["release"]["message"]
    assert Post.objects.get(pk=scene["planned"].pk).version == version + 1
    names = (
        "post.review.schedule",
        "release.scheduled",
        "comment.changed",
        "post.step.due-changed",
    )
    counts = [Event.objects.filter(name=name).count() for name in names]
    assert counts == [2, 2, 2, 1]

    for answer in answers.values():
        undo = answer["undo"]
        move(undo["entry"], datetime.fromisoformat(undo["seen"]), at=undo["at"])
    assert dates(scene) == [on(day) for day in range(2, 8)]
    assert StepRound.objects.get().due_at == on(8)


def test_a_new_time_of_changes_is_approved_by_the_person_who_moves_them() -> None:
    scene = full_month()

    move(keys(scene)["approval"], on(4), by="admin", day="2099-01-09")

    assert ScheduledApproval.objects.get().by == make.user("admin")
    # They are judged again: what was decided or changed since can't be moved.
    make.staged(scene["changed"], {"excerpt": "Other"}, layer=Layer.REVIEW)
    answer = move(keys(scene)["approval"], on(9), expect=409, day="2099-01-10")
    assert "Excerpt" in answer["message"] or "changed" in answer["message"].lower()
    assert ScheduledApproval.objects.get().at == on(9)


def test_what_was_moved_in_the_meantime_is_not_moved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = full_month()
    post = due_step(monkeypatch, at=on(8))
    entries = [*keys(scene).values(), f"step:{post.pk}"]

    messages = [move(key, on(1), expect=409, day="2099-01-20")["message"] for key in entries]

    assert dates(scene) == [on(day) for day in range(2, 8)]
    assert StepRound.objects.get().due_at == on(8)
    # The page then shows the new place; the message names it, too.
    assert "2099-01-02 09:00 (UTC)" in messages[0]
    assert all("since you" in message or "another time" in message for message in messages)
    Post.objects.filter(pk=scene["planned"].pk).update(publish_at=None)
    assert (
        "no longer in the calendar"
        in move(entries[0], on(2), expect=404, day="2099-01-20")["message"]
    )
    Post.objects.filter(pk=scene["planned"].pk).update(status="published", published_at=on(2))
    assert (
        "no longer has a date" in move(entries[0], on(2), expect=409, day="2099-01-20")["message"]
    )


def test_rules_and_impossible_times_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = full_month()
    post = due_step(monkeypatch, at=on(8))
    Post.objects.filter(pk=scene["planned"].pk).update(unpublish_at=on(3))
    entries = [*keys(scene).values(), f"step:{post.pk}"]
    planned = entries[0]

    def why(key: str, seen: datetime, **values: str) -> str:
        message: str = move(key, seen, expect=422, **values)["message"]
        return message

    assert "published before it is unpublished" in why(planned, on(2), day="2099-01-03")
    past = [why(key, on(n), day="2001-01-03") for n, key in enumerate(entries, start=2)]
    assert all("future" in message for message in past)
    zone = {"time_zone": "Europe/Berlin"}
    # The clocks go forward at two on March 29, and back at three on October 25.
    assert "go forward" in why(planned, on(2), at="2099-03-29T02:30", **zone)
    assert "go back" in why(planned, on(2), at="2099-10-25T02:30", **zone)
    for values in ({"day": "soon"}, {"day": "2099-01-04", "hour": "24"}, {"at": ""}, {"at": "x"}):
        assert why(planned, on(2), **values) == "Choose a date and a time."
    assert dates(scene) == [on(day) for day in range(2, 8)]


def test_a_day_keeps_the_local_time_also_across_a_change_of_the_clocks() -> None:
    post = make.post("Planned", slug="planned", status="draft")
    # Half past nine in Berlin, in winter and then in summer.
    Post.objects.filter(pk=post.pk).update(publish_at="2099-03-20T08:30:00Z")
    seen = datetime.fromisoformat("2099-03-20T08:30:00Z")

    move(f"publication:{post.pk}", seen, day="2099-04-10", time_zone="Europe/Berlin")

    moved = datetime.fromisoformat("2099-04-10T07:30:00Z")
    assert Post.objects.get().publish_at == moved
    move(f"publication:{post.pk}", moved, day="2099-04-10", hour="14", time_zone="Europe/Berlin")
    assert Post.objects.get().publish_at == datetime.fromisoformat("2099-04-10T12:30:00Z")


def test_only_what_the_reader_may_move_can_be_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = full_month()
    step = f"step:{due_step(monkeypatch, at=on(8)).pk}"
    entries = keys(scene)
    published = make.post("Published", slug="published")
    Post.objects.filter(pk=published.pk).update(published_at=on(9))

    assert movable("editor") == {*entries.values(), step}
    assert movable("translator") == {entries["thread"], entries["about_file"]}
    rights = ("posts.view", "posts.edit", "posts.publish", "comments.view", "comments.write")
    for name, reads_all in (("pages", False), ("readers", True)):
        scope = ContentScope(types=frozenset({"page"}), reads_all=reads_all)
        make.site_role(name, *rights, "posts.review.approve", scope=scope)
        assert movable(name) == {step}

    before = dates(scene)
    for key, seen in (("planned", on(2)), ("ending", on(3)), ("approval", on(4))):
        answer = move(entries[key], seen, by="translator", expect=403, day="2099-01-20")
        assert answer["message"]
        assert client_of("translator").get(MOVE, {"entry": entries[key]}).status_code == 403
        move(entries[key], seen, by="readers", expect=403, day="2099-01-20")
    # Who may not see it gets the same answer as for what is not there.
    unseen = [(entries["release"], on(5), "translator"), (entries["planned"], on(2), "pages")]
    for key, seen, role in unseen:
        move(key, seen, by=role, expect=404, day="2099-01-20")
    move(step, on(8), by="translator", expect=403, day="2099-01-20")
    assert dates(scene) == before
    for key in ("", "poem:1", "publication:1", f"publication:{scene['release'].pk}"):
        assert client_of().get(MOVE, {"entry": key}).status_code == 404


def test_the_form_moves_without_scripts_and_its_message_undoes_it() -> None:
    scene = full_month()
    client = client_of(zone="Europe/Berlin")
    key, back = keys(scene)["planned"], "week=2099-01-01&type=blog"
    shown = client.get(MOVE, {"entry": key, "back": back}).content.decode()
    assert "Move “Planned”" in shown
    assert "New date and time (Europe/Berlin)" in shown
    sent = {
        name: unescape(value)
        for name, value in re.findall(r'<input[^>]* name="(\w+)" value="([^"]*)"', shown)
    }
    assert (sent["at"], sent["time_zone"]) == ("2099-01-02T10:00", "Europe/Berlin")

    again = client.post(MOVE, {**sent, "at": "2001-01-02T10:00"})
    assert again.status_code == 422
    assert "Choose a time in the future." in again.content.decode()
    response = client.post(MOVE, {**sent, "at": "2099-01-03T12:15"})

    assert response["Location"] == f"/admin/calendar/?{back}"
    assert Post.objects.get(pk=scene["planned"].pk).publish_at == on(3, 11).replace(minute=15)
    shown = client.get(response["Location"]).content.decode()
    found = re.search(r'name="undo" value="([^"]+)"', shown)
    assert found is not None
    response = client.post("/admin/undo/", {"undo": found[1]})
    assert response["Location"] == f"/admin/calendar/?{back}"
    assert Post.objects.get(pk=scene["planned"].pk).publish_at == on(2)
    # Moved from the place that the form showed.
    conflict = client.post(MOVE, {**sent, "seen": format_time(on(1))})
    assert conflict.status_code == 409
    assert (
        "Somebody has moved this to 2099-01-02 10:00 (Europe/Berlin)" in conflict.content.decode()
    )


def test_an_overdue_thread_moves_to_the_future_and_offers_no_way_back() -> None:
    thread = full_month()["thread"]
    past = timezone.now() - timedelta(hours=1)
    Comment.objects.filter(pk=thread.pk).update(due_at=past)

    assert move(f"comment:{thread.pk}", past, at=format_time(on(9)))["undo"] is None
    assert Comment.objects.get(pk=thread.pk).due_at == on(9)
