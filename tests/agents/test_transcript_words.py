"""Threat 56 for runs: stored data contains no secret, and visitors' texts are erased with the visitor's data."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from agents_app.models import AgentRun, RunMessage
from agents_app.runs import retention
from agents_app.runs.leak_prevention import VISITOR_MASK, RunRedactor
from agents_app.runs.retry import retry_run
from forms.models import FormSubmission
from forms.services.submissions import delete_submission
from proofroom.core.json import Json
from proofroom.core.models import Event
from proofroom.core.redaction import SECRET_MASK
from tests import make
from tests.agents.environment import set_env, write_agent
from tests.conftest import RunOnCommit
from tests.fake_provider import Call, FakeProvider, Reply

pytestmark = pytest.mark.django_db
NAME = "Zebediah Quill"
EMAIL = "zeb.quill@example.com"
FIELDS: list[Json] = [
    {"name": "name", "label": "Name", "type": "text"},
    {"name": "email", "label": "Email", "type": "email"},
    {"name": "message", "label": "Message", "type": "textarea"},
]
MESSAGE = 'My "order" never came.\nPlease call me on +44 20 7946 0958!'


@pytest.fixture
def answered(
    agents_dir: Path, openai: Callable[..., FakeProvider], run_on_commit: RunOnCommit
) -> AgentRun:
    """Create a run of a submitted form, whose model repeats the visitor's text."""
    write_agent(
        agents_dir,
        "helper",
        "form.submit",
        extra="llmConfig: {useMCP: true, allowedMCPTools: [list_posts]}",
    )
    openai(
        Reply(calls=(Call(f"Tell {EMAIL} of it", {}),)),
        Reply({"summary": f"Write to {EMAIL}."}),
        Reply({"summary": f"{NAME} asks: My “order”? Call +44 20 7946 0958. Zebediah!"}),
    )
    make.form(fields=FIELDS)
    with run_on_commit():
        make.submission(name=NAME, email=EMAIL, message=MESSAGE)
    return AgentRun.objects.get(agent_id="helper")


def _kept(run: AgentRun) -> str:
    """Return everything stored about the run that a log could show."""
    messages = run.messages.values_list("name", "text")
    steps = run.steps.values_list("name", "summary")
    told = [part for row in (*messages, *steps) for part in row]
    return "\n".join([*told, run.summary, run.error, run.doing])


def test_threat_56_words_of_visitors_are_kept_nowhere_in_a_run(answered: AgentRun) -> None:
    assert (answered.status, answered.error) == ("succeeded", "")
    assert [(step.name, step.ok) for step in answered.steps.filter(kind="tool")] == [
        ("unknown tool", False)
    ]
    asked = answered.steps.filter(kind="model")
    assert [step.ok for step in asked] == [True, False, True], "no new addresses"
    kept = _kept(answered)

    for word in ("Zebediah", "Quill", EMAIL, "zeb.quill", "7946", "never came", "call me"):
        assert word not in kept, word
    assert VISITOR_MASK in answered.summary
    assert answered.messages.filter(role="user")[0].text.count(VISITOR_MASK) >= 3


def test_with_its_submission_a_run_forgets_the_words_and_so_do_its_further_tries(
    answered: AgentRun, run_on_commit: RunOnCommit
) -> None:
    with run_on_commit():
        again = retry_run(run_id=answered.pk, actor=make.actor("admin"), note=f"Of {NAME}")
    other = AgentRun.objects.create(
        agent_id="helper", scope="global", by_name="x", via="api", context={"kept": True}
    )
    row = FormSubmission.objects.get()

    delete_submission(slug="contact", submission_id=row.pk, actor=make.actor("admin"))

    for run in (answered, again):
        run.refresh_from_db()
        assert (run.context, run.open_ended_context, run.note, run.summary) == ({}, "", "", "")
        assert run.value is None
        assert not run.messages.exists()
        assert not any(step.summary for step in run.steps.filter(kind="model", ok=False))
    other.refresh_from_db()
    assert other.context == {"kept": True}
    stored = json.dumps(list(AgentRun.objects.values("context", "note", "summary", "error")))
    assert "Quill" not in stored + json.dumps(list(Event.objects.values_list("payload", flat=True)))


def test_a_run_that_waits_is_cancelled_with_its_submission(
    agents_dir: Path, monkeypatch: pytest.MonkeyPatch, run_on_commit: RunOnCommit
) -> None:
    write_agent(agents_dir, "helper", "form.submit")
    monkeypatch.setattr("agents_app.runs.creation.wake", lambda run_id, event_id: None)
    make.form(fields=FIELDS)
    with run_on_commit():
        make.submission(name=NAME, email=EMAIL, message=MESSAGE)
    row = FormSubmission.objects.get()

    delete_submission(slug="contact", submission_id=row.pk, actor=make.actor("admin"))

    run = AgentRun.objects.get()
    assert (run.status, run.context) == ("cancelled", {})
    assert run.error == "The words that this run was about were deleted."


def test_secrets_of_every_kind_are_hidden(settings: Any, agents_dir: Path) -> None:
    write_agent(agents_dir, "keyed", "global", extra="llmConfig:\n  apiKey: key-in-a-file-123")
    set_env(
        settings,
        ai_provider_openai_api_key='quoted"key/1',
        workflow_secrets={"crm": "secret-of-the-crm"},
        agent_trigger_secret="trigger-secret-1",
    )
    redactor = RunRedactor()

    said = [
        "key-in-a-file-123",
        json.dumps('quoted"key/1'),
        "quoted%22key%2F1",
        "SECRET-OF-THE-CRM",
        "trigger-secret-1",
        settings.SECRET_KEY,
        "sk-ant-api03-abcdefgh",
        "AIzaSyA1234567890abcdefghij",
        "Authorization: Bearer abc.def.ghi-123",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig",
    ]
    shown = redactor.redact("\n".join(said)).split("\n")

    assert shown == [
        *(
            SECRET_MASK,
            f'"{SECRET_MASK}"',
            SECRET_MASK,
            SECRET_MASK,
            SECRET_MASK,
            SECRET_MASK,
            SECRET_MASK,
            SECRET_MASK,
        ),
        *(f"Authorization: {SECRET_MASK}", SECRET_MASK),
    ]
    assert redactor.redact("A plain sentence about keys and tokens.\x00") == (
        "A plain sentence about keys and tokens.�"
    )


def test_a_name_is_hidden_as_a_word_and_never_inside_another() -> None:
    redactor = RunRedactor(
        {"formSlug": "contact", "payload": {"name": "Ann", "age": 41, "ok": True}}
    )

    assert redactor.redact("Ann wrote to Annette: contact ANN (41)") == (
        f"{VISITOR_MASK} wrote to Annette: contact {VISITOR_MASK} (41)"
    )


def test_what_was_said_is_deleted_after_its_days(answered: AgentRun) -> None:
    count = answered.messages.count()
    old = answered.messages.order_by("number")[0]
    RunMessage.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=31))

    assert retention.prune_transcripts(days=30) == 1

    assert answered.messages.count() == count - 1
    assert not answered.messages.filter(pk=old.pk).exists()
