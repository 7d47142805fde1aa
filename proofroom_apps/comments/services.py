"""Comments: start a thread, reply, assign, resolve, change and delete.

People write all of it. Agents and AI clients reply in threads and resolve them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import EllipsisType
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from content.layers import open_layers
from content.models import Post
from content.store.layer_state import Layers
from content.store.scopes import require_in_scope
from media.models import Asset
from media.scopes import require_changeable
from proofroom.accounts.models import User
from proofroom.accounts.queries import active_people
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.input_validation import NOT_IN_LINES, clean_line, reject_unstorable
from proofroom_apps.comments.anchors import (
    Anchor,
    anchor_at,
    collapse,
    find_exact,
    find_field,
)
from proofroom_apps.comments.mentions import (
    AgentCall,
    Mentioned,
    MentionWarning,
    agent_mentioned,
    may_read,
    parse_mentions,
    resolve_mentions,
    words_without,
)
from proofroom_apps.comments.models import (
    AGENT_ID_MAX,
    CONTEXT_MAX,
    PATH_MAX,
    QUOTE_MAX,
    AgentMention,
    Comment,
    CommentStatus,
)
from proofroom_apps.comments.queries import (
    anchor_of,
    comment_not_found,
    found_passages,
    require_asset,
    require_comment,
    require_post,
    texts_at,
)

BODY_MAX: Final = 5_000
MAX_REPLIES: Final = 200
MAX_THREADS: Final = 2_000
MAX_REMINDED: Final = 500
OVERDUE_AFTER: Final = timedelta(days=1)
"""Time after the due date when a thread is overdue, and its assignee is reminded again."""
_WRITE: Final = "comments.write"
Assignee = int | str | None


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as a client names it: the quoted words, and some of the text around them."""

    quote: str
    prefix: str = ""
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """A comment after a write, with warnings about its mentions."""

    comment: Comment
    warnings: Sequence[MentionWarning] = ()


@transaction.atomic
def comment_on_post(
    *,
    post_id: UUID | str,
    body: str,
    actor: Actor,
    path: str = "",
    passage: Passage | None = None,
    change_path: str = "",
    parent_id: UUID | str | None = None,
    assignee: Assignee = None,
    due_at: datetime | None = None,
) -> Written:
    """Start a thread about a post, or reply in one of its threads.

    Raises `NotAllowed`, `NotFound`, and `RuleViolation` by wire names.
    """
    actor.require(_WRITE)
    post = require_post(post_id, actor)
    require_in_scope(post, actor)
    actor.require_inside(post.translation_group)
    comment = Comment(post=post)
    if parent_id is not None:
        _refuse_in_reply(path=path, passage=passage, changePath=change_path)
        return _reply(comment, parent_id, body, actor, assignee, due_at)
    actor.require_person("start a thread")
    path, change_path = _clean_path("path", path), _clean_path("changePath", change_path)
    if path or change_path:
        layers = open_layers(post)
        _require_field("path", path, layers)
        if change_path:
            _require_change(change_path, layers)
        if passage is not None:
            anchor = _find_passage(passage, path or change_path, layers)
            comment.quote, comment.prefix, comment.suffix = (
                anchor.quote,
                anchor.prefix,
                anchor.suffix,
            )
    elif passage is not None:
        raise invalid("passage", _("A passage needs the path of its field."))
    # A passage of a proposed change stands in the field of that change.
    comment.path = path or (change_path if passage is not None else "")
    comment.change_path = change_path
    return _start(comment, body, actor, assignee, due_at)


@transaction.atomic
def comment_on_asset(
    *,
    asset_id: UUID | str,
    body: str,
    actor: Actor,
    parent_id: UUID | str | None = None,
    assignee: Assignee = None,
    due_at: datetime | None = None,
    path: str = "",
    passage: Passage | None = None,
    change_path: str = "",
) -> Written:
    """Start a thread about a media file, or reply in one of its threads. Raises as `comment_on_post`."""
    actor.require(_WRITE)
    asset = require_asset(asset_id, actor)
    require_changeable(asset, actor)
    comment = Comment(asset=asset)
    if parent_id is not None:
        _refuse_in_reply(path=path, passage=passage, changePath=change_path)
        return _reply(comment, parent_id, body, actor, assignee, due_at)
    actor.require_person("start a thread")
    for name, value in (("path", path), ("passage", passage), ("changePath", change_path)):
        if value:
            raise invalid(name, _("Comments on files have no %(name)s.") % {"name": name})
    return _start(comment, body, actor, assignee, due_at)


@transaction.atomic
def reply_to_comment(*, comment_id: UUID | str, body: str, actor: Actor) -> Written:
    """Reply in the thread of a comment. Raises `NotAllowed`, `NotFound`, and `RuleViolation` on `body`."""
    actor.require(_WRITE)
    comment = require_comment(comment_id, actor)
    subject = _subject(comment)
    if isinstance(subject, Post):
        return comment_on_post(post_id=subject.pk, body=body, parent_id=comment.pk, actor=actor)
    return comment_on_asset(asset_id=subject.pk, body=body, parent_id=comment.pk, actor=actor)


@transaction.atomic
def change_comment(
    *,
    comment_id: UUID | str,
    actor: Actor,
    status: str | None = None,
    assignee: Assignee | EllipsisType = ...,
    due_at: datetime | EllipsisType | None = ...,
    body: str | None = None,
) -> Written:
    """Resolve or reopen a thread, assign it, or change one's own words. `None` and `...` leave a value unchanged.

    Agents and AI clients only set the status. Raises `NotAllowed`, `NotFound`, and `RuleViolation` by wire names.
    """
    actor.require(_WRITE)
    comment = _lock(comment_id, actor)
    if not actor.is_person and (body is not None or assignee is not ... or due_at is not ...):
        actor.require_person("change a comment")
    subject = _subject(comment)
    mentioned = Mentioned()
    changed: list[str] = []
    if body is not None and (text := clean_body(body)) != comment.body:
        if comment.author_id != actor.user.pk:
            message = _("Only the author of a comment can change its text.")
            raise NotAllowed(message, code="not_the_author", details={"body": [message]})
        mentioned = resolve_mentions(text, subject)
        # Who was mentioned before is not notified again.
        before = parse_mentions(comment.body)
        known = {name for mention in before for name in mention.spellings}
        mentioned.people = [user for user in mentioned.people if user.username not in known]
        known_agents = {mention.agent_id for mention in before}
        # Removed and added again: its run was started already.
        known_agents |= set(comment.agent_mentions.values_list("agent_id", flat=True))
        mentioned.agents = [one for one in mentioned.agents if one.agent_id not in known_agents]
        comment.body, comment.edited_at = text, timezone.now()
        changed.append("body")
    assigned = comment.assignee_id
    if comment.parent_id is not None:
        _refuse_of_reply(comment, status, assignee, due_at)
    else:
        if assignee is not ...:
            comment.assignee = _find_assignee(assignee, subject)
        if due_at is not ... and due_at != comment.due_at:
            comment.due_at = clean_due(due_at)
            changed.append("dueAt")
    is_newly_assigned = comment.assignee_id != assigned
    if is_newly_assigned:
        changed.append("assignee")
    turned = ""
    if status is not None and comment.parent_id is None:
        turned = _set_status(comment, status, actor)
    if changed or turned:
        fields = ["body", "edited_at", "assignee", "due_at", "status", "resolved_by", "resolved_at"]
        comment.save(update_fields=fields if actor.is_person else fields[4:])
    if changed:
        _record(
            "comment.changed",
            comment,
            actor,
            changed=list(changed),
            mentioned=[user.pk for user in mentioned.people],
            assigned=comment.assignee_id if is_newly_assigned else None,
        )
    if turned:
        _record(turned, comment, actor)
    return Written(comment, [*mentioned.warnings, *_call_agents(comment, mentioned, actor)])


@transaction.atomic
def resolve_comment(*, comment_id: UUID | str, actor: Actor) -> Written:
    """Resolve the thread of a comment, which may be a reply."""
    actor.require(_WRITE)
    comment = require_comment(comment_id, actor)
    return change_comment(
        comment_id=comment.parent_id or comment.pk,
        status=CommentStatus.RESOLVED.value,
        actor=actor,
    )


@transaction.atomic
def delete_comment(*, comment_id: UUID | str, actor: Actor) -> UUID:
    """Delete a comment permanently, and with the first of a thread its replies.

    Raises `NotFound`, and `NotAllowed` for others' comments unless the actor may edit the post or file.
    """
    actor.require_person("delete comments")
    actor.require(_WRITE)
    try:
        comment = _lock(comment_id, actor)
    except NotFound:
        # Who may delete only their own comments gets the same answer for others' comments as for unknown ids.
        if not actor.can("posts.edit"):
            raise _not_the_author() from None
        raise
    if not may_delete(comment, actor):
        raise _not_the_author()
    pk = comment.pk
    _record("comment.deleted", comment, actor)
    Comment.objects.filter(pk=pk).delete()
    return pk


def _not_the_author() -> NotAllowed:
    message = _("Only editors and administrators can delete other people’s comments.")
    return NotAllowed(message, code="not_the_author")


def may_delete(comment: Comment, actor: Actor) -> bool:
    """Return whether the actor may delete a comment: their own without replies of others, or any as an editor."""
    if not actor.can(_WRITE) or not actor.is_person:
        return False
    if comment.post is not None and actor.can("posts.edit", comment.post):
        return True
    if comment.asset_id is not None and actor.can("media.edit"):
        return True
    written = (comment, *comment.replies.all())
    return all(one.author_id == actor.user.pk for one in written)


@transaction.atomic
def answer_mention(*, run_id: UUID | str, body: str, actor: Actor | None) -> Comment | None:
    """Add the answer of a mentioned agent to the thread. Idempotent: a run answers once.

    Without an actor the answer has no author, for an agent whose account is turned off. Returns None if the run was
    not started by a comment, or the thread is full.
    """
    rows = AgentMention.objects.select_for_update(of=("self",)).filter(answered_at=None)
    mention = rows.filter(run_id=run_id).select_related("comment__parent").first()
    if mention is None:
        return None
    mention.answered_at = timezone.now()
    root = mention.comment.parent or mention.comment
    reply: Comment | None = None
    if root.replies.count() < MAX_REPLIES:
        reply = Comment(
            post_id=root.post_id,
            asset_id=root.asset_id,
            parent=root,
            body=_shorten(body),
            author_id=actor.user.pk if actor is not None else None,
            agent_id=mention.agent_id,
        )
        reply.save(force_insert=True)
        mention.reply = reply
    mention.save(update_fields=["answered_at", "reply"])
    if reply is not None and actor is not None:
        _record("comment.created", reply, actor, mentioned=[], assigned=None)
    return reply


def follow_edits(post: Post) -> int:
    """Store where the passages of open threads stand after an edit, so that the next edit is followed, too.

    A passage that was removed keeps its words. Returns the number of changed comments.
    """
    quoting = list(
        Comment.objects.filter(post=post, status=CommentStatus.OPEN).exclude(quote="")[:MAX_THREADS]
    )
    changed = []
    for id_, anchor in found_passages(post, quoting).items():
        comment = next(one for one in quoting if one.pk == id_)
        if anchor is None or anchor == anchor_of(comment) or len(anchor.quote) > QUOTE_MAX:
            continue
        comment.quote, comment.prefix, comment.suffix = anchor.quote, anchor.prefix, anchor.suffix
        changed.append(comment)
    Comment.objects.bulk_update(changed, ["quote", "prefix", "suffix"])
    return len(changed)


@transaction.atomic
def remind_of_due() -> int:
    """Record an event for each open thread that is due, and again once it is overdue. Return their number.

    Each happens once for a due date, so a thread whose date was moved is due again. Threads that became due during an
    outage are caught up on: an overdue one then has one event.
    """
    now = timezone.now()
    overdue = Q(due_at__lte=now - OVERDUE_AFTER)
    is_new = Q(reminded_due_at=None) | ~Q(reminded_due_at=F("due_at"))
    is_newly_overdue = overdue & (Q(overdue_due_at=None) | ~Q(overdue_due_at=F("due_at")))
    open_threads = Comment.objects.filter(status=CommentStatus.OPEN, assignee__isnull=False)
    due = open_threads.filter(is_new | is_newly_overdue, due_at__lte=now)
    due = due.filter(Q(post=None) | Q(post__deleted_at=None)).order_by("due_at", "pk")
    rows = list(due.select_related("post").select_for_update(of=("self",))[:MAX_REMINDED])
    reminded = Comment.objects.filter(pk__in=[row.pk for row in rows])
    reminded.filter(overdue).update(overdue_due_at=F("due_at"))
    reminded.update(reminded_due_at=F("due_at"))
    things = [(row.post_id, _payload(row, mentioned=[], assigned=row.assignee_id)) for row in rows]
    outbox.record_all("comment.due", things, actor=Actor(SYSTEM, "system"))
    return len(rows)


def prune_comments(*, days: int) -> int:
    """Delete threads that were resolved more than `days` ago, with their replies. 0 keeps all. Return how many."""
    if days <= 0:
        return 0
    old = Comment.objects.filter(
        parent=None,
        status=CommentStatus.RESOLVED,
        resolved_at__lt=timezone.now() - timedelta(days=days),
    )
    number = old.count()
    old.delete()
    return number


def _start(
    comment: Comment, body: str, actor: Actor, assignee: Assignee, due_at: datetime | None
) -> Written:
    subject = _subject(comment)
    on = {"post": comment.post} if comment.post_id is not None else {"asset": comment.asset}
    if Comment.objects.filter(parent=None, **on).count() >= MAX_THREADS:
        raise RuleViolation(
            _("There are already %(most)s threads here. Delete some first.")
            % {"most": f"{MAX_THREADS:,}"},
            code="too_many_comments",
        )
    comment.assignee = _find_assignee(assignee, subject)
    comment.due_at = clean_due(due_at)
    return _save(comment, body, actor)


def _reply(
    comment: Comment,
    parent_id: UUID | str,
    body: str,
    actor: Actor,
    assignee: Assignee,
    due_at: datetime | None,
) -> Written:
    if assignee is not None:
        raise invalid("assignee", _("Assign the thread, not a reply."))
    if due_at is not None:
        raise invalid("dueAt", _("Set a due date on the thread, not on a reply."))
    # Another post's thread gets the same answer as an unknown id.
    found = find_by_id(_subject(comment).comments, parent_id)
    if found is None:
        raise invalid("parentId", _("No comment here has this ID."), code="unknown_comment")
    # Locked, so that the thread is not deleted, and does not grow beyond its limit, at the same time.
    root = Comment.objects.select_for_update(of=("self",)).get(pk=found.parent_id or found.pk)
    if root.replies.count() >= MAX_REPLIES:
        raise RuleViolation(
            _("This thread has %(most)s replies. Start another one.") % {"most": MAX_REPLIES},
            code="too_many_comments",
        )
    comment.parent = root
    return _save(comment, body, actor)


def _save(comment: Comment, body: str, actor: Actor) -> Written:
    comment.body = clean_body(body)
    comment.author_id = actor.user.pk
    own_agent = actor.user.agent_id if isinstance(actor.user, User) else ""
    comment.agent_id = (actor.agent_id or own_agent or "")[:AGENT_ID_MAX]
    mentioned = resolve_mentions(comment.body, _subject(comment))
    comment.save(force_insert=True)
    _record(
        "comment.created",
        comment,
        actor,
        mentioned=[user.pk for user in mentioned.people],
        assigned=comment.assignee_id,
    )
    return Written(comment, [*mentioned.warnings, *_call_agents(comment, mentioned, actor)])


def _call_agents(comment: Comment, mentioned: Mentioned, actor: Actor) -> list[MentionWarning]:
    """Start the runs of mentioned agents. Return a warning for each that does not run."""
    warnings = []
    for mention in mentioned.agents:
        problem = ""
        if not actor.is_person:
            # Otherwise two agents could start each other in a thread.
            problem = _("Only people start agents by mentioning them.")
        else:
            words = words_without(comment.body, mention)
            calls = agent_mentioned(AgentCall(comment, mention.agent_id, words, actor))
            run_id = next((call.run_id for call in calls if call.run_id is not None), None)
            problem = next((call.problem for call in calls if call.problem), "")
            if run_id is not None:
                AgentMention.objects.create(
                    comment=comment, agent_id=mention.agent_id, run_id=run_id
                )
                continue
        message = problem or _("This agent cannot be started here.")
        warnings.append(MentionWarning(f"@agent:{mention.agent_id}", message))
    return warnings


def _lock(comment_id: UUID | str, actor: Actor) -> Comment:
    """Lock and return a comment that the actor may change."""
    rows = Comment.objects.select_for_update(of=("self",))
    comment = require_comment(comment_id, actor, rows)
    if comment.post is not None:
        require_in_scope(comment.post, actor)
        actor.require_inside(comment.post.translation_group)
    elif comment.asset is not None:
        require_changeable(comment.asset, actor)
    return comment


def _subject(comment: Comment) -> Post | Asset:
    subject = comment.post or comment.asset
    if subject is None:
        raise comment_not_found()
    return subject


def _set_status(comment: Comment, status: str, actor: Actor) -> str:
    """Set the status. Return the name of the event, empty if nothing changed."""
    if status not in CommentStatus.values:
        known = ", ".join(CommentStatus.values)
        raise invalid("status", _("status must be one of: %(known)s.") % {"known": known})
    if status == comment.status:
        return ""
    is_resolved = status == CommentStatus.RESOLVED
    comment.status = status
    comment.resolved_by_id = actor.user.pk if is_resolved else None
    comment.resolved_at = timezone.now() if is_resolved else None
    return "comment.resolved" if is_resolved else "comment.reopened"


def _refuse_in_reply(**values: object) -> None:
    for name, value in values.items():
        if value:
            raise invalid(name, _("A reply belongs to the place of its thread."))


def _refuse_of_reply(
    comment: Comment,
    status: str | None,
    assignee: Assignee | EllipsisType,
    due_at: datetime | EllipsisType | None,
) -> None:
    """Raise `RuleViolation` for a state that only threads have. What a reply answers may be sent back."""
    root = comment.parent
    if status is not None and (root is None or status != root.status):
        raise invalid("status", _("Resolve the thread, not a reply."))
    if assignee is not ... and assignee is not None:
        raise invalid("assignee", _("Assign the thread, not a reply."))
    if due_at is not ... and due_at is not None:
        raise invalid("dueAt", _("Set a due date on the thread, not on a reply."))


def _find_assignee(assignee: Assignee, subject: Post | Asset) -> User | None:
    """Return the account with an id or username. Raises `RuleViolation` unless it may read the comment."""
    if assignee is None:
        return None
    people = active_people()
    user: User | None = None
    if isinstance(assignee, int):
        # Larger numbers are no ids, and SQLite cannot compare them.
        user = people.filter(pk=assignee).first() if 0 < assignee < 2**31 else None
    else:
        reject_unstorable(assignee, "assignee")
        user = people.filter(username=assignee.removeprefix("@")).first()
    if user is None:
        raise invalid("assignee", _("No active person has this ID or username."))
    if not may_read(user, subject):
        raise invalid(
            "assignee",
            _("%(name)s cannot see this, so it cannot be assigned to them.")
            % {"name": user.username},
        )
    return user


def clean_due(due_at: datetime | None) -> datetime | None:
    """Return the due date as it is stored. Raises `RuleViolation` on `dueAt`."""
    if due_at is None:
        return None
    if due_at <= timezone.now():
        raise invalid("dueAt", _("The due date must be in the future."))
    # As answers have it, so that what was read can be sent back.
    return due_at.replace(microsecond=due_at.microsecond // 1000 * 1000)


def clean_body(text: str) -> str:
    """Return the text as it is stored. Raises `RuleViolation` on `body`."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise invalid("body", _("body must not be empty."))
    if len(text) > BODY_MAX:
        raise invalid(
            "body",
            _("body can have at most %(most)s characters.") % {"most": f"{BODY_MAX:,}"},
        )
    if NOT_IN_LINES.search(text):
        raise invalid("body", _("body must not contain control characters."))
    reject_unstorable(text, "body")
    return text


def _shorten(text: str) -> str:
    text = NOT_IN_LINES.sub("", text.replace("\r\n", "\n")).strip() or "–"
    return text if len(text) <= BODY_MAX else f"{text[: BODY_MAX - 1]}…"


def _clean_path(name: str, path: str) -> str:
    return clean_line(name, path, PATH_MAX)


def _require_field(name: str, path: str, layers: Layers) -> None:
    documents = (layers.live, layers.review.document, layers.ai_review.document)
    if path and all(find_field(document, path) is None for document in documents):
        raise invalid(name, _("This post has no field %(path)r.") % {"path": path[:80]})


def _require_change(path: str, layers: Layers) -> None:
    """Raise `RuleViolation` unless a change at the path is proposed in Review or AI Review."""
    for view in (layers.review, layers.ai_review):
        if path in view.changes.paths:
            return
    raise invalid("changePath", _("No change of %(path)r is proposed.") % {"path": path[:80]})


def _find_passage(passage: Passage, path: str, layers: Layers) -> Anchor:
    """Return the anchor of a passage. Raises `RuleViolation` if its words are in no layer of the field."""
    limits: Mapping[str, tuple[str, int]] = {
        "passage.quote": (passage.quote, QUOTE_MAX),
        "passage.prefix": (passage.prefix, QUOTE_MAX),
        "passage.suffix": (passage.suffix, QUOTE_MAX),
    }
    for name, (text, most) in limits.items():
        clean_line(name, text, most, required=name == "passage.quote", lines=True)
    anchor = Anchor(
        collapse(passage.quote),
        collapse(passage.prefix)[-CONTEXT_MAX:],
        collapse(passage.suffix)[:CONTEXT_MAX],
    )
    for text in texts_at(layers, path):
        place = find_exact(text, anchor)
        # A short quote is what the client marked, also if the surroundings differ.
        place = place or find_exact(text, Anchor(anchor.quote))
        if place is not None:
            return anchor_at(text, *place)
    raise invalid("passage", _("These words are not in the field."), code="passage_not_found")


def _record(name: str, comment: Comment, actor: Actor, **values: Json) -> None:
    payload = _payload(comment, **values)
    outbox.record(name, actor=actor, post_id=comment.post_id, payload=payload)


def _payload(comment: Comment, **values: Json) -> JsonObject:
    payload: JsonObject = {
        "id": str(comment.pk),
        "threadId": str(comment.parent_id or comment.pk),
        "mediaId": str(comment.asset_id) if comment.asset_id is not None else None,
        **values,
    }
    # Events about files have no scope, so they must not name the file.
    if comment.post is not None:
        payload["title"] = comment.post.title
    return payload
