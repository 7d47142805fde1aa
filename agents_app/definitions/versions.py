"""Versions of an agent, each a model and a prompt: its file's, a promoted champion, and a challenger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from uuid import UUID

from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun, ChampionChallenger, PromptVersion
from agents_app.models.evaluation import FILE_DIGEST_LENGTH
from agents_app.providers.llm_config import Options
from agents_app.providers.selection import config_with_model

_PERCENT: Final = 100
_RELATED: Final = ("champion_prompt", "challenger_prompt")


@dataclass(frozen=True, slots=True)
class AgentVersions:
    """The versions of an agent that answer now. `share`: percent of the runs that the challenger gets.

    `row` is None for an agent that has only its file. `is_outdated`: the promotion no longer holds,
    because the file was changed.
    """

    file: AgentDefinition
    champion: AgentDefinition
    challenger: AgentDefinition | None = None
    share: int = 0
    row: ChampionChallenger | None = None
    is_outdated: bool = False

    @property
    def is_promoted(self) -> bool:
        """True if a promoted version replaces the model or the prompt of the file."""
        return self.row is not None and self.row.promoted_at is not None and not self.is_outdated

    def choose(self, run: AgentRun) -> tuple[AgentDefinition, bool]:
        """Return the version that answers the run, and whether it is the challenger."""
        # A test run shows what people get, so it asks the champion.
        if self.challenger is None or run.is_dry:
            return self.champion, False
        if is_in_share(self.file.id, run.first_try_id or run.pk, self.share):
            return self.challenger, True
        return self.champion, False


def is_in_share(agent_id: str, run_id: UUID, share: int) -> bool:
    """Return whether a run belongs to the challenger's share, by a hash that does not change.

    All tries of a run have the id of the first one, so they have the same version.
    """
    digest = sha256(f"challenger:{agent_id}:{run_id}".encode()).digest()
    return int.from_bytes(digest[:8]) % _PERCENT < share


def load_versions(agent: AgentDefinition) -> AgentVersions:
    """Return the versions of an agent. One query."""
    return versions_of(agent, _rows(agent.id))


def load_all_versions() -> Mapping[str, ChampionChallenger]:
    """Return what people set for each agent, for `versions_of`. One query."""
    return _rows()


def versions_of(agent: AgentDefinition, rows: Mapping[str, ChampionChallenger]) -> AgentVersions:
    """Return the versions of an agent from loaded rows."""
    row = rows.get(agent.id)
    if row is None:
        return AgentVersions(agent, agent)
    is_outdated = row.promoted_at is not None and row.file_digest != file_digest(agent)
    champion = agent
    if row.promoted_at is not None and not is_outdated:
        champion = with_version(agent, row.champion_model, row.champion_prompt)
    challenger = None
    if row.share:
        challenger = with_version(champion, row.challenger_model, row.challenger_prompt)
    return AgentVersions(agent, champion, challenger, row.share, row, is_outdated)


def with_version(
    agent: AgentDefinition, model: str, prompt: PromptVersion | None
) -> AgentDefinition:
    """Return the agent with another model and prompt; an empty one keeps the agent's own.

    Of a prompt's version only texts and options count. Its tools are rights, which the file gives.
    Raises `ProviderError` if the model is no `provider:model`.
    """
    config = config_with_model(agent.llm_config, model) if model else agent.llm_config
    if prompt is not None:
        changes = {
            "system_prompt": prompt.instructions,
            "options": Options.model_validate(prompt.options),
        }
        config = config.model_copy(update=changes)
    return agent.model_copy(update={"llm_config": config})


def file_digest(agent: AgentDefinition) -> str:
    """Return a digest of the model and the prompt that the agent's file names."""
    parts = agent.llm_config.model_dump(mode="json", exclude={"api_key"})
    text = json.dumps(parts, sort_keys=True)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:FILE_DIGEST_LENGTH]


def _rows(agent_id: str = "") -> dict[str, ChampionChallenger]:
    rows = ChampionChallenger.objects.select_related(*_RELATED)
    if agent_id:
        rows = rows.filter(agent_id=agent_id)
    return {row.agent_id: row for row in rows}
