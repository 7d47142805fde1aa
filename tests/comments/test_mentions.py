"""Mentions of people and agents in comments: who is notified, what runs, and warnings."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents_app.comment_mentions import answer_in_thread
from agents_app.definitions.agents import switch_agent
from agents_app.models import AgentRun, RunStatus
from agents_app.runs.lifecycle import cancel_run
from agents_app.runs.run_log import record_run_end
from content.event_kinds import SCHEDULE
from content.models import Post
from media.models import Asset
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import notification_kinds
from proofroom.notifications.queries import describe
from proofroom.notifications.services import add_notifications
from proofroom_apps.comments.mentions import parse_mentions, words_without
from proofroom_apps.comments.models import AgentMention, Comment
from proofroom_apps.comments.services import remind_of_due
from tests import make
from tests.api_client import ApiClient
from tests.comments.talk import refuse, say, threads
from tests.queries import count_queries

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@mira look", ["@mira"]),
        ("(@mira), @jo.smith!", ["@mira", "@jo.smith"]),
        ("mail mira@example.com", []),
        ("@mira@example.com", ["@mira@example.com"]),
        ("@agent:proofreader shorter", ["@agent:proofreader"]),
        ("@agent:", ["@agent"]),
        ("@ @@ @", []),
        ("@Jürgen and @मीरा", ["@Jürgen", "@मीरा"]),
        ("@mira @mira", ["@mira"]),
        ("<b>@mira</b>", ["@mira"]),
    ],
)
def test_mentions_in_a_text(text: str, expected: list[str]) -> None:
    found = [mention.text for mention in parse_mentions(text)]

    assert found == expected


def test_the_words_for_an_agent() -> None:
    text = "Please, @agent:proofreader  shorter"
    [mention] = parse_mentions(text)

    assert words_without(text, mention) == "Please, shorter"


def texts_for(name: str) -> list[tuple[str, str]]:
    add_notifications(list(Event.objects.filter(name__startswith="comment.").order_by("pk")))
    user = make.user(name)
    rows = list(Notification.objects.filter(user=user).order_by("pk"))
    return [(line.kind, line.text.text) for line in describe(rows, Actor(user, "admin"))]


def test_a_mention_notifies_whom_it_names() -> None:
    post = make.post("Coffee")
    make.user("translator")

    made = say(post, "@translator. Please look")
    say(post, "Yes", by="admin", parentId=made["id"])

    assert made["warnings"] == []
    answered = ("comment.reply", "admin replied on “Coffee”")
    mentioned = ("comment.mention", "editor mentioned you on “Coffee”")
    assert set(texts_for("translator")) == {mentioned, answered}
    assert texts_for("editor") == [answered]
    assert texts_for("admin") == []


def test_an_assignment_notifies_the_assignee() -> None:
    post = make.post("Coffee")
    make.user("translator")

    made = say(post, assignee="translator")
    ApiClient("editor").write(
        "PATCH", f"/api/comments/{made['id']}", {"dueAt": "2099-01-01T00:00:00Z"}
    )

    assert texts_for("translator") == [
        ("comment.assignment", "A comment on “Coffee” is assigned to you")
    ]


def test_a_due_thread_reminds_once_for_each_due_date() -> None:
    post = make.post("Coffee")
    made = say(post, assignee="editor", dueAt="2099-01-01T00:00:00Z")
    say(post, assignee="editor")
    assert remind_of_due() == 0
    past = timezone.now() - timedelta(days=3)
    rows = Comment.objects.filter(pk=made["id"])
    rows.update(due_at=past)

    # After an outage it is both due and overdue, which is one reminder.
    assert [remind_of_due(), remind_of_due()] == [1, 0]
    assert texts_for("editor") == [("comment.due", "A comment on “Coffee” is overdue")]
    rows.update(due_at=past + timedelta(days=1))
    assert remind_of_due() == 1
    rows.update(due_at=past, status="resolved")
    assert remind_of_due() == 0


def test_a_due_thread_reminds_again_when_it_is_overdue_and_when_its_date_is_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = say(make.post("Coffee"), assignee="editor", dueAt="2099-01-01T00:00:00Z")
    due = timezone.now() - timedelta(hours=1)
    Comment.objects.filter(pk=made["id"]).update(due_at=due)

    assert [remind_of_due(), remind_of_due()] == [1, 0]
    assert texts_for("editor") == [("comment.due", "A comment on “Coffee” is due")]
    tomorrow = due + timedelta(days=1, minutes=1)
    monkeypatch.setattr(timezone, "now", lambda: tomorrow)
    assert [remind_of_due(), remind_of_due()] == [1, 0]
    assert texts_for("editor") == [("comment.due", "A comment on “Coffee” is overdue")]
    later = tomorrow + timedelta(days=7)
    sent = {"dueAt": later.isoformat()}
    ApiClient("editor").write("PATCH", f"/api/comments/{made['id']}", sent)
    assert remind_of_due() == 0
    monkeypatch.setattr(timezone, "now", lambda: later + timedelta(minutes=1))
    assert [remind_of_due(), remind_of_due()] == [1, 0]
    assert texts_for("editor") == [("comment.due", "A comment on “Coffee” is due")]


def test_everybody_in_a_thread_hears_that_it_was_resolved() -> None:
    post = make.post("Coffee")
    for name in ("translator", "admin"):
        make.user(name)
    made = say(post, "<b>@translator</b> look", assignee="admin")
    ApiClient("translator").write("PATCH", f"/api/comments/{made['id']}", {"status": "resolved"})
    text = ("comment.reply", "translator resolved a comment on “Coffee”")

    assert text in texts_for("admin")
    assert texts_for("editor") == [text]
    assert text not in texts_for("translator")  # who resolved it


def test_people_in_open_threads_hear_of_a_schedule() -> None:
    post = make.post("Coffee")
    people = {name: make.user(name) for name in ("admin", "translator", "editor")}
    say(post, "@translator look", by="editor")
    done = say(post, "Done", by="admin")
    ApiClient("admin").write("PATCH", f"/api/comments/{done['id']}", {"status": "resolved"})
    Post.objects.filter(pk=post.pk).update(author=None)
    event = Event(name="post.published", post_id=post.pk, payload={"cause": SCHEDULE})

    (kind,) = [kind for kind in notification_kinds if kind.name == "post.published"]
    (notice,) = kind.find_notices(event)
    assert set(notice.user_ids) == {people["editor"].pk, people["translator"].pk}


def test_an_edit_notifies_only_the_newly_mentioned() -> None:
    post = make.post()
    for name in ("translator", "admin"):
        make.user(name)
    made = say(post, "@translator look")

    ApiClient("editor").write(
        "PATCH", f"/api/comments/{made['id']}", {"body": "@translator @admin look"}
    )

    changed = Event.objects.get(name="comment.changed")
    assert changed.payload["mentioned"] == [make.user("admin").pk]


def test_a_mention_of_somebody_who_cannot_see_the_post_warns() -> None:
    post = make.post(type="page", slug="outside")
    scope = ContentScope(types=frozenset({"blog"}))
    make.site_role("bloggers", "posts.view", "comments.view", scope=scope)
    make.user("bloggers")
    make.agent_actor()

    made = say(post, "@bloggers @nobody-here @seo-specialist look")

    assert made["warnings"] == [
        {"mention": "@bloggers", "message": "bloggers cannot see this and was not notified."},
        {"mention": "@nobody-here", "message": "Nobody here has this username."},
        {"mention": "@seo-specialist", "message": "Nobody here has this username."},
    ]
    assert Event.objects.get(name="comment.created").payload["mentioned"] == []
    assert texts_for("bloggers") == []
    error = refuse(post, assignee="bloggers")
    assert list(error["details"]) == ["assignee"]


def test_too_many_mentions_are_refused() -> None:
    post = make.post()

    people = refuse(post, body=" ".join(f"@person{number}" for number in range(21)))
    agents = refuse(post, body=" ".join(f"@agent:agent-{number}" for number in range(4)))

    assert list(people["details"]) == list(agents["details"]) == ["body"]
    assert not Comment.objects.exists()


def call_proofreader(post: Post, **values: str) -> tuple[dict[str, object], AgentRun]:
    made = say(post, "@agent:proofreader shorter", path="post.title", **values)
    assert made["warnings"] == []
    return made, AgentRun.objects.get()


def test_a_mentioned_agent_runs_on_the_field_and_replies() -> None:
    post = make.post()

    made, run = call_proofreader(post)

    assert (run.agent_id, run.scope, run.field_key, run.post_id) == (
        "proofreader",
        "field",
        "post.title",
        post.pk,
    )
    assert (run.by, run.stages_value, run.context) == (
        make.user("editor"),
        True,
        {"comment": "shorter"},
    )
    run.status, run.staged, run.summary = RunStatus.SUCCEEDED, ["post.title"], "One word less."
    run.save()
    record_run_end(run)
    event = Event.objects.get(name="agent.run.finished")
    for _time in range(2):
        answer_in_thread(event)
    [thread] = threads(post)
    [reply] = thread["replies"]
    assert thread["id"] == made["id"]
    assert reply["body"] == "One word less."
    assert reply["author"]["username"] == "agent:proofreader"
    assert Comment.objects.get(pk=reply["id"]).agent_id == "proofreader"


def test_a_mention_in_a_module_names_its_field() -> None:
    post = make.post()
    id_ = make.module_id(post, "prose")

    made = say(
        post,
        "@agent:proofreader",
        path=f"modules.{id_}.props.content",
        passage={"quote": "Pour the water"},
    )

    run = AgentRun.objects.get()
    assert made["warnings"] == []
    assert (run.field_key, run.post_module_id) == ("module.prose.content", id_)
    assert run.context == {"comment": "", "passage": "Pour the water"}


def test_a_cancelled_and_a_failed_run_say_so() -> None:
    post = make.post()
    _made, run = call_proofreader(post)
    cancel_run(run_id=run.pk, actor=make.actor("admin"))

    answer_in_thread(Event.objects.get(name="agent.run.cancelled"))

    assert threads(post)[0]["replies"][0]["body"] == "The run was cancelled."


@pytest.mark.parametrize(
    ("by", "agent"),
    [("translator", "proofreader"), ("editor", "nobody"), ("editor", "proofreader")],
    ids=["no right", "unknown", "off"],
)
def test_an_agent_that_the_writer_may_not_run_warns(by: str, agent: str) -> None:
    post = make.post()
    switch_agent(agent_id="proofreader", enabled=by == "translator", actor=make.actor("admin"))

    made = say(post, f"@agent:{agent} shorter", by=by, path="post.title")

    [warning] = made["warnings"]
    assert (warning["mention"], bool(warning["message"])) == (f"@agent:{agent}", True)
    assert not AgentRun.objects.exists()
    assert not AgentMention.objects.exists()
    assert Comment.objects.count() == 1


def test_an_agent_runs_only_on_posts() -> None:
    made = say(make.image(), "@agent:proofreader brighter")

    assert made["warnings"] == [
        {"mention": "@agent:proofreader", "message": "Agents only work on posts."}
    ]


def test_an_edit_does_not_start_an_agent_again() -> None:
    post = make.post()
    made, _run = call_proofreader(post)

    for body in ("@agent:proofreader much shorter", "Never mind", "@agent:proofreader shorter"):
        ApiClient("editor").write("PATCH", f"/api/comments/{made['id']}", {"body": body})

    assert AgentRun.objects.count() == 1


def test_hostile_text_is_stored_as_text() -> None:
    post = make.post()
    text = "<script>alert(1)</script> ![x](https://evil.example/?q=1) {{ 7*7 }} @<img>"

    made = say(post, text)

    assert (made["body"], made["warnings"]) == (text, [])


def test_notifications_about_files_check_what_the_reader_may_see() -> None:
    asset = make.image("secret-canary.png")
    outside = make.post(type="page", slug="outside")
    scope = ContentScope(types=frozenset({"blog"}))
    rights = ("posts.view", "media.view", "comments.view", "comments.write")
    make.site_role("bloggers", *rights, scope=scope)
    make.user("bloggers")
    made = say(asset, "@bloggers look", by="admin")
    assert made["warnings"] == []
    assert texts_for("bloggers") == [
        ("comment.mention", "admin mentioned you on “secret-canary.png”")
    ]

    # Now it is used only where they may not look.
    make.edited(outside, {"featuredMediaId": str(asset.pk)})

    assert texts_for("bloggers") == []


def test_who_may_write_finds_people_who_see_the_post_and_agents_that_they_may_run() -> None:
    """Without the writer, agents' accounts, people limited to other content, and agents that are off."""
    post, page = make.post("Coffee"), make.post("Kettle", type="page")
    for name in ("translator", "admin"):
        make.user(name)
    scope, rights = ContentScope(types=frozenset({"page"})), ("posts.view", "comments.view")
    make.site_role("transcribers", *rights, scope=scope)
    make.user("transcribers")
    gone = make.user("editor", "transient")
    gone.is_active = False
    gone.save()
    make.user("ai-agent", "trans_bot")
    switch_agent(agent_id="translator", enabled=False, actor=make.actor("admin"))

    def found(subject: Post | Asset, words: str, *, by: str = "editor") -> list[str]:
        part = "posts" if isinstance(subject, Post) else "media"
        listed = ApiClient(by).read(f"/api/{part}/{subject.pk}/mentions?search={words}")["data"]
        return [choice["mention"] for choice in listed]

    assert found(post, "trans") == ["@translator"]
    assert found(page, "TRANS") == ["@transcribers", "@translator"]
    assert found(post, "edit") == []  # the writer
    assert found(post, "proofr") == ["@agent:proofreader"]
    assert found(post, "agent:proof") == ["@agent:proofreader"]
    assert found(post, "lator") == ["@translator"]
    # Translators may not run agents on a post.
    assert not [each for each in found(post, "", by="translator") if each.startswith("@agent:")]
    # A scope by section costs a query, but not one for each person.
    make.site_role("news", *rights, scope=ContentScope(sections=frozenset({post.pk})))
    make.user("news")
    make.user("editor", "extra")
    asset = make.image("cup.png")
    queries = [count_queries(found, subject, "") for subject in (post, asset)]
    for number in range(5):
        make.user("editor", f"extra{number}")
        make.user("news", f"aaa{number}")
    assert [count_queries(found, subject, "") for subject in (post, asset)] == queries
    assert found(post, "aaa")[0] == "@aaa0"
