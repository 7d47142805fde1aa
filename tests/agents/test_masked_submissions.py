"""Visitors' personal data stays in the house unless the AI settings let a kind out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents_app.ai_settings import ai_settings, masked_kinds, update_ai_settings
from agents_app.definitions import agents as definitions
from agents_app.models import AgentRun
from agents_app.runs import execution
from agents_app.runs.creation import create_run
from agents_app.runs.submission_masking import mask_submission
from forms.masking import PERSONAL_DATA_KINDS
from proofroom.core.actor import Actor
from proofroom.core.tools import all_tools, get_tool
from proofroom.core.tools.call import call_raw
from tests import make
from tests.agents.environment import write_agent
from tests.api_client import ApiClient
from tests.fake_provider import FakeProvider, Reply

pytestmark = pytest.mark.django_db

SENT: dict[str, Any] = {"email": "ana@example.org", "message": "Call +49 30 1234567, says Ana."}
ANSWER = Reply({"summary": "Seen."})


@pytest.fixture
def fake(openai: Any, agents_dir: Path) -> FakeProvider:
    """Return a provider that answers an agent for submissions of the form `contact`."""
    write_agent(agents_dir, "answerer", "form.submit")
    make.form()
    started: FakeProvider = openai(ANSWER)
    definitions.reload()
    return started


def answered() -> AgentRun:
    """Execute the run of a submission."""
    run = create_run(
        agent_id="answerer",
        scope="form.submit",
        actor=Actor(user=make.agent_actor("answerer").user, via="system", agent_id="answerer"),
        context={
            "event": "form.submit",
            "untrusted": {"formSlug": "contact", "submissionId": "1", "payload": SENT},
        },
    )
    execution.execute_run(run.pk)
    run.refresh_from_db()
    assert run.status == "succeeded", run.error
    return run


def test_a_provider_gets_placeholders_by_default(fake: FakeProvider) -> None:
    run = answered()

    said = fake.said()
    assert "ana@example.org" not in said
    assert "1234567" not in said
    assert "Call [phone], says Ana." in said
    assert run.masked == ["email", "phone"]
    assert run.context["untrusted"]["payload"] == SENT, "people and erasure need what was sent"
    told = ApiClient("admin").get(f"/api/agent-runs/{run.pk}").json()
    assert told["maskedPersonalData"] == ["email", "phone"]
    page = ApiClient("admin").get(f"/admin/agents_app/agentrun/{run.pk}/change/").content.decode()
    assert "Masked before anything was sent to the model: Email addresses, Phone numbers." in page


def test_a_kind_that_an_admin_lets_out_is_sent(fake: FakeProvider) -> None:
    update_ai_settings(actor=make.actor("admin"), masked_personal_data=["phone", "name"])
    run = answered()

    assert "ana@example.org" in fake.said()
    assert "1234567" not in fake.said()
    assert run.masked == ["phone"]


def test_a_run_without_a_submission_masks_nothing(fake: FakeProvider, agents_dir: Path) -> None:
    """Addresses in a post are its content."""
    write_agent(agents_dir, "reader", "dropdown")
    definitions.reload()
    post = make.post(markdown="Write to press@example.org.")
    run = create_run(
        agent_id="reader", scope="dropdown", actor=make.actor("editor"), post_id=post.pk
    )
    execution.execute_run(run.pk)
    run.refresh_from_db()

    assert "press@example.org" in fake.said()
    assert run.masked == []


def test_the_setting_over_the_api() -> None:
    client = ApiClient("admin")
    told = client.get("/api/ai-settings").json()
    assert told["maskedPersonalData"] == [*PERSONAL_DATA_KINDS]
    assert told["fallbackProvider"] is None

    body = {"maskedPersonalData": ["email"], "fallbackProvider": "google", "version": 1}
    answer = client.send("PUT", "/api/ai-settings", body)
    assert answer.json()["maskedPersonalData"] == ["email"]
    assert (answer.json()["fallbackProvider"], answer.json()["version"]) == ("google", 2)
    assert masked_kinds(ai_settings()) == ["email"]

    refused = client.send("PUT", "/api/ai-settings", {"maskedPersonalData": ["shoe"]})
    assert refused.status_code == 422
    refused = client.send("PUT", "/api/ai-settings", {"fallbackProvider": "demo"})
    assert (refused.status_code, list(refused.json()["details"])) == (422, ["fallbackProvider"])


def test_no_tool_for_clients_and_agents_reads_submissions() -> None:
    """A tool that does must mask them, as `mask_submission` does for runs."""
    assert [tool.name for tool in all_tools() if tool.permission == "forms.submissions"] == []


def test_the_activity_log_of_clients_has_no_answers(fake: FakeProvider) -> None:
    make.submission(**SENT)
    actor = make.actor("admin")
    tool = get_tool("tail_activity_logs")
    assert tool is not None
    told = call_raw(tool, replace(actor, diagnoses=True), {"format": "full"}).body.decode()
    assert "form.submitted" in told
    assert "ana@example.org" not in told


@pytest.mark.parametrize(
    "untrusted",
    [
        {"person": {"email": "ana@example.org"}},
        {"formSlug": "contact", "payload": [{"email": "ana@example.org"}]},
        ["ana@example.org"],
        "From ana@example.org",
    ],
)
def test_a_callers_own_value_is_masked_whatever_its_form(untrusted: Any) -> None:
    payload, kinds = mask_submission({"context": {"untrusted": untrusted}})

    assert "ana@" not in str(payload)
    assert kinds == {"email"}
