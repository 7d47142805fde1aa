"""The built-in provider "Demo (no AI)": rules in place of a model, so that everything runs without a key.

Its answers go through the same parsing, validation and staging as those of a model. Same post, same answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, cast

from pydantic import BaseModel, ValidationError

from agents_app.port import DEMO, Answer, Choice, ProviderError, Step, Usage
from content.definitions import text_of
from core.json import Json, JsonObject

LABEL: Final = "Demo (no AI)"
NOTE: Final = "Proposed by the rule-based demo; no AI was involved."
_SPACE: Final = re.compile(r"\s+")
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+")


class DemoConversation:
    """Answers by rules. Asked again, it has nothing better to say and gives up."""

    def __init__(self, agent_id: str, payload: JsonObject, output_type: type[BaseModel]) -> None:
        self.choice = Choice(DEMO, DEMO)
        self.usage = Usage()
        self._agent_id = agent_id
        self._payload = payload
        self._output_type = output_type
        self._asked = False

    def ask(self, text: str, *, retries: int, seconds: float) -> Answer:
        if self._asked:
            raise ProviderError(f"{LABEL} has no other answer. {text}")
        self._asked = True
        self.usage.steps.append(Step("model", LABEL, True, 0, "rules only"))
        try:
            return Answer(self._output_type.model_validate(answer(self._agent_id, self._payload)))
        except ValidationError:
            raise ProviderError(f"{LABEL} has no rule for this.") from None

    def stop(self) -> None:
        """There is nothing to wait for."""


def answer(agent_id: str, payload: JsonObject) -> JsonObject:
    """The answer of the rules to a payload, for the agent of that id."""
    if payload.get("scope") == "field":
        return {"value": _field_value(payload), "summary": NOTE}
    post = payload.get("post")
    if not isinstance(post, Mapping):
        return {"summary": f"{LABEL}: there is no post to work on. {NOTE}"}
    if agent_id == "seo-specialist":
        return _seo(post, _modules(payload))
    return _tidy(post, _modules(payload))


def _modules(payload: JsonObject) -> Sequence[Mapping[str, Json]]:
    return cast("Sequence[Mapping[str, Json]]", payload.get("modules") or ())


def _seo(post: Mapping[str, Json], modules: Sequence[Mapping[str, Json]]) -> JsonObject:
    """Search title, description and excerpt from what the post says, and a subtitle for a bare opening."""
    title = clean(post.get("title"))
    body = " ".join(_words(module) for module in modules)
    first = clean(body) or clean(post.get("excerpt")) or title
    opening = _SENTENCE.split(first)[0]
    patch: JsonObject = {
        "metaTitle": shorten(title, 60),
        "metaDescription": shorten(first, 155),
        "excerpt": shorten(" ".join(_SENTENCE.split(first)[:2]), 240),
    }
    patch = {name: value for name, value in patch.items() if value != post.get(name)}
    edits: list[Json] = []
    for module in modules:
        props = cast("Mapping[str, Json]", module.get("props") or {})
        if module.get("type") == "hero" and not clean(props.get("subtitle")):
            edits.append(_edit(module, {"subtitle": shorten(opening, 160)}))
        if module.get("type") == "faq" and not clean(props.get("heading")):
            edits.append(_edit(module, {"heading": shorten(f"Questions about {title}", 160)}))
    names = [*patch, *(f"the {module['type']}" for module in modules if _is_edited(module, edits))]
    what = f"Changed {', '.join(names)}." if names else "Found nothing to change."
    return {"post": patch, "modules": edits, "summary": f"{what} {NOTE}"}


def _tidy(post: Mapping[str, Json], modules: Sequence[Mapping[str, Json]]) -> JsonObject:
    """What a machine can mend without understanding: doubled blanks, blanks before a comma, missing ends."""
    patch: JsonObject = {}
    for name in ("title", "excerpt", "metaTitle", "metaDescription"):
        value = post.get(name)
        if isinstance(value, str) and tidy(value) != value:
            patch[name] = tidy(value)
    edits: list[Json] = []
    for module in modules:
        props = cast("Mapping[str, Json]", module.get("props") or {})
        changed: JsonObject = {
            name: tidy(value)
            for name, value in props.items()
            if isinstance(value, str) and " " in value and tidy(value) != value
        }
        if changed:
            edits.append(_edit(module, changed))
    found = len(patch) + len(edits)
    what = f"Tidied blanks in {found} places." if found else "Found nothing to tidy."
    return {"post": patch, "modules": edits, "summary": f"{what} {NOTE}"}


def _edit(module: Mapping[str, Json], values: JsonObject) -> JsonObject:
    part = "overrides" if module.get("scope") == "global" else "props"
    return {"postModuleId": module.get("postModuleId"), part: values}


def _is_edited(module: Mapping[str, Json], edits: Sequence[Json]) -> bool:
    return any(
        isinstance(edit, Mapping) and edit["postModuleId"] == module.get("postModuleId")
        for edit in edits
    )


def _field_value(payload: JsonObject) -> Json:
    field = cast("Mapping[str, Json]", payload.get("field") or {})
    base = cast("Mapping[str, Json]", payload.get("draftBase") or {})
    key, current = str(field.get("key")), field.get("currentValue")
    title = clean(base.get("title"))
    if key == "post.metaTitle":
        return shorten(title, 60)
    if key in ("post.metaDescription", "post.excerpt"):
        return shorten(clean(base.get("excerpt")) or clean(current) or title, 155)
    if isinstance(current, str) and current.strip():
        return tidy(current)
    return title if current in (None, "") else current


def _words(module: Mapping[str, Json]) -> str:
    if module.get("type") in ("hero", "faq", "breadcrumb"):
        return ""
    props = cast("Mapping[str, Json]", module.get("props") or {})
    return text_of(str(module.get("type")), props)


def clean(value: Json) -> str:
    """Text on one line, without doubled blanks."""
    return _SPACE.sub(" ", value).strip() if isinstance(value, str) else ""


def tidy(text: str) -> str:
    """Single blanks, none before punctuation, none at the ends."""
    text = re.sub(r"[ \t]{2,}", " ", text)
    return re.sub(r"[ \t]+([,.;:!?])(?=\s|$)", r"\1", text).strip()


def shorten(text: str, limit: int) -> str:
    """The text, cut at a word so that it and its ellipsis have at most `limit` characters."""
    text = clean(text)
    if len(text) <= limit:
        return text
    cut = text[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:–-")
    return f"{cut or text[: limit - 1]}…"
