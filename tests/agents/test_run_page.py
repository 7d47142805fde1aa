"""The page of a run: steps, messages, causes, consequences, and actions."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents_app.definitions.agents import switch_agent
from agents_app.models import AgentRun
from agents_app.runs import execution
from content.layers import approve, digest_of, submit
from tests import make
from tests.agents.asking import execute
from tests.browser.agents_scene import run, story

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
ASK = "/admin/agents_app/ask/"


def address(of: AgentRun, page: str = "change") -> str:
    return f"/admin/agents_app/agentrun/{of.pk}/{page}/"


def html_of(client: Client, of: AgentRun, page: str = "change") -> str:
    return client.get(address(of, page)).content.decode()


def test_a_run_tells_its_steps_its_chain_its_reactions_and_its_cost(signed_in: SignedIn) -> None:
    own = story(make.post())

    html = html_of(signed_in(), own)

    steps, chain = html.index("Steps"), html.index("Related runs and events")
    reactions = html.index(">Reactions<")
    assert steps < chain < reactions
    assert "There is no media file with the ID 1." in html[steps:chain]
    assert html[steps:chain].count("<tr class") == 4
    assert html[chain:reactions].count("<li") == 4
    assert html[chain:reactions].index("Proofreader") < html[chain:reactions].index("this run")
    assert "hooks.example.com" in html[reactions:]
    assert "There is no post of that id." in html[reactions:]
    assert "$0.0134" in html
    assert "4,590 tokens" in html
    assert "This run read text from visitors or other sites," in html


def test_what_was_said_is_for_who_may_write_agents(signed_in: SignedIn) -> None:
    own = story(make.post())
    own.messages.create(number=9, role="tool", name="get_post", text="<img src=x onerror=a>")
    editor, admin = signed_in(), signed_in("admin")

    assert "Conversation" not in html_of(editor, own)
    assert editor.get(address(own, "transcript")).status_code == 403
    assert "Conversation: 4 messages" in html_of(admin, own)
    answer = admin.get(address(own, "transcript"))

    assert "no-store" in answer["Cache-Control"]
    html = answer.content.decode()
    assert "You are the search editor." in html
    assert "&lt;img src=x onerror=a&gt;" in html


def test_a_run_that_goes_on_says_what_it_does_and_asks_again(signed_in: SignedIn) -> None:
    own = run(make.post(), "running", doing="Writing, about 120 words so far")
    client = signed_in()

    html = html_of(client, own)
    told = client.get(address(own, "status")).json()

    assert "Writing, about 120 words so far" in html
    assert "<h1>How to brew filter coffee</h1>" in html
    assert '<h2 id="run-title">SEO specialist' in html
    assert "Cancel run" in html
    assert 'http-equiv="refresh"' in html
    assert told["doing"] == "Writing, about 120 words so far"
    assert told["tokens"] == "4,590 tokens"
    client.post(address(own, "cancel"))
    own.refresh_from_db()
    assert own.status == "cancelled"
    assert "Cancel run" not in html_of(client, own)


def test_a_run_is_tried_again_and_an_unfinished_one_is_not(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    failed = run(post, "failed", error="The provider answered 429.")

    response = client.post(address(failed, "retry"), {"note": "Once more"})

    second = AgentRun.objects.get(first_try=failed)
    assert response["Location"] == address(second)
    assert second.note == "Once more"
    refused = client.post(address(second, "retry"), follow=True)
    assert "Wait until it finishes" in refused.content.decode()
    assert AgentRun.objects.count() == 2


def test_what_a_run_brought_is_taken_back_after_a_question(signed_in: SignedIn) -> None:
    post, client = make.post(excerpt="Old"), signed_in()
    own = execute(post)
    assert own.staged
    paths = make.layers(post).ai_review.changes.paths
    submit(post_id=post.pk, actor=make.actor("editor"), paths=paths)
    digest = digest_of(make.layers(post).review.changes)
    approve(post_id=post.pk, actor=make.actor("editor"), digest=digest, paths=paths[:1])
    asked = html_of(client, own, "revert")
    assert "as a new revision" in asked
    assert make.layers(post).review.exists

    response = client.post(address(own, "revert"), follow=True)

    assert "1 live change undone" in response.content.decode()
    assert "<dt>Undone</dt>" in response.content.decode()
    layers = make.layers(post)
    assert not layers.review.exists
    assert not layers.ai_review.exists


def test_a_translator_may_not_open_what_runs_did(signed_in: SignedIn) -> None:
    own = run(make.post())
    client = signed_in("translator")
    for page in ("change", "status", "transcript", "revert"):
        assert client.get(address(own, page)).status_code == 403, page
    for page in ("cancel", "retry", "use", "revert"):
        assert client.post(address(own, page)).status_code == 403, page
    own.refresh_from_db()
    assert own.status == "succeeded"
    assert AgentRun.objects.count() == 1


def test_every_page_offers_to_ask_an_agent_to_who_may(signed_in: SignedIn) -> None:
    post = make.post()
    for path in ("/admin/", "/admin/media/asset/", f"/admin/content/post/{post.pk}/change/"):
        assert ASK in signed_in("admin").get(path).content.decode(), path
        assert ASK not in signed_in().get(path).content.decode(), path
    assert signed_in().get(ASK).status_code == 403


def test_an_agent_is_started_from_any_page_and_answers_on_the_run(
    signed_in: SignedIn,
) -> None:
    client = signed_in("admin")

    response = client.post(ASK, {"agent": "general-assistant", "words": "What is a kettle?"})

    own = AgentRun.objects.get()
    assert response["Location"] == address(own)
    assert (own.scope, own.post, own.open_ended_context) == ("global", None, "What is a kettle?")
    execution.execute_run(own.pk)
    own.refresh_from_db()
    assert own.summary
    html = html_of(client, own)
    assert 'class="answer' in html
    earlier = client.get(ASK).content.decode().split("Earlier questions")[1]
    assert "What is a kettle?" in earlier


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"agent": "nobody"}, "No agent is named"),
        ({"agent": "proofreader"}, "does not run in the scope"),
        ({"agent": "general-assistant", "words": "x" * 4001}, "at most 4,000"),
        ({"agent": "general-assistant", "post": "nonsense"}, "No post has the ID"),
    ],
    ids=["unknown", "scope", "long", "post"],
)
def test_what_cannot_be_asked_is_refused_in_place(
    signed_in: SignedIn, sent: dict[str, str], sentence: str
) -> None:
    response = signed_in("admin").post(ASK, sent)

    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert not AgentRun.objects.exists()


def test_without_an_agent_the_page_says_how_to_add_one(signed_in: SignedIn) -> None:
    switch_agent(agent_id="general-assistant", enabled=False, actor=make.actor("admin"))

    html = signed_in("admin").get(ASK).content.decode()

    assert "new_agent" in html
    assert "General assistant" not in html


def test_the_list_of_runs_takes_no_query_for_each(signed_in: SignedIn) -> None:
    client, post = signed_in(), make.post()
    counts = []
    for number in range(4):
        run(post, cost=Decimal(number + 1), scope="field", field_key="post.title")
        with CaptureQueriesContext(connection) as queries:
            html = client.get("/admin/agents_app/agentrun/").content.decode()
        counts.append(len(queries))

    # One of them is that of the saved views.
    assert counts[1] == counts[3] <= 7
    assert html.count("post.title") == 4
    assert "$4.00" in html
