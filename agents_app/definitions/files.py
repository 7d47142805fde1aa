"""Agents are files: `agents/<id>.md` or `<id>.json` in any installed app, and in CMS_AGENTS_DIR.

`proofroom.core.definition_files` says how files are found and what becomes of broken ones.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings

from agents_app.definitions.schema import AgentDefinition
from agents_app.runs.field_target import type_of_key
from proofroom.core.definition_files import DefinitionFiles, Unreadable, from_json, from_yaml


def _front_matter(text: str) -> object:
    """The YAML between the two `---` lines, with the body as `llmConfig.systemPrompt`."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != "---":
        raise Unreadable(("front matter", "the file must begin with a line '---'"))
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise Unreadable(("front matter", "there is no second line '---' that ends it"))
    values = from_yaml("\n".join(lines[1:end]), "front matter")
    if not isinstance(values, dict):
        raise Unreadable(("front matter", "it must hold fields by name"))
    config = values.setdefault("llmConfig", {})
    body = "\n".join(lines[end + 1 :]).strip()
    if isinstance(config, dict) and body:
        if "systemPrompt" in config:
            raise Unreadable(
                ("llmConfig.systemPrompt", "the body of the file is the prompt already")
            )
        config["systemPrompt"] = body
    return values


FILES: Final = DefinitionFiles(
    "agents",
    AgentDefinition,
    {".md": _front_matter, ".json": from_json},
    lambda: settings.CMS_ENV.cms_agents_dir,
)
all_agents = FILES.all
get_agent = FILES.get
catalogue = FILES.catalogue
reload = FILES.reload


def agents_for(
    scope: str,
    field_type: str | None = None,
    field_key: str | None = None,
    form_slug: str | None = None,
) -> list[AgentDefinition]:
    """The agents of a scope in ascending order, whatever their switch says. None leaves a limit unasked.

    A field's key says its type too, where the type is not given.
    """
    field_type = field_type or (type_of_key(field_key) if field_key else None)
    found = []
    for agent in all_agents():
        orders = [
            entry.order
            for entry in agent.entries(scope)
            if entry.serves(field_type=field_type, field_key=field_key, form_slug=form_slug)
        ]
        if orders:
            found.append((min(orders), agent.id, agent))
    return [agent for _, _, agent in sorted(found, key=lambda item: item[:2])]
