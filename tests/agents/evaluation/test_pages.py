"""The admin pages of quality, evaluations and versions."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents_app.admin.labels import agent_name
from agents_app.admin.quality.labels import field_title
from agents_app.definitions.agents import get_agent
from agents_app.definitions.versions import load_versions
from agents_app.evaluation.runner import EVALUATIONS
from agents_app.models import AgentRun, ChampionChallenger, Evaluation
from tests import make
from tests.agents.asking import execute
from tests.agents.evaluation.conftest import FIRST, OTHER, decide
from tests.fake_provider import Reply
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
AGENT = "seo-specialist"
CHEAP = "openai:gpt-4.1-mini"
QUALITY = "/admin/quality/"


@pytest.fixture
def client() -> Client:
    found = Client()
    found.force_login(make.user("admin"))
    return found


def test_the_page_lists_proposers_and_opens_one(client: Client, decided_run: Any) -> None:
    decided_run()

    page = client.get(QUALITY).content.decode()
    one = client.get(f"{QUALITY}?agent={AGENT}").content.decode()

    assert "agent=seo-specialist" in page
    assert "Too few to tell" in page
    assert ">Meta title</a>" in one
    assert ">Excerpt</a>" in one
    assert "<q>No.</q>" in one
    assert "<svg" in one


def test_the_changes_behind_a_figure_are_listed(client: Client, decided_run: Any) -> None:
    run, _ = decided_run()

    page = client.get(f"{QUALITY}changes/?agent={AGENT}&outcome=rejected").content.decode()

    assert "<td>Excerpt</td>" in page
    assert "<td>Meta title</td>" not in page
    assert f"<strong>{agent_name(AGENT)}</strong>" in page
    assert reverse("admin:agents_app_agentrun_change", args=[run.pk]) in page
    none = client.get(f"{QUALITY}changes/?field=post.slug").content.decode()
    assert "No decided changes" in none


@pytest.mark.parametrize("query", ["?from=never", "?from=2031-02-01&to=2031-01-01"])
def test_days_that_make_no_sense_are_said(client: Client, query: str) -> None:
    answer = client.get(QUALITY + query)
    assert answer.status_code == 422
    assert "field-errors" in answer.content.decode()


def test_the_pages_take_the_same_queries_for_any_number(
    client: Client, decided_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = decided_run()
    addresses = (QUALITY, f"{QUALITY}?agent={AGENT}", f"{QUALITY}changes/")
    few = [page_queries(client, one) for one in addresses]
    for number in range(3):
        post = make.post(f"Post {number}")
        make.staged(post, {"excerpt": "x"}, by=make.agent_actor(AGENT, str(run.pk)))
        decide(post, [], ["post.excerpt"])

    many = [page_queries(client, one) for one in addresses]

    assert few == many
    assert max(many) <= 14


def test_an_evaluation_is_started_followed_and_read(client: Client, decided_run: Any) -> None:
    decided_run(Reply(output=FIRST), Reply(output=OTHER))
    form = client.get(reverse("admin:agents_app_evaluation_add"))
    assert form.status_code == 200

    started = client.post(
        reverse("admin:agents_app_evaluation_add"),
        {"agentId": AGENT, "model": CHEAP, "prompt": "", "brief": "", "sample": 5, "budget": "2"},
    )

    job = Evaluation.objects.get()
    address = reverse("admin:agents_app_evaluation_change", args=[job.pk])
    assert started["Location"] == address
    running = client.get(address).content.decode()
    assert "<progress" in running
    assert 'value="cancel"' in running
    EVALUATIONS.run_turn(job.pk)
    page = client.get(address).content.decode()
    assert "<progress" not in page
    assert "Too few to tell (decisions: 2, runs: 1)." in page
    assert "Filter coffee by hand" in page
    assert "<ins" in page
    assert "Promote this version" in page
    assert (
        "OpenAI gpt-4.1-mini"
        in client.get(reverse("admin:agents_app_evaluation_changelist")).content.decode()
    )


def test_an_evaluation_that_cannot_start_says_why_at_the_field(
    client: Client, decided_run: Any
) -> None:
    decided_run()
    answer = client.post(
        reverse("admin:agents_app_evaluation_add"),
        {"agentId": AGENT, "model": "nonsense", "sample": 5, "budget": "2"},
    )
    assert answer.status_code == 422
    assert "no provider:model" in answer.content.decode()


def test_an_evaluation_is_cancelled_on_its_page(client: Client, decided_run: Any) -> None:
    decided_run()
    client.post(
        reverse("admin:agents_app_evaluation_add"),
        {"agentId": AGENT, "model": CHEAP, "sample": 5, "budget": "2"},
    )
    job = Evaluation.objects.get()

    client.post(reverse("admin:agents_app_evaluation_change", args=[job.pk]), {"action": "cancel"})

    job.refresh_from_db()
    assert job.state == "cancelled"


def versions() -> Any:
    agent = get_agent(AGENT)
    assert agent is not None
    return load_versions(agent)


def test_the_challenger_is_set_and_ended_on_the_page_of_versions(
    client: Client, openai: Any
) -> None:
    openai(Reply(output=FIRST))
    address = reverse("admin:agents_app_versions", args=[AGENT])
    sent = {
        "action": "challenge",
        "challenger-model": CHEAP,
        "challenger-prompt": "",
        "challenger-share": 99,
    }

    assert client.post(address, sent).status_code == 302

    assert versions().share == 99
    # Every run is in the share, so that the next one shows the challenger.
    ChampionChallenger.objects.update(share=100)
    agent = client.get(reverse("admin:agents_app_agentswitch_change", args=[AGENT]))
    assert "gpt-4.1-mini" in agent.content.decode()
    run = execute(make.post())
    shown = client.get(reverse("admin:agents_app_agentrun_change", args=[run.pk]))
    assert "Challenger" in shown.content.decode()
    client.post(address, {"action": "end"})
    assert versions().challenger is None


def test_promoting_asks_for_an_evaluation_or_a_word(client: Client, openai: Any) -> None:
    openai()
    address = reverse("admin:agents_app_versions", args=[AGENT])
    sent = {"action": "promote", "champion-model": CHEAP, "champion-prompt": ""}

    refused = client.post(address, sent)
    assert refused.status_code == 422
    assert "was not evaluated yet" in refused.content.decode()
    assert not versions().is_promoted

    assert client.post(address, {**sent, "champion-confirmed": "on"}).status_code == 302
    assert versions().is_promoted
    client.post(address, {"action": "file"})
    assert not versions().is_promoted


def test_a_version_that_cannot_answer_is_refused_at_its_field(client: Client, openai: Any) -> None:
    openai()
    address = reverse("admin:agents_app_versions", args=[AGENT])
    sent = {
        "action": "challenge",
        "challenger-model": "nonsense",
        "challenger-prompt": "",
        "challenger-share": 10,
    }

    answer = client.post(address, sent)

    assert answer.status_code == 422
    assert "no provider:model" in answer.content.decode()
    assert not AgentRun.objects.exists()


@pytest.mark.parametrize(
    ("field", "title"),
    [
        ("post.metaTitle", "Meta title"),
        ("post.taxonomyTermIds", "Topics and tags"),
        ("post.customFields.unknown", "unknown"),
        ("module", "Module"),
        ("module.position", "Module › Position"),
        ("module.subtitle", "Module › Subtitle"),
        ("module.unknown.0.text", "Module › unknown"),
    ],
)
def test_fields_have_the_labels_of_the_editor(field: str, title: str) -> None:
    assert field_title(field) == title


def test_the_list_says_what_it_is_limited_to(client: Client, decided_run: Any) -> None:
    decided_run()
    address = f"{QUALITY}changes/"

    whole = client.get(address).content.decode()
    part = client.get(f"{address}?field=post.excerpt&week=2026-11-23").content.decode()

    assert "quality-limits" not in whole
    assert "<strong>Excerpt · week from" in part
    assert '<input type="hidden" name="week" value="2026-11-23">' in part


def test_models_of_usable_providers_are_suggested(client: Client, openai: Any) -> None:
    openai()
    form = client.get(reverse("admin:agents_app_evaluation_add")).content.decode()
    assert f'<option value="{CHEAP}"></option>' in form
    assert 'value="anthropic:' not in form
