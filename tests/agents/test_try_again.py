"""Retries from a proposal's card: the agents offered, the prompt, and the earlier proposal."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from django.test import Client

from agents_app.definitions.agents import switch_agent
from agents_app.models import AgentRun
from agents_app.runs import execution
from content.layers import submit
from content.layers.reject import reject
from content.models import Layer, Post
from content.tools.arguments import resolve_author
from proofroom.core.models import Event
from tests import make
from tests.admin.pages import review
from tests.agents.asking import execute, payload_of
from tests.content.at_once import at_once
from tests.fake_provider import FakeProvider, Reply

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
OpenAI = Callable[..., FakeProvider]
PATH = "post.metaTitle"


def proposed(
    post: Post, agent_id: str, value: str = "Earlier", scope: str = "dropdown"
) -> AgentRun:
    """Create a pending proposal for the search title by a run of an agent in that scope."""
    run = AgentRun.objects.create(
        agent_id=agent_id, scope=scope, post=post, by_name="editor", via="api", status="succeeded",
        field_key=PATH if scope == "field" else "", value=value if scope == "field" else None,
        staged=[PATH],
    )  # fmt: skip
    make.staged(post, {"metaTitle": value}, by=make.agent_actor(agent_id, str(run.pk)))
    return run


def carried(post: Post) -> None:
    submit(post_id=post.pk, actor=make.actor("editor"))


def card(client: Client, post: Post, layer: str = "ai-review", path: str = PATH) -> str:
    html = client.get(review(post, layer)).content.decode()
    return html.split(f'data-path="{path}"')[1].split("</article>")[0]


def link(client: Client, post: Post, layer: str = "ai-review", path: str = PATH) -> str:
    """Return the target of "Try again with a note"."""
    shown = card(client, post, layer, path).split("Try again with a note")[0]
    return unescape(shown.rpartition('href="')[2].partition('"')[0])


def asked_agent(address: str) -> str:
    return parse_qs(urlsplit(address).query)["agent"][0]


def offered(html: str) -> list[str]:
    """Return the offered agents, in order."""
    return [part.split('"')[0] for part in html.split('name="agent" value="')[1:]]


def again(client: Client, address: str, agent: str = "", note: str = "Shorter", **more: str) -> Any:
    sent = {"agent": agent or asked_agent(address), "note": note, "once": str(uuid4()), **more}
    return client.post(address, sent)


def done(response: Any) -> AgentRun:
    assert response.status_code == 302, response.content.decode()
    run = AgentRun.objects.get(pk=response["Location"].split("/")[-3])
    execution.execute_run(run.pk)
    run.refresh_from_db()
    assert run.status == "succeeded", run.error
    return run


def use(client: Client, run: AgentRun, **extra: str) -> Any:
    return client.post(f"/admin/agents_app/agentrun/{run.pk}/use/", **extra)


@pytest.mark.parametrize("agent", ["general-assistant", "seo-specialist", "proofreader"])
@pytest.mark.parametrize("scope", ["dropdown", "global", "field"])
@pytest.mark.parametrize("layer", list(Layer))
def test_the_agent_that_made_the_change_is_offered_first(
    signed_in: SignedIn, agent: str, scope: str, layer: Layer
) -> None:
    post, client = make.post(), signed_in()
    proposed(post, agent, scope=scope)
    if layer == Layer.REVIEW:
        carried(post)

    address = link(client, post, layer)
    html = client.get(address).content.decode()

    assert asked_agent(address) == agent
    others = [one for one in ("general-assistant", "seo-specialist", "proofreader") if one != agent]
    assert offered(html) == [agent, *others]
    chosen = html.split(f'value="{agent}"')[1].split("</label>")[0]
    assert chosen.split(">")[0].endswith("checked") or " checked" in chosen.split(">")[0]
    assert "made this proposal" in chosen
    assert html.count("made this proposal") == 1


def test_so_is_the_agent_that_an_ai_client_named(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    make.staged(
        post, {"metaTitle": "Earlier"}, by=resolve_author(make.mcp_actor("editor"), "proofreader")
    )

    address = link(client, post)

    assert asked_agent(address) == "proofreader"
    assert offered(client.get(address).content.decode())[0] == "proofreader"


def test_a_card_of_an_unnamed_ai_client_lets_the_user_choose_an_agent(
    signed_in: SignedIn,
) -> None:
    post, client = make.post(), signed_in()
    make.staged(post, {"metaTitle": "Earlier"}, by=make.mcp_actor("editor"))

    html = client.get(link(client, post)).content.decode()

    assert "An AI client made this proposal" in html
    assert offered(html)[0] == "general-assistant"
    assert "made this proposal</span>" not in html


def test_an_agent_that_serves_no_field_is_named_and_its_run_can_be_tried_again(
    signed_in: SignedIn,
) -> None:
    post, client = make.post(), signed_in()
    run = proposed(post, "translator")

    html = client.get(link(client, post)).content.decode()

    assert "made this proposal but does not work on single fields" in html
    assert f"/admin/agents_app/agentrun/{run.pk}/change/#again" in html
    assert "translator" not in offered(html)


def test_an_agent_that_is_off_is_not_offered(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    proposed(post, "proofreader")
    switch_agent(agent_id="proofreader", enabled=False, actor=make.actor("admin"))

    html = client.get(link(client, post)).content.decode()

    assert "made this proposal but does not work on single fields" in html
    assert offered(html) == ["general-assistant", "seo-specialist"]


def test_the_note_and_the_earlier_value_reach_an_agent_that_takes_no_words(
    openai: OpenAI, signed_in: SignedIn
) -> None:
    fake = openai(Reply({"value": "Newer"}))
    post, client = make.post(), signed_in()
    proposed(post, "proofreader")
    make.staged(post, {"metaTitle": "Rejected"}, by=make.agent_actor("seo-specialist"))
    reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"), note="too salesy")
    proposed(post, "proofreader", "Earlier")

    run = done(again(client, link(client, post), note="  Keep the number.  "))

    assert (run.agent_id, run.note, run.open_ended_context) == (
        "proofreader",
        "Keep the number.",
        "",
    )
    context = payload_of(fake.asked[0])["context"]
    assert context["note"] == "Keep the number."
    assert context["previousCandidates"] == [{"value": "Earlier", "note": ""}]
    assert [(one["value"], one["note"]) for one in context["rejectedBefore"]] == [
        ("Rejected", "too salesy")
    ]


def test_the_prompt_lists_earlier_tries_with_notes_and_the_pending_one_last(
    openai: OpenAI, signed_in: SignedIn
) -> None:
    fake = openai(Reply({"value": "Second"}), Reply({"value": "Third"}))
    post, client = make.post(), signed_in()
    first = proposed(post, "seo-specialist", "First", scope="field")
    second = done(again(client, link(client, post), note="Warmer"))
    assert second.first_try_id == first.pk

    third = done(again(client, link(client, post), note="Shorter"))

    assert third.first_try_id == first.pk
    assert payload_of(fake.asked[1])["context"]["previousCandidates"] == [
        {"value": "Second", "note": "Warmer"},
        {"value": "First", "note": ""},
    ]


def test_another_agent_may_be_chosen(openai: OpenAI, signed_in: SignedIn) -> None:
    openai(Reply({"value": "Newer"}))
    post, client = make.post(), signed_in()
    proposed(post, "proofreader", scope="field")

    run = done(again(client, link(client, post), agent="general-assistant"))

    assert (run.agent_id, run.first_try_id) == ("general-assistant", None)


def test_the_new_proposal_takes_the_place_of_the_old_card(
    openai: OpenAI, signed_in: SignedIn
) -> None:
    openai(Reply({"value": "Newer"}))
    post, client, before = make.post(), signed_in(), make.live_hash()
    proposed(post, "proofreader")

    run = done(again(client, link(client, post)))
    answer = use(client, run)

    assert answer["Location"] == review(post)
    layers = make.layers(post)
    assert layers.ai_review.changes.paths == (PATH,)
    (change,) = layers.ai_review.changes
    assert change.after == "Newer"
    mark = layers.ai_review.marks[PATH]
    assert (mark.run_id, mark.agent_id, mark.edited_by) == (str(run.pk), "proofreader", "")
    assert (mark.conflict, mark.drifted, layers.ai_review.drifted) == (False, False, frozenset())
    html = client.get(review(post)).content.decode()
    assert html.count(f'data-path="{PATH}"') == 1
    assert f"/agentrun/{run.pk}/change/" in card(client, post)
    assert make.live_hash() == before


def test_it_works_from_review_and_leads_to_ai_review_without_a_conflict(
    openai: OpenAI, signed_in: SignedIn
) -> None:
    openai(Reply({"value": "Newer"}))
    post, client = make.post(), signed_in()
    proposed(post, "proofreader")
    carried(post)

    address = link(client, post, "review")
    page = client.get(address).content.decode()
    assert "There is already a proposal in Review" in page
    assert "Earlier" in page
    run = done(again(client, address))
    shown = use(client, run, HTTP_X_DIALOG="1")
    dialog = client.get(shown["Location"], headers={"X-Dialog": "1"}).content.decode()

    assert f'href="{review(post)}' in unescape(dialog)
    layers = make.layers(post)
    assert layers.review.document.fields["metaTitle"] == "Earlier"
    assert layers.ai_review.document.fields["metaTitle"] == "Newer"
    assert layers.ai_review.drifted == frozenset()
    changes = client.get(f"/api/posts/{post.pk}/changes?layer=ai-review").json()["changes"]
    flags = [(one["path"], one["conflict"], one["flags"]) for one in changes]
    assert flags == [(PATH, False, ["rewording"])]
    assert "flag-" not in card(client, post)
    done_ = submit(post_id=post.pk, actor=make.actor("editor"))
    assert (done_.submitted, done_.conflicts) == ((PATH,), ())
    assert make.layers(post).review.marks[PATH].run_id == str(run.pk)


def test_the_old_one_that_is_submitted_meanwhile_is_no_conflict(
    openai: OpenAI, signed_in: SignedIn
) -> None:
    openai(Reply({"value": "Newer"}))
    post, client = make.post(), signed_in()
    proposed(post, "seo-specialist")
    response = again(client, link(client, post))
    carried(post)

    use(client, done(response))

    assert make.layers(post).ai_review.drifted == frozenset()
    assert submit(post_id=post.pk, actor=make.actor("editor")).conflicts == ()


@pytest.mark.parametrize("layer", list(Layer))
def test_what_a_person_edited_is_said_before_it_is_asked_and_chosen(
    openai: OpenAI, signed_in: SignedIn, layer: Layer
) -> None:
    openai(Reply({"value": "Newer"}))
    post, client = make.post(), signed_in()
    proposed(post, "proofreader")
    if layer == Layer.REVIEW:
        carried(post)
    make.staged(post, {"metaTitle": "Edited"}, layer=layer, by=make.actor("editor"))
    sentence = {
        Layer.AI_REVIEW: "editor wrote or edited the proposal in AI Review",
        Layer.REVIEW: "editor wrote or edited the change in Review",
    }[layer]

    address = link(client, post, layer)
    assert sentence in client.get(address).content.decode()
    assert asked_agent(address) == "proofreader"
    run = done(again(client, address))
    assert sentence in client.get(f"/admin/agents_app/agentrun/{run.pk}/change/").content.decode()
    use(client, run)

    assert make.layers(post).ai_review.document.fields["metaTitle"] == "Newer"
    conflicts = submit(post_id=post.pk, actor=make.actor("editor")).conflicts
    assert [one.path for one in conflicts] == ([PATH] if layer == Layer.REVIEW else [])


def test_two_quick_clicks_begin_one_run_and_stage_one_proposal(
    openai: OpenAI, signed_in: SignedIn
) -> None:
    openai(Reply({"value": "Newer"}), Reply({"value": "Newest"}))
    post, client = make.post(), signed_in()
    earlier = proposed(post, "proofreader")
    address, once = link(client, post), str(uuid4())
    assert 'name="once"' in client.get(address).content.decode()

    first, second = (again(client, address, once=once) for _ in range(2))

    assert first["Location"] == second["Location"]
    assert AgentRun.objects.exclude(pk=earlier.pk).count() == 1
    run = done(first)
    for _ in range(2):
        use(client, run)
    assert Event.objects.filter(name="agent.run.staged").count() == 1
    assert make.layers(post).ai_review.version == 2
    # Another note is another request, even from the same form.
    done(again(client, address, note="Warmer", once=once))
    assert AgentRun.objects.exclude(pk=earlier.pk).count() == 2


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_the_same_moment_begin_one_run(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(
        "agents_app.runs.creation.wake", lambda run_id, event_id: told.append(run_id)
    )
    post, client = make.post(), signed_in()
    earlier = proposed(post, "proofreader")
    address, once = link(client, post), str(uuid4())

    answers: Any = at_once(*[lambda: again(signed_in(), address, once=once)] * 4)

    assert {answer["Location"] for answer in answers} == {
        f"/admin/agents_app/agentrun/{once}/change/"
    }
    assert AgentRun.objects.exclude(pk=earlier.pk).count() == 1
    assert Event.objects.filter(name="agent.run.created").count() == 1


def test_the_button_of_a_run_begins_one_try_too(openai: OpenAI, signed_in: SignedIn) -> None:
    openai(Reply({"value": "One"}), Reply({"value": "Two"}))
    post, client = make.post(), signed_in()
    run = execute(post, agent_id="proofreader", scope="field", field_key=PATH, stages_value=False)
    page = client.get(f"/admin/agents_app/agentrun/{run.pk}/change/").content.decode()
    once = page.split('name="once" value="')[1].split('"')[0]

    answers = [
        client.post(
            f"/admin/agents_app/agentrun/{run.pk}/retry/", {"note": "Shorter", "once": once}
        )
        for _ in range(2)
    ]

    assert answers[0]["Location"] == answers[1]["Location"]
    assert AgentRun.objects.count() == 2


def test_a_field_that_is_asked_about_anew_begins_one_run_for_the_same_words(
    signed_in: SignedIn,
) -> None:
    post, client, once = make.post(), signed_in(), str(uuid4())
    address = f"/admin/agents_app/field/?post={post.pk}&field={PATH}"
    assert 'name="once"' in client.get(address).content.decode()

    for words in ("shorten", "shorten", "warmer"):
        client.post(address, {"agent": "general-assistant", "words": words, "once": once})

    told = AgentRun.objects.order_by("created_at").values_list("open_ended_context", flat=True)
    assert list(told) == ["shorten", "warmer"]


def test_another_users_run_is_not_found(openai: OpenAI, signed_in: SignedIn) -> None:
    openai(Reply({"value": "Newer"}))
    post, client = make.post(), signed_in()
    theirs = proposed(post, "proofreader")

    response = again(client, link(client, post), once=str(theirs.pk))

    assert str(theirs.pk) not in response["Location"]


def test_a_field_of_a_module_and_its_rich_text(openai: OpenAI, signed_in: SignedIn) -> None:
    words = {"type": "text", "text": "Pour slowly."}
    document = {"type": "doc", "content": [{"type": "paragraph", "content": [words]}]}
    openai(Reply({"value": document}))
    post, client = make.post(), signed_in()
    prose = make.module_id(post, "prose")
    path = f"modules.{prose}.props.content"
    make.staged_module(
        post, prose, content_markdown="Pour fast.", by=make.agent_actor("proofreader")
    )
    carried(post)

    address = link(client, post, "review", path)
    run = done(again(client, address))
    use(client, run)

    assert asked_agent(address) == "proofreader"
    layers = make.layers(post)
    assert layers.ai_review.changes.paths == (path,)
    assert layers.ai_review.marks[path].run_id == str(run.pk)
    assert submit(post_id=post.pk, actor=make.actor("editor")).conflicts == ()


def test_words_of_visitors_stay_marked_though_their_proposal_is_gone_meanwhile(
    openai: OpenAI, signed_in: SignedIn
) -> None:
    openai(Reply({"value": "Newer"}))
    post, client = make.post(), signed_in()
    reader = proposed(post, "seo-specialist")
    AgentRun.objects.filter(pk=reader.pk).update(has_read_untrusted=True)

    response = again(client, link(client, post))

    run = AgentRun.objects.get(pk=response["Location"].split("/")[-3])
    assert run.has_read_untrusted


def test_what_was_decided_on_meanwhile_is_said(openai: OpenAI, signed_in: SignedIn) -> None:
    fake = openai(Reply({"value": "Newer"}))
    post, client = make.post(), signed_in()
    proposed(post, "proofreader")
    address = link(client, post)
    reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"), note="pushy")

    assert "already decided on this proposal" in client.get(address).content.decode()
    done(again(client, address))

    context = payload_of(fake.asked[0])["context"]
    assert "previousCandidates" not in context
    assert [(one["value"], one["note"]) for one in context["rejectedBefore"]] == [
        ("Earlier", "pushy")
    ]


def test_a_value_too_long_for_the_context_is_passed_in_the_field(
    openai: OpenAI, signed_in: SignedIn
) -> None:
    fake = openai(Reply({"value": "Short."}))
    post, client = make.post(), signed_in()
    prose = make.module_id(post, "prose")
    path = f"modules.{prose}.props.content"
    words = "word " * 12_000
    make.staged_module(post, prose, content_markdown=words, by=make.agent_actor("proofreader"))

    done(again(client, link(client, post, path=path)))

    payload = payload_of(fake.asked[0])
    assert payload["context"]["note"] == "Shorter"
    assert "previousCandidates" not in payload["context"]
    assert words.strip() in str(payload["field"]["currentValue"])


def test_a_note_that_is_too_long_is_refused_in_place(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    earlier = proposed(post, "proofreader")

    refused = again(client, link(client, post), note="x" * 2001)

    assert refused.status_code == 422
    assert "2,001 characters" in refused.content.decode()
    assert AgentRun.objects.exclude(pk=earlier.pk).count() == 0


def test_what_people_staged_has_nobody_to_try_again(signed_in: SignedIn) -> None:
    post = make.post()
    make.staged(post, {"metaTitle": "By a person"}, layer=Layer.REVIEW)

    assert "Try again with a note" not in card(signed_in(), post, "review")
