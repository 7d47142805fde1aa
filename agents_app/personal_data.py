"""Personal data of agents: people who started runs, and addresses in what runs read and wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents_app.models import (
    AgentBatch,
    AgentRun,
    EvaluationItem,
    RunMessage,
    RunReaction,
    RunStep,
)
from agents_app.runs.retention import erase_run_texts
from content.personal_data import MarkAuthors
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.core.privacy.browser_storage import Audience, StorageKind, StoredItem
from proofroom.core.privacy.kinds import Erasure, PersonalDataKind, Table, TableKind
from proofroom.core.privacy.person import Person
from proofroom.core.privacy.retention import Retention

_RUN_TEXTS: Final = (
    *("context", "open_ended_context", "note", "value", "summary", "declined", "error"),
    "doing",
)
_BATCH_ROWS: Final = 500


class RunTexts(PersonalDataKind):
    """Runs that read or wrote the address: their input, messages, steps and results."""

    name = "agents.texts"
    label = gettext_lazy("Agent runs with this address in their texts")
    models = (
        "agents_app.RunMessage",
        "agents_app.RunStep",
        "agents_app.RunReaction",
        "agents_app.EvaluationItem",
    )
    erasure = Erasure.DELETED
    reason = gettext_lazy(
        "The run itself stays without its texts. Proposed changes stay in Review for people to decide."
    )

    def count(self, person: Person) -> int:
        return len(self._find_runs(person))

    def records(self, person: Person) -> Iterator[JsonObject]:
        rows = AgentRun.objects.filter(pk__in=self._find_runs(person)).order_by("created_at", "pk")
        for run in rows.iterator(chunk_size=_BATCH_ROWS):
            messages = RunMessage.objects.filter(run=run).order_by("number")
            # A text may also be about others, such as a list of submissions that the run read.
            texts = [part for row in messages for part in person.passages(row.text)]
            yield {
                "record": str(self.label),
                "id": str(run.pk),
                "agent": run.agent_id,
                "at": run.created_at.isoformat(),
                "model": f"{run.provider}:{run.model}",
                "request": [*person.passages(run.open_ended_context)],
                "summary": [*person.passages(run.summary), *person.passages(run.declined)],
                "messages": [*texts],
            }

    def erase(self, person: Person, actor: Actor) -> int:
        runs = self._find_runs(person)
        erase_run_texts(runs)
        return len(runs)

    def _find_runs(self, person: Person) -> set[UUID]:
        found: set[UUID] = set()
        own = person.filter_mentions(AgentRun.objects.all(), *_RUN_TEXTS)
        for run in own.iterator(chunk_size=_BATCH_ROWS):
            if any(person.is_mentioned(getattr(run, column)) for column in _RUN_TEXTS):
                found.add(run.pk)
        for model, column in (
            (RunMessage, "text"),
            (RunStep, "summary"),
            (RunReaction, "summary"),
            (RunReaction, "error"),
        ):
            rows = person.filter_mentions(model._default_manager.all(), column)
            for run_id, text in rows.values_list("run_id", column).iterator(chunk_size=_BATCH_ROWS):
                if person.is_mentioned(text):
                    found.add(run_id)
        for column in ("decided", "champion", "challenger"):
            items = person.filter_mentions(EvaluationItem.objects.all(), column)
            for run_id, value in items.values_list("run_id", column).iterator(
                chunk_size=_BATCH_ROWS
            ):
                if person.is_mentioned(value):
                    found.add(run_id)
        return found


def _find_providers(person: Person) -> Iterable[str]:
    """Yield the AI providers that got texts with the address."""
    rows = person.filter_mentions(AgentRun.objects.exclude(provider=""), *_RUN_TEXTS)
    providers = {
        run.provider
        for run in rows.iterator(chunk_size=_BATCH_ROWS)
        if any(person.is_mentioned(getattr(run, column)) for column in _RUN_TEXTS)
    }
    for provider in sorted(providers - {"demo"}):
        yield _("An AI provider got texts of this person: %(provider)s") % {"provider": provider}


COPIES: Final = (_find_providers,)
KINDS: Final = (
    RunTexts(),
    TableKind(
        "agents.batch-texts",
        gettext_lazy("Requests to agents for many posts with this address"),
        Table(
            AgentBatch._meta.label,
            ("agent_id", "open_ended_context", "created_at"),
            texts=("open_ended_context",),
        ),
        erasure=Erasure.MASKED,
    ),
    TableKind(
        "agents.runs",
        gettext_lazy("Agent runs that this person started"),
        *(
            Table(
                model,
                ("agent_id", "open_ended_context", "created_at"),
                owners=owners,
                names={"by_name": "by"},
            )
            for model, owners in (
                ("agents_app.AgentRun", ("by",)),
                ("agents_app.AgentBatch", ("by", "revert_by")),
            )
        ),
        Table(
            "agents_app.Evaluation",
            ("agent_id", "state", "created_at"),
            owners=("by",),
            names={"by_name": "by"},
        ),
        erasure=Erasure.PSEUDONYMISED,
    ),
    MarkAuthors("agents.before", "agents_app.RunPost", "before", "marks"),
    TableKind(
        "agents.settings",
        gettext_lazy("Settings of agents that this person changed last"),
        *(
            Table(f"agents_app.{name}", ("updated_at",), owners=("updated_by",))
            for name in ("AgentSwitch", "AiSettings", "Budget")
        ),
        Table(
            "agents_app.ChampionChallenger",
            ("agent_id", "updated_at"),
            owners=("promoted_by", "updated_by"),
        ),
        Table("agents_app.ProviderCheck", ("provider", "asked_at"), owners=("asked_by",)),
        erasure=Erasure.KEPT,
        reason=gettext_lazy("They refer to the account without its name."),
    ),
)
WITHOUT_PERSONAL_DATA: Final = (
    "agents_app.BudgetNotice",
    "agents_app.PromptVersion",
    "agents_app.ProviderPause",
    "agents_app.Reservation",
    "agents_app.Spending",
    "agents_app.StoppedChain",
)
RETENTIONS: Final = (
    Retention(
        "agent-transcripts",
        gettext_lazy("Messages of agent runs"),
        setting="AGENT_TRANSCRIPT_DAYS",
        task_name="agents_app.tasks.prune_transcripts",
    ),
)
STORED_ITEMS: Final = (
    StoredItem(
        "cms-runs",
        StorageKind.SESSION,
        Audience.STAFF,
        gettext_lazy("Shows runs that a person started in this tab."),
        gettext_lazy("When a person runs an agent"),
        0,
    ),
)
