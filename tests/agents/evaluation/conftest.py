"""A decided run, for evaluations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agents_app.models import AgentRun
from content.layers import approve, digest_of, reject, submit
from content.models import Layer, Post
from tests import make
from tests.agents.asking import execute
from tests.fake_provider import FakeProvider, Reply

FIRST = {
    "post": {"metaTitle": "Filter coffee by hand", "excerpt": "Four minutes, one scale."},
    "summary": "Two texts.",
}
OTHER = {"post": {"metaTitle": "Tea", "excerpt": "Four minutes, one scale."}, "summary": "Again."}


def decide(post: Post, approved: list[str], rejected: list[str], note: str = "No.") -> None:
    admin = make.actor("admin")
    if rejected:
        reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=admin, paths=rejected, note=note)
    if approved:
        submit(post_id=post.pk, actor=admin)
        changes = make.layers(post).review.changes
        approve(post_id=post.pk, actor=admin, digest=digest_of(changes), paths=approved)


@pytest.fixture
def decided_run(openai: Any) -> Callable[..., tuple[AgentRun, FakeProvider]]:
    """Return a function that makes a run whose title was approved and whose excerpt was rejected.

    Then the provider gives the replies.
    """

    def make_it(*replies: Reply) -> tuple[AgentRun, FakeProvider]:
        fake = openai(Reply(output=FIRST), *replies)
        post = make.post()
        run = execute(post)
        assert run.status == "succeeded", run.error
        decide(post, ["post.metaTitle"], ["post.excerpt"])
        return run, fake

    return make_it
