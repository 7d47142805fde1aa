"""Names of proposers and posts, for the figures and the list of decisions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from agents_app.quality.decisions import Subject
from content.models import Post
from proofroom.core.actor import Actor
from proofroom.core.agent_directory import agent_name
from proofroom_apps.editorial.posts.authors import client_names


def subject_names(subjects: Iterable[Subject], actor: Actor) -> Mapping[Subject, str]:
    """Return the name of each proposer; for an AI client that is gone its credential. At most two queries."""
    found = list(subjects)
    clients = client_names((one.id for one in found if one.kind == "client"), actor)
    return {
        one: (agent_name(one.id) if one.kind == "agent" else clients.get(one.id, "")) or one.id
        for one in found
    }


def post_titles(post_ids: Collection[UUID]) -> Mapping[UUID, str]:
    """Return the titles of posts that are there. One query."""
    return dict(Post.objects.filter(pk__in=post_ids).values_list("pk", "title"))
