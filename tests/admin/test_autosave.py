"""Autosaved copies of forms: private, in no layer, bounded, deleted after a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents_app.definitions.agents import get_agent
from agents_app.models import AgentRun
from agents_app.runs.payloads import canonical_payload
from agents_app.runs.prompt import system_prompt
from content.models import Autosave, Layer, Post
from content.posts import autosave
from content.posts.autosave import (
    SupersededCopy,
    delete_expired_copies,
    discard_copy,
    find_copy,
    list_copies,
    save_copy,
)
from content.posts.trash import delete_post
from content.tasks import purge_trash
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool, result_text
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.tools import all_tools
from tests import make
from tests.admin.pages import fields, url
from tests.agents.tooling import claimed
from tests.api_client import ApiClient
from tests.contract.test_tool_walk import TOOLS, arguments_of

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
CANARY = "Xylographic quokka 4711"


def keep(post: Post | None, role: str = "editor", title: str = CANARY, **more: Any) -> UUID:
    key: UUID = more.pop("key", None) or uuid4()
    save_copy(
        key=key,
        post_id=post.pk if post else None,
        actor=make.actor(role, via="admin"),
        entries=[("post.title", title)],
        **more,
    )
    return key


def test_a_copy_is_written_again_found_by_its_writer_and_discarded() -> None:
    post, editor = make.post(), make.actor("editor", via="admin")
    key = keep(post)
    keep(post, title="Newer", key=key)
    keep(post, "admin")

    (found,) = list_copies(post_id=post.pk, actor=editor)

    assert (found.pk, found.entries) == (key, [["post.title", "Newer"]])
    assert find_copy(key=key, post_id=post.pk, actor=editor) == found
    assert find_copy(key=key, post_id=post.pk, actor=editor, layer="review") is None
    assert list_copies(post_id=None, actor=editor) == []
    assert list_copies(post_id=post.pk, actor=editor, without=[key]) == []
    discard_copy(key=key, actor=make.actor("admin", via="admin"))
    assert list_copies(post_id=post.pk, actor=editor) == [found]
    discard_copy(key=key, actor=editor)
    assert list_copies(post_id=post.pk, actor=editor) == []


def test_a_copy_replaces_only_the_copies_that_it_contains() -> None:
    post, editor = make.post(), make.actor("editor", via="admin")
    of_another, restored, written_on = keep(post, "admin"), keep(post), keep(post)
    seen = [
        SupersededCopy(of_another),
        SupersededCopy(restored, Autosave.objects.get(pk=restored).saved_at),
        SupersededCopy(written_on, timezone.now() - timedelta(minutes=1)),
    ]

    key = keep(post, follows=seen)

    left = set(Autosave.objects.values_list("pk", flat=True))
    assert left == {of_another, written_on, key}
    discard_copy(key=key, actor=editor, follows=[SupersededCopy(written_on)])
    assert set(Autosave.objects.values_list("pk", flat=True)) == {of_another}


def test_the_copy_of_another_is_neither_overwritten_nor_moved() -> None:
    post = make.post()
    key = keep(post, "admin")

    keep(post, "editor", title="Mine", key=key)

    assert list(Autosave.objects.values_list("user__username", "entries")) == [
        ("admin", [["post.title", CANARY]])
    ]


def test_too_long_copies_and_unknown_layers_or_posts_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    post, gone = make.post(), make.post("Gone")
    delete_post(post_id=gone.pk, actor=make.actor("admin"))
    monkeypatch.setattr(autosave, "MAX_BYTES", 60)

    with pytest.raises(RuleViolation):
        keep(post, title="é" * 30)
    with pytest.raises(RuleViolation):
        keep(post, layer="ai_review")
    with pytest.raises(NotFound):
        keep(gone)
    with pytest.raises(NotAllowed):
        keep(None, "translator")
    with pytest.raises(NotAllowed):
        keep(post, "ai_agent")
    assert not Autosave.objects.exists()


def test_excess_and_month_old_copies_are_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(autosave, "MAX_COPIES", 2)
    post = make.post()
    other = keep(post, "admin")
    first, second, third = keep(post), keep(post), keep(None)
    assert set(Autosave.objects.values_list("pk", flat=True)) == {other, second, third}
    assert first not in {other, second, third}

    Autosave.objects.filter(pk=second).update(saved_at=timezone.now() - timedelta(days=31))
    assert list_copies(post_id=post.pk, actor=make.actor("editor", via="admin")) == []
    purge_trash()
    assert set(Autosave.objects.values_list("pk", flat=True)) == {other, third}
    assert delete_expired_copies() == 0


def test_autosaving_takes_the_same_statements_however_long_the_post(signed_in: SignedIn) -> None:
    counts = []
    for modules in (0, 30):
        post, client = make.post(f"With {modules}"), signed_in()
        sent = fields(client.get(url(post)))
        sent |= {f"modules.{number}.props.title": ["Words"] for number in range(modules)}
        client.post(url(post, "change/autosave"), sent)
        with CaptureQueriesContext(connection) as queries:
            client.post(url(post, "change/autosave"), sent)
        own = [query for query in queries if "content_" in query["sql"]]
        counts.append(len(own))
    assert counts == [3, 3]


def test_the_form_keeps_fields_and_nothing_secret(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    sent = {**fields(client.get(url(post))), "post.title": "AB", "password": CANARY}

    answer = client.post(url(post, "change/autosave"), sent)
    nameless = client.post(url(post, "change/autosave"), {**sent, "copy": "nonsense"})

    names = {name for name, _ in Autosave.objects.get().entries}
    assert (answer.status_code, nameless.status_code) == (200, 422)
    assert names >= {"post.title", "was", "order", "version"}
    assert not names & {"password", "csrfmiddlewaretoken", "copy", "do"}
    assert ["post.title", "AB"] in Autosave.objects.get().entries


def test_nobody_else_reads_a_draft_copy(signed_in: SignedIn) -> None:
    """The text of a copy is in no page, API answer or tool answer except its writer's own form."""
    post = make.post(status="published")
    keep(post, "admin")
    editor = signed_in("editor")
    pages = ["change", "review", "revisions", "preview", "preview/page", "translations"]
    answers = [editor.get(url(post, page)) for page in pages]
    answers += [editor.get(path) for path in ("/admin/", "/admin/inbox/", "/admin/content/post/")]
    answers += [signed_in("admin").get(url(post, page)) for page in pages[1:]]
    answers.append(editor.get("/admin/content/post/add/"))
    api = ApiClient("admin")
    for path in ("", "/export", "/revisions", "/review"):
        answers.append(api.get(f"/api/posts/{post.pk}{path}"))
    answers.append(api.get("/api/posts?search=quokka"))
    answers.append(Client().get(post.path))

    for answer in answers:
        assert CANARY not in answer.content.decode(), answer.request.get("PATH_INFO", "")
    assert CANARY not in signed_in("admin").get(url(post)).content.decode()


def test_no_tool_and_no_agent_reads_a_draft_copy() -> None:
    """Not even if the AI client or the run uses the account of the writer."""
    post = make.post(status="published")
    keep(post, "admin")
    keep(None, "admin")
    make.global_module()
    make.staged(post, {"excerpt": "From an agent"})
    make.staged(post, {"metaTitle": "From a person"}, layer=Layer.REVIEW)
    principal = Principal(id="canary", user_id=make.user("admin").pk, diagnostics=True)
    reading = sorted(
        tool.name for tool in all_tools() if tool.kind == "read" and tool.name in TOOLS
    )
    assert {"get_post_context", "list_posts", "search_media"} <= set(reading)

    said = {}
    for name in reading:
        result = call_tool(principal, name, arguments_of(name, post))
        assert result.is_error is False, (name, result_text(result))
        said[name] = result_text(result) + result.model_dump_json()
    found = call_tool(principal, "list_posts", {"q": "quokka"})
    said["search"] = found.model_dump_json()
    agent = get_agent("seo-specialist")
    assert agent is not None
    run = claimed(
        AgentRun.objects.create(
            agent_id=agent.id, scope="dropdown", post=post, by_name="admin", via="admin"
        )
    )
    for layer in ("review", "ai_review"):
        document = getattr(make.layers(post), layer).document
        payload = canonical_payload(run, post, document)
        said[layer] = system_prompt(agent, run, document) + str(payload)

    assert [name for name, text in said.items() if CANARY in text] == []
    assert post.title in said["ai_review"]
