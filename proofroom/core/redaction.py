"""Texts without secrets, and without what tells who somebody is: for logs, and for what looks into the site."""

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

REDACTED_SECRET: Final = "[hidden]"  # noqa: S105  # what stands in the place of one
REDACTED_ADDRESS: Final = "[address]"
SECRET_MASK: Final = "•••"  # noqa: S105  # what people are shown in the place of one
MIN_SECRET_LENGTH: Final = 6
"""Of a secret that is looked for: a shorter one would blank out ordinary words."""
MIN_PASSWORD_LENGTH: Final = 8
"""Of the password within an address, which may be an ordinary word."""
# A long text must not take long: each alternative takes all that it can, and what it took is not looked at again.
_NAMED: Final = re.compile(
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
_SCHEME: Final = re.compile(
    r"""(?ix)
    \b (bearer \s+) [^\s"'&,;]+ | \b (basic \s+) (?=[a-z+/]*[\d=]) [a-z0-9+/]{8,}={0,2}
    | ([?&](?:key|sig|signature|auth)=) [^\s"'&,;]+ | (hooks\.slack\.com/services/) [\w/]+
    """
)
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}KEY-----|\Z)", re.DOTALL
)
# Each begins where a word does and has an end: a long text without any must not take long.
_URL_PASSWORD: Final = re.compile(r"(\b\w{1,30}://[^\s:/@]{0,200}:)[^\s@/]{1,500}@")
_SHAPED: Final = re.compile(
    r"""(?x)
      \b cms(?:mcp|oauth|refresh)?_[A-Za-z0-9_-]{43,}                 # tokens of this site
    | \b (?:sk|pk|rk)-[\w-]{8,} | \b AIza[\w-]{20,}     # keys of providers
    | \b gh[pousr]_\w{16,} | \b github_pat_\w{20,} | \b glpat-[\w-]{16,} | \b (?:npm|hf)_[A-Za-z0-9]{20,}
    | \b SG\.[\w-]{16,}\.[\w-]{16,} | \b xox[abeoprs]-[\w-]{8,} | \b AKIA[A-Z0-9]{12,}
    | \b eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*                # signed tokens
    """
)
# Addresses that open something by themselves. Whole: a copied address may be cut, or have a letter more.
_SECRET_PATH: Final = re.compile(
    r"""(?ix)
      ( (?: / | %2F ) (?:
          preview
        | login (?: / | %2F ) (?: invitation | reset | email )
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
"""Asked for the secrets that an app keeps beside the environment."""


def redact_credentials(text: str) -> str:
    """Without whatever follows the name of a credential, or looks like one."""
    text = _PRIVATE_KEY.sub(REDACTED_SECRET, _URL_PASSWORD.sub(rf"\1{REDACTED_SECRET}@", text))
    text = _SCHEME.sub(_after_name, _NAMED.sub(_after_name, text))
    text = _SECRET_PATH.sub(rf"\1{REDACTED_SECRET}", text)
    return _SHAPED.sub(REDACTED_SECRET, text)


def _after_name(found: re.Match[str]) -> str:
    """The name of a credential with what it opened, such as a quotation mark, which stays closed."""
    name = next(group for group in found.groups() if group is not None)
    named = found.groupdict()
    return f"{name}{named.get('escaped') or named.get('quote') or ''}{REDACTED_SECRET}"


def redact_people(text: str) -> str:
    """Without ids of sessions, addresses of e-mail and addresses of machines other than this one."""
    text = _EMAIL.sub(REDACTED_ADDRESS, _SESSION.sub(REDACTED_SECRET, text))
    return _IPV4.sub(_machine, _IPV6.sub(_machine, text))


def secrets_of_service() -> list[str]:
    """Every secret value of the environment that is set."""
    env = settings.CMS_ENV
    found: list[object] = [settings.SECRET_KEY]
    for name, field in type(env).model_fields.items():
        if field.json_schema_extra:
            value = getattr(env, name)
            found += value.values() if isinstance(value, dict) else [value]
    return [value for value in found if isinstance(value, str) and len(value) >= MIN_SECRET_LENGTH]


class SecretRedactor:
    """Knows every secret of this service as it is now, those in the database included: made once for each answer."""

    def __init__(self) -> None:
        words = secrets_of_service()
        # The passwords of addresses too: libraries name them alone.
        for url in (
            settings.CMS_ENV.database_url,
            settings.CMS_ENV.database_replica_url,
            settings.CMS_ENV.redis_url,
        ):
            password = urlsplit(url).password if url else None
            if password and len(password) >= MIN_PASSWORD_LENGTH:
                words.append(password)
        words += [word for found in secret_sources() for word in found]
        self._known = pattern_of_secrets(words)

    def known(self, text: str) -> str:
        """Without the secrets themselves: for what is meant for everybody."""
        return self._known.sub(REDACTED_SECRET, text) if self._known else text

    def text(self, text: str) -> str:
        """Without anything that is a secret, looks like one or tells who somebody is."""
        return redact_people(redact_credentials(self.known(text)))


def pattern_of_secrets(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """What finds these secrets in every spelling; those that are too short to be looked for are left out."""
    spelled = spellings_of_all(one for one in secrets if len(one) >= MIN_SECRET_LENGTH)
    return re.compile("|".join(map(re.escape, spelled)), re.IGNORECASE) if spelled else None


def spellings_of_all(words: Iterable[str]) -> list[str]:
    """Every spelling of these words, each once, the longest first: a shorter one may be a part of it."""
    spelled = {spelling for word in words for spelling in spellings_of(word)}
    return sorted(spelled, key=lambda spelling: (-len(spelling), spelling))


@lru_cache(maxsize=4000)
def spellings_of(word: str) -> tuple[str, ...]:
    """A word as JSON, Python, HTML, addresses and base64 write it. The only list of these: whatever hides something
    asks here. Letters may be small or capital: headers and percent signs are written in both."""
    in_json, in_ascii = json.dumps(word, ensure_ascii=False)[1:-1], json.dumps(word)[1:-1]
    return (
        word,
        in_json,
        in_ascii,
        in_json.replace("/", "\\/"),  # as PHP writes it
        in_ascii.replace("/", "\\/"),
        repr(word)[1:-1],
        html.escape(word),
        quote(word),
        quote(word, safe=""),
        base64.b64encode(word.encode()).decode().rstrip("="),
    )


def _machine(found: re.Match[str]) -> str:
    text = found.group()
    word = text.rstrip(".")
    try:
        address = ip_address(word)
    except ValueError:
        return text
    is_own = address.is_loopback or address.is_unspecified
    # What begins with :: is nobody's, and part of a program rather.
    is_code = address.version == 6 and address.is_reserved and address.ipv4_mapped is None
    return text if is_own or is_code else REDACTED_ADDRESS + text[len(word) :]
