"""Events, which are the outbox and the activity log, and their seals; the content version; failures of the task
queue; saved views of the admin's lists.
"""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.deletion import Collector
from django.utils import timezone


class Event(models.Model):
    """A recorded event.

    Receivers use `uid` to ignore duplicates. `dispatched_at` is set when all subscribers were called; until then
    `told` has the ids of the subscribers already called, and the others are retried from `next_at` on. `cause`
    and `hop` are the cause chain: an event caused by a run, which another event started, and so on.
    """

    uid = models.UUIDField(default=uuid4, unique=True, editable=False)
    name = models.CharField(max_length=60)
    version = models.PositiveSmallIntegerField(default=1, help_text="Of the payload's shape.")
    post_id = models.UUIDField(null=True, blank=True)
    payload = models.JSONField(default=dict)
    # Unchanged when the account is deleted, because the chain of the log covers it.
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,  # covered by event_of_actor
    )
    actor_name = models.CharField(max_length=150, blank=True, help_text="What it was called then.")
    via = models.CharField(max_length=10)
    credential = models.CharField(
        max_length=100, blank=True, help_text="The token or client that came through the door."
    )
    agent_id = models.CharField(max_length=80, blank=True)
    run_id = models.CharField(max_length=40, blank=True)
    # Unchanged when the cause itself has been pruned.
    cause = models.ForeignKey(
        "self", null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    hop = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    forgotten_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When its text was deleted, at the request of its author.",
    )
    dispatched_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(null=True, blank=True)
    told = models.JSONField(default=list)
    is_sealed = models.BooleanField(default=False, help_text="Whether the chain of the log has it.")

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["id"], name="event_waiting", condition=Q(dispatched_at__isnull=True)
            ),
            models.Index(
                fields=["post_id", "id"],
                name="event_waiting_of_post",
                condition=Q(dispatched_at__isnull=True),
            ),
            models.Index(fields=["id"], name="event_unsealed", condition=Q(is_sealed=False)),
            models.Index(fields=["post_id", "id"], name="event_of_post"),
            models.Index(fields=["name", "id"], name="event_of_name"),
            models.Index(fields=["actor", "id"], name="event_of_actor"),
            models.Index(fields=["created_at"], name="event_at"),
        ]

    def __str__(self) -> str:
        return f"{self.name} #{self.pk}"


class Seal(models.Model):
    """A link of the activity log's chain: digests of an event when it was sealed.

    `hash` covers `before` (the previous link's hash) and both digests. The payload's digest is salted; when the
    payload is forgotten, `salt` is deleted, so that guesses of the text cannot be confirmed.
    """

    seq = models.PositiveBigIntegerField(primary_key=True)
    event = models.OneToOneField(
        Event, on_delete=models.DO_NOTHING, db_constraint=False, related_name="seal"
    )
    facts = models.CharField(max_length=64)
    payload = models.CharField(max_length=64)
    salt = models.CharField(max_length=32, blank=True)
    before = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)
    made_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.seq}: {self.hash[:12]}"


def new_epoch() -> str:
    return uuid4().hex


class ContentVersion(models.Model):
    """A single row that changes with every change of live content. Caches and ETags use it as their key.

    `moved_at` grows by at least a second, the resolution of HTTP dates. `changes` has one line per recent change,
    newest first: its number and the tags of what changed. `epoch` is created with the row and identifies its history.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    number = models.PositiveBigIntegerField(default=1)
    moved_at = models.DateTimeField(default=timezone.now)
    changes = models.TextField(default="", blank=True)
    epoch = models.CharField(max_length=32, default=new_epoch, db_default="", editable=False)

    def __str__(self) -> str:
        return str(self.number)


class LiveChange(models.Model):
    """An address or a tag of public answers that a change made stale, for frontends that missed `content.changed`.

    The ids grow in the order of the commits, so they are cursors.
    """

    tag = models.CharField(max_length=200)
    path = models.CharField(max_length=2000, null=True)  # null: the tag has no page
    is_gone = models.BooleanField(default=False)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["at"], name="live_change_at"),
        ]

    def __str__(self) -> str:
        return f"{self.tag} {self.path or ''}".strip()


class ScheduledTask(models.Model):
    """The time when a daily task was last done."""

    name = models.CharField(max_length=100, unique=True)
    done_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class QueueFailure(models.Model):
    """A reason why messages to workers could not be queued. Deleted when a message is queued again.

    There is one row per kind of error. `text` is its last message, without secrets.
    """

    error = models.CharField(max_length=100, unique=True)
    text = models.CharField(max_length=500)
    since = models.DateTimeField()
    failed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.error}: {self.text}"


LIST_VIEW_NAME_MAX: Final = 60
LIST_VIEW_QUERY_MAX: Final = 1500
ROLE_MAX: Final = 60
"""Length of the name of a role in a column."""


def keep_shared_views(
    collector: Collector,
    field: models.Field[object, object],
    views: models.QuerySet[ListView],
    using: str,
) -> None:
    """Delete the private views of a deleted account. Its shared views remain without an owner."""
    models.CASCADE(collector, field, views.filter(is_shared=False), using)
    models.SET_NULL(collector, field, views.filter(is_shared=True), using)


class ListView(models.Model):
    """A saved view of a list in the admin: filters, search and order as `query`, and columns.

    `list_name` is the label of the model, such as `content.post`. `columns` are names in their order; empty means the
    default columns. A row without a name has the owner's settings of the plain list: its columns, and in `opens` the
    view that opens first. `role` is the role that a shared view is shared with; empty for everyone who can open the
    list. A shared view outlives its owner's account.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=keep_shared_views, related_name="+"
    )
    list_name = models.CharField(max_length=100)
    name = models.CharField(max_length=LIST_VIEW_NAME_MAX, blank=True)
    query = models.CharField(max_length=LIST_VIEW_QUERY_MAX, blank=True)
    columns = models.JSONField(default=list)
    is_shared = models.BooleanField(default=False)
    role = models.CharField(max_length=ROLE_MAX, blank=True, default="", db_default="")
    opens = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["owner", "list_name", "name"], name="list_view_own_name"
            ),
            models.UniqueConstraint(
                fields=["list_name", "name"],
                condition=Q(is_shared=True),
                name="list_view_shared_name",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.list_name}: {self.name}"
