"""What leaves the house: the data that each agent's requests contain, and the providers that get it.

The lists come from the code that builds the requests: the parts of the payloads, the keys of their
contexts, and the tools of the agent. A part without a label here is an error, so that no new part
stays unlisted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from agents_app.agent_status import Agent, agents
from agents_app.ai_settings import ai_settings, masked_kinds
from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.models import AiSettings
from agents_app.runs.field_context import SYSTEM_KEYS
from agents_app.runs.payloads import (
    FIELD_PARTS,
    POST_NAMES,
    POST_PARTS,
    REJECTED_KEY,
    SOURCE_CONTEXT_KEY,
    SOURCE_VALUES_KEY,
    reads_source,
)
from agents_app.runs.permissions import UNTRUSTED_KEY
from agents_app.runs.retry import RETRY_KEYS
from content.document.document import FIELD_NAMES
from proofroom.core.actor import Actor
from proofroom.core.tools import all_tools

_DOCUMENT_FIELDS: Final = ("type", "locale", *FIELD_NAMES, "customFields")
_LABELS: Final[Mapping[str, Promise]] = {
    "instructions": gettext_lazy("The agent’s prompt, and the names and descriptions of its tools"),
    "brief": gettext_lazy("The editorial brief"),
    "post": gettext_lazy("The post’s fields"),
    "modules": gettext_lazy("The post’s modules, with all their texts"),
    "translations": gettext_lazy("IDs and languages of the post’s translations"),
    "field": gettext_lazy("The field and its value"),
    "draftBase": gettext_lazy("The post’s fields"),
    "module": gettext_lazy("The field’s module, as published, in Review and in AI Review"),
    "context.text": gettext_lazy("The post’s text"),
    "context.neighbours": gettext_lazy("What is around the field"),
    "context.limits": gettext_lazy("The field’s limits"),
    "context.examples": gettext_lazy("Approved values of the same field in other posts"),
    "context.rejectedBefore": gettext_lazy("Rejected values, with reviewers’ names and notes"),
    "context.translationOf": gettext_lazy("The published post that is translated"),
    "context.sourceValues": gettext_lazy("Texts of the published post that is translated"),
    "context.openEndedContext": gettext_lazy("What the person who starts the run writes"),
    "context.note": gettext_lazy("The note on the previous attempt"),
    "context.previousCandidates": gettext_lazy("Earlier answers of the agent"),
    "context.previousSummary": gettext_lazy("The summary of the previous attempt"),
    "context.userId": gettext_lazy("The number of the account that starts the run"),
    "context.triggeredBy": gettext_lazy("How the run was started"),
    "context.eventData": gettext_lazy("The event that starts the run"),
    "context": gettext_lazy("What a caller of the API or of MCP adds"),
    "context.untrusted": gettext_lazy("The submission of a form"),
    "tools": gettext_lazy("Answers of the tools it calls"),
    "images": gettext_lazy("Descriptions of images to generate, as the agent writes them"),
}
_EVENT_SCOPES: Final = frozenset(
    scope for scope in Scope if scope not in {Scope.DROPDOWN, Scope.FIELD, Scope.GLOBAL, Scope.BULK}
)


@dataclass(frozen=True, slots=True)
class SentData:
    """One kind of data in requests. `kind`: its place in the payload; `fields`: the names within it;
    `scopes`: the situations in which it is sent; `masked`: kinds of personal data that are not.
    """

    kind: str
    fields: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ()
    masked: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return str(_LABELS[self.kind])


@dataclass(frozen=True, slots=True)
class DataFlow:
    """The data that an agent sends: `text` to its provider of text, `images` to that of images."""

    agent: Agent
    text: tuple[SentData, ...]
    images: tuple[SentData, ...]


@dataclass(frozen=True, slots=True)
class DataFlows:
    """The flows of all agents, and the tools by group whose answers AI clients get over MCP."""

    agents: tuple[DataFlow, ...]
    client_tools: Mapping[str, tuple[str, ...]]
    masked: tuple[str, ...]
    submission_tools: tuple[str, ...]
    """Tools that read form submissions."""


def data_flows(actor: Actor) -> DataFlows:
    """Return what leaves the house now. Raises `NotAllowed` without `agents.edit`."""
    actor.require_person("see which data leaves the house")
    actor.require("agents.edit")
    row = ai_settings()
    groups: dict[str, list[str]] = {}
    for tool in all_tools():
        groups.setdefault(tool.group, []).append(tool.name)
    return DataFlows(
        tuple(
            DataFlow(
                one,
                tuple(sent_to_text_provider(one.definition, one.tools, row)),
                (SentData("images"),) if one.media is not None else (),
            )
            for one in agents(actor)
        ),
        {name: tuple(sorted(tools)) for name, tools in sorted(groups.items())},
        tuple(masked_kinds(row)),
        tuple(tool.name for tool in all_tools() if tool.permission == "forms.submissions"),
    )


def sent_to_text_provider(
    agent: AgentDefinition, tools: Iterable[str], row: AiSettings
) -> Iterator[SentData]:
    """Yield the kinds of data in requests of an agent, in the order of the request."""
    scopes = tuple(dict.fromkeys(entry.scope for entry in agent.scopes if entry.enabled))
    # The submission of a form belongs to no post.
    of_post = tuple(one for one in scopes if one not in (Scope.FIELD, Scope.FORM_SUBMIT))
    of_field = tuple(one for one in scopes if one == Scope.FIELD)
    of_form = tuple(one for one in scopes if one == Scope.FORM_SUBMIT)
    of_event = tuple(one for one in scopes if one in _EVENT_SCOPES and one not in of_form)
    by_hand = tuple(one for one in scopes if one not in _EVENT_SCOPES)

    yield SentData("instructions", scopes=scopes)
    yield SentData("brief", scopes=scopes)
    fields = {"post": POST_NAMES}
    yield from (SentData(name, fields.get(name, ()), of_post) for name in POST_PARTS if of_post)
    # The id, type, language and status of a field's post say less than its fields, which follow.
    field_parts = (name for name in FIELD_PARTS if name != "post")
    fields = {"draftBase": _DOCUMENT_FIELDS}
    yield from (SentData(name, fields.get(name, ()), of_field) for name in field_parts if of_field)
    yield from (SentData(f"context.{name}", scopes=of_field) for name in SYSTEM_KEYS if of_field)
    if of_post and reads_source(agent):
        yield SentData(f"context.{SOURCE_CONTEXT_KEY}", POST_NAMES, of_post)
        yield SentData(f"context.{SOURCE_VALUES_KEY}", scopes=of_post)
    if of_post or of_field:
        yield SentData(f"context.{REJECTED_KEY}", scopes=(*of_post, *of_field))
    if agent.open_ended_context.enabled and by_hand:
        yield SentData("context.openEndedContext", scopes=by_hand)
    yield from (SentData(f"context.{name}", scopes=scopes) for name in RETRY_KEYS)
    if of_event:
        yield SentData("context.eventData", scopes=of_event)
    if of_form:
        yield SentData(f"context.{UNTRUSTED_KEY}", scopes=of_form, masked=tuple(masked_kinds(row)))
    yield SentData("context", scopes=scopes)
    yield SentData("context.triggeredBy", scopes=scopes)
    yield SentData("context.userId", scopes=scopes)
    if names := tuple(tools):
        yield SentData("tools", names, scopes)
