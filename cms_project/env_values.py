"""Types of environment variables. A validator's message fits after "X is …:"."""

from __future__ import annotations

import ipaddress
import json
import re
from pathlib import Path
from typing import Annotated, Literal, cast
from urllib.parse import SplitResult

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import NoDecode

from cms_project.folders import BASE_DIR
from proofroom.core.diagnostics.commands import require_known_command
from proofroom.core.validation.host_names import has_valid_host, is_host
from proofroom.core.validation.limits import LOCALE_MAX, LOCALE_PATTERN


def split(value: object) -> object:
    """Return the parts of a text separated by commas."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _locale(value: str) -> str:
    if not re.fullmatch(LOCALE_PATTERN, value):
        raise ValueError(f"{value!r} is not a language code such as 'en' or 'pt-br'")
    if len(value) > LOCALE_MAX:
        raise ValueError(f"a language code may have at most {LOCALE_MAX} characters")
    return value


def _host(value: str) -> str:
    if value != value.lower() or "." not in value or not is_host(value):
        raise ValueError(f"{value!r} is not a host name such as player.vimeo.com")
    return value


def _network(value: str) -> str:
    ipaddress.ip_network(value, strict=False)
    return value


def _http_url(value: str) -> str:
    if not re.fullmatch(r"https?://[^\s/]+(/\S*)?", value) or not has_valid_host(value):
        raise ValueError("it must be a URL that begins with http:// or https://")
    return value.rstrip("/")


def _redis_url(value: str) -> str:
    if not re.fullmatch(r"(rediss?|unix)://\S+", value):
        raise ValueError("it must be a URL that begins with redis://, rediss:// or unix://")
    return value


def _sentry_dsn(value: str) -> str:
    if not re.fullmatch(r"https?://[^\s@/]+@[^\s@/]+/(\S*/)?\d+", value):
        raise ValueError("it must look like https://key@host/1")
    return value


def _email_url(value: str) -> str:
    if not re.fullmatch(
        r"console:(//)?|smtps?://([^\s@/]+@)?[^\s@/:]+(:\d{1,5})?/?(\?\S*)?", value
    ):
        raise ValueError(
            "it must look like smtp://user:password@host:587/?tls=true, or be console:"
        )
    return value


def _file_or_http_url(value: str) -> str:
    """Return an http(s) URL, or a `file:///path`."""
    return value if re.fullmatch(r"file:///\S+", value) else _http_url(value)


def _rate(value: str) -> str:
    if not re.fullmatch(r"off|[1-9]\d{0,8}/(second|minute|hour|day)", value):
        raise ValueError("it must look like 100/hour (per second, minute, hour or day), or be off")
    return value


def _parse_named(value: object) -> object:
    """Return the values by name of a text with a JSON object."""
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError('it must be a JSON object such as {"name": "value"}')
    for name, secret in found.items():
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,80}", name):
            raise ValueError("its names may only contain letters, digits, hyphens and underscores")
        if not isinstance(secret, str) or not re.fullmatch(r"[\x21-\x7e]{1,1000}", secret):
            raise ValueError(f"the value of {name!r} must be ASCII text without spaces")
    return found


def _parse_pairs(value: object) -> object:
    """Return the pairs of a text such as `a=b,c=d`."""
    if not isinstance(value, str):
        return value
    pairs = [part.rpartition("=") for part in value.split(",") if part.strip()]
    if not all(name.strip() and other.strip() for name, _equals, other in pairs):
        raise ValueError("it must look like cms-admins=admin,writers=editor")
    return tuple((name.strip(), other.strip()) for name, _equals, other in pairs)


def _parse_endpoints(value: object) -> object:
    """Return the addresses by host of a text such as `photos.example=https://photos.example/oembed`."""
    if not isinstance(value, str):
        return value
    pairs = [part.strip().partition("=") for part in value.split(",") if part.strip()]
    if not all(host.strip() and url.strip() for host, _equals, url in pairs):
        raise ValueError("it must look like photos.example=https://photos.example/oembed")
    return {_host(host.strip().lower()): _http_url(url.strip()) for host, _equals, url in pairs}


def _from_base(value: Path) -> Path:
    return (BASE_DIR / value).resolve()


Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(split)]
Commands = Annotated[
    tuple[Annotated[str, AfterValidator(require_known_command)], ...],
    NoDecode,
    BeforeValidator(split),
]
Locales = Annotated[
    tuple[Annotated[str, AfterValidator(_locale)], ...], NoDecode, BeforeValidator(split)
]
Hosts = Annotated[
    tuple[Annotated[str, AfterValidator(_host)], ...], NoDecode, BeforeValidator(split)
]
Networks = Annotated[
    tuple[Annotated[str, AfterValidator(_network)], ...], NoDecode, BeforeValidator(split)
]
Endpoints = Annotated[dict[str, str], NoDecode, BeforeValidator(_parse_endpoints)]
Seconds = Annotated[tuple[Annotated[int, Field(ge=1)], ...], NoDecode, BeforeValidator(split)]
NamedSecrets = Annotated[dict[str, str], NoDecode, BeforeValidator(_parse_named)]
Url = Annotated[str, AfterValidator(_http_url)]
FileUrl = Annotated[str, AfterValidator(_file_or_http_url)]
RedisUrl = Annotated[str, AfterValidator(_redis_url)]
SentryDsn = Annotated[str, AfterValidator(_sentry_dsn)]
EmailUrl = Annotated[str, AfterValidator(_email_url)]
RoleName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,19}$")]
Roles = Annotated[tuple[RoleName, ...], NoDecode, BeforeValidator(split)]
RolesByValue = Annotated[tuple[tuple[str, RoleName], ...], NoDecode, BeforeValidator(_parse_pairs)]
Rate = Annotated[str, AfterValidator(_rate)]
Port = Annotated[int, Field(ge=1, le=65535)]
Folder = Annotated[Path, AfterValidator(_from_base)]


LogFile = Literal["off"] | Folder
"""A path, relative to the project."""


def secret(description: str, *, min_length: int | None = None) -> str | None:
    """Return a field whose value is never shown and can come from a file."""
    field = Field(
        default=None,
        description=description,
        repr=False,
        min_length=min_length,
        json_schema_extra={"secret": True},
    )
    return cast("str | None", field)


def port_of(parts: SplitResult) -> int | None:
    """Return the port of a URL. Raises `ValueError` with a sentence without the invalid value."""
    try:
        return parts.port
    # An unencoded password can put a part of itself where the port is expected, so the value must not be shown.
    except ValueError:
        raise ValueError(
            "its port is not a number; write special characters of user and password as %XX, such as %40 for @, "
            "%3A for : and %2F for /"
        ) from None
