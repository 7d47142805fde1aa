"""Redaction of what is kept of a run: secrets and the words of visitors."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from pydantic import JsonValue, TypeAdapter, ValidationError

from agents_app.definitions.files import all_agents
from agents_app.runs.links import hosts_of
from proofroom.core.json import Json
from proofroom.core.redaction import secrets_of_service
from proofroom.core.tools import get_tool

SECRET_MASK: Final = "•••"  # noqa: S105  # what stands in place of one
VISITOR_MASK: Final = "[words of a visitor]"
# A shorter one would blank out ordinary words.
_SHORTEST_SECRET: Final = 6
_SHORTEST_WORD: Final = 3
_SHORTEST_SENTENCE: Final = 12
_MAX_WORDS: Final = 2000
"""Of words of visitors that are looked for."""
_CREDENTIAL: Final = re.compile(
    r"(?i:\bbearer\s+)[^\s\"',]{8,}"
    r"|\bsk-[\w-]{8,}|\bAIza[\w-]{20,}|\bgh[pousr]_\w{16,}|\bxox[abeoprs]-[\w-]{8,}|\bAKIA[A-Z0-9]{12,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
)
_SENTENCE_ENDS: Final = re.compile(r"[\r\n]+|(?<=[.!?…])\s+")
_PERSONAL_DATA: Final = re.compile(
    r"[^\s@<>\"',;]+@[^\s@<>\"',;]+|https?://\S+|\+?\d[\d\s()/.-]{4,}\d"
)
_TRUSTED_KEYS: Final = ("formSlug", "submissionId", "event", "id")
"""Of what surrounds a visitor's words, what is none of them."""
_JSON: Final = TypeAdapter[JsonValue](JsonValue)


class RunRedactor:
    """Knows the secrets of this service, and the words of visitors that one run met."""

    def __init__(self, untrusted: Json = None) -> None:
        self._secrets = _either(_spelled(all_secrets()), whole=False)
        self._words: dict[str, None] = {}
        self._visitor: re.Pattern[str] | None = None
        self.add_untrusted(untrusted)

    def add_untrusted(self, value: Json) -> None:
        """From now on these words are a visitor's."""
        known = len(self._words)
        for text in _texts(value):
            self._words |= dict.fromkeys(_pieces(text))
        if len(self._words) > known:
            self._visitor = _either(_spelled(list(self._words)[:_MAX_WORDS]), whole=True)

    def add_tool_answer(self, name: str, text: str) -> None:
        """A tool answered; what a tool that reads visitors' words says is theirs."""
        tool = get_tool(name)
        if tool is None or not tool.reads_untrusted:
            return
        # Marks stand around it, which say that it is not to be trusted.
        begin = min((place for place in map(text.find, "{[") if place >= 0), default=0)
        end = max(map(text.rfind, "}]")) + 1
        try:
            self.add_untrusted(_JSON.validate_json(text[begin:end]))
        except ValidationError:
            self.add_untrusted(text)

    def redact_answer(self, name: str, text: str) -> str:
        """Return what is kept of a tool's answer; nothing of a tool that answers words of visitors."""
        tool = get_tool(name)
        if tool is not None and tool.reads_untrusted:
            return VISITOR_MASK
        return self.redact(text)

    def redact(self, text: str) -> str:
        """Without secrets, words of visitors, and the character NUL, which no database takes."""
        clean = text.replace("\x00", "�").encode("utf-8", "replace").decode()
        if self._secrets is not None:
            clean = self._secrets.sub(SECRET_MASK, clean)
        clean = _CREDENTIAL.sub(SECRET_MASK, clean)
        return clean if self._visitor is None else self._visitor.sub(VISITOR_MASK, clean)


def all_secrets() -> list[str]:
    """Every secret of this service, and those in the files of agents."""
    return [*secrets_of_service(), *agent_api_keys()]


def agent_api_keys() -> list[str]:
    """The keys that agents bring of their own."""
    keys = (agent.llm_config.api_key for agent in all_agents())
    found = [key.get_secret_value() for key in keys if key is not None]
    return [value for value in found if len(value) >= _SHORTEST_SECRET]


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _TRUSTED_KEYS or not isinstance(item, str):
                yield from _texts(item)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _pieces(text: str) -> Iterator[str]:
    """What of a visitor's text is looked for: all of it, its sentences, addresses and numbers; of a short one each
    word, for it may be a name."""
    whole = text.strip()
    if len(whole) >= _SHORTEST_WORD:
        yield whole
    for part in _SENTENCE_ENDS.split(whole):
        if len(part.strip()) >= _SHORTEST_SENTENCE:
            yield part.strip()
    yield from (found.group().rstrip(".") for found in _PERSONAL_DATA.finditer(whole))
    # A refused link is told by its host, which for an address of somebody says who they are.
    yield from (host for host in hosts_of(whole) if len(host) >= _SHORTEST_WORD)
    words = whole.split()
    if len(words) <= 3:
        yield from (word for word in words if len(word) >= _SHORTEST_WORD)


@lru_cache(maxsize=2000)
def _spellings(word: str) -> tuple[str, ...]:
    plain, ascii_ = json.dumps(word, ensure_ascii=False)[1:-1], json.dumps(word)[1:-1]
    return (word, plain, ascii_, html.escape(word), quote(word), quote(word, safe=""))


def _spelled(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(one for word in words for one in _spellings(word)))


def _either(words: list[str], *, whole: bool) -> re.Pattern[str] | None:
    """The longest first. A `whole` word stands for itself and never inside another one."""
    if not words:
        return None
    ordered = sorted(words, key=len, reverse=True)
    either = "|".join(map(re.escape, ordered))
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)" if whole else either, re.IGNORECASE)
