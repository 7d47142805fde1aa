"""The two versions that an evaluation compares: the present one, and the one that may replace it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from django.utils.translation import gettext as _

from agents_app.definitions.schema import AgentDefinition
from agents_app.definitions.versions import load_versions, with_version
from agents_app.evaluation.questions import AskedVersion
from agents_app.models import AgentRun, Evaluation, PromptVersion
from agents_app.providers.interface import ProviderError
from agents_app.providers.selection import choose_provider
from agents_app.runs.prompt import prompt_version, save_prompt_version
from proofroom.briefs.effective import BriefSet, load_briefs
from proofroom.briefs.models import Brief
from proofroom.briefs.services import find_version
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound, invalid
from proofroom.core.json import JsonObject

NO_BRIEF = "none"
_VERSION: Final = re.compile(r"[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class EvaluationSubjects:
    """Both versions. `briefs`: the briefs for the challenger; None for the present ones."""

    champion: AskedVersion
    challenger: AskedVersion
    briefs: BriefSet | None = None

    def challenger_for(self, run: AgentRun) -> AskedVersion:
        """Return the challenger with its brief."""
        if self.briefs is None or run.post is None:
            return self.challenger
        brief = self.briefs.effective(
            post_type=run.post.type, locale=run.post.locale, section=run.post.path
        )
        return replace(self.challenger, brief=brief)

    @property
    def has_prices(self) -> bool:
        """False if the price of a model is unknown, so that no limit in dollars can hold it."""
        return self.champion.has_price and self.challenger.has_price


def find_subjects(
    agent: AgentDefinition, *, model: str, prompt: str, brief: str
) -> EvaluationSubjects:
    """Return both versions. Raises `RuleViolation` by `model`, `prompt` or `brief`."""
    versions = load_versions(agent)
    try:
        candidate = with_version(versions.champion, model, find_prompt(agent, prompt))
        challenger = AskedVersion(candidate, choose_provider(candidate.llm_config, agent.id))
        champion = AskedVersion(
            versions.champion, choose_provider(versions.champion.llm_config, agent.id)
        )
    except ProviderError as error:
        raise invalid("model", str(error)) from None
    return EvaluationSubjects(champion, challenger, find_briefs(brief) if brief else None)


def subjects_of(job: Evaluation, agent: AgentDefinition) -> EvaluationSubjects:
    """Return the versions of an evaluation. Raises as `find_subjects`."""
    return find_subjects(agent, model=job.model, prompt=job.prompt, brief=job.brief)


def find_prompt(agent: AgentDefinition, digest: str) -> PromptVersion | None:
    """Return a version of the agent's prompt; None for an empty digest. Raises `RuleViolation`.

    The present version is one even if no run has used it yet.
    """
    if not digest:
        return None
    if digest == prompt_version(agent):
        digest = save_prompt_version(agent)
    found = PromptVersion.objects.filter(agent_id=agent.id, pk=digest[:12]).first()
    if found is None or found.digest != digest:
        text = _("The agent %(agent)s has no prompt version %(version)s.")
        raise invalid("prompt", text % {"agent": agent.id, "version": digest[:40]})
    return found


def find_briefs(text: str) -> BriefSet:
    """Return the site's briefs with one at another version (`id` or `id:version`), or none at all.

    Raises `RuleViolation`.
    """
    if text == NO_BRIEF:
        return BriefSet(())
    id_, _colon, version = text.partition(":")
    row = find_by_id(Brief.objects.all(), id_)
    if row is None or (version and not _VERSION.fullmatch(version)):
        raise invalid("brief", _("Name a brief by its ID, or its ID, a colon and a version."))
    if version and int(version) != row.version:
        try:
            stored = find_version(row, int(version)).document
        except NotFound as error:
            raise invalid("brief", error.message) from None
        # Unsaved: only the values of the version are needed.
        for name, value in stored.items():
            setattr(row, name, value)
        row.version = int(version)
    others = [one for one in load_briefs().rows if one.pk != row.pk]
    return BriefSet([*others, row])


def description_of(version: AskedVersion) -> JsonObject:
    """Return the model and the prompt of a version, as an evaluation stores them."""
    return {
        "model": f"{version.choice.provider}:{version.choice.model}",
        "prompt": prompt_version(version.agent),
    }
