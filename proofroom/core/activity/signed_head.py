"""The signed head of the chain, and the chain as a file: what an auditor checks without this program.

The signature is Ed25519 (RFC 8032): an auditor can check it but not sign. The private key stays with the operator.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from django.conf import settings
from django.utils import timezone

from proofroom.core.activity.chain import Verification
from proofroom.core.activity.digests import columns_of, facts_of, payload_of
from proofroom.core.activity.presenters import present_payload
from proofroom.core.json import JsonObject, format_time
from proofroom.core.models import Event, Seal

FORMAT: Final = "proofroom-activity-head-1"
_BATCH_LINKS: Final = 1_000


def create_key(file: Path) -> Ed25519PrivateKey:
    """Write a new private key to a new file that only its owner can read. Raises `OSError`."""
    key = Ed25519PrivateKey.generate()
    handle = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "wb") as target:
        target.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return key


def read_key(file: Path) -> Ed25519PrivateKey:
    """Return the private key in a file. Raises `OSError`, and `ValueError` for anything but an Ed25519 key."""
    try:
        key = load_pem_private_key(file.read_bytes(), password=None)
    except TypeError:
        raise ValueError("the key has a password") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("the key is not an Ed25519 key")
    return key


def public_key_of(key: Ed25519PrivateKey) -> str:
    """Return the public key as 64 hexadecimal characters."""
    return key.public_key().public_bytes_raw().hex()


def sign_head(found: Verification, key: Ed25519PrivateKey) -> JsonObject:
    """Return the signed head of a chain that was verified."""
    seq, _, digest = found.head.partition(":")
    head: JsonObject = {
        "format": FORMAT,
        "site": settings.SITE_URL,
        "begin": found.begin,
        "seq": int(seq),
        "hash": digest,
        "signedAt": format_time(timezone.now()),
        "publicKey": public_key_of(key),
    }
    return {**head, "signature": key.sign(signed_bytes(head)).hex()}


def signed_bytes(head: JsonObject) -> bytes:
    """Return what the signature is of: the head without it, as JSON with sorted keys."""
    rest = {name: value for name, value in head.items() if name != "signature"}
    return json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()


def chain_lines(last: int) -> Iterator[str]:
    """Yield the links up to the number `last` as JSON Lines, oldest first.

    A line has the entry's columns and payload if they are those of the link and contain nothing hidden. The payload
    of entries with text from visitors or secrets, and columns of pseudonymised entries, are left out.
    """
    seq = 0
    while batch := list(
        Seal.objects.filter(seq__gt=seq, seq__lte=last).order_by("seq")[:_BATCH_LINKS]
    ):
        events = Event.objects.in_bulk([seal.event_id for seal in batch])
        for seal in batch:
            yield json.dumps(_line(seal, events.get(seal.event_id)), sort_keys=True) + "\n"
        seq = batch[-1].seq


def _line(seal: Seal, event: Event | None) -> JsonObject:
    line: JsonObject = {
        "seq": seal.seq,
        "before": seal.before,
        "facts": seal.facts,
        "payload": seal.payload,
        "hash": seal.hash,
    }
    if event is None:
        return line
    if facts_of(event) == seal.facts:
        line["entry"] = columns_of(event)
    is_whole = event.forgotten_at is None and payload_of(event, seal.salt) == seal.payload
    if is_whole and present_payload(event) == event.payload:
        line |= {"salt": seal.salt, "details": event.payload}
    return line
