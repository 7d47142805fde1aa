"""Approved values of the same field in other posts, as examples for a run on a field.

They come from this site's own decisions: proposals of agents and AI clients that a person approved.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from uuid import UUID

from django.db.models import Exists, F, Max, OuterRef, Q

from agents_app.models import AgentRun
from agents_app.runs.field_target import FieldTarget
from agents_app.runs.markdown_texts import as_markdown
from content.document.changes import ABSENT, same, value_at
from content.document.document import PostDocument
from content.models import Post, Provenance
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject

MAX_EXAMPLES: Final = 3
MAX_EXAMPLE_CHARACTERS: Final = 1_500
"""Maximum characters of an example. Longer values are no examples."""
_DECISIONS_SEARCHED: Final = 20_000
"""Number of the site's latest decisions that are searched, so that the search takes a bounded time."""
_DECISIONS_READ: Final = 24
"""Number of decisions whose values are read."""
_HELD_OUT_SHARE: Final = 5


def is_held_out(*, post_id: UUID | str, path: str) -> bool:
    """Return True for every fifth place of a decision, by a hash of its post and path.

    Decisions at such a place serve to judge prompts, and are never given to a model as examples.
    All decisions at a place fall on the same side: an earlier value would give a later one away.
    """
    digest = sha256(f"{str(post_id).lower()}:{path}".encode()).digest()
    return int.from_bytes(digest[:8]) % _HELD_OUT_SHARE == 0


@dataclass(frozen=True, slots=True)
class ApprovedExample:
    """An approved value of a field in another post. `value`: rich text is Markdown."""

    post_id: UUID
    path: str
    title: str
    value: Json

    def as_context(self) -> JsonObject:
        return {"post": self.title, "value": self.value}

    def as_reference(self) -> JsonObject:
        """Return the form stored on the run, without any content."""
        return {"postId": str(self.post_id), "path": self.path}


def approved_examples(
    *, post: Post, document: PostDocument, target: FieldTarget, actor: Actor
) -> list[ApprovedExample]:
    """Return at most `MAX_EXAMPLES` approved values of the field, of the posts most alike first.

    Only values that still hold, in published posts of the same type and language that the actor may
    read. Values by runs that had read visitors' texts are left out. At most three queries.
    """
    if target.module_id is not None and len(target.path) > 1:
        return []  # a part of a list has no decisions of its own
    newest = Provenance.objects.aggregate(newest=Max("pk"))["newest"]
    if newest is None or not actor.can("posts.view"):
        return []
    posts = visible_to(Post.objects.live(), actor)
    later = Provenance.objects.filter(
        post=OuterRef("post"), path=OuterRef("path"), pk__gt=OuterRef("pk")
    )
    rows = (
        Provenance.objects.filter(_path_filter(target), pk__gt=newest - _DECISIONS_SEARCHED)
        .exclude(agent_id="", principal="")
        # A value that was changed since is not an example.
        .exclude(Exists(later))
        .filter(
            post__in=posts.filter(type=post.type, locale=post.locale).exclude(
                translation_group=post.translation_group
            )
        )
        .order_by("-pk")
        .annotate(title=F("post__title"), document=F("revision__document"))
        .values_list("post_id", "path", "run_id", "title", "document")
    )
    found: dict[tuple[UUID, str], tuple[str, ApprovedExample]] = {}
    current = as_markdown(target.value(document))
    for post_id, path, run_id, title, stored in rows[:_DECISIONS_READ]:
        if (post_id, path) in found or is_held_out(post_id=post_id, path=path):
            continue
        value = _value_of(PostDocument.from_json(stored), path, target, document)
        if value in (None, "", [], {}) or len(json.dumps(value)) > MAX_EXAMPLE_CHARACTERS:
            continue
        if not same(value, current):
            found[post_id, path] = (run_id, ApprovedExample(post_id, path, title, value))
    untrusted = _untrusted_runs({run_id for run_id, _ in found.values() if run_id})
    examples = [example for run_id, example in found.values() if run_id not in untrusted]
    words = _words(post.title)
    # Sorting is stable, so that posts equally alike stay in order, the latest decision first.
    examples.sort(key=lambda one: len(words & _words(one.title)), reverse=True)
    return examples[:MAX_EXAMPLES]


def _path_filter(target: FieldTarget) -> Q:
    name = target.path[0]
    if target.module_id is None:
        return Q(path=f"post.{'.'.join(target.path)}")
    return Q(path__startswith="modules.") & (
        Q(path__endswith=f".props.{name}") | Q(path__endswith=f".overrides.{name}")
    )


def _value_of(
    approved: PostDocument, path: str, target: FieldTarget, document: PostDocument
) -> Json:
    """Return the approved value, or None if it belongs to a module of another type."""
    own = target.module(document)
    if own is not None:
        module = approved.module(path.split(".")[1])
        if module is None or module.type != own.type:
            return None
    value = value_at(approved, path)
    if value is ABSENT or not isinstance(value, str | int | float | list | dict):
        return None
    return as_markdown(value)


def _untrusted_runs(runs: set[str]) -> set[str]:
    ids = []
    for run_id in runs:
        try:
            ids.append(UUID(run_id))
        except ValueError:  # not every writer has the id of a run
            continue
    if not ids:
        return set()
    rows = AgentRun.objects.filter(pk__in=ids, has_read_untrusted=True)
    return {str(pk) for pk in rows.values_list("pk", flat=True)}


def _words(title: str) -> set[str]:
    return {word for word in title.casefold().split() if len(word) > 3}
