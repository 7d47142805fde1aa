"""Addresses in plain text, and their hosts.

Text ending in a suffix of the Public Suffix List (ICANN part) is a host, with or without a scheme. Sentences
without a space between them ("end.Next"), files ("readme.md") and calls in code ("Date.now()") are no hosts, unless
they have a scheme or `www.`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from threading import Lock
from typing import Final

from publicsuffixlist import PublicSuffixList

_DOT: Final = "[.。．｡]"  # browsers treat all of these as a full stop
_LABELS: Final = rf"(?:[\w-]{{1,63}}{_DOT}){{1,8}}[^\W_][\w-]{{1,62}}"
_REST: Final = r"(?::\d{1,5})?(?:[/?#\\][^\s<>()\"']{0,2000})?"
_ADDRESS: Final = re.compile(
    r"(?P<scheme>(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}:[/\\]{2}|(?<!\w)www\.)[^\s<>()\"']{1,2000}"
    rf"|(?<![\w.+-])(?P<mailbox>[\w.+-]{{1,64}})@(?P<mail>{_LABELS})"
    rf"|(?<![\w@./\\-])(?P<bare>{_LABELS})(?![\w@-]|\()(?P<rest>{_REST})",
    re.IGNORECASE,
)
"""Quantifiers are bounded and matches start only at the start of a word: hostile text costs linear time."""
_AUTHORITY: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,20}:[/\\]{2,})?([^/\\?#]{0,2000})", re.IGNORECASE
)
_SPECIAL: Final = frozenset(
    {"example", "test", "invalid", "localhost", "onion", "local", "internal"}
)
"""Reserved and private top-level domains, which are not in the Public Suffix List."""
_ANY_CASE: Final = frozenset({"com", "net", "org", "info"})
"""Suffixes that count even with a capital letter, because they hardly ever start a sentence."""
_FILES: Final = frozenset({"md", "py", "rs", "pl", "ps", "sh", "cc", "mm", "so", "java"})
"""File extensions that are also public suffixes."""
_TRAILING: Final = ".,;:!?…’'])}"
_PATH: Final = tuple("/\\?0123456789")
"""First characters of a path, a query or a port after a host.

The name of a file can only have a fragment after it: readme.md#start.
"""
_LOCK: Final = Lock()


@dataclass(frozen=True, slots=True)
class Address:
    """An address as written, and its host in lower case."""

    text: str
    host: str


def find_addresses(text: str) -> list[Address]:
    """Return the addresses in a text, in order."""
    # Cheap checks first: most texts contain no address.
    if "." not in text and "://" not in text and not any(dot in text for dot in "。．｡\\"):
        return []
    found: list[Address] = []
    for match in _ADDRESS.finditer(text):
        # Punctuation at the end belongs to the sentence.
        written = match[0].rstrip(_TRAILING)
        if match["scheme"]:
            found.append(Address(written, _host_of(written)))
        elif match["mail"]:
            found.append(Address(written, _normalise_host(match["mail"])))
        elif host := _bare_host(
            match["bare"], has_path=match["rest"].strip(_TRAILING)[:1] in _PATH
        ):
            whole = len(host) == len(match["bare"])
            found.append(
                Address(written if whole else match["bare"][: len(host)], _normalise_host(host))
            )
    return found


def _host_of(address: str) -> str:
    """Return the host that a browser opens: the authority after the last @, without the port."""
    authority = _AUTHORITY.match(address)
    host = authority[1].rpartition("@")[2] if authority else ""
    return _normalise_host(re.sub(r":\d{0,5}$", "", host))


def _normalise_host(host: str) -> str:
    return re.sub(_DOT, ".", host).casefold().strip(".")


def _bare_host(written: str, *, has_path: bool) -> str:
    """Return the host at the start of the text, or an empty string."""
    labels = re.split(_DOT, written)
    # The text contains dots other than ".", which can also be full stops of Chinese or Japanese sentences.
    is_ascii_only = written.count(".") < len(labels) - 1
    while len(labels) > 1:
        if _ends_host(labels, has_path=has_path, is_ascii_only=is_ascii_only):
            return ".".join(labels)
        # The last label may be the first word of the next sentence: try again without it.
        if not labels.pop()[0].isupper():
            break
        has_path = False  # the path belongs to the removed label: evil.com.Then
    return ""


def _ends_host(labels: list[str], *, has_path: bool, is_ascii_only: bool) -> bool:
    ending = labels[-1]
    lower = ending.casefold()
    # "xn--" is the ASCII form of an internationalised suffix.
    if not (lower in _SPECIAL or lower.startswith("xn--") or _is_suffix(lower)):
        return False
    if is_ascii_only and not ending.isascii():
        return False  # a Chinese full stop between two sentences
    if has_path:
        return True
    if len(labels) == 2 and (lower in _FILES or (labels[0].isdigit() and len(lower) == 2)):
        return False  # a time or a file: 10.am, readme.md
    goes_on = ending[0].isupper() and not (ending.isupper() and labels[0].isupper())
    return not goes_on or lower in _ANY_CASE


@lru_cache(maxsize=4096)
def _is_suffix(ending: str) -> bool:
    return _suffixes().publicsuffix(f"x.{ending}", accept_unknown=False) is not None


def _suffixes() -> PublicSuffixList:
    # `cache` does not prevent several threads from parsing the list at the same time.
    with _LOCK:
        return _read_suffixes()


@cache
def _read_suffixes() -> PublicSuffixList:
    return PublicSuffixList(only_icann=True)
