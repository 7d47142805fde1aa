"""Redaction of secrets and personal data, for logs and diagnostics."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from typing import Final
from urllib.parse import quote, urlsplit

from django.conf import settings

from proofroom.core.hooks import Hook

REDACTED_SECRET: Final = "[hidden]"  # noqa: S105  # replaces a secret
REDACTED_ADDRESS: Final = "[address]"
SECRET_MASK: Final = "•••"  # noqa: S105  # shown instead of a secret
MIN_SECRET_LENGTH: Final = 6
"""Secrets shorter than this are not searched for: they would match ordinary words."""
MIN_PASSWORD_LENGTH: Final = 8
"""The minimum for a password in a URL, which may be an ordinary word."""
# Must be linear in the length of the text: each alternative is greedy and does not backtrack.
_NAMED_CREDENTIAL: Final = re.compile(
    r"""(?ix)
    ( (?: (?P<header>authorization|cookie)
        | x-agent-key | x-csrftoken | pass(?:word|wd|phrase) | \bpwd | session_?-?id | token
        | secret(?:_?-?key)? | (?:api|access|private|signing)_?-?key )
      (?: \\*["']? \s* (?:=>|[:=]) | ["'] \s* , ) \s* (?:b(?=["']))? )
    (?: (?P<escaped>\\+["']) (?:(?!(?P=escaped))[^\r\n])*
      | (?P<quote>["']) (?:\\.|(?!(?P=quote))[^\\\r\n])*
      | \[ [^\]\r\n]* \]?
      | (?(header) (?:[^\r\n"']|(?<==)["'][^\r\n"']*["'])+ | (?:[^\s"'&,;]|,(?=\S))+ ) )
    """
)
_PREFIXED_CREDENTIAL: Final = re.compile(
    r"""(?ix)
    \b (bearer \s+) [^\s"'&,;]+ | \b (basic \s+) (?=[a-z+/]*[\d=]) [a-z0-9+/]{8,}={0,2}
    | ([?&](?:key|sig|signature|auth)=) [^\s"'&,;]+ | (hooks\.slack\.com/services/) [\w/]+
    """
)
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}KEY-----|\Z)", re.DOTALL
)
# Each starts at a word boundary and has a maximum length, so that long texts take linear time.
_URL_PASSWORD: Final = re.compile(r"(\b\w{1,30}://[^\s:/@]{0,200}:)[^\s@/]{1,500}@")
_TOKEN_FORMAT: Final = re.compile(
    r"""(?x)
      \b cms(?:mcp|oauth|refresh)?_[A-Za-z0-9_-]{43,}                 # tokens of this site
    | \b (?:sk|pk|rk)-[\w-]{8,} | \b AIza[\w-]{20,}     # keys of providers
    | \b gh[pousr]_\w{16,} | \b github_pat_\w{20,} | \b glpat-[\w-]{16,} | \b (?:npm|hf)_[A-Za-z0-9]{20,}
    | \b SG\.[\w-]{16,}\.[\w-]{16,} | \b xox[abeoprs]-[\w-]{8,} | \b AKIA[A-Z0-9]{12,}
    | \b eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*                # signed tokens
    """
)
# URLs that grant access by themselves. Incomplete ones match, too, because a copied URL may be cut
# or have a character more.
_SECRET_PATH: Final = re.compile(
    r"""(?ix)
      ( (?: / | %2F ) (?:
          preview (?: (?: / | %2F ) (?: changes | release ) )?
        | login (?: / | %2F ) (?: invitation | reset | email )
        | notifications (?: / | %2F ) unsubscribe
        | calendar
      ) (?: / | %2F ) )
      (?! key (?: / | %2F ) | done \b ) (?: [\w~.:-] | %(?!2F) ){6,}
    """
)
_SESSION: Final = re.compile(
    r"""(?x)
      (?<![A-Za-z0-9]) (?=[a-z]*[0-9]) [a-z0-9]{32} (?![A-Za-z0-9])   # sessions, of people and of AI clients
    | \b (?:pbkdf2_\w{1,20}|argon2\w{0,3}|bcrypt\w{0,10}|scrypt|md5)\$[^\s"']{8,}   # hashes of passwords
    """
)
_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_IPV4: Final = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]?\d)")
_IPV6: Final = re.compile(r"(?i)(?<![\w:.])(?=[0-9a-f]{0,4}:)[0-9a-f:.]{3,45}(?![\w:])")

secret_sources: Hook[[], Iterable[str]] = Hook()
"""Functions that return an app's secrets stored outside of the environment."""


def redact_credentials(text: str) -> str:
    """Remove values that follow the name of a credential or look like one."""
    text = _PRIVATE_KEY.sub(REDACTED_SECRET, _URL_PASSWORD.sub(rf"\1{REDACTED_SECRET}@", text))
    text = _PREFIXED_CREDENTIAL.sub(_after_name, _NAMED_CREDENTIAL.sub(_after_name, text))
    text = _SECRET_PATH.sub(rf"\1{REDACTED_SECRET}", text)
    return _TOKEN_FORMAT.sub(REDACTED_SECRET, text)


def _after_name(found: re.Match[str]) -> str:
    """Return the name of a credential with its opening quotation mark, so that quotes stay balanced."""
    name = next(group for group in found.groups() if group is not None)
    named = found.groupdict()
    return f"{name}{named.get('escaped') or named.get('quote') or ''}{REDACTED_SECRET}"


def redact_people(text: str) -> str:
    """Remove session ids, e-mail addresses and IP addresses other than this machine's."""
    text = _EMAIL.sub(REDACTED_ADDRESS, _SESSION.sub(REDACTED_SECRET, text))
    return _IPV4.sub(_redact_ip, _IPV6.sub(_redact_ip, text))


def secrets_of_service() -> list[str]:
    """Return all secrets in the environment."""
    env = settings.CMS_ENV
    found: list[object] = [settings.SECRET_KEY]
    for name, field in type(env).model_fields.items():
        if field.json_schema_extra:
            value = getattr(env, name)
            found += value.values() if isinstance(value, dict) else [value]
    return [value for value in found if isinstance(value, str) and len(value) >= MIN_SECRET_LENGTH]


class SecretRedactor:
    """A redactor with all current secrets, including those in the database. Create one per response."""

    def __init__(self) -> None:
        words = secrets_of_service()
        # Passwords in URLs, too, because libraries may log them alone.
        for url in (
            settings.CMS_ENV.database_url,
            settings.CMS_ENV.database_replica_url,
            settings.CMS_ENV.lane_database_url,
            settings.CMS_ENV.redis_url,
        ):
            password = urlsplit(url).password if url else None
            if password and len(password) >= MIN_PASSWORD_LENGTH:
                words.append(password)
        words += [word for found in secret_sources() for word in found]
        self._known = pattern_of_secrets(words)

    def known(self, text: str) -> str:
        """Remove known secrets only, for public texts."""
        return self._known.sub(REDACTED_SECRET, text) if self._known else text

    def text(self, text: str) -> str:
        """Remove secrets, what looks like one, and personal data."""
        return redact_people(redact_credentials(self.known(text)))


def pattern_of_secrets(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern for all spellings of these secrets, without short ones; None if there are none."""
    spelled = spellings_of_all(one for one in secrets if len(one) >= MIN_SECRET_LENGTH)
    return re.compile("|".join(map(re.escape, spelled)), re.IGNORECASE) if spelled else None


def spellings_of_all(words: Iterable[str]) -> list[str]:
    """Return all distinct spellings, the longest first, because a shorter one may be a part of it."""
    spelled = {spelling for word in words for spelling in spellings_of(word)}
    return sorted(spelled, key=lambda spelling: (-len(spelling), spelling))


@lru_cache(maxsize=4000)
def spellings_of(word: str) -> tuple[str, ...]:
    """Return a word as JSON, Python, HTML, URLs and base64 write it. All redaction uses this list.

    Compare without case, because headers and percent-encoding are written in both.
    """
    json_text, ascii_text = json.dumps(word, ensure_ascii=False)[1:-1], json.dumps(word)[1:-1]
    return (
        word,
        json_text,
        ascii_text,
        json_text.replace("/", "\\/"),  # as PHP writes it
        ascii_text.replace("/", "\\/"),
        repr(word)[1:-1],
        html.escape(word),
        quote(word),
        quote(word, safe=""),
        base64.b64encode(word.encode()).decode().rstrip("="),
    )


def _redact_ip(found: re.Match[str]) -> str:
    text = found.group()
    # A full stop may follow an address.
    word = text.rstrip(".")
    try:
        address = ip_address(word)
    except ValueError:
        return text
    is_own = address.is_loopback or address.is_unspecified
    # Reserved IPv6 addresses that start with :: are rather code, such as a slice.
    is_code = address.version == 6 and address.is_reserved and address.ipv4_mapped is None
    return text if is_own or is_code else REDACTED_ADDRESS + text[len(word) :]
