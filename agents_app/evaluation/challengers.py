"""The challenger of an agent, and the promotion of a version to its champion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agents_app.definitions.agents import get_agent, unknown_agent
from agents_app.definitions.schema import AgentDefinition
from agents_app.definitions.versions import file_digest, load_versions, with_version
from agents_app.evaluation.questions import AskedVersion
from agents_app.evaluation.report import PartFigures, report_of
from agents_app.evaluation.subjects import description_of, find_prompt
from agents_app.models import ChampionChallenger, Evaluation, PromptVersion
from agents_app.providers.interface import ProviderError
from agents_app.providers.selection import choose_provider
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.background_jobs.models import JobState
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import JsonObject

NEEDED: Final = "evaluation_needed"
_EDIT: Final = "agents.edit"


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A model, `provider:model`, and the version of a prompt; empty for the present one."""

    model: str = ""
    prompt: str = ""


@transaction.atomic
def set_challenger(
    *, agent_id: str, version: NewVersion | None, share: int = 0, actor: Actor
) -> ChampionChallenger | None:
    """Give a version `share` percent of the agent's runs; None ends the challenge.

    Runs that exist already are answered by the version that their share gives them. Raises `NotFound`,
    and `RuleViolation` by `challenger.model`, `.prompt` or `.share`.
    """
    agent = _editable_agent(agent_id, actor)
    if version is None:
        model, prompt, share = "", None, 0
    else:
        if not 1 <= share <= 100:
            text = _("share must be a whole percentage from 1 to 100.")
            raise invalid("challenger.share", text)
        if not (version.model or version.prompt):
            text = _("Name another model or prompt version for the challenger.")
            raise invalid("challenger.model", text)
        model, prompt = version.model, _checked_prompt(agent, version, "challenger")
    row = _lock(agent_id, create=version is not None)
    if row is None:
        return None
    before = (row.challenger_model, row.challenger_prompt_id, row.share)
    row.challenger_model, row.challenger_prompt, row.share = model, prompt, share
    if (row.challenger_model, row.challenger_prompt_id, row.share) == before:
        return row
    row.set_at, row.updated_by_id = timezone.now() if share else None, actor.user.pk
    row.save()
    payload: JsonObject = {
        "id": agent_id,
        "model": model or None,
        "prompt": prompt.pk if prompt is not None else None,
        "share": share,
    }
    outbox.record("agent.challenger.set", actor=actor, payload=payload)
    return row


@transaction.atomic
def promote_version(
    *, agent_id: str, version: NewVersion | None, actor: Actor, is_confirmed: bool = False
) -> ChampionChallenger | None:
    """Make a version the champion, which answers instead of the agent's file; None: the file answers again.

    Needs an ended evaluation of this version against the present champion that has enough decisions to tell
    and does not find it worse (`RuleViolation`, `evaluation_needed`), or the word of a person
    (`is_confirmed`). A challenger of the same version ends. The champion ends with the next change of model
    or prompt in the agent's file. Raises `NotFound`, and `RuleViolation` by `champion.model` or `.prompt`.
    """
    agent = _editable_agent(agent_id, actor)
    if version is not None and not (version.model or version.prompt):
        text = _("Name the model or the prompt version to promote.")
        raise invalid("champion.model", text)
    prompt = None if version is None else _checked_prompt(agent, version, "champion")
    row = _lock(agent_id, create=version is not None)
    if row is None:
        return None
    if version is None:
        if row.promoted_at is None:
            return row
        _clear_champion(row)
    else:
        if _is_present_champion(row, agent, version):
            return row
        evaluation = _deciding_evaluation(agent, version, prompt, is_confirmed=is_confirmed)
        row.champion_model, row.champion_prompt = version.model, prompt
        row.file_digest, row.evaluation = file_digest(agent), evaluation
        row.promoted_at, row.promoted_by_id = timezone.now(), actor.user.pk
        challenger = (row.challenger_model, row.challenger_prompt_id or "")
        if row.share and challenger == (version.model, version.prompt):
            row.challenger_model, row.challenger_prompt, row.share = "", None, 0
            row.set_at = None
    row.updated_by_id = actor.user.pk
    row.save()
    payload: JsonObject = {
        "id": agent_id,
        "model": row.champion_model or None,
        "prompt": row.champion_prompt_id,
        "evaluation": str(row.evaluation_id) if row.evaluation_id else None,
        "confirmed": is_confirmed,
    }
    outbox.record("agent.version.promoted", actor=actor, payload=payload)
    return row


def _editable_agent(agent_id: str, actor: Actor) -> AgentDefinition:
    actor.require_person("choose which version of an agent answers")
    actor.require(_EDIT)
    agent = get_agent(agent_id)
    if agent is None:
        raise unknown_agent(agent_id)
    return agent


def _lock(agent_id: str, *, create: bool) -> ChampionChallenger | None:
    if create:
        # The row must exist before it can be locked; a concurrent insert is harmless.
        ChampionChallenger.objects.bulk_create(
            [ChampionChallenger(agent_id=agent_id)], ignore_conflicts=True
        )
    rows = ChampionChallenger.objects.select_for_update(of=("self",))
    return rows.filter(pk=agent_id).first()


def _checked_prompt(
    agent: AgentDefinition, version: NewVersion, field: str
) -> PromptVersion | None:
    """Return the prompt of a version that can answer. Raises `RuleViolation`."""
    try:
        prompt = find_prompt(agent, version.prompt)
        changed = with_version(load_versions(agent).champion, version.model, prompt)
        choose_provider(changed.llm_config, agent.id)
    except RuleViolation as error:
        text = next(iter(error.details.values()), [error.message])[0]
        raise invalid(f"{field}.prompt", text) from None
    except ProviderError as error:
        raise invalid(f"{field}.model", str(error)) from None
    return prompt


def _clear_champion(row: ChampionChallenger) -> None:
    row.champion_model, row.champion_prompt, row.file_digest = "", None, ""
    row.promoted_at, row.promoted_by, row.evaluation = None, None, None


def _is_present_champion(
    row: ChampionChallenger, agent: AgentDefinition, version: NewVersion
) -> bool:
    return (
        row.promoted_at is not None
        and row.file_digest == file_digest(agent)
        and (row.champion_model, row.champion_prompt_id or "") == (version.model, version.prompt)
    )


def _deciding_evaluation(
    agent: AgentDefinition,
    version: NewVersion,
    prompt: PromptVersion | None,
    *,
    is_confirmed: bool,
) -> Evaluation | None:
    """Return the latest evaluation of the version against the champion.

    Raises `RuleViolation` if it does not decide.
    """
    champion = load_versions(agent).champion
    # Compared by what answered, because an empty model means the present one of its time.
    wanted = _describe(with_version(champion, version.model, prompt))
    ended = Evaluation.objects.filter(agent_id=agent.id, state=JobState.DONE, brief="")
    of_version = [
        job for job in ended.order_by("-created_at", "pk")[:50] if job.challenger == wanted
    ]
    try:
        present = _describe(champion)
    except ProviderError:  # what cannot answer cannot be compared
        present = {}
    latest = next((job for job in of_version if job.champion == present), None)
    if is_confirmed:
        return latest
    figures = report_of(latest).everything if latest is not None else None
    if figures is None or figures.verdict in ("too_few", "worse"):
        raise RuleViolation(_why_needed(figures, is_outdated=bool(of_version)), code=NEEDED)
    return latest


def _describe(agent: AgentDefinition) -> JsonObject:
    return description_of(AskedVersion(agent, choose_provider(agent.llm_config, agent.id)))


def _why_needed(figures: PartFigures | None, *, is_outdated: bool) -> str:
    """Return why an evaluation is needed. `is_outdated`: the version was compared with an earlier champion."""
    if figures is None and is_outdated:
        return _(
            "This version was compared with an earlier one, not with the one that answers now. "
            "Evaluate it again, or confirm that you vouch for it."
        )
    if figures is None:
        return _(
            "This version was not evaluated yet. Evaluate it first, or confirm that you vouch for it."
        )
    if figures.verdict == "worse":
        return _(
            "The evaluation found that this version agrees less often with people. Confirm that "
            "you vouch for it."
        )
    return _(
        "The evaluation of this version has too few decisions to tell. Evaluate it with more runs, "
        "or confirm that you vouch for it."
    )
