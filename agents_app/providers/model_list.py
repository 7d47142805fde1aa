"""A provider's list of models, a request that is free and needs the key. Import it in the worker only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Final

import httpx2

from agents_app.models.settings import CheckOutcome
from agents_app.providers.connection import ProviderConnection
from agents_app.providers.interface import ProviderChoice, ProviderError, ProviderTimeout
from agents_app.providers.vendor import address_of
from agents_app.providers.vendors import find_vendor

LIST_TIMEOUT_SECONDS: Final = 10.0
_BYTES: Final = 4 * 1024 * 1024
_MOST: Final = 10_000
_BY_STATUS: Final[Mapping[int, CheckOutcome]] = {
    401: CheckOutcome.KEY_REFUSED,
    403: CheckOutcome.KEY_REFUSED,
    402: CheckOutcome.QUOTA,
    429: CheckOutcome.QUOTA,
    404: CheckOutcome.NO_LIST,
    405: CheckOutcome.NO_LIST,
    501: CheckOutcome.NO_LIST,
}


@dataclass(frozen=True, slots=True)
class ModelListing:
    """A provider's answer. `is_whole`: `models` is the complete list."""

    outcome: CheckOutcome
    status: int | None = None
    models: Sequence[str] = ()
    is_whole: bool = False


class _ListTooLong(Exception):
    """The response is longer than any list of models."""


def list_models(choice: ProviderChoice, *, seconds: float = LIST_TIMEOUT_SECONDS) -> ModelListing:
    """Request the list once. Never raises; returns after `seconds` at the latest."""
    try:
        with ProviderConnection(choice.provider, seconds, Event()) as line:
            status, body = line.wait(_get(line.client, choice))
    except (ProviderTimeout, httpx2.ReadTimeout, httpx2.WriteTimeout):
        return ModelListing(CheckOutcome.SILENT)
    except (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol, httpx2.InvalidURL, ValueError):
        return ModelListing(CheckOutcome.UNUSABLE)
    except ExceptionGroup:  # the system's error for an invalid port
        return ModelListing(CheckOutcome.UNUSABLE)
    except httpx2.TransportError:
        return ModelListing(CheckOutcome.UNREACHABLE)
    except (ProviderError, httpx2.DecodingError, _ListTooLong):
        return ModelListing(CheckOutcome.UNREADABLE)
    return _read(choice, status, body)


async def _get(client: httpx2.AsyncClient, choice: ProviderChoice) -> tuple[int, bytes]:
    vendor = find_vendor(choice.provider)
    address = address_of(vendor, choice).rstrip("/")
    url, headers = vendor.model_list_request(address, choice.key or "none")
    body = bytearray()
    async with client.stream("GET", url, headers=headers) as response:
        async for part in response.aiter_bytes():
            # Counted while reading, because a response can be endless.
            body += part
            if len(body) > _BYTES:
                raise _ListTooLong
    return response.status_code, bytes(body)


def _read(choice: ProviderChoice, status: int, body: bytes) -> ModelListing:
    if find_vendor(choice.provider).refuses_key(status, body):
        return ModelListing(CheckOutcome.KEY_REFUSED, status)
    if status != 200:
        unknown = CheckOutcome.FAILED if status >= 500 else CheckOutcome.UNREADABLE
        return ModelListing(_BY_STATUS.get(status, unknown), status)
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ModelListing(CheckOutcome.UNREADABLE, status)
    # `data` by `id`, or Google's `models` by `name`.
    rows = found.get("data", found.get("models")) if isinstance(found, dict) else None
    if not isinstance(rows, list):
        return ModelListing(CheckOutcome.UNREADABLE, status)
    ids = [row.get("id") or row.get("name") for row in rows if isinstance(row, dict)]
    names = [name.removeprefix("models/") for name in ids if isinstance(name, str)]
    goes_on = bool(found.get("has_more") or found.get("nextPageToken"))
    return ModelListing(
        CheckOutcome.WORKS, status, names[:_MOST], not goes_on and len(names) <= _MOST
    )
