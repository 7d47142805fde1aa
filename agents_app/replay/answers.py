"""Inputs and answers of past runs from their transcripts, and the current agent's answers to the same inputs."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final, cast

from django.conf import settings
from pydantic import ValidationError

from agents_app.budgets.reservations import reserve, settle
from agents_app.definitions.agents import account_of
from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun, Reservation, RunMessage
from agents_app.providers import interface, selection
from agents_app.providers.prices import cost_of
from agents_app.providers.selection import choose_provider, config_with_model
from agents_app.runs.allowed_fields import fields_of_run
from agents_app.runs.answer_schema import answer_type
from agents_app.runs.field_target import FieldTarget, find_field
from agents_app.runs.markdown_texts import SEE_FIELD
from agents_app.runs.permissions import usable_tool, usable_tools
from agents_app.runs.prompt import brief_for, run_message, system_prompt
from agents_app.runs.rendered_payload import LAYERS, SAME_KEY, SOURCE_KEY
from agents_app.runs.suggestion import (
    FieldSuggestion,
    Suggestion,
    edit_for,
    fields_named,
    output_type,
)
from content.document.changes import diff
from content.document.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.tools.rich_text import stored_props
from proofroom.briefs.effective import EffectiveBrief
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError
from proofroom.core.json import Json, JsonObject
from proofroom.core.tools import call as calling
from proofroom.core.tools.schemas import lean_schema

# The first fence of a message: the lines before it are the system's own.
_FENCED: Final = re.compile(r"^BEGIN (\w+)\n(.*?)\nEND \1", re.S | re.M)
_Values = Mapping[str, Json]


class UnusableRun(Exception):
    """A run that cannot be replayed; the message follows after "left out:"."""


@dataclass(frozen=True, slots=True)
class ReplayInput:
    """The payload of a run, the document in it, the requested field, and the proposals by path."""

    payload: JsonObject
    document: PostDocument
    target: FieldTarget | None
    proposed: Mapping[str, Json]


def read_replay_input(run: AgentRun, messages: Sequence[RunMessage]) -> ReplayInput:
    """Read the input of a run from its transcript. Raises `UnusableRun` if it is gone or was cut."""
    if not messages:
        raise UnusableRun("its transcript is gone (AGENT_TRANSCRIPT_DAYS)")
    # A second attempt repeats all messages; the last one was answered.
    first = next((row for row in reversed(messages) if row.role == "user" and _payload(row)), None)
    payload = _payload(first) if first is not None else None
    if payload is None:
        raise UnusableRun("its transcript was cut, or holds no payload")
    try:
        # Rebuild the document from the payload; for a field only the part it contains.
        post = cast(_Values, payload["post"])
        source = cast(_Values, payload.get("draftBase") or post)
        custom = cast(_Values, source.get("customFields") or {})
        skipped = {"id", "type", "locale", "status", "customFields", SOURCE_KEY, SAME_KEY}
        fields = {name: value for name, value in source.items() if name not in skipped}
        fields |= {CUSTOM_PREFIX + name: value for name, value in custom.items()}
        payload = _with_documents(payload)
        one = payload.get("module")
        modules = [one] if isinstance(one, Mapping) else payload.get("modules") or ()
        document = PostDocument(
            type=str(post["type"]),
            locale=str(post["locale"]),
            fields=fields,
            modules=tuple(
                _module(cast(_Values, module)) for module in cast(Sequence[Json], modules)
            ),
        )
        target = None
        if run.scope == "field":
            target = find_field(document, run.field_key, run.post_module_id or None)
        return ReplayInput(payload, document, target, _answered(run, messages, document, target))
    # Post types and modules may have changed since the run.
    except (CmsError, KeyError, TypeError, ValueError):
        raise UnusableRun("its payload does not fit the definitions of today") from None


def proposals(
    answer: Suggestion | FieldSuggestion, document: PostDocument, target: FieldTarget | None
) -> dict[str, Json]:
    """Return the changes of an answer by path. Raises `CmsError` if it cannot be applied."""
    if answer.declined is not None:
        return {}
    after = edit_for(answer, target)(document)
    return {
        change.path: cast(Json, change.after)
        for change in diff(document, after)
        if isinstance(change.after, str | int | float | bool | list | tuple | dict | None)
    }


def _payload(message: RunMessage) -> JsonObject | None:
    found = _FENCED.search(message.text)
    if message.is_cut or found is None:
        return None
    try:
        value = json.loads(found.group(2))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _with_documents(payload: JsonObject) -> JsonObject:
    """Return the payload of a message with the rich text of its modules as documents.

    In the payload of a field, a text that is named instead of repeated is the field's own.
    """
    one, current = payload.get("module"), _part(payload, "field").get("currentValue")
    if isinstance(one, Mapping):
        key = str(_part(payload, "field").get("key")).split(".")
        own = {layer: _part(one, layer) for layer in LAYERS if isinstance(one.get(layer), Mapping)}
        texts = {
            layer: {
                name: current if value == SEE_FIELD and [name] == key[2:] else value
                for name, value in values.items()
            }
            for layer, values in own.items()
        }
        stored = {layer: stored_props(str(one["type"]), values) for layer, values in texts.items()}
        return {**payload, "module": {**one, **stored}}
    listed = payload.get("modules")
    if not isinstance(listed, list):
        return payload
    modules: list[Json] = []
    for module in listed:
        if isinstance(module, Mapping):
            stored = {
                part: stored_props(str(module["type"]), _part(module, part))
                for part in ("props", "overrides")
                if isinstance(module.get(part), Mapping)
            }
            module = {**module, **stored}
        modules.append(module)
    return {**payload, "modules": modules}


def _part(value: _Values, name: str) -> _Values:
    part = value.get(name)
    return part if isinstance(part, Mapping) else {}


def _answered(
    run: AgentRun,
    messages: Sequence[RunMessage],
    document: PostDocument,
    target: FieldTarget | None,
) -> dict[str, Json]:
    """Return the run's proposals. Without the answer only approved changes are known, not rejected ones."""
    for row in reversed(messages):
        if row.role == "assistant" and not row.is_cut:
            try:
                answer = output_type(run.scope).model_validate_json(row.text)
                return proposals(answer, document, target)
            except (ValidationError, CmsError):
                continue
    return {}


def _module(value: _Values) -> ModuleDocument:
    def latest(part: str) -> _Values:
        name = part.capitalize()
        # The topmost layer with a value is what the agent saw as current.
        layers = (value.get(f"aiReview{name}"), value.get(f"review{name}"), value.get(part))
        return cast(_Values, next((layer for layer in layers if layer is not None), {}))

    return ModuleDocument(
        id=str(value["postModuleId"]),
        type=str(value["type"]),
        instance_id=str(value.get("moduleInstanceId") or ""),
        scope=str(value.get("scope") or "local"),
        locked=bool(value.get("locked")),
        props=latest("props"),
        overrides=latest("overrides"),
    )


_RETRIES = 2


@dataclass(slots=True)
class ReplaySpending:
    """The usage of a replay."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = field(default_factory=Decimal)
    seconds: float = 0.0
    most_cost: Decimal | None = None
    """US dollars that it may cost; None without a limit."""


class SpendingLimitReached(interface.ProviderError):
    """The next request could cost more than is left of the limit, so it was not sent."""


def chosen(agent: AgentDefinition, model: str) -> interface.ProviderChoice:
    """Return the agent's own choice of provider, or `provider:model`. Raises `ProviderError`."""
    config = config_with_model(agent.llm_config, model) if model else agent.llm_config
    return choose_provider(config, agent.id)


def ask(
    agent: AgentDefinition,
    choice: interface.ProviderChoice,
    run: AgentRun,
    given: ReplayInput,
    spent: ReplaySpending,
    *,
    brief: EffectiveBrief | None = None,
) -> Suggestion | FieldSuggestion:
    """Return the current answer. Raises `ProviderError`, or `RuleViolation` for fields the agent may
    not propose.

    Its usage is added to `spent` in either case. `brief`: the editorial brief to tell, instead of the
    present one of the post.
    """
    toolbox = _ReadingTools(agent, run) if agent.llm_config.use_mcp else interface.Toolbox()
    tools, brief = toolbox.specs(), brief or brief_for(run.post)
    allowed = fields_of_run(agent, run)
    conversation = selection.open_conversation(
        agent.id,
        agent.llm_config.options,
        choice,
        system_prompt=system_prompt(agent, run, given.document, tools, brief.to_markdown()),
        payload=given.payload,
        output_type=answer_type(run.scope, allowed, given.document, given.target),
        toolbox=toolbox,
        watcher=_Payer(agent.id, choice, spent),
    )
    started = time.monotonic()
    try:
        seconds = float(settings.CMS_ENV.agent_run_timeout)
        answer = conversation.ask(
            run_message(agent, run, given.document, given.payload, tools),
            retries=_RETRIES,
            seconds=seconds,
        ).output
    finally:
        spent.seconds += time.monotonic() - started
    if not isinstance(answer, Suggestion | FieldSuggestion):
        raise interface.ProviderError("The answer has another form than was asked for.")
    if isinstance(answer, Suggestion) and answer.declined is None:
        allowed.require(fields_named(answer, given.document))
    return answer


class _Payer(interface.ConversationWatcher):
    """A watcher that reserves before each request and settles after it."""

    def __init__(
        self, agent_id: str, choice: interface.ProviderChoice, spent: ReplaySpending
    ) -> None:
        self._agent_id = agent_id
        self._choice = choice
        self._spent = spent
        self._reservation: Reservation | None = None

    def before_request(self, *, input_tokens: int, output_tokens: int) -> None:
        most = cost_of(self._choice, input_tokens, output_tokens)
        limit = self._spent.most_cost
        if limit is not None and most is not None and self._spent.cost + most > limit:
            raise SpendingLimitReached("The next request could cost more than is left.")
        self._reservation = reserve(
            agent_id=self._agent_id,
            run=None,
            tokens=input_tokens + output_tokens,
            cost=most,
            input_tokens=input_tokens,
        )

    def after_request(
        self, step: interface.StepRecord, *, input_tokens: int, output_tokens: int
    ) -> None:
        reservation, self._reservation = self._reservation, None
        self._spent.input_tokens += input_tokens
        self._spent.output_tokens += output_tokens
        self._spent.cost += step.cost or 0
        if reservation is not None:
            settle(reservation, tokens=input_tokens + output_tokens, cost=step.cost)


class _ReadingTools(interface.Toolbox):
    """The agent's read-only tools: changes staged by the original run must not be staged again."""

    def __init__(self, agent: AgentDefinition, run: AgentRun) -> None:
        account = account_of(agent)
        if account is None:
            raise interface.ProviderError(f"The account of the agent {agent.id} is turned off.")
        actor = Actor(user=account, via="agent", agent_id=agent.id)
        self._agent = agent
        # An actor that has read untrusted content may only use reading tools.
        self._actor = replace(actor, has_read_untrusted=True)

    def specs(self) -> Sequence[interface.ToolSpec]:
        tools = usable_tools(self._agent, self._actor)
        return [
            interface.ToolSpec(tool.name, tool.description, lean_schema(tool.arguments))
            for tool in tools
        ]

    def call(self, name: str, arguments: JsonObject) -> interface.ToolAnswer:
        try:
            tool = usable_tool(name, self._agent, self._actor)
            return interface.ToolAnswer(
                calling.call_raw(tool, self._actor, arguments).body.decode(), ok=True
            )
        except CmsError as error:
            return interface.ToolAnswer(calling.refusal_text(error), ok=False)
