"""The layers of a post as documents: their content, changes and authors, and drift of the layer below."""

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
from content.store import lane, post_repository
from content.store.media_usage import collect_references, staged_references, update_draft_references
from content.store.page_locks import require_unlocked
from content.store.scopes import (
    post_not_found,
    remember_sections,
    require_in_scope,
    require_visible,
)
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.database.compiled_queries import (
    CompiledQuery,
    Row,
    columns_of,
    first_instance,
    instance_from_row,
)
from proofroom.core.database.inserts import insert_rows
from proofroom.core.database.json_text import JSONObject, rows_as_text
from proofroom.core.errors import Conflict
from proofroom.core.hooks import Hook
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.core.lane.session import is_lane
from proofroom.core.validation.input_validation import NOT_ON_A_LINE, parse_uuid

NOTE_MAX: Final = 2_000
REASON_MAX: Final = 500
"""Maximum number of characters of the reason of a change."""


def clean_reason(text: str) -> str:
    """Return a reason as one line of at most `REASON_MAX` characters, without control characters."""
    line = " ".join(NOT_ON_A_LINE.sub(" ", text).split())
    return line if len(line) <= REASON_MAX else f"{line[: REASON_MAX - 1].rstrip()}…"


@dataclass(frozen=True, slots=True)
class Attribution:
    """The author of a staged value.

    - `user_id`, `user`: the account. `agent_id`, `run_id`: the agent and its run.
    - `via`: the interface. `principal`: the credential of an AI client. `at`: the time.
    - `edited_by`: the person who later edited an agent's text. The agent remains the author.
    - `drifted`: the layer below changed at this path after the value was written.
    - `conflict`: a submit left the value here, because a person had staged another one.
    - `note`: the note of the submit that moved the value to Review.
    - `source_hash`: for a translation, the hash of the source value at the time of translating.
    - `reason`: the explanation by the agent or AI client.
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
        """True if an agent or AI client wrote the text, even if a person edited it later."""
        return bool(self.agent_id) or self.via in ("mcp", "agent")

    @property
    def is_agents(self) -> bool:
        """True if an agent or AI client wrote the text and no person edited it."""
        return self.is_ai and not self.edited_by

    def to_json(self) -> JsonObject:
        return cast(JsonObject, asdict(self))

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Attribution:
        return cls(**cast("dict[str, str]", dict(value)))  # type: ignore[arg-type]  # written by to_json

    @classmethod
    def of(
        cls, actor: Actor, *, previous: Attribution | None = None, reason: str = ""
    ) -> Attribution:
        """Return the mark for a value that `actor` writes now. Only agents and AI clients have a reason.

        If a person edits an agent's text, the agent remains the author and its reason stays.
        """
        mark = cls(
            user_id=actor.user.pk,
            user=actor.user.username,
            via=actor.via,
            at=format_time(timezone.now()),
            agent_id=actor.agent_id or "",
            run_id=actor.run_id or "",
            # The columns that store it have this length.
            principal=actor.principal[:100],
            reason="" if actor.is_person else clean_reason(reason),
        )
        if previous is not None and previous.is_ai and actor.is_person:
            return replace(previous, edited_by=actor.user.username, drifted=False, conflict=False)
        return mark


Marks = dict[str, Attribution]
_POSITION: Final = ".position"


def read_marks(value: Mapping[str, Mapping[str, Json]]) -> Marks:
    return {path: Attribution.from_json(mark) for path, mark in value.items()}


def mark_of(marks: Marks, path: str) -> Attribution | None:
    """Return the mark at a path, or the mark of a module that contains it or of one of its parts.

    A position without a mark gets the latest mark of any position.
    """
    if path in marks:
        return marks[path]
    near = [
        mark
        for known, mark in marks.items()
        if known.startswith(path + ".") or path.startswith(known + ".")
    ]
    if not near and path.endswith(_POSITION):
        # The order changes as a whole: after a move in the layer below, other modules than the marked ones can
        # count as moved.
        orders = [mark for known, mark in marks.items() if known.endswith(_POSITION)]
        near = sorted(orders, key=lambda mark: mark.at, reverse=True)
    return near[0] if near else None


def paths_overlap(one: str, other: str) -> bool:
    """Return whether the paths are equal or one contains the other."""
    return one == other or one.startswith(other + ".") or other.startswith(one + ".")


def parts_of(marks: Marks, path: str) -> Marks:
    """Return the marks of the parts of a path, for a module that a layer added."""
    return {known: mark for known, mark in marks.items() if known.startswith(path + ".")}


def find_writers(marks: Marks, path: str) -> list[Attribution]:
    """Return the marks of all authors of the value at a path: the nearest mark and the marks of its parts."""
    nearest = mark_of(marks, path)
    return ([nearest] if nearest else []) + list(parts_of(marks, path).values())


@dataclass(frozen=True, slots=True)
class LayerView:
    """The current state of a layer: its stored draft on top of the layer below.

    `changes` lead from `below` to `document`. `drifted`: the changed paths at which the layer below changed since.
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
    """True if the current version of the post has a revision. None if not known."""

    def view(self, layer: Layer) -> LayerView:
        return self.review if layer == Layer.REVIEW else self.ai_review

    def document(self, layer: Layer | None) -> PostDocument:
        """Return the document of a layer, for None the live one."""
        return self.live if layer is None else self.view(layer).document


before_layer_staged: Hook[[LayerView, Post, Actor, Sequence[str]], None] = Hook()
"""Called in the transaction before a proposal is stored, with the changed paths.

An exception cancels the proposal.
"""

layers_written: Hook[[Post, Sequence[LayerView]], None] = Hook()
"""Called in the transaction after a layer was written, with the layers that may have changed."""

_LAYER_ROWS: Final = CompiledQuery(
    lambda post_id: Post.objects.filter(pk=post_id).values(
        **post_repository.live_rows(),
        draft_rows=draft_rows(),
        has_revision=Exists(
            Revision.objects.filter(post=OuterRef("pk"), version=OuterRef("version"))
        ),
    )
)


# FOR NO KEY UPDATE: creating a child takes a share lock on the key of its parent. A full lock would make the child
# wait for the writer of the parent, which may itself wait for the content version that the child's writer holds.
_LOCK_POST: Final = CompiledQuery(
    lambda post_id: (
        Post.objects.select_for_update(no_key=True)
        .filter(deleted_at__isnull=True, pk=post_id)
        .values(*columns_of(Post))
    )
)
_READ_POST: Final = CompiledQuery(
    lambda post_id: Post.objects.filter(deleted_at__isnull=True, pk=post_id).values(
        *columns_of(Post)
    )
)


def lock_post(
    post_id: UUID | str,
    actor: Actor,
    *,
    is_source: bool = False,
    is_new: bool = False,
    heeds_page_lock: bool = True,
) -> Post:
    """Return the post, locked until the end of the transaction. Every write of a layer starts here.

    Raises `NotFound` if the post is deleted, unknown or not visible to the actor, `NotAllowed` if the actor may not
    change it, and `Conflict` (`locked_by`) if another person has locked its page. `is_source`: the post is only
    read, so it need not be changeable. `is_new`: the caller created the post in this transaction, so its scope is
    not checked yet. `heeds_page_lock`: False for work that does not change the content of the post.
    """
    id_ = parse_uuid(post_id)
    post = _lock_row(id_) if id_ is not None else None
    if post is None:
        raise post_not_found(post_id)
    # Load the sections before the caller's write, which could move the root of a section.
    remember_sections(actor)
    if is_source:
        require_visible(post, actor)
    elif not is_new:
        require_in_scope(post, actor)
        if heeds_page_lock:
            require_unlocked(post, actor)
    return post


def _lock_row(id_: UUID) -> Post | None:
    if not is_lane():
        return first_instance(Post, _LOCK_POST.rows(id_))
    lane.lock_posts([id_])
    return first_instance(Post, _READ_POST.rows(id_))


def lock_post_in(posts: QuerySet[Post], post_id: UUID | str) -> Post | None:
    """Return the locked post with the id among `posts`, or None if it is unknown or the id is malformed."""
    id_ = parse_uuid(post_id)
    if id_ is None:
        return None
    return posts.select_for_update(of=("self",), no_key=True).filter(pk=id_).first()


def open_layers(post: Post) -> Layers:
    """Return the layers of a post. One query."""
    rows = _LAYER_ROWS.rows(post.pk)
    # A post that is not saved yet.
    if not rows:
        return layers_of(post, post_repository.document_of(post, (), ()), ())
    [row] = rows
    live = post_repository.document_from_rows(post, row)
    drafts = drafts_from_rows(post, orjson.loads(row["draft_rows"]))
    return replace(layers_of(post, live, drafts), has_revision=bool(row["has_revision"]))


def open_layers_of_many(posts: Sequence[Post]) -> list[Layers]:
    """Return the layers of posts. Three queries in total."""
    drafts = drafts_of_many(posts)
    return [
        layers_of(post, live, drafts.get(post.pk, ()))
        for post, live in post_repository.load_many(posts)
    ]


def layers_of(post: Post, live: PostDocument, found: Sequence[Draft]) -> Layers:
    """Build the layers of a post from its live document and its drafts."""
    drafts = {draft.layer: draft for draft in found}
    review = _layer_view(Layer.REVIEW, drafts.get(Layer.REVIEW), live)
    ai_review = _layer_view(Layer.AI_REVIEW, drafts.get(Layer.AI_REVIEW), review.document)
    return Layers(post=post, live=live, review=review, ai_review=ai_review)


def drafts_of_many(posts: Sequence[Post]) -> dict[UUID, list[Draft]]:
    """Return the drafts with staged changes, by post id. One query."""
    found: dict[UUID, list[Draft]] = defaultdict(list)
    for draft in Draft.objects.filter(post__in=posts, is_empty=False):
        found[draft.post_id].append(draft)
    return found


def draft_rows() -> Cast:
    """Return an annotation of posts: their drafts as JSON text, for `drafts_from_rows`."""
    names = (*columns_of(Draft), "updated_by__username")
    rows = Draft.objects.filter(post=OuterRef("pk"))
    return rows_as_text(rows.values(entry=JSONObject(**{name: name for name in names})))


def drafts_from_rows(post: Post, rows: Iterable[Row]) -> list[Draft]:
    """Build the drafts of a post from the rows of `draft_rows`, with the names of the last authors."""
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


def _layer_view(layer: Layer, draft: Draft | None, below: PostDocument) -> LayerView:
    if draft is None or draft.is_empty or draft.document is None or draft.base is None:
        return LayerView(layer, draft, below, below, diff(below, below), {}, frozenset())
    base = PostDocument.from_json(draft.base)
    document = PostDocument.from_json(draft.document)
    # Rebase the draft on the current layer below. At a conflict the draft wins and the path is reported as drifted.
    merged = merge(base, below, document, prefer="theirs")
    changes = diff(below, merged.document)
    marks = read_marks(draft.marks)
    conflicting = {conflict.path for conflict in merged.conflicts}
    drifted = {path for path in changes.paths if _is_drifted(path, conflicting, marks)}
    return LayerView(layer, draft, below, merged.document, changes, marks, frozenset(drifted))


def _is_drifted(path: str, conflicting: set[str], marks: Marks) -> bool:
    mark = mark_of(marks, path)
    return (
        path in conflicting
        or any(other.startswith(path + ".") for other in conflicting)
        or (mark is not None and mark.drifted)
    )


def check_version(expected: int | None, current: int, what: str) -> None:
    """Raise `Conflict` if the client read another version than the current one."""
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


def event_payload(post: Post, changes: Changes | None = None, *, cause: str = "") -> JsonObject:
    """Return the payload about a post for webhooks and triggers. `cause`: what else than a person changed it."""
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
    if cause:
        payload["cause"] = cause
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
    """Store a layer's document against the current layer below. Drift found so far stays marked.

    `above`: the draft of AI Review of the post, if the caller has it.
    """
    changes = diff(view.below, document)
    draft = view.draft or Draft(post=post, layer=view.layer)
    # Before the draft changes: the old uses are needed to remove their references.
    used = staged_references(draft)
    draft.is_empty = len(changes) == 0
    draft.base = None if draft.is_empty else view.below.to_json()
    draft.document = None if draft.is_empty else document.to_json()
    # Retain only marks of paths that are still staged, and of the parts of modules that the layer adds.
    remaining: Marks = {}
    for change in changes:
        mark = mark_of(marks, change.path)
        if mark is not None:
            # A new author saw the current layer below, so the new value has not drifted.
            by_another = mark_of(view.marks, change.path) != mark
            drifted = change.path in view.drifted and not by_another
            remaining[change.path] = replace(mark, drifted=True) if drifted else mark
        if change.kind == "added":
            remaining |= parts_of(marks, change.path)
    draft.marks = {path: mark.to_json() for path, mark in remaining.items()}
    draft.version += 1
    draft.updated_by_id = updated_by_id
    # The latest revision when the first change was staged.
    if draft.is_empty:
        draft.base_revision = None
    elif draft.base_revision_id is None:
        draft.base_revision = post.revisions.order_by("-version").first()
    if view.layer == Layer.REVIEW and is_lane():
        lane.submit(draft, view.below.to_json(), document.to_json())
    elif draft._state.adding:
        insert_rows([draft])
    else:
        draft.save(force_update=True)
    update_draft_references(post, draft.layer, used, collect_references(document, changes))
    drifted_paths = {path for path in changes.paths if _is_drifted(path, set(), remaining)}
    now = LayerView(
        view.layer, draft, view.below, document, changes, remaining, frozenset(drifted_paths)
    )
    # AI Review lies on top of Review, so its view changes with it.
    others: list[LayerView] = []
    if view.layer == Layer.REVIEW:
        stored = Draft.objects.filter(post=post, layer=Layer.AI_REVIEW, is_empty=False)
        drafts = stored if above is None else above
        others = [
            _layer_view(Layer.AI_REVIEW, row, document)
            for row in drafts
            if row is not None and not row.is_empty
        ]
    layers_written(post, [now, *others])
    return draft


def save_remaining_changes(
    view: LayerView,
    post: Post,
    below: PostDocument,
    rest: Changes,
    marks: Marks,
    by: int | None,
    *,
    above: Sequence[Draft | None] | None = None,
) -> Draft:
    """Store the remaining changes of a layer on top of the current layer below, after others were taken out."""
    document = apply(below, rest)
    view = replace(view, below=below, changes=diff(below, document))
    return save_draft(view, post, document, marks, by, above=above)


def settle(post: Post, live: PostDocument, drafts: Sequence[Draft] | None = None) -> None:
    """Remove from the drafts the values that the layer below has now as well.

    With the post's `drafts` given, it queries only if there is a value to remove.
    """
    if drafts is None:
        drafts = drafts_of_many([post]).get(post.pk, ())
    layers = layers_of(post, live, drafts)
    for view in (layers.review, layers.ai_review):
        draft = view.draft
        if draft is None or draft.base is None or draft.document is None:
            continue
        # Without this, the value would be staged again at the next change of the layer below, and could be
        # neither approved nor rejected.
        stored = diff(PostDocument.from_json(draft.base), PostDocument.from_json(draft.document))
        if not view.exists or set(stored.paths) - set(view.changes.paths):
            save_draft(view, post, view.document, view.marks, draft.updated_by_id)
        else:
            # The layer below changed, so the view of this layer may have changed as well.
            layers_written(post, [view])
