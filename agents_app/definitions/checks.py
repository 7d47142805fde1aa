"""System checks: a broken agent file is an error that names file, field and reason, an unknown name a warning."""

from __future__ import annotations

from collections.abc import Sequence

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError
from django.utils.module_loading import autodiscover_modules

from agents_app.definitions import files as definitions
from agents_app.definitions.unknown_names import UnknownName, unknown_forms, unknown_names
from forms.models import FormDefinition


@register("definitions")
def check_agents(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Every problem of every agent file, and what an agent names that nobody knows."""
    # A check looks at the files of now, not at what was read when the process started.
    definitions.reload()
    found = definitions.catalogue()
    messages: list[CheckMessage] = [
        Error(
            f"{problem.file}: {problem.field}: {problem.reason}",
            hint="Mend the file. Until then its agent is left out.",
            id="agents_app.E001",
        )
        for problem in found.problems
    ]
    autodiscover_modules("tools")
    for agent in found.definitions.values():
        messages += [_message(agent.id, item) for item in unknown_names(agent)]
    return messages


@register(Tags.database)
def check_forms(
    app_configs: Sequence[AppConfig] | None = None,
    databases: Sequence[str] | None = None,
    **kwargs: object,
) -> list[CheckMessage]:
    """Forms that an agent waits for and that are not there. They are content, so only `--database` looks."""
    if not databases:
        return []
    try:
        known = set(FormDefinition.objects.values_list("slug", flat=True))
    except DatabaseError:  # before the tables are made
        return []
    return [
        _message(agent.id, item)
        for agent in definitions.all_agents()
        for item in unknown_forms(agent, known)
    ]


def _message(agent_id: str, item: UnknownName) -> CheckMessage:
    text = f"{definitions.catalogue().files[agent_id]}: {item.field}: {item.sentence}"
    hint = f"Known: {', '.join(item.known) or 'none'}."
    if item.is_error:
        return Error(text, hint=hint, id="agents_app.E002")
    return Warning(text, hint=hint, id="agents_app.W001")
