"""Addresses in plain text, and the hosts that they lead to.

What ends in a suffix of the Public Suffix List (its ICANN part) is a host, written with a scheme or without. A
sentence that goes on without a space ("end.Next"), a file ("readme.md") and a call in code ("Date.now()") are none,
unless a scheme or `www.` says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from threading import Lock
from typing import Final

from publicsuffixlist import PublicSuffixList

_DOT: Final = "[.。．｡]"  # browsers take all of them for a full stop
_LABELS: Final = rf"(?:[\w-]{{1,63}}{_DOT}){{1,8}}[^\W_][\w-]{{1,62}}"
_REST: Final = r"(?::\d{1,5})?(?:[/?#\\][^\s<>()\"']{0,2000})?"
_ADDRESS: Final = re.compile(
    r"(?P<scheme>(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}:[/\\]{2}|(?<!\w)www\.)[^\s<>()\"']{1,2000}"
    rf"|(?<![\w.+-])(?P<mailbox>[\w.+-]{{1,64}})@(?P<mail>{_LABELS})"
    rf"|(?<![\w@./\\-])(?P<bare>{_LABELS})(?![\w@-]|\()(?P<rest>{_REST})",
    re.IGNORECASE,
)
"""Bounded, and begun only where a word begins: a hostile text costs no more than its length."""
_AUTHORITY: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,20}:[/\\]{2,})?([^/\\?#]{0,2000})", re.IGNORECASE
)
_SPECIAL: Final = frozenset(
    {"example", "test", "invalid", "localhost", "onion", "local", "internal"}
)
"""Endings for trials and for networks of their own: no list of public suffixes has them."""
_ANY_CASE: Final = frozenset({"com", "net", "org", "info"})
"""Endings that begin no sentence."""
_FILES: Final = frozenset({"md", "py", "rs", "pl", "ps", "sh", "cc", "mm", "so", "java"})
"""Endings of files that are endings of hosts too."""
_TRAILING: Final = ".,;:!?…’'])}"
_PATH: Final = tuple("/\\?0123456789")
"""How an address goes on after a host, with digits of a port too; after a file it does not: readme.md#start."""
_LOCK: Final = Lock()


@dataclass(frozen=True, slots=True)
class Address:
    """An address as it is written, and its host in small letters."""

    text: str
    host: str


def find_addresses(text: str) -> list[Address]:
    """Return the addresses in a text, in order."""
    if "." not in text and "://" not in text and not any(dot in text for dot in "。．｡\\"):
        return []
    found: list[Address] = []
    for match in _ADDRESS.finditer(text):
        written = match[0].rstrip(_TRAILING)
        if match["scheme"]:
            found.append(Address(written, _host_of(written)))
        elif match["mail"]:
            found.append(Address(written, _plain(match["mail"])))
        elif host := _bare_host(
            match["bare"], has_path=match["rest"].strip(_TRAILING)[:1] in _PATH
        ):
            whole = len(host) == len(match["bare"])
            found.append(Address(written if whole else match["bare"][: len(host)], _plain(host)))
    return found


def _host_of(address: str) -> str:
    """The host that a browser goes to: the part behind the last @ of the authority, without its port."""
    authority = _AUTHORITY.match(address)
    host = authority[1].rpartition("@")[2] if authority else ""
    return _plain(re.sub(r":\d{0,5}$", "", host))


def _plain(host: str) -> str:
    return re.sub(_DOT, ".", host).casefold().strip(".")


def _bare_host(written: str, *, has_path: bool) -> str:
    """The host that the text begins with; empty where it is none."""
    labels = re.split(_DOT, written)
    is_ascii_only = written.count(".") < len(labels) - 1
    while len(labels) > 1:
        if _ends_host(labels, has_path=has_path, is_ascii_only=is_ascii_only):
            return ".".join(labels)
        if not labels.pop()[0].isupper():
            break
        has_path = False  # it belongs to what came after: evil.com.Then
    return ""


def _ends_host(labels: list[str], *, has_path: bool, is_ascii_only: bool) -> bool:
    ending = labels[-1]
    lower = ending.casefold()
    if not (lower in _SPECIAL or lower.startswith("xn--") or _is_suffix(lower)):
        return False
    if is_ascii_only and not ending.isascii():
        return False  # a Chinese full stop between two sentences
    if has_path:
        return True
    if len(labels) == 2 and (lower in _FILES or (labels[0].isdigit() and len(lower) == 2)):
        return False  # 10.am, readme.md
    goes_on = ending[0].isupper() and not (ending.isupper() and labels[0].isupper())
    return not goes_on or lower in _ANY_CASE


@lru_cache(maxsize=4096)
def _is_suffix(ending: str) -> bool:
    return _suffixes().publicsuffix(f"x.{ending}", accept_unknown=False) is not None


def _suffixes() -> PublicSuffixList:
    with _LOCK:
        return _read_suffixes()


@cache
def _read_suffixes() -> PublicSuffixList:
    return PublicSuffixList(only_icann=True)
