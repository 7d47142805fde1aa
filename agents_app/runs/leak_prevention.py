"""Keeps secrets and visitors' texts out of stored transcripts, and untrusted links out of answers.

Deliberately strict: a text is read in every way in which browsers, Markdown renderers or mail
programs may recognize a link.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from html import unescape
from typing import Final
from urllib.parse import unquote, urlsplit
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from agents_app.definitions.agents import all_agents
from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun
from agents_app.runs.module_props import shared_props
from agents_app.runs.permissions import UNTRUSTED_KEY
from content.layers import Layers
from content.models import Draft, Post
from content.store.layer_state import Attribution, read_marks
from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json
from proofroom.core.redaction import (
    MIN_SECRET_LENGTH,
    SECRET_MASK,
    secrets_of_service,
    spellings_of_all,
)
from proofroom.core.tools import get_tool
from proofroom.core.validation.input_validation import parse_uuid

# Characters that host names may contain and readers ignore.
_IGNORED: Final = re.compile("[\u00ad\u200b\u2060\ufeff\ufe00-\ufe0f]")
_MARKDOWN_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_BREAKS: Final = re.compile(r"[\t\r\n]")
_WITH_SCHEME: Final = re.compile(
    r"(?:\b(?:https?|wss?|ftp):[/\\]*|\b[a-z][a-z0-9+.-]{1,30}:[/\\]{2,})([^\s/\\?#]+)", re.I
)
_WITHOUT_SCHEME: Final = re.compile(r"(?<![\w:/\\])[/\\]{2,}([^\s/\\?#]+)")
_BARE: Final = re.compile(
    r"(?<![\w./\\-])((?:[\w-]+\.)+(?:xn--[\w-]+|[^\W\d_]{2,63}))(?![\w-])([/:]?)"
)
_NO_HOST: Final = re.compile(r"[^\w.\-:%\[\]~]")
_FILES: Final = re.compile(
    r"avif|css|csv|docx?|gif|html?|jpe?g|js|json|md|mp[34]|pdf|png|pptx?|py|svg|ts|txt|webp|xlsx?|xml|ya?ml"
)
"""Endings that look like file names rather than hosts, if nothing else indicates a host."""


def hosts_in(value: Json) -> frozenset[str]:
    """Return all hosts in the strings of a value."""
    return frozenset(host for _, text in strings_in(value) for host in hosts_of(text))


def strings_in(value: Json, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string of a value with its path, both keys and values."""
    # A stack instead of recursion, because the nesting of answers is not bounded.
    pending: list[tuple[str, Json]] = [(path, value)]
    while pending:
        here, item = pending.pop()
        if isinstance(item, str):
            yield here, item
        elif isinstance(item, Mapping):
            for name, inner in item.items():
                yield here, name
                pending.append((f"{here}.{name}" if here else name, inner))
        elif isinstance(item, Sequence):
            pending += [
                (f"{here}.{number}" if here else str(number), inner)
                for number, inner in enumerate(item)
            ]


def hosts_of(text: str, *, with_bare_names: bool = True) -> set[str]:
    """Return the hosts in a text, in lower case, without user, port and trailing dot.

    `with_bare_names`: also names such as `example.org` alone, which only some readers make a link of.
    """
    # Read the text unchanged, with HTML entities decoded, with Markdown escapes removed, and with
    # both.
    plain = unescape(text)
    readings = {text, plain, _MARKDOWN_ESCAPE.sub(r"\1", text), _MARKDOWN_ESCAPE.sub(r"\1", plain)}
    if " " not in text.strip():
        # Browsers remove line breaks and tabs from a URL.
        readings |= {_BREAKS.sub("", reading) for reading in readings}
    hosts: set[str] = set()
    for reading in {_spelled(reading) for reading in readings}:
        hosts.update(_host(found[1]) for found in _WITH_SCHEME.finditer(reading))
        for found in _WITHOUT_SCHEME.finditer(reading):
            host = _host(found[1])
            if "." in host or ":" in host or host.isdigit():
                hosts.add(host)
        for found in _BARE.finditer(reading) if with_bare_names else ():
            name, end = found[1], found[2]
            is_address = (
                end
                or reading[found.start() - 1 : found.start()] == "@"
                or name.lower().startswith("www.")
            )
            if is_address or not _FILES.fullmatch(name.rpartition(".")[2].lower()):
                hosts.add(_host(name))
    return hosts - {""}


def _spelled(text: str) -> str:
    """Return the text normalized like a host name: without ignored characters, with ASCII dots."""
    return _IGNORED.sub("", unicodedata.normalize("NFKC", text)).replace("\u3002", ".")


def _host(authority: str) -> str:
    """Return the host of a URL's authority in one spelling. The part before the last @ is a user."""
    _, has_user, rest = authority.rpartition("@")
    host = rest if has_user else _NO_HOST.split(authority, maxsplit=1)[0]
    host = _spelled(unquote(host)).lower()
    host = host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host
    host = host if host.startswith("[") else host.partition(":")[0]
    labels = host.strip(".,;!*_~").split(".")
    for number, label in enumerate(labels):
        if label.startswith("xn--"):
            with suppress(UnicodeError):
                # Decoded, so that both spellings of an internationalized name compare equal.
                encoded = label.removeprefix("xn--").encode("ascii")
                labels[number] = encoded.decode("punycode").lower()
    return ".".join(labels)


_VOCABULARIES: Final = frozenset({"schema.org", "www.schema.org", "www.w3.org"})
"""Names in structured data that look like URLs but are not links."""
_MAX_SHOWN_CHARACTERS: Final = 80


def refuse_new_links(
    run: AgentRun, agent: AgentDefinition, layers: Layers | None, answer: BaseModel
) -> None:
    """Raise `RuleViolation` for each place of an answer with a host that no trusted source names.

    Only for runs that read untrusted content. `layers`: the state before the run.
    """
    if not run.has_read_untrusted:
        return
    answer_json: Json = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    known = known_hosts(run, agent, layers)
    details: dict[str, list[str]] = {}
    for path, text in strings_in(answer_json):
        new = sorted(hosts_of(text) - known)
        if new:
            hosts = ", ".join(host[:_MAX_SHOWN_CHARACTERS] for host in new)
            details.setdefault(path, []).append(
                f"This leads to {hosts}, which neither the post nor the request names. Leave it out: this run has "
                "read what visitors or other sites wrote, and may bring no links from there."
            )
    if details:
        first = next(iter(details.values()))[0]
        raise RuleViolation(first, code="new_link", details=details)


def known_hosts(run: AgentRun, agent: AgentDefinition, layers: Layers | None) -> frozenset[str]:
    """Return the hosts in the post's layers, of this site, in the agent's prompt, and in people's requests."""
    site = settings.CMS_ENV.site_url
    found = {
        # Wildcard entries are no hosts.
        host
        for host in settings.ALLOWED_HOSTS
        if "*" not in host and not host.startswith(".")
    }
    found |= {urlsplit(str(site)).hostname or ""} if site else set()
    # The bucket that serves the site's files, if there is one.
    found |= {urlsplit(default_storage.url("file")).hostname or ""}
    found |= _VOCABULARIES | hosts_of(agent.llm_config.system_prompt)
    found |= hosts_of(run.note)
    first = run.first_try or run  # whose context the later tries have
    is_handed_on = first.via == "agent" or first.cause_run_id is not None
    # Input from another run, also through another system, may contain visitors' texts.
    if not (run.has_read_untrusted and is_handed_on):
        context = run.context if isinstance(run.context, dict) else {}
        trusted = {name: value for name, value in context.items() if name != UNTRUSTED_KEY}
        found |= hosts_in(trusted) | hosts_of(run.open_ended_context)
    if layers is not None:
        for document in (layers.live, layers.review.document, layers.ai_review.document):
            found |= hosts_in(document.to_json())
        found |= hosts_in({**shared_props(layers.ai_review.document)})
    return frozenset(found)


@dataclass(slots=True)
class ReadLinks:
    """The hosts of links that a run on a post has read in other content, which could have told the model to use them.

    `known`: returns the hosts of the run's own sources. `group`: the translation group of its post, which is its own;
    None for a run without a post, which may use what it finds. Hosts that a model knows by itself are not limited.
    """

    group: UUID | None
    known: Callable[[], frozenset[str]]
    hosts: set[str] = field(default_factory=set)

    def add(self, text: str, post_ids: Collection[UUID]) -> None:
        """Note the links in the answer of a tool that was asked about these posts."""
        if self.group is None:
            return
        new = hosts_of(text, with_bare_names=False) - self.hosts
        if new and (new := new - self.known()) and not self._is_own(self.group, post_ids):
            self.hosts |= new

    def refuse_in(self, value: Json) -> None:
        """Raise `RuleViolation` for each string of a value with one of these links."""
        details: dict[str, list[str]] = {}
        for path, text in strings_in(value) if self.hosts else ():
            found = sorted(hosts_of(text, with_bare_names=False) & self.hosts)
            if found:
                hosts = ", ".join(host[:_MAX_SHOWN_CHARACTERS] for host in found)
                details.setdefault(path, []).append(
                    f"This leads to {hosts}, which you have read in other content, and neither the post nor the "
                    "request names. Leave it out."
                )
        if details:
            raise RuleViolation(next(iter(details.values()))[0], code="new_link", details=details)

    def _is_own(self, group: UUID, post_ids: Collection[UUID]) -> bool:
        own = Post.objects.filter(pk__in=post_ids, translation_group=group)
        return bool(post_ids) and own.count() == len(set(post_ids))


def has_untrusted_changes(layers: Layers) -> bool:
    """Return True if a draft layer has changes of runs that read untrusted content."""
    return _is_any_untrusted(
        mark for view in (layers.review, layers.ai_review) for mark in view.marks.values()
    )


def posts_have_untrusted_changes(post_ids: Collection[UUID]) -> bool:
    """Return the same for any of these posts. At most two queries, none without posts."""
    if not post_ids:
        return False
    drafts = Draft.objects.filter(post__in=post_ids, is_empty=False).values_list("marks", flat=True)
    return _is_any_untrusted(mark for marks in drafts for mark in read_marks(marks).values())


def _is_any_untrusted(marks: Iterable[Attribution]) -> bool:
    runs = {
        id_ for mark in marks if mark.is_agents and (id_ := parse_uuid(mark.run_id)) is not None
    }
    return bool(runs) and AgentRun.objects.filter(pk__in=runs, has_read_untrusted=True).exists()


VISITOR_MASK: Final = "[words of a visitor]"
# Shorter texts would mask ordinary words.
_SHORTEST_WORD: Final = 3
_SHORTEST_SENTENCE: Final = 12
_MAX_WORDS: Final = 2000
"""Maximum number of visitors' texts to search for."""
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
"""Keys next to visitors' texts whose values are not visitors'."""
_JSON: Final = TypeAdapter[JsonValue](JsonValue)


class RunRedactor:
    """Masks the secrets of this service, and the visitors' texts one run has read."""

    def __init__(self, untrusted: Json = None) -> None:
        self._secrets = _pattern_of(all_secrets(), whole=False)
        self._words: dict[str, None] = {}
        self._visitor: re.Pattern[str] | None = None
        self.add_untrusted(untrusted)

    def add_untrusted(self, value: Json) -> None:
        """Mask these texts from now on."""
        known = len(self._words)
        for text in _texts(value):
            self._words |= dict.fromkeys(_pieces(text))
        if len(self._words) > known:
            self._visitor = _pattern_of(list(self._words)[:_MAX_WORDS], whole=True)

    def add_tool_answer(self, name: str, text: str) -> None:
        """Mask the answer from now on if its tool reads visitors' texts."""
        tool = get_tool(name)
        if tool is None or not tool.reads_untrusted:
            return
        # The text is fenced by untrusted marks; parse the JSON between them.
        begin = min((place for place in map(text.find, "{[") if place >= 0), default=0)
        end = max(map(text.rfind, "}]")) + 1
        try:
            self.add_untrusted(_JSON.validate_json(text[begin:end]))
        except ValidationError:
            self.add_untrusted(text)

    def redact_answer(self, name: str, text: str) -> str:
        """Return a tool's answer for storage; only a mask for tools that read visitors' texts."""
        tool = get_tool(name)
        if tool is not None and tool.reads_untrusted:
            return VISITOR_MASK
        return self.redact(text)

    def redact(self, text: str) -> str:
        """Return the text without secrets, visitors' texts and NUL, which PostgreSQL cannot store."""
        # Lone surrogates cannot be stored either; encoding with `replace` removes them.
        clean = text.replace("\x00", "�").encode("utf-8", "replace").decode()
        if self._secrets is not None:
            clean = self._secrets.sub(SECRET_MASK, clean)
        clean = _CREDENTIAL.sub(SECRET_MASK, clean)
        return clean if self._visitor is None else self._visitor.sub(VISITOR_MASK, clean)


def all_secrets() -> list[str]:
    """Return all secrets of this service, including those in agents' files."""
    return [*secrets_of_service(), *agent_api_keys()]


def agent_api_keys() -> list[str]:
    """Return the API keys in agents' files."""
    keys = (agent.llm_config.api_key for agent in all_agents())
    found = [key.get_secret_value() for key in keys if key is not None]
    return [value for value in found if len(value) >= MIN_SECRET_LENGTH]


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
    """Yield the parts of a visitor's text to mask: the whole, sentences, addresses and numbers; for a
    short text each word, because it may be a name.
    """
    whole = text.strip()
    if len(whole) >= _SHORTEST_WORD:
        yield whole
    for part in _SENTENCE_ENDS.split(whole):
        if len(part.strip()) >= _SHORTEST_SENTENCE:
            yield part.strip()
    yield from (found.group().rstrip(".") for found in _PERSONAL_DATA.finditer(whole))
    # Errors about refused links contain hosts, and a personal domain can identify a visitor.
    yield from (host for host in hosts_of(whole) if len(host) >= _SHORTEST_WORD)
    words = whole.split()
    if len(words) <= 3:
        yield from (word for word in words if len(word) >= _SHORTEST_WORD)


def _pattern_of(words: Iterable[str], *, whole: bool) -> re.Pattern[str] | None:
    """Return a pattern for all spellings of the words, longest first. `whole`: match whole words only."""
    either = "|".join(map(re.escape, spellings_of_all(words)))
    if not either:
        return None
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)" if whole else either, re.IGNORECASE)
