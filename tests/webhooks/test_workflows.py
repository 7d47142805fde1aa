"""Events start matching workflows in order, once, with the content of their files."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.models import Event
from proofroom.webhooks import workflow_definitions as definitions
from proofroom.webhooks.dispatch import start_workflows
from proofroom.webhooks.models import Delivery
from tests import make
from tests.conftest import RunOnCommit
from tests.receiver import Receiver, Reply
from tests.webhooks import sending
from tests.webhooks.workflows import write

pytestmark = pytest.mark.django_db


def happened(name: str = "post.published", *, by: Actor | None = None, **payload: Any) -> Event:
    """Record an event of a post, delivered to workflows."""
    told = {"id": "1", "type": "blog", "locale": "en", "title": "Tea", "slug": "tea"} | payload
    told = {"status": "draft", "url": "/tea"} | told
    event = outbox.record(
        name,
        actor=by or make.actor("admin"),
        payload=told,
        post_id=None if name.startswith("form.") else "8d6c8a4e-6f6e-4f5e-9a53-3d7a4d1c2b10",
    )
    start_workflows([event])
    return event


def lanes() -> list[str]:
    """Return the channels in order of queueing."""
    return list(Delivery.objects.order_by("created_at").values_list("lane", flat=True))


def test_what_people_do_reaches_the_other_system_by_itself(
    receiver: Receiver, workflows_dir: Path, env: Any, run_on_commit: RunOnCommit
) -> None:
    env(agent_secret="shared-secret-123456", workflow_secrets={"n8n": "canary-credential"})
    write(
        workflows_dir,
        "review",
        receiver,
        triggers=["post.ai-review.save"],
        headers={"Authorization": "Bearer {{secret.n8n}}"},
        payload={
            "text": "“{{post.title}}” by {{actor.agentId}}",
            "paths": "{{data.paths}}",
            "version": "{{ data.version }}",
            "missing": "{{data.nowhere}}",
            "in words": "v{{data.version}} {{data.paths}} {{data.nowhere}}!",
            "who": {"first": ["{{workflow.id}}", "{{event.name}}"]},
        },
    )
    with run_on_commit():
        post = make.post("Green tea")

    with run_on_commit():
        make.staged(post, {"excerpt": "Fresh"})

    [seen] = receiver.at("/review")
    assert seen.json() == {
        "text": "“Green tea” by seo-specialist",
        "paths": ["post.excerpt"],
        "version": 1,
        "missing": None,
        "in words": 'v1 ["post.excerpt"] !',
        "who": {"first": ["review", "post.ai-review.save"]},
    }
    signed = hmac.new(b"shared-secret-123456", seen.body, hashlib.sha256).hexdigest()
    assert seen.headers["x-hub-signature-256"] == f"sha256={signed}"
    assert seen.headers["authorization"] == "Bearer canary-credential"
    assert seen.headers["x-webhook-event"] == "post.ai-review.save"
    [row] = Delivery.objects.filter(workflow_id="review")
    assert (row.lane, row.status, row.post_id) == ("workflow:review", "succeeded", post.pk)
    assert "canary" not in repr(list(row.tries.values()))


def test_without_a_payload_the_whole_event_is_sent(receiver: Receiver, workflows_dir: Path) -> None:
    write(workflows_dir, "whole", receiver)
    first = outbox.record("post.approve", actor=make.actor("admin"), payload={})
    event = happened(
        by=Actor(
            user=make.user("admin"),
            via="system",
            agent_id="seo-specialist",
            run_id="run-1",
            event_id=first.pk,
            hop=1,
        )
    )

    assert sending.send() == 1

    body = receiver.at("/whole")[0].json()
    assert body.pop("createdAt").endswith("Z")
    assert body == {
        "id": str(event.uid),
        "event": "post.published",
        "version": 1,
        "order": event.pk,
        "actor": {
            "id": make.user("admin").pk,
            "name": "admin",
            "via": "system",
            "agentId": "seo-specialist",
        },
        "post": {
            "id": "8d6c8a4e-6f6e-4f5e-9a53-3d7a4d1c2b10",
            "type": "blog",
            "locale": "en",
            "slug": "tea",
            "title": "Tea",
            "status": "draft",
            "url": "/tea",
        },
        "cause": [{"id": str(first.uid), "event": "post.approve", "runId": None}],
        "data": event.payload,
    }


def test_what_a_title_holds_is_put_in_once_and_stays_text(
    receiver: Receiver, workflows_dir: Path
) -> None:
    write(workflows_dir, "once", receiver, payload={"a": "{{data.title}}", "b": "> {{data.title}}"})
    title = '{{actor.name}} {{secret.n8n}} "quoted", \\ and\nmore'
    happened(title=title)

    sending.send()

    assert receiver.at("/once")[0].json() == {"a": title, "b": f"> {title}"}


@pytest.mark.parametrize(
    ("filters", "name", "payload", "wanted"),
    [
        ({}, "post.published", {}, True),
        ({}, "post.updated", {}, False),
        ({"types": ["page"]}, "post.published", {}, False),
        ({"types": ["blog", "page"]}, "post.published", {}, True),
        ({"types": ["page"]}, "form.submitted", {"formSlug": "contact"}, True),
        ({"locales": ["de"]}, "post.published", {}, False),
        ({"locales": ["de"]}, "post.published", {"locale": "de"}, True),
        ({"formSlugs": ["contact"]}, "form.submitted", {"formSlug": "contact"}, True),
        ({"formSlugs": ["contact"]}, "form.submitted", {"formSlug": "other"}, False),
        ({"formSlugs": ["contact"]}, "post.published", {}, True),
        ({"conditions": [{"field": "data.title", "operator": "equals", "value": "Tea"}]},
         "post.published", {}, True),
        ({"conditions": [{"field": "data.title", "operator": "equals", "value": "Tea"},
                         {"field": "actor.name", "operator": "equals", "value": "editor"}]},
         "post.published", {}, False),
        ({"conditions": [{"field": "event.name", "operator": "matches", "value": "post[.].*"}]},
         "form.submitted", {}, False),
    ],
)  # fmt: skip
def test_filters_decide(
    workflows_dir: Path, filters: dict[str, Any], name: str, payload: dict[str, Any], wanted: bool
) -> None:
    write(workflows_dir, "asked", triggers=["post.published", "form.submitted"], filters=filters)

    happened(name, **payload)

    assert lanes() == (["workflow:asked"] if wanted else [])


def test_workflows_are_queued_in_ascending_order_once_each(workflows_dir: Path) -> None:
    for id_, order in (("late", 9), ("early", -1), ("between", 2)):
        write(workflows_dir, id_, order=order)
    write(workflows_dir, "off", enabled=False)

    event = happened()
    start_workflows([event])

    assert lanes() == ["workflow:early", "workflow:between", "workflow:late"]


def test_a_broken_one_and_a_failing_one_stop_no_other(
    receiver: Receiver, workflows_dir: Path
) -> None:
    write(workflows_dir, "first", receiver, order=1)
    write(workflows_dir, "fails", receiver, order=2)
    write(workflows_dir, "last", receiver, order=3)
    receiver.say("/fails", Reply(500))
    (workflows_dir / "broken.yaml").write_text("nonsense")
    definitions.reload()

    happened()
    sending.send()

    states = dict(Delivery.objects.values_list("workflow_id", "status"))
    assert states == {"first": "succeeded", "fails": "pending", "last": "succeeded"}
    assert len(receiver.at("/last")) == 1


def test_a_chain_of_runs_ends(workflows_dir: Path) -> None:
    write(workflows_dir, "loop")

    happened(by=replace(make.actor("admin"), hop=3))
    assert lanes() == ["workflow:loop"]

    happened(by=replace(make.actor("admin"), hop=4))
    assert lanes() == ["workflow:loop"]


def test_what_was_forgotten_starts_nothing_and_is_not_sent(
    receiver: Receiver, workflows_dir: Path
) -> None:
    write(workflows_dir, "form", receiver, triggers=["form.submitted"])
    queued = happened("form.submitted", formSlug="contact")
    early = outbox.record("form.submitted", actor=make.actor("admin"), payload={"a": "canary"})

    outbox.forget([queued.pk, early.pk])
    early.refresh_from_db()
    start_workflows([early])

    assert sending.send() == 0
    assert receiver.at("/form") == []
    assert sending.state_of(queued) == (
        "cancelled", 0, None, "The words of this event were deleted."
    )  # fmt: skip
    assert not Delivery.objects.filter(event=early).exists()


def test_a_workflow_whose_file_is_gone_sends_nothing_of_what_waits(
    receiver: Receiver, workflows_dir: Path
) -> None:
    path = write(workflows_dir, "gone", receiver)
    event = happened()
    path.unlink()
    definitions.reload()

    assert sending.send() == 0

    assert receiver.at("/gone") == []
    status, _, code, error = sending.state_of(event)
    assert (status, code) == ("cancelled", None)
    assert error == "The workflow's file is not there any more, or cannot be read."


def test_what_a_payload_makes_too_large_is_given_up(
    receiver: Receiver, workflows_dir: Path
) -> None:
    write(workflows_dir, "large", receiver, payload={"a": ["{{data.title}}"] * 1100})
    event = happened(title="x" * 1000)

    sending.send()

    assert receiver.at("/large") == []
    assert sending.state_of(event)[3] == (
        "What the workflow makes of this event has over 1,000,000 bytes."
    )
