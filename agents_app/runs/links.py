"""Links in agents' answers: the hosts that a text leads to, and the refusal of hosts that only visitors named.

Stricter than need be where readings differ: a text is read in each of the ways in which a link can be written,
whatever a browser, a Markdown reader or a mail program would make of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from html import unescape
from typing import Final
from urllib.parse import unquote, urlsplit

from django.conf import settings
from pydantic import BaseModel

from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun
from agents_app.runs.payloads import shared_props
from agents_app.runs.prompt import UNTRUSTED_KEY
from content.layers import Layers
from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json

# Characters that names of hosts may hold and readers drop.
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
"""Ends of names that are rather a file's than a host's, where nothing else speaks for a host."""


def hosts_in(value: Json) -> frozenset[str]:
    """Every host that a value leads to, in all its strings."""
    return frozenset(host for _, text in strings_in(value) for host in hosts_of(text))


def strings_in(value: Json, path: str = "") -> Iterator[tuple[str, str]]:
    """Every string of a value with its path: names and entries alike."""
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


def hosts_of(text: str) -> set[str]:
    """The hosts that one text leads to, in lower case, without user, port and the dot at the end."""
    # The text as it stands, with entities read, with the escapes of Markdown read, with both.
    plain = unescape(text)
    readings = {text, plain, _MARKDOWN_ESCAPE.sub(r"\1", text), _MARKDOWN_ESCAPE.sub(r"\1", plain)}
    if " " not in text.strip():
        # An address alone: browsers read it without line ends and tabs.
        readings |= {_BREAKS.sub("", reading) for reading in readings}
    hosts: set[str] = set()
    for reading in {_spelled(reading) for reading in readings}:
        hosts.update(_host(found[1]) for found in _WITH_SCHEME.finditer(reading))
        for found in _WITHOUT_SCHEME.finditer(reading):
            host = _host(found[1])
            if "." in host or ":" in host or host.isdigit():
                hosts.add(host)
        for found in _BARE.finditer(reading):
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
    """As names of hosts are read: without what they may not hold, any kind of dot as a dot."""
    return _IGNORED.sub("", unicodedata.normalize("NFKC", text)).replace("\u3002", ".")


def _host(authority: str) -> str:
    """The host of an authority, as one spelling: what comes before the last @ is a user."""
    _, has_user, rest = authority.rpartition("@")
    host = rest if has_user else _NO_HOST.split(authority, maxsplit=1)[0]
    host = _spelled(unquote(host)).lower()
    host = host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host
    host = host if host.startswith("[") else host.partition(":")[0]
    labels = host.strip(".,;!*_~").split(".")
    for number, label in enumerate(labels):
        if label.startswith("xn--"):
            with suppress(UnicodeError):
                encoded = label.removeprefix("xn--").encode("ascii")
                labels[number] = encoded.decode("punycode").lower()
    return ".".join(labels)


_VOCABULARIES: Final = frozenset({"schema.org", "www.schema.org", "www.w3.org"})
"""Names in structured data that look like addresses, and lead nobody anywhere."""
_MAX_SHOWN_CHARACTERS: Final = 80


def refuse_new_links(
    run: AgentRun, agent: AgentDefinition, layers: Layers | None, answer: BaseModel
) -> None:
    """Raise `RuleViolation` on each place of an answer that names a host which nothing trusted names.

    Only for runs that read what nobody vouches for. `layers` are those from before the run.
    """
    if not run.has_read_untrusted:
        return
    said: Json = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    known = known_hosts(run, agent, layers)
    details: dict[str, list[str]] = {}
    for path, text in strings_in(said):
        new = sorted(hosts_of(text) - known)
        if new:
            shown = ", ".join(host[:_MAX_SHOWN_CHARACTERS] for host in new)
            details.setdefault(path, []).append(
                f"This leads to {shown}, which neither the post nor the request names. Leave it out: this run has "
                "read what visitors or other sites wrote, and may bring no links from there."
            )
    if details:
        first = next(iter(details.values()))[0]
        raise RuleViolation(first, code="new_link", details=details)


def known_hosts(run: AgentRun, agent: AgentDefinition, layers: Layers | None) -> frozenset[str]:
    """The hosts of the post in any layer, of this site, of the agent's own prompt, and of what a person asked for."""
    site = settings.CMS_ENV.site_url
    found = {
        host for host in settings.ALLOWED_HOSTS if "*" not in host and not host.startswith(".")
    }
    found |= {urlsplit(str(site)).hostname or ""} if site else set()
    found |= _VOCABULARIES | hosts_of(agent.llm_config.system_prompt)
    found |= hosts_of(run.note)
    first = run.first_try or run  # whose context the later tries have
    is_handed_on = first.via == "agent" or first.cause_run_id is not None
    # What another run handed on, here or through another system, may be words of visitors.
    if not (run.has_read_untrusted and is_handed_on):
        context = run.context if isinstance(run.context, dict) else {}
        trusted = {name: value for name, value in context.items() if name != UNTRUSTED_KEY}
        found |= hosts_in(trusted) | hosts_of(run.open_ended_context)
    if layers is not None:
        for document in (layers.live, layers.review.document, layers.ai_review.document):
            found |= hosts_in(document.to_json())
        found |= hosts_in({**shared_props(layers.ai_review.document)})
    return frozenset(found)
