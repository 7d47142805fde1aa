"""What leaves the house: markers planted in each kind of data reach a provider only where the page says so."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, Final

import pytest

from agents_app.agent_status import find_agent
from agents_app.ai_settings import ai_settings, update_ai_settings
from agents_app.data_flows import SentData, data_flows, sent_to_text_provider
from agents_app.definitions import agents as definitions
from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun
from agents_app.runs import execution
from agents_app.runs.creation import create_run
from agents_app.runs.examples import is_held_out
from content.layers import approve, digest_of, reject, submit
from content.models import Layer, Post
from media.models import Asset
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed
from tests import make
from tests.agents.asking import KEY
from tests.agents.environment import set_env, write_agent
from tests.agents.tooling import tooled
from tests.api_client import ApiClient
from tests.fake_provider import Call, FakeProvider, Reply

pytestmark = pytest.mark.django_db

FIELD: Final = "post.metaTitle"
WISHES: Final = "openEndedContext: {enabled: true}"
PLACES: Final = {
    "QTITLEQ": {"post", "draftBase"},
    "QEXCERPTQ": {"post", "draftBase"},
    "QMODULEQ": {"modules", "context.text"},
    "QBRIEFQ": {"brief"},
    "QPROMPTQ": {"instructions"},
    "QREJECTEDQ": {"context.rejectedBefore"},
    "QEXAMPLEQ": {"context.examples"},
    "QWISHQ": {"context.openEndedContext"},
    "QCALLERQ": {"context"},
    "QSUBMISSIONQ": {"context.untrusted"},
    "QALTQ": {"tools"},
    "QCOMMENTQ": set[str](),
    "QPERSONQ": set[str](),
    "QOTHERQ": set[str](),
}
"""The kinds of data, as the page names them, in which each marker may reach a provider."""


@pytest.fixture
def fake(openai: Any, agents_dir: Path) -> FakeProvider:
    """Return a provider for the agent `reader`, which has no tools."""
    path = write_agent(agents_dir, "reader", "dropdown", "field", "form.submit", extra=WISHES)
    path.write_text(path.read_text() + "QPROMPTQ\n")
    started: FakeProvider = openai(Reply({"declined": "Seen."}))
    definitions.reload()
    return started


def planted() -> Post:
    """Plant the markers of all kinds of content, and return the post of the run."""
    person = make.actor("editor")
    User.objects.filter(pk=person.user.pk).update(email="QPERSONQ@example.org")
    make.brief(voice="QBRIEFQ")
    Asset.objects.filter(pk=make.image().pk).update(alt_text="QALTQ")
    make.post("QOTHERQ", slug="other")
    example = make.post("Tea", slug="tea-0")
    # The id decides whether a decision is held out, and so never an example.
    for number in itertools.count(1):
        if not is_held_out(post_id=example.pk, path=FIELD):
            break
        example = make.post("Tea", slug=f"tea-{number}")
    make.staged(example, {"metaTitle": "QEXAMPLEQ"}, by=make.agent_actor())
    submit(post_id=example.pk, actor=make.agent_actor())
    digest = digest_of(make.layers(example).review.changes)
    approve(post_id=example.pk, actor=person, digest=digest)
    post = make.post("QTITLEQ", markdown="QMODULEQ", slug="marked")
    make.edited(post, {"excerpt": "QEXCERPTQ"})
    make.staged(post, {"metaTitle": "Rejected"}, by=make.agent_actor())
    submit(post_id=post.pk, actor=make.agent_actor())
    digest = digest_of(make.layers(post).review.changes)
    reject(post_id=post.pk, layer=Layer.REVIEW, actor=person, digest=digest, note="QREJECTEDQ")
    ApiClient("editor").send(
        "POST", "/api/feedbacks", {"postId": str(post.pk), "body": "QCOMMENTQ"}
    )
    return post


def listed(agent_id: str, scope: Scope) -> set[str]:
    """Return the kinds that the page lists for a scope."""
    agent = find_agent(agent_id=agent_id, actor=make.actor("admin"))
    sent = sent_to_text_provider(agent.definition, agent.tools, ai_settings())
    return {one.kind for one in sent if scope in one.scopes}


def found_in(fake: FakeProvider) -> set[str]:
    said = fake.said()
    return {marker for marker in PLACES if marker in said}


def expected(kinds: set[str]) -> set[str]:
    return {marker for marker, places in PLACES.items() if places & kinds}


def executed(**given: Any) -> AgentRun:
    run = create_run(**{"agent_id": "reader", "actor": make.actor("editor"), **given})
    execution.execute_run(run.pk)
    run.refresh_from_db()
    assert run.status == "succeeded", run.error
    return run


CALLER: Final[Any] = {"context": {"hint": "QCALLERQ"}, "open_ended_context": "QWISHQ"}


def test_a_run_on_a_post_sends_what_is_listed_and_nothing_else(fake: FakeProvider) -> None:
    executed(scope="dropdown", post_id=planted().pk, **CALLER)

    assert found_in(fake) == expected(listed("reader", Scope.DROPDOWN))
    assert {"QTITLEQ", "QMODULEQ", "QREJECTEDQ", "QBRIEFQ"} <= found_in(fake)


def test_a_run_on_a_field_sends_what_is_listed_and_nothing_else(fake: FakeProvider) -> None:
    executed(scope="field", field_key=FIELD, post_id=planted().pk, **CALLER)

    assert found_in(fake) == expected(listed("reader", Scope.FIELD))
    assert "QEXAMPLEQ" in found_in(fake)


def test_a_run_on_a_submission_sends_what_is_listed_and_nothing_else(fake: FakeProvider) -> None:
    planted()
    make.form()
    values = {"email": "ana@example.org", "message": "QSUBMISSIONQ"}
    executed(
        scope="form.submit",
        actor=Actor(user=make.agent_actor("reader").user, via="system", agent_id="reader"),
        context={"untrusted": {"formSlug": "contact", "payload": values}, "hint": "QCALLERQ"},
    )

    assert found_in(fake) == expected(listed("reader", Scope.FORM_SUBMIT))
    assert "QSUBMISSIONQ" in found_in(fake)
    assert "ana@example.org" not in fake.said()


def test_answers_of_tools_are_listed_for_agents_that_call_them(
    openai: Any, agents_dir: Path
) -> None:
    tooled(agents_dir, "looker", "list_media")
    fake = openai(Reply(calls=(Call("list_media", {}),)), Reply({"declined": "Seen."}))
    executed(agent_id="looker", scope="dropdown", post_id=planted().pk)

    assert "QALTQ" in found_in(fake)
    assert "tools" in listed("looker", Scope.DROPDOWN)
    agent = find_agent(agent_id="looker", actor=make.actor("admin"))
    sent = list(sent_to_text_provider(agent.definition, agent.tools, ai_settings()))
    assert [one.fields for one in sent if one.kind == "tools"] == [("list_media",)]


def test_the_keys_on_the_wire_are_those_of_the_list(fake: FakeProvider) -> None:
    """Each name of the payload is one of the page's kinds, so a new part cannot stay unlisted."""
    run = create_run(
        agent_id="reader",
        scope="field",
        field_key=FIELD,
        post_id=planted().pk,
        actor=make.actor("editor"),
    )
    attempt = execution.prepare_attempt(run)
    assert attempt.layers is not None
    payload, _ = execution._payload(attempt, attempt.layers.ai_review.document)
    kinds = listed("reader", Scope.FIELD)
    context: Any = payload.pop("context")

    # The post of a field is named by its id, type, language and status, which its fields repeat.
    assert set(payload) - {"scope", "post"} <= kinds
    assert {f"context.{name}" for name in context} <= kinds


@pytest.mark.parametrize("agent_id", ["seo-specialist", "translator", "general-assistant"])
def test_every_kind_has_a_label(agent_id: str) -> None:
    agent = find_agent(agent_id=agent_id, actor=make.actor("admin"))
    sent = sent_to_text_provider(agent.definition, agent.tools, ai_settings())

    assert all(one.label for one in sent)
    assert SentData("images").label


def test_the_page_and_the_api_name_providers_fallback_and_masks(settings: Any) -> None:
    keys = {f"ai_provider_{name}_api_key": KEY for name in ("openai", "google")}
    set_env(settings, **keys)
    update_ai_settings(
        actor=make.actor("admin"),
        text_provider="openai",
        fallback_provider="google",
        masked_personal_data=["email"],
    )
    client = ApiClient("admin")
    told = client.get("/api/settings/data-flows").json()

    seo = next(one for one in told["agents"] if one["agentId"] == "seo-specialist")
    assert (seo["textProvider"]["provider"], seo["fallback"]["provider"]) == ("openai", "google")
    assert told["maskedPersonalData"] == ["email"]
    assert any("list_posts" in group["tools"] for group in told["clients"])
    page = client.get("/admin/agents_app/agentswitch/data-flows/").content.decode()
    assert "What leaves the house" in page
    assert "Masked before they are sent: Email addresses." in page
    assert "during an outage" in page
    assert KEY not in page
    agent_page = client.get("/admin/agents_app/agentswitch/seo-specialist/change/")
    assert "/data-flows/#seo-specialist" in agent_page.content.decode()


def test_the_demo_sends_nothing_and_others_may_not_look() -> None:
    page = ApiClient("admin").get("/admin/agents_app/agentswitch/data-flows/").content.decode()
    assert "Demo (no AI): nothing leaves this server." in page
    with pytest.raises(NotAllowed):
        data_flows(make.actor("editor"))
