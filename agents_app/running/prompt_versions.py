"""Which prompt a run was told: a short name, the same wherever the words are, and the words themselves."""

from __future__ import annotations

import json
from hashlib import sha256

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from agents_app.definitions.schema import AgentDefinition
from agents_app.models import PromptVersion
from agents_app.models.prompt import DIGEST_LENGTH
from agents_app.running.allowed import tools_named_by
from agents_app.running.prompt import RULES
from core.actor import Actor
from core.errors import NotFound
from core.json import JsonObject
from core.redaction import Redactor


def version_of(agent: AgentDefinition) -> str:
    """The version of its prompt as its file has it: another one as soon as words, tools or options change.

    Who answers is no part of it, nor what a run is lent: both are told of each run by themselves.
    """
    text = json.dumps({"agent": agent.id, **_told(agent)}, sort_keys=True)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_LENGTH]


def keep_version(agent: AgentDefinition) -> str:
    """`version_of`, with its words kept where they are new. May be called by many workers at once."""
    digest = version_of(agent)
    if not PromptVersion.objects.filter(pk=digest).exists():
        row = PromptVersion(digest=digest, agent_id=agent.id, **_told(agent))
        row.instructions = words_of(agent)
        PromptVersion.objects.bulk_create([row], ignore_conflicts=True)
    return digest


def versions_of(agent_id: str) -> QuerySet[PromptVersion]:
    """The versions that an agent ran with, the newest first."""
    return PromptVersion.objects.filter(agent_id=agent_id).order_by("-created_at", "pk")


def find_version(*, agent_id: str, digest: str, actor: Actor) -> PromptVersion:
    """One of them, for whoever may write agents. Raises `NotFound`, `NotAllowed`."""
    actor.require_person("read what an agent was told")
    actor.require("agents.edit")
    found = versions_of(agent_id).filter(pk=digest).first()
    if found is None:
        raise NotFound(_("No run of this agent was told a prompt of that version."))
    return found


def words_of(agent: AgentDefinition) -> str:
    """Its instructions, as they are kept and shown.

    A file may hold a key where none belongs, and a copy of it would outlive the file.
    """
    text = Redactor().known(agent.llm_config.system_prompt)
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _told(agent: AgentDefinition) -> JsonObject:
    config = agent.llm_config
    return {
        "instructions": config.system_prompt,
        "rules": RULES,
        "tools": sorted(tool.name for tool in tools_named_by(agent)),
        "options": config.options.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
