"""The built-in provider "Demo (no AI)": rules in place of a model, so that everything runs without a key.

Its answers go through the same parsing, validation and staging as those of a model. Same post, same answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from pydantic import BaseModel, ValidationError

from agents_app.providers.port import DEMO, Answer, Choice, ProviderError, Step, Usage
from content.definitions import text_of
from content.richtext.nodes import children, kind
from content.richtext.text import to_text
from core.json import Json, JsonObject

LABEL: Final = "Demo (no AI)"
NOTE: Final = "Proposed by the rule-based demo; no AI was involved."
_SPACE: Final = re.compile(r"\s+")
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+")
_LENGTHS: Final = {"metaTitle": (10, 60), "metaDescription": (50, 160), "excerpt": (40, 300)}
"""The characters that a good text has, least and most."""
_LEAST_LINE: Final = 10
_ABOUT: Final = {"en": "Questions about {}", "de": "Fragen zu: {}"}


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
    """What search engines read, where it is missing or too long or short; the opening and the questions, sharper."""
    patch: JsonObject = {
        name: value
        for name, value in _search_texts(post, modules).items()
        if value and value != clean(post.get(name))
    }
    edits: list[Json] = []
    for module in modules:
        values = _module_values(module, post, modules)
        if values:
            edits.append(_edit(module, values))
    names = [*patch, *(f"the {module['type']}" for module in modules if _is_edited(module, edits))]
    what = f"Changed {', '.join(names)}." if names else "Found nothing to change."
    return {"post": patch, "modules": edits, "summary": f"{what} {NOTE}"}


def _search_texts(
    post: Mapping[str, Json], modules: Sequence[Mapping[str, Json]]
) -> Mapping[str, str]:
    """A text for each field; the present one where that is good. Never the body's first lines over a good text."""
    title, excerpt = clean(post.get("title")), clean(post.get("excerpt"))
    body = clean(" ".join(_words(module) for module in modules)) or excerpt or title
    described = excerpt if _fits("metaDescription", excerpt) else shorten(body, 155)
    beginning = shorten(" ".join(_SENTENCE.split(body)[:2]), 240)
    return {
        "metaTitle": _better("metaTitle", post, _search_title(title, modules)),
        "metaDescription": _better("metaDescription", post, described),
        "excerpt": _better("excerpt", post, beginning),
    }


def _better(name: str, post: Mapping[str, Json], other: str) -> str:
    """The other text where there is none, or where it alone has a good length; a long one is cut at last."""
    value = clean(post.get(name))
    if name == "metaTitle" and value.casefold() == clean(post.get("title")).casefold():
        value = ""  # repeating the title tells a search engine nothing
    if _fits(name, value):
        return value
    if not value or _fits(name, other):
        return other
    return shorten(value, _LENGTHS[name][1])


def _fits(name: str, value: str) -> bool:
    least, most = _LENGTHS[name]
    return least <= len(value) <= most


def _search_title(title: str, modules: Sequence[Mapping[str, Json]]) -> str:
    """The title with the first topic of the text that there is room for."""
    for topic in _headings(modules):
        longer = f"{title}: {topic}"
        if len(longer) <= _LENGTHS["metaTitle"][1] and topic.casefold() not in title.casefold():
            return longer
    return shorten(title, _LENGTHS["metaTitle"][1])


def _headings(modules: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    for module in modules:
        for value in cast("Mapping[str, Json]", module.get("props") or {}).values():
            if isinstance(value, Mapping):
                for node in children(value):
                    if kind(node) == "heading" and (text := clean(to_text(node))):
                        yield text


def _module_values(
    module: Mapping[str, Json], post: Mapping[str, Json], modules: Sequence[Mapping[str, Json]]
) -> JsonObject:
    """A subtitle of one line for the opening, a heading that says what the questions are about."""
    props = {
        **cast("Mapping[str, Json]", module.get("props") or {}),
        **cast("Mapping[str, Json]", module.get("overrides") or {}),
    }
    title = clean(post.get("title"))
    if module.get("type") == "hero":
        subtitle = clean(props.get("subtitle"))
        text = subtitle or clean(" ".join(map(_words, modules))) or clean(post.get("excerpt"))
        first = shorten(_SENTENCE.split(text or title)[0], 160)
        return {"subtitle": first} if first != subtitle and len(first) >= _LEAST_LINE else {}
    if module.get("type") == "faq":
        heading = clean(props.get("heading"))
        if not heading:
            return {
                "heading": shorten(_ABOUT.get(str(post.get("locale")), "{}").format(title), 160)
            }
        named = f"{heading}: {title}"
        if title.casefold() not in heading.casefold() and len(named) <= 160:
            return {"heading": named}
    return {}


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
