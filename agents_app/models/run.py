"""Runs of agents with their prompts, steps, messages and reactions, and their batches and chains."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from content.models import Post
from proofroom.core.database_notifications import notify
from proofroom.core.definition_files import ID_MAX
from proofroom.core.models import Event
from proofroom.webhooks.models import Delivery

DIGEST_LENGTH = 12
RUNS_CHANNEL = "agent_runs"
"""Channel notified when a run or a batch changes."""
Row = TypeVar("Row", bound=models.Model)


class FollowedQuerySet(models.QuerySet[Row]):
    def update(self, **values: Any) -> int:
        changed = super().update(**values)
        # Heartbeats are frequent and show nothing new, so they wake no pages.
        if changed and set(values) != {"heartbeat_at"}:
            notify(RUNS_CHANNEL)
        return changed


class FollowedModel(models.Model):
    """Rows followed by open pages. Every write except a heartbeat notifies them."""

    objects = models.Manager.from_queryset(FollowedQuerySet)()

    class Meta:
        abstract = True

    def save(self, *args: Any, **options: Any) -> None:
        super().save(*args, **options)
        notify(RUNS_CHANNEL)


class PromptVersion(models.Model):
    """The instructions of an agent used by some of its runs, with the rules the system adds for all
    agents.

    Agent files change without history, so the text is stored here. Created with the first run,
    never changed.
    """

    digest = models.CharField(max_length=DIGEST_LENGTH, primary_key=True)
    agent_id = models.CharField(max_length=ID_MAX)
    instructions = models.TextField()
    rules = models.TextField()
    tools = models.JSONField(
        default=list, help_text="Names of the tools that its file lets it use."
    )
    options = models.JSONField(default=dict, help_text="What its file says of answers.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["agent_id", "-created_at"], name="prompt_of_agent"),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.digest}"


class AgentBatch(FollowedModel):
    """The runs of one bulk request. Its progress is computed from its runs.

    Reverting is done by a task: the row stores who requested it, when, and the results by run
    (`reverted`: paths, or the `error`). `reverted_at` is set when it is done.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    agent_id = models.CharField(max_length=ID_MAX)
    open_ended_context = models.TextField(blank=True, default="")
    rejected = models.JSONField(default=list, help_text="Posts that got no run: {id, error}.")
    estimate = models.JSONField(default=dict, help_text="What it was expected to use.")
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)
    cancelled_at = models.DateTimeField(null=True)
    revert_asked_at = models.DateTimeField(null=True)
    reverted_at = models.DateTimeField(null=True)
    revert_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    revert_via = models.CharField(max_length=10, blank=True, default="")
    reverted = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "agent batches"
        ordering: ClassVar[list[str]] = ["-created_at"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created_at", "id"], name="batch_latest"),
            models.Index(
                fields=["revert_asked_at"],
                name="batch_reverting",
                condition=Q(revert_asked_at__isnull=False, reverted_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.pk}"


class RunStatus(models.TextChoices):
    QUEUED = "queued", _("Queued")
    RUNNING = "running", _("Running")
    SUCCEEDED = "succeeded", _("Succeeded")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")
    TIMED_OUT = "timed_out", _("Timed out")


DECLINED = "declined"
DECLINED_LABEL = _("Declined")
UNFINISHED = (RunStatus.QUEUED, RunStatus.RUNNING)


class AgentRun(FollowedModel):
    """One run. The row is authoritative; the message in the queue only wakes a worker.

    `attempt` is the token of the worker that has the run. Every write of a worker filters by its
    own token, so a worker that lost the run (cancelled, swept, taken over) cannot write any more.
    `attempts` counts the tokens.

    `hop` is the number of runs before it in a chain of runs started by runs; `cause_run` is the
    last of them. `position` orders the runs of one event, which run one after another.

    `tools` and `permissions`: limits inherited from the starter (None: all that the agent may use).
    Outside of the translation group `confined_to` it proposes nothing. After reading content of
    visitors or other sites (`has_read_untrusted`) it may only read. `first_try`: the first run of a
    series of retries; `note`: the user's comment on the previous one.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    agent_id = models.CharField(max_length=ID_MAX)
    scope = models.CharField(max_length=30)
    post = models.ForeignKey(Post, null=True, on_delete=models.CASCADE, related_name="agent_runs")
    field_key = models.CharField(max_length=300, blank=True, default="")
    post_module_id = models.CharField(max_length=40, blank=True, default="")
    stages_value = models.BooleanField(default=True)
    is_dry = models.BooleanField(
        default=False, help_text="Its answer is kept in `value`, and proposed nowhere."
    )
    context = models.JSONField(default=dict)
    open_ended_context = models.TextField(blank=True, default="")

    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    by_name = models.CharField(max_length=150)
    via = models.CharField(max_length=10)
    event = models.ForeignKey(Event, null=True, on_delete=models.SET_NULL, related_name="+")
    position = models.PositiveSmallIntegerField(default=0)
    hop = models.PositiveSmallIntegerField(default=0)
    cause_run = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")

    status = models.CharField(max_length=12, choices=RunStatus.choices, default=RunStatus.QUEUED)
    attempt = models.UUIDField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    queued_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    deadline_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    reverted_at = models.DateTimeField(null=True, help_text="When what it brought was taken back.")

    batch = models.ForeignKey(
        "AgentBatch", null=True, on_delete=models.SET_NULL, related_name="runs"
    )
    first_try = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    note = models.TextField(blank=True, default="")

    tools = models.JSONField(null=True)
    permissions = models.JSONField(null=True)
    content_scopes = models.JSONField(
        default=list,
        help_text="The content to which the starter of the run and its agent are limited.",
    )
    confined_to = models.UUIDField(null=True)
    has_read_untrusted = models.BooleanField(default=False)

    provider = models.CharField(max_length=20, blank=True, default="")
    model = models.CharField(max_length=120, blank=True, default="")
    prompt_version = models.CharField(
        max_length=DIGEST_LENGTH,
        blank=True,
        default="",
        help_text="The `PromptVersion` it was told.",
    )
    is_challenger = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether the agent's challenger answered it.",
    )
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Part of the input read from the provider's cache."
    )
    saved = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        default=0,
        db_default=0,
        help_text="How much more the run would have cost without the provider's cache.",
    )
    cost = models.DecimalField(max_digits=12, decimal_places=6, null=True)
    summary = models.TextField(blank=True, default="")
    declined = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Why it proposed nothing, in its own words.",
    )
    examples = models.JSONField(
        null=True, help_text="Approved values that it was shown: {postId, path}."
    )
    briefs = models.JSONField(
        null=True, help_text="Editorial briefs that it was told: {id, name, version}."
    )
    fallback_from = models.JSONField(
        null=True, help_text="The model that did not answer: {provider, model}."
    )
    masked = models.JSONField(
        null=True, help_text="Kinds of personal data that were masked for the model."
    )
    value = models.JSONField(null=True)
    staged = models.JSONField(default=list)
    error = models.TextField(blank=True, default="")
    doing = models.CharField(
        max_length=200, blank=True, default="", help_text="What it does at present, for people."
    )

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Makes redelivered events harmless: an event cannot start an agent twice.
            models.UniqueConstraint(fields=["event", "agent_id"], name="run_once_per_event"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["status", "queued_at"],
                name="run_unfinished",
                condition=Q(status__in=["queued", "running"]),
            ),
            models.Index(fields=["-created_at", "id"], name="run_latest"),
            models.Index(fields=["post", "-created_at"], name="run_of_post"),
            models.Index(fields=["agent_id", "-created_at"], name="run_of_agent"),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.pk} ({self.status})"

    @property
    def is_finished(self) -> bool:
        return self.status not in UNFINISHED

    @property
    def outcome(self) -> str:
        """The status for people: a run that succeeded by declining has one of its own."""
        return DECLINED if self.declined else self.status

    def get_outcome_display(self) -> str:
        return str(DECLINED_LABEL if self.declined else self.get_status_display())


class RunPost(models.Model):
    """A post that a run's tools changed in AI Review, or created.

    `before`: the state of AI Review before the run (`content.layers.revert.Before`, None if empty),
    `paths`: the paths written since. Together they allow to revert the run without losing other
    proposals.
    """

    run = models.ForeignKey(AgentRun, on_delete=models.CASCADE, related_name="posts")
    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="+")
    is_made = models.BooleanField(default=False)
    before = models.JSONField(null=True)
    paths = models.JSONField(default=list)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "post"], name="run_post_once"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} in {self.post_id}"


class RunStep(models.Model):
    """A step of a run: a request to the model or a tool call. Contains no content and no secret."""

    run = models.ForeignKey(AgentRun, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=10, choices=[("model", "model"), ("tool", "tool")])
    name = models.CharField(max_length=120)
    ok = models.BooleanField()
    milliseconds = models.PositiveIntegerField()
    summary = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="step_number_once"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.kind} {self.name}"


class RunMessage(models.Model):
    """A message of a run, in order, without secrets and without visitors' texts.

    Stored for AGENT_TRANSCRIPT_DAYS.
    """

    run = models.ForeignKey(AgentRun, on_delete=models.CASCADE, related_name="messages")
    number = models.PositiveSmallIntegerField()
    role = models.CharField(
        max_length=10,
        choices=[
            ("system", "system"),
            ("user", "user"),
            ("assistant", "assistant"),
            ("tool", "tool"),
        ],
    )
    name = models.CharField(max_length=120, blank=True, default="")
    text = models.TextField()
    is_cut = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="message_number_once"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.role}"


class ReactionStatus(models.TextChoices):
    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class RunReaction(models.Model):
    """One reaction of an agent to one of its runs. `number`: its place in the definition.

    Calls to other systems are deliveries, which have their own attempts and retries. A tool call is
    retried by this row: `claimed_until` is the worker's claim, `next_attempt_at` is empty when it
    is finished.
    """

    run = models.ForeignKey(AgentRun, on_delete=models.CASCADE, related_name="reactions")
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=40, help_text="A type of reaction, as in the agent's file.")
    trigger = models.CharField(max_length=12, default="always")
    target = models.CharField(max_length=200, help_text="A host, or the name of a tool.")
    delivery = models.ForeignKey(Delivery, null=True, on_delete=models.SET_NULL, related_name="+")
    status = models.CharField(
        max_length=10, choices=ReactionStatus.choices, default=ReactionStatus.PENDING
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(null=True)
    error = models.CharField(max_length=1000, blank=True, default="")
    summary = models.CharField(max_length=1000, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="reaction_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["next_attempt_at"],
                name="reaction_due",
                condition=Q(next_attempt_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} #{self.number} {self.kind}"


class StoppedChain(models.Model):
    """A chain of runs stopped at the hop limit. `root`: its first cause; stored so that people are
    notified once.
    """

    root = models.CharField(max_length=60, primary_key=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.root
