"""The layers of a post as documents: what each holds and changes, who wrote it, and where the layer below moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final, cast
from uuid import UUID

import orjson
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from content.document.changes import Changes, apply, diff, merge
from content.document.document import PostDocument
from content.models import Draft, Layer, Post, Revision
from content.store import post_repository
from content.store.media_usage import collect_references, follow_draft, staged_places
from content.store.scopes import (
    post_not_found,
    remember_sections,
    require_in_scope,
    require_visible,
)
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.database.inserts import insert_rows, update_row
from proofroom.core.database.json_text import JSONObject, rows_as_text
from proofroom.core.database.statements import (
    Row,
    Statement,
    columns_of,
    first_instance,
    instance_from_row,
)
from proofroom.core.errors import Conflict
from proofroom.core.hooks import Hook
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.core.validation.input_validation import NOT_ON_A_LINE, parse_uuid

NOTE_MAX: Final = 2_000
REASON_MAX: Final = 500
"""Characters of the reason that stands with each change."""


def clean_reason(text: str) -> str:
    """Return a reason as one line of at most `REASON_MAX` characters, without control characters."""
    line = " ".join(NOT_ON_A_LINE.sub(" ", text).split())
    return line if len(line) <= REASON_MAX else f"{line[: REASON_MAX - 1].rstrip()}…"


@dataclass(frozen=True, slots=True)
class Mark:
    """The writer of a staged value.

    `user_id`/`user` the account, `agent_id`/`run_id` the agent and its run, `via` the door, `principal` the
    credential of an AI client, `at` when.
    `edited_by` names the person who changed an agent's words since; the words' origin stays the agent.
    `drifted`: the layer below moved at this path after the value was written.
    `conflict`: a submit left it here, because a person had staged something else.
    `source_hash`, of a translation, is that of the source's value that it was made from.
    `reason` is why an agent or an AI client proposes the value, in its own words.
    """

    user_id: int | None
    user: str
    via: str
    at: str
    agent_id: str = ""
    run_id: str = ""
    principal: str = ""
    edited_by: str = ""
    drifted: bool = False
    conflict: bool = False
    note: str = ""
    source_hash: str = ""
    reason: str = ""

    @property
    def is_ai(self) -> bool:
        """Whether the words came from an agent or an AI client, whoever changed them since."""
        return bool(self.agent_id) or self.via in ("mcp", "agent")

    @property
    def is_agents(self) -> bool:
        """Whether the words are an agent's or an AI client's, and no person changed them since."""
        return self.is_ai and not self.edited_by

    def to_json(self) -> JsonObject:
        return cast(JsonObject, asdict(self))

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Mark:
        return cls(**cast("dict[str, str]", dict(value)))  # type: ignore[arg-type]  # written by to_json

    @classmethod
    def of(cls, actor: Actor, *, previous: Mark | None = None, reason: str = "") -> Mark:
        """The mark of what `actor` writes now, with the reason of an agent or an AI client.

        A person who edits an agent's words leaves them the agent's, with its reason.
        """
        mark = cls(
            user_id=actor.user.pk,
            user=actor.user.username,
            via=actor.via,
            at=format_time(timezone.now()),
            agent_id=actor.agent_id or "",
            run_id=actor.run_id or "",
            principal=actor.principal[:100],
            reason="" if actor.is_person else clean_reason(reason),
        )
        if previous is not None and previous.is_ai and actor.is_person:
            return replace(previous, edited_by=actor.user.username, drifted=False, conflict=False)
        return mark


Marks = dict[str, Mark]
_POSITION: Final = ".position"


def read_marks(value: Mapping[str, Mapping[str, Json]]) -> Marks:
    return {path: Mark.from_json(mark) for path, mark in value.items()}


def mark_of(marks: Marks, path: str) -> Mark | None:
    """The mark at a path; a whole module answers with the mark of any of its parts, and the other way round.

    A position without a mark answers with the latest mark of another one.
    """
    if path in marks:
        return marks[path]
    near = [
        mark
        for known, mark in marks.items()
        if known.startswith(path + ".") or path.startswith(known + ".")
    ]
    if not near and path.endswith(_POSITION):
        # An order is one thing: on an order that moved below, other modules may be those out of place.
        orders = [mark for known, mark in marks.items() if known.endswith(_POSITION)]
        near = sorted(orders, key=lambda mark: mark.at, reverse=True)
    return near[0] if near else None


def paths_overlap(one: str, other: str) -> bool:
    """Return whether two paths are the same, or one leads to a part of the other."""
    return one == other or one.startswith(other + ".") or other.startswith(one + ".")


def parts_of(marks: Marks, path: str) -> Marks:
    """The marks of what lies below a path: of the parts of a module that a layer added."""
    return {known: mark for known, mark in marks.items() if known.startswith(path + ".")}


def writers_of(marks: Marks, path: str) -> list[Mark]:
    """Everybody who wrote what stands at a path: the nearest mark, and those of its parts."""
    nearest = mark_of(marks, path)
    return ([nearest] if nearest else []) + list(parts_of(marks, path).values())


@dataclass(frozen=True, slots=True)
class LayerView:
    """A layer as it stands now: its stored intent on top of the layer below.

    `changes` lead from `below` to `document`; `drifted` are those of its paths where the layer below moved
    since they were staged.
    """

    layer: Layer
    draft: Draft | None
    below: PostDocument
    document: PostDocument
    changes: Changes
    marks: Marks
    drifted: frozenset[str]

    @property
    def exists(self) -> bool:
        return len(self.changes) > 0

    @property
    def version(self) -> int:
        return self.draft.version if self.draft else 0


@dataclass(frozen=True, slots=True)
class Layers:
    """All layers of one post."""

    post: Post
    live: PostDocument
    review: LayerView
    ai_review: LayerView
    has_revision: bool | None = None
    """Whether the present version of the post has its revision; None where nobody has looked."""

    def view(self, layer: Layer) -> LayerView:
        return self.review if layer == Layer.REVIEW else self.ai_review

    def document(self, layer: Layer | None) -> PostDocument:
        """The post as a layer sees it; None is live."""
        return self.live if layer is None else self.view(layer).document


before_layer_staged: Hook[[LayerView, Post, Actor, Sequence[str]], None] = Hook()
"""Called in the transaction before a proposal is stored, with the paths that it changes.

What is raised undoes the proposal.
"""

layers_written: Hook[[Post, Sequence[LayerView]], None] = Hook()
"""Called in the transaction after a layer was written, with the layers that may have changed."""

_LAYERS: Final = Statement(
    lambda post_id: Post.objects.filter(pk=post_id).values(
        **post_repository.live_rows(),
        draft_rows=draft_rows(),
        has_revision=Exists(
            Revision.objects.filter(post=OuterRef("pk"), version=OuterRef("version"))
        ),
    )
)


# No key: a child that is being put below a post needs a share of its key, and would wait for whoever writes the post
# while that one waits for the content version that it holds.
_LOCKED: Final = Statement(
    lambda post_id: (
        Post.objects.select_for_update(no_key=True)
        .filter(deleted_at__isnull=True, pk=post_id)
        .values(*columns_of(Post))
    )
)


def lock_post(
    post_id: UUID | str, actor: Actor, *, is_source: bool = False, is_new: bool = False
) -> Post:
    """The post, locked until the transaction ends. Everything that writes a layer starts here.

    Raises `NotFound` for a deleted or unknown post and for one that the actor may not see, `NotAllowed` for one
    outside of what they may change. One that is only the source of something new, `is_source`, may be outside of
    that; where one that the caller made in this transaction belongs, `is_new`, is not asked yet.
    """
    id_ = parse_uuid(post_id)
    post = first_instance(Post, _LOCKED.rows(id_)) if id_ is not None else None
    if post is None:
        raise post_not_found(post_id)
    remember_sections(actor)
    if is_source:
        require_visible(post, actor)
    elif not is_new:
        require_in_scope(post, actor)
    return post


def lock_post_in(posts: QuerySet[Post], post_id: UUID | str) -> Post | None:
    """The post of that id among `posts`, locked; None for an unknown or malformed id."""
    id_ = parse_uuid(post_id)
    if id_ is None:
        return None
    return posts.select_for_update(of=("self",), no_key=True).filter(pk=id_).first()


def open_layers(post: Post) -> Layers:
    """Read every layer of a post. One query."""
    rows = _LAYERS.rows(post.pk)
    if not rows:
        return layers_of(post, post_repository.document_of(post, (), ()), ())
    [row] = rows
    live = post_repository.document_from_rows(post, row)
    drafts = drafts_from_rows(post, orjson.loads(row["draft_rows"]))
    return replace(layers_of(post, live, drafts), has_revision=bool(row["has_revision"]))


def open_layers_of_many(posts: Sequence[Post]) -> list[Layers]:
    """Read every layer of posts. Three queries, however many there are."""
    drafts = drafts_of_many(posts)
    return [
        layers_of(post, live, drafts.get(post.pk, ()))
        for post, live in post_repository.load_many(posts)
    ]


def layers_of(post: Post, live: PostDocument, found: Sequence[Draft]) -> Layers:
    """The layers of a post from its live document and its drafts."""
    drafts = {draft.layer: draft for draft in found}
    review = _view(Layer.REVIEW, drafts.get(Layer.REVIEW), live)
    ai_review = _view(Layer.AI_REVIEW, drafts.get(Layer.AI_REVIEW), review.document)
    return Layers(post=post, live=live, review=review, ai_review=ai_review)


def drafts_of_many(posts: Sequence[Post]) -> dict[UUID, list[Draft]]:
    """The drafts that hold something, by post. One query."""
    found: dict[UUID, list[Draft]] = defaultdict(list)
    for draft in Draft.objects.filter(post__in=posts, is_empty=False):
        found[draft.post_id].append(draft)
    return found


def draft_rows() -> Cast:
    """A column of a query of posts: the drafts of each as JSON text, for `drafts_from_rows`."""
    names = (*columns_of(Draft), "updated_by__username")
    rows = Draft.objects.filter(post=OuterRef("pk"))
    return rows_as_text(rows.values(entry=JSONObject(**{name: name for name in names})))


def drafts_from_rows(post: Post, rows: Iterable[Row]) -> list[Draft]:
    """The drafts of a post from the rows of `draft_rows`, with the names of who wrote them last."""
    drafts = []
    for row in rows:
        draft = instance_from_row(Draft, row)
        draft.post = post
        draft.updated_at = parse_datetime(row["updated_at"]) or timezone.now()
        if draft.updated_by_id is not None:
            author = {"id": draft.updated_by_id, "username": row["updated_by__username"]}
            draft.updated_by = instance_from_row(User, author)
        drafts.append(draft)
    return drafts


def _view(layer: Layer, draft: Draft | None, below: PostDocument) -> LayerView:
    if draft is None or draft.is_empty or draft.document is None or draft.base is None:
        return LayerView(layer, draft, below, below, diff(below, below), {}, frozenset())
    base = PostDocument.from_json(draft.base)
    document = PostDocument.from_json(draft.document)
    merged = merge(base, below, document, prefer="theirs")
    changes = diff(below, merged.document)
    marks = read_marks(draft.marks)
    moved = {conflict.path for conflict in merged.conflicts}
    drifted = {path for path in changes.paths if _is_drifted(path, moved, marks)}
    return LayerView(layer, draft, below, merged.document, changes, marks, frozenset(drifted))


def _is_drifted(path: str, moved: set[str], marks: Marks) -> bool:
    mark = mark_of(marks, path)
    return (
        path in moved
        or any(other.startswith(path + ".") for other in moved)
        or (mark is not None and mark.drifted)
    )


def check_version(expected: int | None, current: int, what: str) -> None:
    """Raise `Conflict` where a writer read an older version than the present one."""
    if expected is not None and expected != current:
        raise Conflict(
            _(
                "%(what)s has changed since you loaded it: you sent version "
                "%(expected)s, the current version is %(current)s. Reload it and "
                "repeat your change."
            )
            % {"what": what, "expected": expected, "current": current},
            code="stale_version",
            current=current,
        )


def event_payload(post: Post, changes: Changes | None = None) -> JsonObject:
    """Return what webhooks and triggers are told of a post."""
    payload: JsonObject = {
        "id": str(post.pk),
        "type": post.type,
        "locale": post.locale,
        "slug": post.slug,
        "title": post.title,
        "status": post.status,
        "url": post.path,
        "changedPaths": list(changes.paths) if changes is not None else [],
    }
    if post.variation_of_id is not None:
        payload["variationOf"] = str(post.variation_of_id)
    return payload


def save_draft(
    view: LayerView,
    post: Post,
    document: PostDocument,
    marks: Marks,
    updated_by_id: int | None,
    *,
    above: Sequence[Draft | None] | None = None,
) -> Draft:
    """Store a layer's document against the present layer below; drift found so far stays marked.

    `above` is the draft of AI Review of this post, where it is at hand.
    """
    changes = diff(view.below, document)
    draft = view.draft or Draft(post=post, layer=view.layer)
    used = staged_places(draft)
    draft.is_empty = len(changes) == 0
    draft.base = None if draft.is_empty else view.below.to_json()
    draft.document = None if draft.is_empty else document.to_json()
    # The marks of what is still staged, and of the parts of modules that the layer adds.
    kept: Marks = {}
    for change in changes:
        mark = mark_of(marks, change.path)
        if mark is not None:
            by_another = mark_of(view.marks, change.path) != mark
            drifted = change.path in view.drifted and not by_another
            kept[change.path] = replace(mark, drifted=True) if drifted else mark
        if change.kind == "added":
            kept |= parts_of(marks, change.path)
    draft.marks = {path: mark.to_json() for path, mark in kept.items()}
    draft.version += 1
    draft.updated_by_id = updated_by_id
    if draft.is_empty:
        draft.base_revision = None
    elif draft.base_revision_id is None:
        draft.base_revision = post.revisions.order_by("-version").first()
    if draft._state.adding:
        insert_rows([draft])
    else:
        update_row(draft)
    follow_draft(post, draft.layer, used, collect_references(document, changes))
    moved = {path for path in changes.paths if _is_drifted(path, set(), kept)}
    now = LayerView(view.layer, draft, view.below, document, changes, kept, frozenset(moved))
    others: list[LayerView] = []
    if view.layer == Layer.REVIEW:
        stored = Draft.objects.filter(post=post, layer=Layer.AI_REVIEW, is_empty=False)
        drafts = stored if above is None else above
        others = [
            _view(Layer.AI_REVIEW, row, document)
            for row in drafts
            if row is not None and not row.is_empty
        ]
    layers_written(post, [now, *others])
    return draft


def keep_rest(
    view: LayerView,
    post: Post,
    below: PostDocument,
    rest: Changes,
    marks: Marks,
    by: int | None,
    *,
    above: Sequence[Draft | None] | None = None,
) -> Draft:
    """Store of a layer what was not taken out of it, on top of what the layer below holds now."""
    document = apply(below, rest)
    view = replace(view, below=below, changes=diff(below, document))
    return save_draft(view, post, document, marks, by, above=above)


def settle(post: Post, live: PostDocument, drafts: Sequence[Draft] | None = None) -> None:
    """Take out of the drafts what the layer below has come to hold by itself.

    Else it would be staged again as soon as the layer below moved on, and could be neither taken nor rejected. With
    the post's `drafts` at hand, it queries only where there is something to take out.
    """
    if drafts is None:
        drafts = drafts_of_many([post]).get(post.pk, ())
    layers = layers_of(post, live, drafts)
    for view in (layers.review, layers.ai_review):
        draft = view.draft
        if draft is None or draft.base is None or draft.document is None:
            continue
        stored = diff(PostDocument.from_json(draft.base), PostDocument.from_json(draft.document))
        if not view.exists or set(stored.paths) - set(view.changes.paths):
            save_draft(view, post, view.document, view.marks, draft.updated_by_id)
        else:
            layers_written(post, [view])
