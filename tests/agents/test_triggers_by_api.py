"""Each of the eight events starts its agents when it happens: through the API, after the commit, in order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents_app.definitions import agents as definitions
from agents_app.definitions.agents import switch_agent
from agents_app.definitions.schema import EVENT_SCOPES
from agents_app.models import AgentRun
from content.models import Layer, Post
from proofroom.core.models import Event
from tests import make
from tests.agents.environment import write_agent
from tests.api_client import ApiClient
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db
Happens = Callable[[ApiClient, Post], Any]


def _approved(client: ApiClient, post: Post) -> Any:
    digest = client.get(f"/api/posts/{post.pk}/changes?layer=review").json()["digest"]
    return client.send("POST", f"/api/posts/{post.pk}/review/approve", {"digest": digest})


HAPPENS: dict[str, Happens] = {
    "post.publish": lambda client, post: client.send(
        "PUT", f"/api/posts/{post.pk}", {"status": "published"}
    ),
    "post.approve": lambda client, post: client.send(
        "PUT", f"/api/posts/{post.pk}", {"excerpt": "Now"}
    ),
    "post.review.save": lambda client, post: client.send(
        "PUT", f"/api/posts/{post.pk}/review", {"excerpt": "Soon"}
    ),
    "post.review.approve": _approved,
    "post.ai-review.save": lambda client, post: client.send(
        "POST", f"/api/posts/{post.pk}/agents/seo-specialist/run", {}
    ),
    "post.ai-review.approve": lambda client, post: client.send(
        "POST", f"/api/posts/{post.pk}/ai-review/submit", {}
    ),
    "post.create-translation": lambda client, post: client.send(
        "POST", f"/api/posts/{post.pk}/translations", {"locale": "de"}
    ),
    "form.submit": lambda client, post: client.send(
        "POST", "/api/forms/contact/submit", {"email": "a@example.com", "message": "Hello"}
    ),
}


def _scene(scope: str) -> Post:
    post = make.post(status="draft" if scope == "post.publish" else "published")
    if scope == "post.review.approve":
        make.staged(post, {"excerpt": "Soon"}, layer=Layer.REVIEW)
    if scope == "post.ai-review.approve":
        make.staged(post, {"excerpt": "Proposed"})
    make.form("contact")
    return post


def _started(scope: str) -> list[AgentRun]:
    """Return the runs of the test's own agents, because a shipped one also starts on translations."""
    runs = AgentRun.objects.filter(scope=scope).exclude(agent_id="translator")
    return list(runs.order_by("position"))


def test_every_scope_of_an_event_is_tried_here() -> None:
    assert set(HAPPENS) == {scope.value for scope in EVENT_SCOPES}


@pytest.mark.parametrize("scope", list(HAPPENS))
def test_an_event_starts_the_agents_of_its_scope_in_ascending_order(
    run_on_commit: RunOnCommit, agents_dir: Path, scope: str
) -> None:
    post = _scene(scope)
    write_agent(agents_dir, "a-last", f"{scope}@30")
    write_agent(agents_dir, "b-first", f"{scope}@-5")
    write_agent(agents_dir, "c-second", f"{scope}@10")
    write_agent(agents_dir, "d-other", "dropdown")
    write_agent(agents_dir, "e-switched-off", scope)
    write_agent(agents_dir, "f-off-by-file", scope, extra="enabled: false")
    closed = write_agent(agents_dir, "g-closed-entry", f"{scope}@1", "dropdown")
    closed.write_text(closed.read_text().replace("order: 1}", "order: 1, enabled: false}"))
    (agents_dir / "h-broken.md").write_text(f"---\nscopes: [{{scope: {scope}}}]\n---\n")
    definitions.reload()
    switch_agent(agent_id="e-switched-off", enabled=False, actor=make.actor("admin"))

    with run_on_commit() as left:
        answer = HAPPENS[scope](ApiClient("editor"), post)
        assert answer.status_code in (200, 201), answer.content
        assert _started(scope) == [], "only after the commit"

    assert left
    runs = _started(scope)
    event = Event.objects.filter(name=scope).latest("pk")
    assert [run.agent_id for run in runs] == ["b-first", "c-second", "a-last"]
    assert [run.status for run in runs] == ["succeeded"] * 3
    assert {run.event_id for run in runs} == {event.pk}
    assert {str(run.post_id) for run in runs} == {str(event.post_id)}
    ends = [(run.started_at, run.finished_at) for run in runs]
    assert ends == sorted(ends), "one after the other"


@pytest.mark.parametrize("scope", ["post.publish", "form.submit"])
def test_an_agent_that_cannot_even_be_created_does_not_stop_the_next(
    run_on_commit: RunOnCommit, agents_dir: Path, scope: str
) -> None:
    post = _scene(scope)
    taken = make.user("editor")
    # Its account cannot be created, because the email address is in use.
    write_agent(agents_dir, "a-first", f"{scope}@1", extra=f"userAccount: {{email: {taken.email}}}")
    write_agent(agents_dir, "b-second", f"{scope}@2")
    definitions.reload()

    with run_on_commit():
        HAPPENS[scope](ApiClient("editor"), post)

    assert [(run.agent_id, run.status) for run in _started(scope)] == [("b-second", "succeeded")]


@pytest.mark.parametrize(("slugs", "starts"), [(["contact"], True), (["other"], False), ([], True)])
def test_a_form_starts_the_agents_of_that_form(
    run_on_commit: RunOnCommit, agents_dir: Path, slugs: list[str], starts: bool
) -> None:
    post = _scene("form.submit")
    path = write_agent(agents_dir, "forms", "form.submit@1")
    path.write_text(path.read_text().replace("order: 1", f"order: 1, formSlugs: {slugs}"))
    definitions.reload()

    with run_on_commit():
        HAPPENS["form.submit"](ApiClient(), post)

    runs = _started("form.submit")
    assert [run.agent_id for run in runs] == (["forms"] if starts else [])
    assert all(run.has_read_untrusted for run in runs)


def test_an_event_that_says_very_much_starts_its_agents_all_the_same(
    run_on_commit: RunOnCommit, agents_dir: Path
) -> None:
    write_agent(agents_dir, "forms", "form.submit")
    definitions.reload()
    texts = [
        {"name": f"text_{number}", "label": "Text", "type": "textarea"} for number in range(20)
    ]
    make.form("contact", fields=texts)

    with run_on_commit():
        words = {f"text_{number}": "long " * 900 for number in range(20)}
        answer = ApiClient().send("POST", "/api/forms/contact/submit", words)
        assert answer.status_code == 201, answer.content

    [run] = _started("form.submit")
    assert run.status == "succeeded"
    told = run.context["untrusted"]
    assert told["formSlug"] == "contact"
    assert told["payload"]["text_0"].startswith("long long ")
    assert told["payload"]["text_0"].endswith("…")
