"""The versions of an agent that answer its runs, and evaluations of a version against the present one."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from agents_app.models.run import AgentRun, PromptVersion
from proofroom.core.background_jobs.models import BackgroundJob
from proofroom.core.definition_files import ID_MAX

MODEL_MAX = 141
"""Maximum length of `provider:model`."""
FILE_DIGEST_LENGTH = 12


class ChampionChallenger(models.Model):
    """The promoted version of an agent, which overrides its file, and the challenger with its share of runs.

    A model is `provider:model`. The champion holds while the agent's file is the one of the promotion
    (`file_digest`), so that a changed file is never hidden by an older decision. A challenger without a
    model has the champion's, and the same for the prompt. `share`: percent of the runs; 0 without a
    challenger. `evaluation`: the evaluation that the promotion is based on; None if a person vouched for it.
    """

    agent_id = models.CharField(max_length=ID_MAX, primary_key=True)
    champion_model = models.CharField(max_length=MODEL_MAX, blank=True, default="")
    champion_prompt = models.ForeignKey(
        PromptVersion, null=True, on_delete=models.PROTECT, related_name="+"
    )
    file_digest = models.CharField(max_length=FILE_DIGEST_LENGTH, blank=True, default="")
    promoted_at = models.DateTimeField(null=True)
    promoted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    evaluation = models.ForeignKey(
        "Evaluation", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    challenger_model = models.CharField(max_length=MODEL_MAX, blank=True, default="")
    challenger_prompt = models.ForeignKey(
        PromptVersion, null=True, on_delete=models.PROTECT, related_name="+"
    )
    share = models.PositiveSmallIntegerField(default=0)
    set_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        verbose_name = "champion and challenger"
        verbose_name_plural = "champions and challengers"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=Q(share__lte=100), name="challenger_share"),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id}: {self.share} %"


class Evaluation(BackgroundJob):
    """A version of an agent, asked the questions of decided runs beside the present one.

    `model` and `prompt`: what the version changes; empty for no change. `brief`: `none`, or the id
    of an editorial brief, with `:` and a version if it is not the present one. `champion` and `challenger`
    describe both versions as they were: {model, prompt}. `budget` and `spent` are US dollars.
    """

    agent_id = models.CharField(max_length=ID_MAX)
    model = models.CharField(max_length=MODEL_MAX, blank=True, default="")
    prompt = models.CharField(max_length=12, blank=True, default="")
    brief = models.CharField(max_length=60, blank=True, default="")
    champion = models.JSONField(default=dict)
    challenger = models.JSONField(default=dict)
    budget = models.DecimalField(max_digits=12, decimal_places=6)
    spent = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    has_prices = models.BooleanField(
        default=True, help_text="False if the price of a model is unknown, which counts as zero."
    )
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created_at", "id"], name="evaluation_latest"),
            models.Index(fields=["agent_id", "-created_at"], name="evaluation_of_agent"),
            models.Index(
                fields=["touched_at"],
                name="evaluation_running",
                condition=Q(state="running"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.pk} ({self.state})"


class ItemState(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"
    LEFT = "left"


class EvaluationItem(models.Model):
    """One decided run of an evaluation, and both answers to its question.

    `decided`: the decisions by path {approved: {path: value}, rejected: [path]}. `champion` and
    `challenger`: an answer each {answer, paths, cost, seconds, tokens, failedChecks, error}. `why`: the
    reason for which the run was skipped, or left when the budget ended.
    """

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    run = models.ForeignKey(AgentRun, on_delete=models.CASCADE, related_name="+")
    state = models.CharField(max_length=8, choices=ItemState.choices, default=ItemState.WAITING)
    decided = models.JSONField(default=dict)
    champion = models.JSONField(default=dict)
    challenger = models.JSONField(default=dict)
    why = models.TextField(blank=True, default="")

    class Meta:
        ordering: ClassVar[list[str]] = ["position"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["evaluation", "position"], name="evaluation_item_once"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} in {self.evaluation_id}"
