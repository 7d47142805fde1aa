"""By what the list of runs is narrowed, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from agents_app.admin.labels import agent_name
from agents_app.definitions.files import all_agents
from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun
from agents_app.runs.prompt import prompt_versions

SCOPES: Final[Mapping[Scope, Promise]] = {
    Scope.DROPDOWN: _("In the editor"),
    Scope.GLOBAL: _("Anywhere"),
    Scope.FIELD: _("At fields"),
    Scope.BULK: _("On many posts"),
    Scope.PUBLISH: _("When published"),
    Scope.APPROVE: _("When changes go live"),
    Scope.REVIEW_SAVE: _("When Review is saved"),
    Scope.REVIEW_APPROVE: _("When Review is approved"),
    Scope.AI_REVIEW_SAVE: _("When an agent proposes"),
    Scope.AI_REVIEW_APPROVE: _("When proposals go to Review"),
    Scope.CREATE_TRANSLATION: _("When a translation is made"),
    Scope.FORM_SUBMIT: _("When a form is sent"),
}


_VERSIONS: Final = 10


class RunAgentFilter(SimpleListFilter):
    title = _("agent")
    parameter_name = "agent_id"

    def lookups(
        self, request: HttpRequest, model_admin: ModelAdmin[Any]
    ) -> Iterable[tuple[str, str]]:
        found = [(agent.id, agent.name) for agent in all_agents()]
        asked = request.GET.get(self.parameter_name, "")
        # Runs outlive the files of their agents.
        if asked and asked not in {id_ for id_, _name in found}:
            found.append((asked[:80], agent_name(asked[:80])))
        return found

    def queryset(self, request: HttpRequest, queryset: QuerySet[AgentRun]) -> QuerySet[AgentRun]:
        return queryset.filter(agent_id=self.value()) if self.value() else queryset


class PromptFilter(SimpleListFilter):
    """Shown where the list is of one agent: versions of many would say nothing."""

    title = _("prompt version")
    parameter_name = "prompt"

    def lookups(
        self, request: HttpRequest, model_admin: ModelAdmin[Any]
    ) -> Iterable[tuple[str, str]]:
        agent_id = request.GET.get(RunAgentFilter.parameter_name, "")
        rows = prompt_versions(agent_id).values_list("digest", "created_at")[:_VERSIONS]
        return [
            (digest, f"{digest} ({date_format(localtime(at), 'SHORT_DATE_FORMAT')})")
            for digest, at in rows
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AgentRun]) -> QuerySet[AgentRun]:
        return queryset.filter(prompt_version=self.value()) if self.value() else queryset


class ScopeFilter(SimpleListFilter):
    title = _("where it runs")
    parameter_name = "scope"

    def lookups(
        self, request: HttpRequest, model_admin: ModelAdmin[Any]
    ) -> Iterable[tuple[str, str]]:
        return [(scope.value, str(label)) for scope, label in SCOPES.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AgentRun]) -> QuerySet[AgentRun]:
        return queryset.filter(scope=self.value()) if self.value() else queryset


class RunOutcomeFilter(SimpleListFilter):
    title = _("what came of it")
    parameter_name = "outcome"

    def lookups(
        self, request: HttpRequest, model_admin: ModelAdmin[Any]
    ) -> Iterable[tuple[str, str]]:
        return [
            ("proposed", str(_("Proposed changes"))),
            ("nothing", str(_("Proposed nothing"))),
            ("taken-back", str(_("Taken back"))),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AgentRun]) -> QuerySet[AgentRun]:
        if self.value() == "proposed":
            return queryset.exclude(staged=[])
        if self.value() == "nothing":
            return queryset.filter(status="succeeded", staged=[])
        if self.value() == "taken-back":
            return queryset.filter(reverted_at__isnull=False)
        return queryset
