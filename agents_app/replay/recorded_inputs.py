"""Input and answer of a past run, from its transcript."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from pydantic import ValidationError

from agents_app.models import AgentRun, RunMessage
from agents_app.runs.field_target import FieldTarget, find_field
from agents_app.runs.suggestion import FieldSuggestion, Suggestion, edit_for, output_type
from content.changes import diff
from content.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from proofroom.core.errors import CmsError
from proofroom.core.json import Json, JsonObject

_FENCED: Final = re.compile(r"\ABEGIN (\w+)\n(.*?)\nEND \1", re.S)
_Values = Mapping[str, Json]


class UnusableRun(Exception):
    """A run that cannot be asked again; the message goes on after "left out:"."""


@dataclass(frozen=True, slots=True)
class ReplayInput:
    """The payload of a run, the document in it, the field that was asked about, and what was proposed by path."""

    payload: JsonObject
    document: PostDocument
    target: FieldTarget | None
    proposed: Mapping[str, Json]


def given_to(run: AgentRun, messages: Sequence[RunMessage]) -> ReplayInput:
    """Raises `UnusableRun` where the transcript is gone, or was cut."""
    if not messages:
        raise UnusableRun("its transcript is gone (AGENT_TRANSCRIPT_DAYS)")
    # A second attempt says everything once more: the last one is what was answered.
    first = next((row for row in reversed(messages) if row.role == "user" and _payload(row)), None)
    payload = _payload(first) if first is not None else None
    if payload is None:
        raise UnusableRun("its transcript was cut, or holds no payload")
    try:
        # The document that the payload shows: of a field's, as much as it shows.
        post = cast(_Values, payload["post"])
        source = cast(_Values, payload.get("draftBase") or post)
        custom = cast(_Values, source.get("customFields") or {})
        skipped = {"id", "type", "locale", "status", "customFields"}
        fields = {name: value for name, value in source.items() if name not in skipped}
        fields |= {CUSTOM_PREFIX + name: value for name, value in custom.items()}
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
    except (CmsError, KeyError, TypeError, ValueError):
        raise UnusableRun("its payload does not fit the definitions of today") from None


def proposals(
    answer: Suggestion | FieldSuggestion, document: PostDocument, target: FieldTarget | None
) -> dict[str, Json]:
    """Return the changes of an answer, by path. Raises `CmsError` where it cannot stand."""
    after = edit_for(answer, target)(document)
    return {
        change.path: cast(Json, change.after)
        for change in diff(document, after)
        if isinstance(change.after, str | int | float | bool | list | tuple | dict | None)
    }


def _payload(message: RunMessage) -> JsonObject | None:
    found = _FENCED.match(message.text)
    if message.is_cut or found is None:
        return None
    try:
        value = json.loads(found.group(2))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _answered(
    run: AgentRun,
    messages: Sequence[RunMessage],
    document: PostDocument,
    target: FieldTarget | None,
) -> dict[str, Json]:
    """Return what the run proposed. Without its answer only what was approved is known, not what was rejected."""
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
