"""Visitors: what is stored about an address is found, exported and erased, and nothing of others."""

from __future__ import annotations

import json
from typing import Any
from zipfile import ZipFile

import pytest
from django.utils import timezone

from agents_app.models import AgentRun, RunMessage
from forms.models import FormSubmission
from proofroom.core.activity.chain import seal_events, verify
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from proofroom.core.outbox import dispatch_all
from proofroom.core.privacy.person import Person
from proofroom_apps.feedback.models import Feedback
from proofroom_apps.feedback.services import create_feedback
from proofroom_apps.privacy import request_runs
from proofroom_apps.privacy.models import ExportChunk, PersonalDataRequest
from proofroom_apps.privacy.services import export_file
from proofroom_apps.privacy.services import requests as request_service
from proofroom_apps.privacy.services.export_file import open_export
from proofroom_apps.privacy.services.requests import start_request
from tests import make
from tests.privacy.scene import ANNA, contact_form, found, records_of, request, submit

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _form() -> None:
    contact_form()


def test_a_search_counts_what_is_about_the_person() -> None:
    submit(email="Anna@Example.com", message="Hello")
    submit(email="joanna@example.com", message="I know anna@example.com")
    submit(email="joanna@example.com", friend=ANNA)
    submit(email="other@example.com", message="joanna@example.com")
    post = make.post()
    create_feedback(post_id=str(post.pk), content=f"Ask {ANNA}", actor=make.actor("editor"))

    job = request("search")

    assert found(job) == {
        "forms.submissions": 1,
        "forms.mentions": 2,
        # Two events of each submission.
        "activity.mentions": 6,
        "feedback.mentions": 1,
    }
    event = Event.objects.get(name="personal-data.searched")
    assert ANNA not in json.dumps(event.payload)
    assert FormSubmission.objects.count() == 4


def test_an_erasure_deletes_own_submissions_and_masks_others() -> None:
    own = submit(email="Anna@Example.com", message="Hello")
    other = submit(email="joanna@example.com", message="I know anna@example.com well")
    untouched = submit(email="joanna@example.com", message="anna@example.com.au")
    seal_events()

    job = request("erase")

    assert job.state == "done"
    assert not FormSubmission.objects.filter(pk=own).exists()
    assert FormSubmission.objects.get(pk=other).payload == {
        "email": "joanna@example.com",
        "message": "I know [erased] well",
    }
    assert FormSubmission.objects.get(pk=untouched).payload["message"] == "anna@example.com.au"
    events = Event.objects.filter(name__in=("form.submitted", "form.submit"))
    assert [bool(event.payload) for event in events.order_by("pk")] == [False] * 4 + [True] * 2
    assert found(request("search")) == {}
    # The log still is whole, and says that a person was erased, but not who.
    seal_events()
    assert verify().is_whole
    payloads = [*Event.objects.values_list("payload", flat=True)]
    assert [Person(ANNA).is_mentioned(payload) for payload in payloads] == [False] * len(payloads)
    assert (
        Event.objects.get(name="personal-data.erased").payload["numbers"]["forms.submissions"] == 1
    )


def test_an_erasure_can_run_twice() -> None:
    submit(email=ANNA)
    request("erase")
    submit(email=ANNA)

    job = request("erase")

    assert job.results["forms.submissions"] == {"found": 1, "erased": 1}
    assert FormSubmission.objects.count() == 0


def test_the_request_keeps_no_address_after_the_erasure() -> None:
    submit(email=ANNA)
    request("search")
    request("export")

    request("erase")

    assert not PersonalDataRequest.objects.exclude(email="").exists()
    assert not ExportChunk.objects.exists()


def test_an_invitation_is_removed_from_the_log_and_the_chain_stays_whole() -> None:
    from proofroom.accounts.services.invitations import create_invitation

    create_invitation(email=ANNA, role="editor", actor=make.actor("admin", via="admin"))
    seal_events()
    event = Event.objects.get(name="invitation.created")
    assert event.payload["email"] == ANNA

    job = request("erase")

    assert job.results["accounts.invitations"] == {"found": 1, "erased": 1}
    event.refresh_from_db()
    assert event.payload["email"] == "[erased]"
    seal_events()
    verified = verify()
    assert (verified.is_whole, verified.pseudonymised) == (True, 1)
    # Any other change of the entry is still found.
    Event.objects.filter(pk=event.pk).update(payload={**event.payload, "role": "admin"})
    assert [one.code for one in verify().findings] == ["changed_payload"]


def test_runs_lose_the_texts_with_the_address() -> None:
    post = make.post()
    run = AgentRun.objects.create(
        agent_id="general-assistant",
        scope="dropdown",
        post=post,
        by_name="x",
        open_ended_context=f"Write to {ANNA}",
        status="succeeded",
        summary="Done",
    )
    RunMessage.objects.create(run=run, number=1, role="user", text=f"Write to {ANNA}")
    kept = AgentRun.objects.create(
        agent_id="general-assistant",
        scope="dropdown",
        post=post,
        by_name="x",
        open_ended_context="joanna@example.com",
        status="succeeded",
    )

    request("erase")

    run.refresh_from_db()
    assert (run.open_ended_context, run.summary) == ("", "")
    assert not RunMessage.objects.exists()
    kept.refresh_from_db()
    assert kept.open_ended_context == "joanna@example.com"


def test_an_export_contains_the_person_and_no_one_else() -> None:
    submit(email=ANNA, message="<script>alert(1)</script>")
    submit(
        email="joanna@example.com", message="I know anna@example.com", friend="secret@example.com"
    )
    job = request("export")

    with ZipFile(open_export(job, make.actor("admin", via="admin"))) as archive:
        data = json.loads(archive.read("data.json"))
        summary = archive.read("summary.html").decode()

    assert data["email"] == ANNA
    by_kind = {kind["kind"]: kind["records"] for kind in data["data"]}
    assert by_kind["forms.submissions"][0]["answers"] == {
        "Email": ANNA,
        "Message": "<script>alert(1)</script>",
    }
    assert by_kind["forms.mentions"][0]["answers"] == {"Message": "I know anna@example.com"}
    assert "&lt;script&gt;" in summary
    assert "<script" not in summary


def test_a_webhook_that_got_a_submission_is_named() -> None:
    from proofroom.webhooks.models import Delivery

    hook = make.webhook(events=["form.submitted"])
    submit(email=ANNA)
    event = Event.objects.get(name="form.submitted")
    dispatch_all([event.pk])
    Delivery.objects.filter(event=event).update(status="succeeded", next_attempt_at=None)

    job = request("search")

    assert any(hook.name in sentence for sentence in job.copies)


def test_a_failing_kind_ends_the_request_and_it_can_be_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    submit(email=ANNA)
    from forms.personal_data import OwnSubmissions

    def fail(*_given: object) -> int:
        raise ValueError

    with monkeypatch.context() as broken:
        broken.setattr(OwnSubmissions, "erase", fail)
        job = request("erase")
    assert (job.state, job.email) == ("failed", ANNA)
    event = Event.objects.get(name="personal-data.erased")
    assert (event.payload["state"], event.payload["did"]) == ("failed", "stopped")
    assert FormSubmission.objects.count() == 1

    assert request("erase").state == "done"
    assert FormSubmission.objects.count() == 0


def test_a_large_site_leaves_it_to_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    submit(email=ANNA)
    monkeypatch.setattr(request_service, "_MAX_EVENTS_IN_REQUEST", 0)

    job = request("erase")

    assert job.state == "running"
    assert request_service.finish_request(job).state == "done"
    assert FormSubmission.objects.count() == 0


@pytest.mark.parametrize(("confirm", "key"), [("", "confirm"), ("other@example.com", "confirm")])
def test_an_erasure_needs_the_address_again(confirm: str, key: str) -> None:
    submit(email=ANNA)

    with pytest.raises(RuleViolation) as refused:
        start_request(
            email=ANNA, action="erase", actor=make.actor("admin", via="admin"), confirm=confirm
        )

    assert [*refused.value.details] == [key]
    assert FormSubmission.objects.count() == 1
    assert not PersonalDataRequest.objects.exists()


def test_only_people_with_the_permission_may() -> None:
    for actor in (make.actor("editor"), make.mcp_actor("admin"), make.agent_actor()):
        with pytest.raises(NotAllowed):
            start_request(email=ANNA, action="search", actor=actor)
    assert not PersonalDataRequest.objects.exists()


def test_an_export_expires() -> None:
    from datetime import timedelta

    submit(email=ANNA)
    job = request("export")
    PersonalDataRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    job.refresh_from_db()

    with pytest.raises(NotFound):
        open_export(job, make.actor("admin", via="admin"))
    assert request_service.delete_expired_exports() > 0
    assert not ExportChunk.objects.exists()


def test_feedback_keeps_its_text_without_the_address() -> None:
    post = make.post()
    create_feedback(post_id=str(post.pk), content=f"Ask {ANNA}!", actor=make.actor("editor"))

    request("erase")

    assert Feedback.objects.get().content == "Ask [erased]!"


def test_published_texts_stay_and_are_named() -> None:
    make.post(markdown=f"Write to {ANNA}.")
    before = make.live_hash()

    job = request("erase")

    assert found(job)["content.mentions"] >= 1
    assert job.results["content.mentions"]["erased"] == 0
    assert make.live_hash() == before


def test_log_and_runs_give_away_no_texts_of_others() -> None:
    submit(email="joanna@example.com", message=f"I know {ANNA}", friend="secret@example.com")
    run = AgentRun.objects.create(
        agent_id="general-assistant",
        scope="dropdown",
        post=make.post(),
        by_name="x",
        open_ended_context="Answer joanna@example.com",
        status="succeeded",
        summary=f"Joanna is at home.\nWrote to {ANNA}.",
    )
    read = [{"email": "joanna@example.com"}, {"message": f"I know {ANNA}"}]
    RunMessage.objects.create(run=run, number=1, role="user", text=json.dumps(read))

    records = records_of(request("export"))

    assert [record["details"] for record in records["activity.mentions"]] == [
        {"formSlug": "write", "submissionId": str(FormSubmission.objects.get().pk)}
    ] * 2
    [run_record] = records["agents.texts"]
    assert (run_record["request"], run_record["summary"], run_record["messages"]) == (
        [],
        [f"Wrote to {ANNA}."],
        [f"I know {ANNA}"],
    )
    assert "joanna@" not in json.dumps(records).lower()


def test_answers_of_receivers_give_away_no_texts_of_others() -> None:
    from proofroom.webhooks.models import Attempt, Delivery

    make.webhook(events=["form.submitted"])
    submit(email="joanna@example.com", message=f"I know {ANNA}")
    event = Event.objects.get(name="form.submitted")
    dispatch_all([event.pk])
    body = json.dumps({"email": "joanna@example.com", "message": f"I know {ANNA}"})
    for number, text in enumerate((body, body[:-1]), 1):
        Attempt.objects.create(
            delivery=Delivery.objects.get(event=event),
            number=number,
            at=timezone.now(),
            ms=1,
            status_code=500,
            response_body=text,
        )

    records = records_of(request("export"))["webhooks.answers"]

    assert [record["answer"] for record in records] == [[f"I know {ANNA}"]] * 2
    assert "joanna" not in json.dumps(records)


def test_an_erasure_ends_exports_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    submit(email=ANNA)
    with monkeypatch.context() as large:
        large.setattr(request_service, "_MAX_EVENTS_IN_REQUEST", 0)
        before, other = request("export"), request("export", "joanna@example.com")
        erasure = request("erase")
        before.refresh_from_db()
        assert before.state == "cancelled"
        during = request("export")
    request_runs.REQUESTS.execute_part(during.pk)

    assert request_service.finish_request(erasure).state == "done"

    states = dict(PersonalDataRequest.objects.values_list("pk", "state"))
    assert states == {
        before.pk: "cancelled",
        during.pk: "cancelled",
        other.pk: "running",
        erasure.pk: "done",
    }
    assert [*PersonalDataRequest.objects.exclude(email="").values_list("pk", flat=True)] == [
        other.pk
    ]
    assert not ExportChunk.objects.exists()


def test_each_download_is_in_the_log() -> None:
    submit(email=ANNA)
    job = request("export")
    assert not Event.objects.filter(name="personal-data.downloaded").exists()

    open_export(job, make.actor("admin", via="admin")).close()

    event = Event.objects.get(name="personal-data.downloaded")
    assert (event.actor_name, event.payload) == ("admin", {"id": str(job.pk), "account": None})


@pytest.mark.parametrize("when", ["before", "meanwhile", "at the end"])
def test_a_file_that_is_deleted_during_the_download_has_expired(
    when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_runs, "CHUNK_BYTES", 1)
    submit(email=ANNA)
    submit(email=ANNA)
    job = request("export")

    def after_deletion(given: Any) -> Any:
        ExportChunk.objects.all().delete()
        PersonalDataRequest.objects.filter(pk=job.pk).update(expires_at=None)
        return given

    read, data = export_file._as_html, export_file._data
    if when == "before":
        after_deletion(None)
    elif when == "meanwhile":
        monkeypatch.setattr(export_file, "_as_html", lambda *given: after_deletion(read(*given)))
    else:
        monkeypatch.setattr(export_file, "_data", lambda job: after_deletion([*data(job)]))

    with pytest.raises(NotFound):
        open_export(job, make.actor("admin", via="admin"))

    assert not Event.objects.filter(name="personal-data.downloaded").exists()


def test_errors_of_webhooks_and_reactions_lose_the_address() -> None:
    from agents_app.models import RunReaction
    from proofroom.webhooks.models import Attempt, Delivery

    delivery = make.delivery(make.event(), make.webhook())
    Delivery.objects.update(last_error=f"Refused: {ANNA}")
    Attempt.objects.update(error=f"Refused: {ANNA}")
    run = AgentRun.objects.create(agent_id="x", scope="dropdown", status="succeeded")
    reaction = RunReaction.objects.create(
        run=run, number=1, kind="tool", target="send", error=f"No mailbox {ANNA}"
    )

    records = records_of(request("export"))
    job = request("erase")

    delivery.refresh_from_db()
    reaction.refresh_from_db()
    assert [one["answer"] for one in records["webhooks.answers"]] == [[f"Refused: {ANNA}"]] * 2
    assert delivery.last_error == Attempt.objects.get().error == "Refused: [erased]"
    assert "anna" not in reaction.error
    assert reaction.error
    assert job.results["agents.texts"] == {"found": 1, "erased": 1}
    assert found(request("search")) == {}


def test_the_file_says_which_texts_were_not_searched() -> None:
    job = request("export", "nobody@example.com")

    with ZipFile(open_export(job, make.actor("admin", via="admin"))) as archive:
        summary = archive.read("summary.html").decode()

    assert "Nothing found." in summary
    assert "Not searched: menus" in summary
