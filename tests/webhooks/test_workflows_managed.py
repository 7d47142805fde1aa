"""Workflows switched on and off and tested by users: by the service, over the API, in the admin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, NotFound
from proofroom.core.models import Event
from proofroom.webhooks import workflow_definitions as definitions
from proofroom.webhooks.dispatch import start_workflows
from proofroom.webhooks.models import Delivery, WorkflowSwitch
from proofroom.webhooks.services.workflows import switch_workflow
from proofroom.webhooks.services.workflows import test_workflow as try_out
from tests import make
from tests.api_client import ApiClient
from tests.conftest import RunOnCommit
from tests.receiver import Receiver
from tests.webhooks import sending
from tests.webhooks.workflows import write

pytestmark = pytest.mark.django_db
LIST = "/admin/proofroom_webhooks/workflowswitch/"


def published() -> Event:
    event = outbox.record("form.submitted", actor=make.actor("admin"), payload={"formSlug": "a"})
    start_workflows([event])
    return event


def form_workflow(folder: Path, id_: str, receiver: Receiver | None = None, **fields: Any) -> None:
    write(folder, id_, receiver, triggers=["form.submitted"], **fields)


def test_a_switch_holds_whatever_the_file_says(workflows_dir: Path) -> None:
    form_workflow(workflows_dir, "switched", enabled=False)
    actor = make.actor("admin")

    switch_workflow(workflow_id="switched", enabled=True, actor=actor)
    on = published()
    switch_workflow(workflow_id="switched", enabled=False, actor=actor)
    off = published()

    assert Delivery.objects.filter(event=on).exists()
    assert not Delivery.objects.filter(event=off).exists()
    recorded = Event.objects.filter(name="workflow.switched").order_by("pk")
    assert [event.payload for event in recorded] == [
        {"workflowId": "switched", "enabled": True},
        {"workflowId": "switched", "enabled": False},
    ]
    assert WorkflowSwitch.objects.get().updated_by == actor.user


def test_switching_to_what_it_is_already_records_nothing(workflows_dir: Path) -> None:
    form_workflow(workflows_dir, "same")

    switch_workflow(workflow_id="same", enabled=True, actor=make.actor("admin"))

    assert not Event.objects.filter(name="workflow.switched").exists()


def test_switched_off_it_sends_nothing_of_what_waits(
    receiver: Receiver, workflows_dir: Path
) -> None:
    form_workflow(workflows_dir, "waiting", receiver)
    form_workflow(workflows_dir, "other", receiver)
    event = published()

    switch_workflow(workflow_id="waiting", enabled=False, actor=make.actor("admin"))
    at_once = Delivery.objects.get(workflow_id="waiting").status
    sending.send()

    assert at_once == "cancelled"
    states = dict(Delivery.objects.filter(event=event).values_list("workflow_id", "status"))
    assert states == {"waiting": "cancelled", "other": "succeeded"}
    row = Delivery.objects.get(workflow_id="waiting")
    assert (row.last_error, row.next_attempt_at) == ("The workflow is turned off.", None)
    assert receiver.at("/waiting") == []


def test_what_would_be_tried_again_is_given_up_once_it_is_off(
    receiver: Receiver, workflows_dir: Path
) -> None:
    form_workflow(workflows_dir, "retried", receiver)
    event = published()
    # The sender had claimed it at that moment, so the switch did not see it waiting.
    WorkflowSwitch.objects.create(workflow_id="retried", is_enabled=False)

    assert sending.send() == 0

    assert sending.state_of(event)[0::3] == ("cancelled", "The workflow is turned off.")


def test_a_test_goes_to_this_one_only_also_while_it_is_off(
    receiver: Receiver, workflows_dir: Path, run_on_commit: RunOnCommit
) -> None:
    form_workflow(workflows_dir, "other", receiver)
    write(
        workflows_dir,
        "tried",
        receiver,
        enabled=False,
        filters={"types": ["page"], "locales": ["de"]},
        payload={"name": "{{event.name}}", "of": "{{data.sampleOf}}", "type": "{{data.type}}",
                 "locale": "{{data.locale}}", "title": "{{post.title}}"},
    )  # fmt: skip

    with run_on_commit():
        row = try_out(workflow_id="tried", actor=make.actor("admin"))

    [seen] = receiver.requests
    assert seen.path == "/tried"
    assert seen.json() == {
        "name": "workflow.test",
        "of": "post.published",
        "type": "page",
        "locale": "de",
        "title": "This is a test",
    }
    row.refresh_from_db()
    assert (row.status, row.event_name) == ("succeeded", "workflow.test")


@pytest.mark.parametrize(
    "who",
    [
        pytest.param(lambda: make.actor("editor"), id="editor"),
        pytest.param(lambda: make.actor("ai_agent"), id="agent"),
        pytest.param(lambda: make.mcp_actor("admin"), id="mcp"),
    ],
)
def test_who_may_not_changes_nothing(workflows_dir: Path, who: Callable[[], Actor]) -> None:
    form_workflow(workflows_dir, "kept")
    actor = who()
    before = Event.objects.count()

    with pytest.raises(NotAllowed):
        switch_workflow(workflow_id="kept", enabled=False, actor=actor)
    with pytest.raises(NotAllowed):
        try_out(workflow_id="kept", actor=actor)

    assert not WorkflowSwitch.objects.exists()
    assert Event.objects.count() == before
    assert not Delivery.objects.exists()


def test_an_unknown_one_is_not_found(workflows_dir: Path) -> None:
    with pytest.raises(NotFound):
        switch_workflow(workflow_id="nobody", enabled=True, actor=make.actor("admin"))

    assert not WorkflowSwitch.objects.exists()


def test_the_api_answers_workflows_without_what_is_secret(workflows_dir: Path, env: Any) -> None:
    env(workflow_secrets={"n8n": "canary-credential"})
    write(
        workflows_dir,
        "shown",
        order=-5,
        headers={"X-Key": "canary-literal", "Authorization": "Bearer {{secret.n8n}}"},
        filters={"conditions": [{"field": "data.slug", "operator": "in", "value": ["a"]}]},
    )
    client = ApiClient("admin")

    answer = client.read("/api/workflows")

    assert [row["id"] for row in answer["data"]] == ["shown", "review-waiting"]
    assert answer["meta"]["total"] == 2
    assert answer["data"][0] == {
        "id": "shown",
        "name": "Shown",
        "description": "",
        "enabled": True,
        "triggers": ["post.published"],
        "order": -5,
        "filters": {
            "types": [],
            "locales": [],
            "formSlugs": [],
            "conditions": [{"field": "data.slug", "operator": "in", "value": ["a"]}],
        },
        "url": "https://tools.example.com/hook",
        "headers": {"Authorization": "•••", "X-Key": "•••"},
        "payload": None,
        "lastRun": None,
    }
    assert "canary" not in str(answer)


def test_the_api_switches_by_what_it_answered_itself(workflows_dir: Path) -> None:
    form_workflow(workflows_dir, "back")
    client = ApiClient("admin")
    read = client.read("/api/workflows/back")

    answer = client.write("PATCH", "/api/workflows/back", {**read, "enabled": False})

    assert answer == {**read, "enabled": False}
    assert client.read("/api/workflows/back") == answer


@pytest.mark.parametrize(
    "body", [{}, {"enabled": 1}, {"enabled": None}, {"enabled": True, "x": 1}, []]
)
def test_the_api_refuses_other_bodies(workflows_dir: Path, body: Any) -> None:
    form_workflow(workflows_dir, "kept")

    ApiClient("admin").write("PATCH", "/api/workflows/kept", body, expect=422)

    assert not WorkflowSwitch.objects.exists()


def test_the_list_takes_as_many_statements_for_many_runs(workflows_dir: Path) -> None:
    counts = []
    for number in (1, 12):
        for place in range(number):
            form_workflow(workflows_dir, f"flow-{place}")
        for _ in range(number):
            published()
        client = ApiClient("admin")
        with CaptureQueriesContext(connection) as caught:
            answer = client.read("/api/workflows")
        counts.append(len(caught))

    assert counts[0] == counts[1]
    ids = {row["id"]: row["lastRun"] for row in answer["data"]}
    newest = Delivery.objects.filter(workflow_id="flow-3").latest("event_id")
    assert ids["flow-3"]["id"] == str(newest.pk)
    assert ids["review-waiting"] is None


def test_the_page_names_file_field_and_reason_of_what_is_broken(workflows_dir: Path) -> None:
    form_workflow(workflows_dir, "sound")
    (workflows_dir / "bent.yaml").write_text(
        "name: <b>x\ntriggers: [post.publishd]\nurl: https://a.example/"
    )
    definitions.reload()

    page = ApiClient("admin").get(LIST).content.decode()

    assert (
        "<code>bent.yaml</code>, triggers: &#x27;post.publishd&#x27; is no event; known: " in page
    )
    assert ">Sound</a>" in page
    assert "<b>x" not in page


def test_the_admin_switches_tests_and_shows_runs(
    receiver: Receiver, workflows_dir: Path, env: Any, run_on_commit: RunOnCommit
) -> None:
    env(workflow_secrets={"n8n": "canary-credential"})
    form_workflow(
        workflows_dir,
        "managed",
        receiver,
        enabled=False,
        headers={"X-Key": "canary-literal", "Authorization": "Bearer {{secret.n8n}}"},
        payload={"<b>": "{{data.formSlug}}"},
        filters={"conditions": [{"field": "data.a", "operator": "exists", "value": False}]},
    )
    client = ApiClient("admin")
    client.get("/admin/")
    token = {"csrfmiddlewaretoken": client.cookies["csrftoken"].value}
    one = f"{LIST}managed/"

    switched = client.post(f"{one}switch/", {"enabled": "1", **token}, follow=True)
    with run_on_commit():
        tried = client.post(f"{one}test/", token)
    page = client.get(f"{one}change/").content.decode()

    assert "Turned on Managed." in switched.content.decode()
    assert len(receiver.at("/managed")) == 1
    run = Delivery.objects.get()
    assert tried["Location"] == f"/admin/proofroom_webhooks/delivery/{run.pk}/change/"
    assert (
        f'<a href="/admin/proofroom_webhooks/delivery/{run.pk}/change/">Workflow tested</a>' in page
    )
    assert ">Turn off</button>" in page
    assert "data.a does not exist" in page
    assert "&lt;b&gt;" in page
    assert "Authorization, X-Key" in page
    assert "canary" not in page
    assert "canary" not in client.get(tried["Location"]).content.decode()


@pytest.mark.parametrize(
    ("role", "address", "status"),
    [
        ("editor", f"{LIST}kept/switch/", 403),
        ("editor", f"{LIST}kept/test/", 403),
        ("editor", f"{LIST}chat/test/", 403),
        ("admin", f"{LIST}nobody/switch/", 404),
        ("admin", f"{LIST}nobody/test/", 404),
    ],
)
def test_the_admin_refuses(workflows_dir: Path, role: str, address: str, status: int) -> None:
    form_workflow(workflows_dir, "kept")
    client = ApiClient(role)
    client.get("/admin/")
    token = client.cookies["csrftoken"].value

    response = client.post(address, {"csrfmiddlewaretoken": token, "enabled": "0"})

    assert response.status_code == status
    assert not WorkflowSwitch.objects.exists()
    assert not Delivery.objects.exists()
