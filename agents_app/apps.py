"""The app configuration: connects the package to the rest of the project."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy

from proofroom.core.database import migrate


class AgentsConfig(AppConfig):
    name = "agents_app"
    label = "agents_app"
    verbose_name = "Agents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agents_app.comment_mentions import subscribe_to_mentions
        from agents_app.definitions import checks  # noqa: F401  # registers them
        from agents_app.definitions.agents import DefinedAgents
        from agents_app.health import missing_packages
        from agents_app.notifications import KINDS
        from agents_app.reactions import dispatch as reactions
        from agents_app.runs import allowed_fields, ownership, retention, triggers, undo
        from agents_app.runs.leak_prevention import agent_api_keys
        from agents_app.runs.queries import read_run_metrics, run_input_texts
        from agents_app.step_runs import subscribe_to_steps
        from content.inbox.judgement import change_sources
        from proofroom.core import redaction
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            NavigationTab,
            navigation_entries,
        )
        from proofroom.core.agent_directory import agent_directories
        from proofroom.core.diagnostics import doctor
        from proofroom.core.observability.metrics import read_metrics
        from proofroom.notifications.services import register_kind

        settings.CMS_ENV.require_known_providers()
        redaction.secret_sources.register(agent_api_keys)
        read_metrics.register(read_run_metrics)
        change_sources.register(run_input_texts)
        triggers.subscribe_triggers()
        reactions.subscribe_reactions()
        subscribe_to_mentions()
        subscribe_to_steps()
        ownership.register_write_guard()
        retention.register_run_forgetting()
        undo.register_undo_log()
        allowed_fields.register_allowed_fields()
        agent_directories.register(DefinedAgents(), name="agents")
        doctor.app_checks.register(("AI providers", missing_packages, ""))
        for kind in KINDS:
            register_kind(kind)
        # At start the tables are guaranteed to exist only after migrating.
        post_migrate.connect(_make_accounts, sender=self)
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.REVIEW,
                gettext_lazy("AI activity"),
                "admin:agents_app_agentrun_changelist",
                "spark",
                permissions=("agents.view",),
                tabs=(
                    NavigationTab(
                        gettext_lazy("AI activity"), "admin:agents_app_agentrun_changelist"
                    ),
                    NavigationTab(
                        gettext_lazy("Batches"), "admin:agents_app_agentbatch_changelist"
                    ),
                ),
                covers=("admin:agents_app_bulk",),
            ),
            order=20,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.INSIGHTS,
                gettext_lazy("Quality"),
                "admin:quality",
                "check",
                is_frequent=False,
                permissions=("quality.view",),
                tabs=(
                    NavigationTab(gettext_lazy("Agents and AI clients"), "admin:quality"),
                    NavigationTab(gettext_lazy("Decided changes"), "admin:quality-changes"),
                    NavigationTab(
                        gettext_lazy("Evaluations"),
                        "admin:agents_app_evaluation_changelist",
                        "agents.evaluate",
                    ),
                ),
            ),
            order=20,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SETTINGS,
                gettext_lazy("Agents and AI"),
                "admin:agents_app_agentswitch_changelist",
                "agent",
                permissions=("agents.view",),
                tabs=(
                    NavigationTab(
                        gettext_lazy("Agents"), "admin:agents_app_agentswitch_changelist"
                    ),
                    NavigationTab(
                        gettext_lazy("AI settings"),
                        "admin:agents_app_aisettings_changelist",
                        "agents.edit",
                    ),
                ),
            ),
            order=20,
        )


def _make_accounts(**kwargs: Any) -> None:
    from agents_app.definitions.agents import bootstrap_agent_users

    if migrate.is_complete():
        bootstrap_agent_users()
