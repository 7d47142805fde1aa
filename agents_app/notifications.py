"""Notifications about runs that a user started, and about used-up budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents_app.budgets.limits import ALL_AGENTS_KEY
from agents_app.budgets.reservations import notice_text
from agents_app.models import UNFINISHED, AgentBatch, AgentRun, BudgetNotice, RunStatus
from proofroom.core.agent_directory import agent_name
from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import (
    Category,
    Notice,
    NotificationKind,
    NotificationText,
)
from proofroom.notifications.services import users_with_permission

_FINISHED: Final = "agent.run.finished"
_FAILED: Final = (RunStatus.FAILED, RunStatus.TIMED_OUT)


def _find_run(event: Event) -> list[Notice]:
    """Return the user who started the run by hand, unless it failed. See `_find_failed_run`."""
    return _find_starter(event, AgentRun.objects.exclude(status__in=_FAILED))


def _find_failed_run(event: Event) -> list[Notice]:
    return _find_starter(event, AgentRun.objects.filter(status__in=_FAILED))


def _find_starter(event: Event, runs: QuerySet[AgentRun]) -> list[Notice]:
    """Return the user who started the run. Runs started by events and runs of a batch are excluded."""
    id_ = str(event.payload["id"])
    started = runs.filter(pk=id_, event=None, batch=None, by__isnull=False)
    people = list(started.values_list("by", flat=True))
    return [Notice(people, id_, id_)] if people else []


def _describe_run(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    runs = {
        str(run.pk): run
        for run in AgentRun.objects.filter(pk__in=[row.subjects[0] for row in rows])
    }
    texts = {}
    for row in rows:
        run = runs.get(row.subjects[0])
        if run is None:
            texts[row.pk] = NotificationText(_("A run was deleted"), "", "spark")
            continue
        text = {
            RunStatus.SUCCEEDED: _("%(agent)s finished its run"),
            RunStatus.CANCELLED: _("The run of %(agent)s was cancelled"),
        }.get(RunStatus(run.status), _("The run of %(agent)s failed"))
        text = _("%(agent)s declined") if run.declined else text
        url = reverse("admin:agents_app_agentrun_change", args=[run.pk])
        names = {"agent": agent_name(run.agent_id)}
        texts[row.pk] = NotificationText(
            text % names, url, "spark", run.error or run.declined or run.summary
        )
    return texts


def _find_batch(event: Event) -> list[Notice]:
    """Return the user who started the batch, if this was its last run."""
    batches = AgentBatch.objects.filter(runs__pk=UUID(str(event.payload["id"])), by__isnull=False)
    batch = batches.first()
    # The event is of one run; only the last one completes the batch.
    if batch is None or batch.runs.filter(status__in=UNFINISHED).exists():
        return []
    return [Notice([batch.by_id], str(batch.pk), str(batch.pk))] if batch.by_id else []


def _describe_batch(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    found = AgentBatch.objects.filter(pk__in=[row.subjects[0] for row in rows])
    batches = {str(batch.pk): batch for batch in found}
    texts = {}
    for row in rows:
        batch = batches.get(row.subjects[0])
        if batch is None:
            texts[row.pk] = NotificationText(_("A batch was deleted"), "", "spark")
            continue
        names = {"agent": agent_name(batch.agent_id)}
        texts[row.pk] = NotificationText(
            _("%(agent)s finished its runs on several posts") % names,
            reverse("admin:agents_app_agentbatch_change", args=[batch.pk]),
            "spark",
        )
    return texts


_BUDGET_EVENTS: Final = ("agent.budget.near", "agent.budget.reached")


def _find_budget(event: Event) -> list[Notice]:
    """Return the users who can raise a budget."""
    level = event.name.rpartition(".")[2]
    agent_id = str(event.payload.get("agentId") or ALL_AGENTS_KEY)
    notice = BudgetNotice.objects.filter(
        agent_id=agent_id, period=str(event.payload["period"]), level=level
    )
    latest = notice.order_by("-begins").values_list("pk", flat=True).first()
    subject = str(latest or agent_id)
    return [Notice(users_with_permission("agents.edit", but=None), subject, subject)]


def _describe_budget(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    ids = [row.subjects[0] for row in rows if row.subjects[0].isdigit()]
    notices = {str(notice.pk): notice for notice in BudgetNotice.objects.filter(pk__in=ids)}
    url = reverse("admin:agents_app_aisettings_changelist")
    return {
        row.pk: NotificationText(
            notice_text(notices[row.subjects[0]])
            if row.subjects[0] in notices
            else _("A budget is nearly used up"),
            url,
            "spark",
        )
        for row in rows
    }


KINDS: Final = (
    NotificationKind(
        "agent.budget",
        gettext_lazy("Budgets that are nearly or completely used up"),
        "agents.edit",
        _BUDGET_EVENTS,
        _find_budget,
        _describe_budget,
        can_be_mailed=True,
    ),
    NotificationKind(
        "agent.run",
        gettext_lazy("Your agent runs that are done"),
        "agents.view",
        (_FINISHED,),
        _find_run,
        _describe_run,
        can_be_mailed=True,
    ),
    NotificationKind(
        "agent.run-failed",
        gettext_lazy("Your agent runs that failed"),
        "agents.view",
        (_FINISHED,),
        _find_failed_run,
        _describe_run,
        can_be_mailed=True,
        category=Category.FAILED_RUN,
    ),
    NotificationKind(
        "agent.batch",
        gettext_lazy("Your batches of agent runs that are done"),
        "agents.view",
        (_FINISHED,),
        _find_batch,
        _describe_batch,
        can_be_mailed=True,
    ),
)
