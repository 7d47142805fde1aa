"""Steps open one after the other, ask whom they name, and can be taken again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from django.utils.formats import date_format

from content.models import Post
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import Conflict, NotAllowed, RuleViolation
from proofroom.core.models import Event
from proofroom.definitions import Step
from proofroom.notifications.services import add_notifications
from proofroom_apps.steps.changed_content import ask_again
from proofroom_apps.steps.models import StepDecision, StepRound
from proofroom_apps.steps.queries import absent_people, people_asked, rounds_asking
from proofroom_apps.steps.services import (
    advance,
    change_due,
    end_absence,
    remind_of_due,
    set_absence,
)
from tests import make
from tests.api_client import ApiClient
from tests.definition_checks import definition_errors
from tests.steps.taking import HEAD, LEGAL, move, passed, publish, read, set_steps, staged, states

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("admin", "editor", "translator"):
        make.user(role)
    set_steps(monkeypatch, LEGAL, HEAD)


def draft(title: str = "Coffee") -> Post:
    return make.post(title, status="draft")


def events(post: Post) -> list[str]:
    found = Event.objects.filter(post_id=post.pk, name__startswith="post.step").order_by("pk")
    return list(found.values_list("name", flat=True))


def test_a_type_without_steps_has_none(monkeypatch):
    set_steps(monkeypatch)
    post = draft()

    assert read(post) == {
        "step": None,
        "steps": [],
        "digest": None,
        "problem": None,
        "decisions": [],
    }
    assert move(post, expect=422)["code"] == "no_steps"


def test_steps_wait_until_somebody_starts_them():
    post = draft()

    answer = read(post)
    assert len(answer.pop("digest")) == 32
    assert answer == {
        "step": None,
        "steps": [
            {
                "name": "Legal",
                "asks": {"kind": "role", "name": "translator", "quorum": 1, "agreed": 0},
                "state": "waiting",
                "due": None,
            },
            {
                "name": "Head",
                "asks": {"kind": "person", "name": "editor", "quorum": 1, "agreed": 0},
                "state": "waiting",
                "due": None,
            },
        ],
        "problem": None,
        "decisions": [],
    }


def test_steps_open_in_order():
    post = draft()

    assert move(post)["step"] == "Legal"
    assert states(post) == ["open", "waiting"]
    assert move(post, role="translator")["step"] == "Head"
    assert states(post) == ["done", "open"]
    assert move(post)["step"] is None
    assert states(post) == ["done", "done"]
    assert events(post) == [
        "post.step.opened",
        "post.step.agreed",
        "post.step.opened",
        "post.step.agreed",
        "post.steps.done",
    ]


def test_only_people_who_are_asked_agree():
    post = draft()
    move(post)

    answer = move(post, expect=403)

    assert (answer["code"], answer["details"]) == ("not_asked", {"step": ["Legal"]})
    assert states(post) == ["open", "waiting"]


def test_a_role_that_may_only_view_agrees_and_starts_nothing(monkeypatch):
    make.site_role("legal", "posts.view", scope=ContentScope(types=frozenset({"blog"})))
    set_steps(monkeypatch, Step("Legal", role="legal"))
    post, hidden = draft(), make.post("Imprint", type="page", status="draft")

    assert move(post, role="legal", expect=403)["code"] == "not_allowed"
    move(post)
    assert move(post, role="legal")["steps"][0]["state"] == "done"
    move(hidden, role="legal", expect=404)


def test_administrators_stand_in_and_say_why():
    post = draft()
    move(post)

    assert move(post, role="admin", expect=422)["details"] == {
        "note": ["Say why you decide for translator."]
    }
    answer = move(post, role="admin", note="Legal is on holiday")

    assert answer["step"] == "Head"
    assert answer["decisions"][0]["standsFor"] == "translator"
    assert answer["decisions"][0]["note"] == "Legal is on holiday"


def test_agents_and_clients_take_no_step():
    post = draft()

    for actor in (make.agent_actor(), make.mcp_actor("editor")):
        with pytest.raises(NotAllowed) as refused:
            advance(post_id=post.pk, actor=actor)
        assert refused.value.code == "person_required"
    assert not StepRound.objects.exists()


def test_a_token_starts_steps_and_does_not_agree():
    from dataclasses import replace

    post = draft()
    token = replace(make.actor("editor"), token_id="1")
    advance(post_id=post.pk, actor=token)

    with pytest.raises(NotAllowed) as refused:
        advance(post_id=post.pk, actor=replace(make.actor("translator"), token_id="1"))

    assert refused.value.code == "session_required"


def test_a_quorum_needs_different_people(monkeypatch):
    set_steps(monkeypatch, Step("Legal", role="translator", quorum=2))
    post = draft()
    move(post)
    make.user("translator", "second")

    assert move(post, role="translator")["steps"][0]["asks"]["agreed"] == 1
    assert move(post, role="translator", expect=422)["code"] == "already_agreed"
    way = advance(post_id=post.pk, actor=make_actor("second"))

    assert way.is_passed


def make_actor(name: str):
    from proofroom.core.actor import Actor

    return Actor(user=User.objects.get(username=name), via="api")


def test_content_is_sent_back_to_a_step_with_a_note():
    post = draft()
    move(post)
    move(post, role="translator")

    assert move(post, "return", step="Legal", expect=422)["details"] == {
        "note": ["Say what has to change."]
    }
    assert "step" in move(post, "return", step="Head", note="Again", expect=422)["details"]
    answer = move(post, "return", step="Legal", note="The imprint is wrong")

    assert answer["step"] == "Legal"
    assert states(post) == ["open", "waiting"]
    assert answer["decisions"][0]["action"] == "returned"
    assert answer["decisions"][0]["note"] == "The imprint is wrong"
    # Legal agrees again, although it agreed before.
    assert move(post, role="translator")["step"] == "Head"


def test_content_is_sent_back_to_its_authors():
    post = draft()
    move(post)

    assert move(post, "return", role="translator", note="Shorter")["step"] is None
    assert states(post) == ["waiting", "waiting"]
    assert move(post)["step"] == "Legal"


def test_done_content_is_sent_back():
    post = draft()
    passed(post)

    assert move(post, "return", step="Legal", note="One more look")["step"] == "Legal"


def test_people_outside_of_the_steps_send_nothing_back():
    post = draft()
    passed(post)

    answer = move(post, "return", role="translator", note="No", expect=403)

    assert answer["code"] == "not_asked"
    assert states(post) == ["done", "done"]


def test_a_step_that_another_person_ended_is_not_taken():
    post = draft()
    move(post)
    move(post, role="translator", step="Legal")

    answer = move(post, step="Legal", expect=409)

    assert answer["code"] == "stale_step"
    assert states(post) == ["done", "open"]


def test_people_agree_to_the_content_that_they_read():
    post = draft()
    move(post)
    digest = read(post)["digest"]
    make.edited(post, {"title": "Sneaked in"})

    refused = move(post, role="translator", digest=digest, expect=409)
    assert refused["code"] == "stale_content"
    assert states(post) == ["open", "waiting"]
    move(post, role="translator", digest=read(post)["digest"])
    assert states(post) == ["done", "open"]


def test_live_content_is_not_sent_back():
    post = draft()
    passed(post)
    publish(post)

    assert move(post, "return", note="Too late", expect=422)["code"] == "no_open_step"
    assert states(post) == ["done", "done"]


def test_published_posts_without_changes_start_nothing(monkeypatch):
    set_steps(monkeypatch)
    post = make.post()
    set_steps(monkeypatch, LEGAL)

    assert move(post, expect=422)["code"] == "nothing_staged"
    staged(post, title="Other")
    assert move(post)["step"] == "Legal"


def test_changed_content_starts_again():
    post = draft()
    passed(post)
    assert move(post, expect=422)["code"] == "steps_done"

    make.edited(post, {"title": "Tea"})

    assert states(post) == ["waiting", "waiting"]
    assert move(post)["step"] == "Legal"


def test_a_step_reminds_once_before_its_due_date_and_once_on_it(monkeypatch):
    set_steps(monkeypatch, Step("Legal", role="translator", due=timedelta(days=3)))
    post = draft()
    due = move(post)["steps"][0]["due"]
    row = StepRound.objects.get()
    assert row.due_at is not None
    assert row.remind_at == row.due_at - timedelta(days=1)
    assert due.startswith(row.due_at.strftime("%Y-%m-%dT%H:%M"))

    assert remind_of_due() == 0
    StepRound.objects.update(remind_at=timezone.now())
    assert (remind_of_due(), remind_of_due()) == (1, 0)
    assert StepRound.objects.get().remind_at == row.due_at
    assert said() == [f"The step “Legal” of “Coffee” is due on {shown(row.due_at)}"]
    past_due()
    assert (remind_of_due(), remind_of_due()) == (1, 0)

    events = Event.objects.filter(name="post.step.due", post_id=post.pk).order_by("pk")
    assert [event.payload["isEarly"] for event in events] == [True, False]
    assert said() == ["The step “Legal” of “Coffee” is due"]


def test_an_outage_over_both_dates_reminds_once(monkeypatch):
    set_steps(monkeypatch, Step("Legal", role="translator", due=timedelta(days=3)))
    move(draft())
    past_due()

    assert (remind_of_due(), remind_of_due()) == (1, 0)
    assert Event.objects.get(name="post.step.due").payload["isEarly"] is False


@pytest.mark.parametrize(
    ("step", "lead"),
    [
        (Step("A", role="a", due=timedelta(hours=4)), timedelta(hours=2)),
        (Step("A", role="a", due=timedelta(days=9)), timedelta(days=1)),
        (Step("A", role="a", due=timedelta(days=9), reminder=timedelta(0)), timedelta(0)),
    ],
)
def test_a_step_is_reminded_of_in_good_time(step, lead):
    assert step.lead == lead


def past_due() -> None:
    past = timezone.now() - timedelta(minutes=1)
    StepRound.objects.update(remind_at=past, due_at=past)


def shown(moment: datetime) -> str:
    return date_format(timezone.localtime(moment), "DATETIME_FORMAT")


def said(role: str = "translator") -> list[str]:
    """Return the reminders of a person."""
    add_notifications(list(Event.objects.filter(name="post.step.due").order_by("pk")))
    rows = ApiClient(role).read("/api/notifications")["data"]
    return [row["title"] for row in rows if row["kind"] == "due"]


def test_approvers_change_the_due_date_of_the_open_step(monkeypatch):
    set_steps(monkeypatch, replace(LEGAL, due=timedelta(days=3), reminder=timedelta(days=1)), HEAD)
    post = draft()
    move(post)
    StepRound.objects.update(remind_at=None)
    editor, at = make.actor("editor"), timezone.now() + timedelta(days=9)
    seen = StepRound.objects.get().due_at

    def refuse(error, code, **values):
        known = {"post_id": post.pk, "actor": editor, "step": "Legal", "due_at": at}
        with pytest.raises(error) as caught:
            change_due(**{**known, **values})
        assert caught.value.code == code

    refuse(NotAllowed, "not_allowed", actor=make.actor("translator"))
    refuse(NotAllowed, "person_required", actor=make.agent_actor())
    refuse(Conflict, "stale_step", step="Head")
    refuse(Conflict, "conflict", expected_at=at)
    refuse(RuleViolation, "invalid", due_at=timezone.now())
    assert StepRound.objects.get().due_at == seen
    change_due(post_id=post.pk, actor=editor, step="Legal", due_at=at, expected_at=seen)

    row = StepRound.objects.get()
    # They are reminded again.
    assert (row.due_at, row.remind_at) == (at, at - timedelta(days=1))
    event = Event.objects.get(name="post.step.due-changed")
    assert (event.post_id, event.payload["step"]) == (post.pk, "Legal")
    move(post, role="translator")
    refuse(Conflict, "stale_step")


def test_a_deputy_decides_while_somebody_is_away():
    post = draft()
    move(post)
    now, editor, translator = timezone.now(), make.actor("editor"), make.actor("translator")
    set_absence(
        actor=translator,
        deputy="editor",
        begins_at=now - timedelta(hours=1),
        ends_at=now + timedelta(days=7),
    )

    assert {user.username for user in people_asked(LEGAL, post)} == {"editor", "translator"}
    assert [row.post_id for row in rounds_asking(editor)] == [post.pk]
    answer = move(post)

    assert answer["step"] == "Head"
    assert answer["decisions"][0]["deputyFor"]["username"] == "translator"
    end_absence(actor=translator)
    assert {user.username for user in people_asked(LEGAL, post)} == {"translator"}


def test_an_absence_is_checked():
    editor, now = make.actor("editor"), timezone.now()
    day = timedelta(days=1)

    def refuse(deputy: str, ends_at):
        with pytest.raises(RuleViolation) as refused:
            set_absence(actor=editor, deputy=deputy, begins_at=now, ends_at=ends_at)
        return list(refused.value.details)

    assert refuse("nobody", now + day) == ["deputy"]
    assert refuse("editor", now + day) == ["deputy"]
    assert refuse("translator", now - day) == ["ends_at"]


def test_absences_make_no_circles_and_name_who_is_there():
    editor, translator, now = make.actor("editor"), make.actor("translator"), timezone.now()
    day = timedelta(days=1)
    set_absence(actor=editor, deputy="translator", begins_at=now, ends_at=now + day)

    with pytest.raises(RuleViolation) as refused:
        set_absence(actor=translator, deputy="editor", begins_at=now, ends_at=now + day)
    assert refused.value.details == {"deputy": ["This person is away in this time too."]}
    # The deputy of a deputy is nobody's deputy.
    set_absence(actor=translator, deputy="admin", begins_at=now, ends_at=now + day)
    assert [user.username for user in absent_people(make.actor("admin").user.pk)] == ["translator"]
    # Afterwards they may.
    set_absence(actor=translator, deputy="editor", begins_at=now + day, ends_at=now + 2 * day)


def test_a_deputy_gets_no_right_that_either_person_lacks(monkeypatch):
    blog, pages = (ContentScope(types=frozenset({name})) for name in ("blog", "page"))
    make.site_role("legal", "posts.view", scope=blog)
    make.site_role("limited", "posts.view", scope=pages)
    set_steps(monkeypatch, Step("Legal", role="legal"))
    set_steps(monkeypatch, Step("Legal", role="legal"), type_="page")
    make.user("legal"), make.user("limited")
    post, page = draft(), make.post("Imprint", type="page", status="draft")
    move(post), move(page)
    now = timezone.now()
    until = now + timedelta(days=1)

    # Sees no blog, as the absent person sees no page.
    set_absence(actor=make.actor("legal"), deputy="limited", begins_at=now, ends_at=until)
    move(post, role="limited", expect=404)
    assert move(page, role="limited", expect=403)["code"] == "not_asked"
    assert list(rounds_asking(make.actor("limited"))) == []
    assert people_asked(Step("Legal", role="legal"), page) == []
    set_absence(actor=make.actor("legal"), deputy="translator", begins_at=now, ends_at=until)
    assert [row.post_id for row in rounds_asking(make.actor("translator"))] == [post.pk]
    assert move(page, role="translator", expect=403)["code"] == "not_asked"
    assert move(post, role="translator")["decisions"][0]["deputyFor"]["username"] == "legal"


def test_a_person_and_their_deputy_count_once(monkeypatch):
    set_steps(monkeypatch, Step("Legal", role="translator", quorum=2))
    post, now = draft(), timezone.now()
    move(post)
    set_absence(
        actor=make.actor("translator"),
        deputy="editor",
        begins_at=now,
        ends_at=now + timedelta(days=1),
    )
    make.user("translator", "second")
    move(post)

    assert move(post, role="translator", expect=422)["code"] == "already_agreed"
    assert move(post, expect=422)["code"] == "already_agreed"
    assert list(rounds_asking(make.actor("translator"))) == []
    move(post, "return", note="Once more")
    move(post)
    assert [row.post_id for row in rounds_asking(make.actor("editor"))] == [post.pk]
    move(post, role="translator")
    # Nobody is asked for a person who has agreed.
    assert list(rounds_asking(make.actor("editor"))) == []
    assert move(post, expect=403)["code"] == "not_asked"
    assert advance(post_id=post.pk, actor=make_actor("second")).is_passed


def test_an_agreement_is_to_the_content_that_was_read(monkeypatch):
    set_steps(monkeypatch, Step("Legal", role="translator", quorum=2), HEAD)
    post = draft()
    make.user("translator", "second")
    move(post)
    move(post, role="translator")
    make.edited(post, {"title": "Sneaked in"})
    assert read(post)["steps"][0]["asks"]["agreed"] == 0

    ask_again([Event.objects.filter(name="post.updated").latest("pk")])
    assert [row.post_id for row in rounds_asking(make.actor("translator"))] == [post.pk]
    assert events(post)[-1] == "post.step.opened"
    ask_again([Event.objects.filter(name="post.updated").latest("pk")])
    assert events(post).count("post.step.opened") == 2

    advance(post_id=post.pk, actor=make_actor("second"))
    assert states(post) == ["open", "waiting"]
    move(post, role="translator")
    assert states(post) == ["done", "open"]


@pytest.mark.parametrize("change", [{"role": "editor"}, {"is_active": False}])
def test_somebody_whom_the_step_no_longer_asks_does_not_count(monkeypatch, change):
    set_steps(monkeypatch, Step("Legal", role="translator", quorum=2))
    post = draft()
    for name in ("second", "third"):
        make.user("translator", name)
    move(post)
    move(post, role="translator")
    User.objects.filter(username="translator").update(**change)

    advance(post_id=post.pk, actor=make_actor("second"))
    assert states(post) == ["open"]
    assert advance(post_id=post.pk, actor=make_actor("third")).is_passed


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (Step("Legal", role="gone"), "The role “gone” does not exist."),
        (Step("Legal", person="gone"), "There is no account “gone”."),
        (Step("Legal", person="translator"), "The account “translator” is turned off."),
        (Step("Legal", role="translator"), "Nobody with the role “translator” can see this post."),
    ],
)
def test_who_may_approve_and_publish_moves_on_if_nobody_can(monkeypatch, step, problem):
    set_steps(monkeypatch, step)
    User.objects.filter(username="translator").update(is_active=False)
    make.site_role("approver", "posts.view", "posts.review.approve")
    post = draft()
    answer = move(post)

    assert answer["problem"] == problem
    assert events(post) == ["post.step.opened", "post.step.stopped"]
    assert [row.post_id for row in rounds_asking(make.actor("editor"))] == [post.pk]
    assert move(post, role="approver", note="I can", expect=403)["code"] == "not_asked"
    assert move(post, expect=422)["details"] == {"note": [f"Say why you decide for {step.asked}."]}
    answer = move(post, note="Their office was closed")

    assert answer["decisions"][0]["standsFor"] == step.asked
    assert answer["steps"][0]["state"] == "done"


def test_who_stands_in_does_it_for_all_who_are_missing(monkeypatch):
    set_steps(monkeypatch, Step("Legal", role="translator", quorum=3))
    post = draft()
    assert move(post)["problem"] == "The step needs 3 people, but only 1 can agree."

    move(post, note="The others have left")
    assert states(post) == ["open"]
    assert move(post, role="translator")["steps"][0]["state"] == "done"


def test_an_absence_that_ended_gives_no_right():
    post = draft()
    move(post)
    now = timezone.now()
    absence = set_absence(
        actor=make.actor("translator"),
        deputy="editor",
        begins_at=now - timedelta(days=2),
        ends_at=now + timedelta(days=1),
    )
    absence.ends_at = now - timedelta(days=1)
    absence.save()

    assert move(post, expect=403)["code"] == "not_asked"


def test_open_steps_are_listed_for_those_asked():
    post, other = draft(), draft("Tea")
    move(post)
    move(other)
    move(other, role="translator")

    assert [row.post_id for row in rounds_asking(make.actor("translator"))] == [post.pk]
    assert [row.post_id for row in rounds_asking(make.actor("editor"))] == [other.pk]
    assert list(rounds_asking(make.actor("admin"))) == []


def test_a_step_of_which_others_agreed_stays_listed(monkeypatch):
    set_steps(monkeypatch, Step("Legal", role="translator", quorum=2))
    post = draft()
    make.user("translator", "second")
    move(post)
    move(post, role="translator")
    move(post, "return", note="Once more")
    move(post)
    # The decision of the first round does not hide the step, nor does that of somebody else.
    advance(post_id=post.pk, actor=make_actor("second"))

    assert [row.post_id for row in rounds_asking(make.actor("translator"))] == [post.pk]
    assert list(rounds_asking(make_actor("second"))) == []


def test_the_most_urgent_steps_are_listed_first(monkeypatch):
    due = Step("Legal", role="translator", due=timedelta(days=1))
    without, late = draft(), draft("Tea")
    set_steps(monkeypatch, LEGAL)
    move(without)
    set_steps(monkeypatch, due)
    move(late)

    assert [row.post for row in rounds_asking(make.actor("translator"))] == [late, without]


def test_open_steps_are_listed_in_two_queries(django_assert_num_queries):
    post, translator = draft(), make.actor("translator")
    move(post)

    with django_assert_num_queries(2):
        assert len(rounds_asking(translator)) == 1


def test_a_removed_step_is_not_open(monkeypatch):
    post = draft()
    move(post)
    set_steps(monkeypatch, HEAD)

    assert read(post)["step"] is None
    assert states(post) == ["waiting"]
    assert move(post)["step"] == "Head"


def test_an_added_step_must_be_taken(monkeypatch):
    post = draft()
    passed(post)
    set_steps(monkeypatch, LEGAL, HEAD, Step("SEO", role="editor"))

    assert states(post) == ["waiting", "waiting", "waiting"]


def test_types_without_steps_need_no_query(monkeypatch, django_assert_num_queries):
    from content.store import post_repository
    from proofroom_apps.steps import gates
    from proofroom_apps.steps.queries import read_way

    set_steps(monkeypatch)
    post = make.post()
    document = post_repository.load(post)

    with django_assert_num_queries(0):
        read_way(post)
        gates.require_passed_changes(post, [])
        gates.require_passed_document(post, lambda: document)
        gates.refuse_live_edit(post, document, document.with_fields({"title": "x"}))
        gates.seal_approved(post, document)


@pytest.mark.parametrize(("quorum", "queries"), [(1, 1), (2, 3)])
def test_steps_are_read_in_few_queries(monkeypatch, django_assert_num_queries, quorum, queries):
    from proofroom_apps.steps.queries import read_way

    set_steps(monkeypatch, Step("Legal", role="translator", quorum=quorum))
    post = draft()
    move(post)

    with django_assert_num_queries(queries):
        read_way(post)


def test_decisions_keep_their_history():
    post = draft()
    passed(post)

    rows = StepDecision.objects.order_by("pk").values_list("action", "step", "by_name", "counts")
    assert list(rows) == [
        ("started", "Legal", "editor", False),
        ("agreed", "Legal", "translator", False),
        ("agreed", "Head", "editor", False),
    ]


def test_the_system_check_names_bad_steps(monkeypatch):
    set_steps(
        monkeypatch,
        Step("Legal", role="translator", person="editor"),
        Step("Legal", person="editor", quorum=2),
        Step(" ", role="editor", quorum=0),
        Step("Long", guest="x" * 101),
        Step("Late", role="editor", due=timedelta(hours=1), reminder=timedelta(hours=2)),
    )

    errors = " ".join(definition_errors())

    assert "steps has 2 entries named 'Legal'" in errors
    assert "the step 'Legal' must ask exactly one of role, person, agent and guest" in errors
    assert "the step 'Legal' asks one person, so its quorum must be 1" in errors
    assert "the step ' ' needs a name" in errors
    assert "the quorum of the step ' ' must be 1 to 20" in errors
    assert "the step 'Long' asks a name of more than 100 characters" in errors
    assert "the reminder of the step 'Late' must be between 0 and its due time" in errors


def test_an_absent_person_and_their_deputy_are_one_voice_of_a_quorum(monkeypatch):
    set_steps(monkeypatch, Step("Legal", role="editor", quorum=2), HEAD)
    post = make.post(status="draft")
    editor, deputy = make.actor("editor"), make.actor("translator")
    advance(post_id=post.pk, actor=editor)
    now, day = timezone.now(), timedelta(days=1)
    set_absence(actor=editor, deputy="translator", begins_at=now - day, ends_at=now + day)
    advance(post_id=post.pk, actor=deputy)

    with pytest.raises(RuleViolation) as refusal:
        advance(post_id=post.pk, actor=editor)

    assert refusal.value.code == "already_agreed"
    assert StepRound.objects.get().step == "Legal"
    advance(post_id=post.pk, actor=Actor(user=make.user("editor", "ada"), via="api"))
    assert StepRound.objects.get().step == "Head"
