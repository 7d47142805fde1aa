"""The digest of the changes that a reviewer saw: one keyed hash per change, to detect drift on the approved paths.

HMAC-SHA-256 (RFC 2104) with a key from `SECRET_KEY`, truncated to 128 bits. Without the key, two values with the
same digest cannot be searched offline. After a change of the key, all earlier digests count as outdated.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from typing import Final

from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from content.document.changes import ABSENT, Change, Value
from content.document.document import ModuleDocument
from proofroom.core.errors import invalid
from proofroom.core.json import Json

_PREFIX: Final = "d2."
_PATH_BYTES: Final = 8
_CHANGE_BYTES: Final = 16
_SIZE: Final = _PATH_BYTES + _CHANGE_BYTES
_MAX_CHANGES: Final = 20_000


def digest_of(changes: Iterable[Change]) -> str:
    """Return a token for the path, the old and the new value of each change."""
    return digest_of_fingerprints({change.path: fingerprint(change) for change in changes})


def digest_of_fingerprints(seen: Mapping[str, str]) -> str:
    """Return the token of `digest_of` for fingerprints by path. They must be in the order of the changes."""
    known = b"".join(_path_key(path) + bytes.fromhex(found) for path, found in seen.items())
    return _PREFIX + base64.urlsafe_b64encode(known).decode().rstrip("=")


def read_digest(digest: str) -> dict[bytes, bytes]:
    """Return hash of change by hash of path. Raises `RuleViolation` on `digest` if it is malformed."""
    wrong = invalid("digest", _("Send the digest from the response of GET …/changes."))
    # Limit the length before decoding: the digest comes from the client. Base64 is less than twice as long.
    if not digest.startswith(_PREFIX) or len(digest) > _MAX_CHANGES * _SIZE * 2:
        raise wrong
    body = digest.removeprefix(_PREFIX)
    try:
        # Restore the padding that `digest_of_fingerprints` removes.
        seen = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        raise wrong from None
    if len(seen) % _SIZE:
        raise wrong
    return {
        seen[at : at + _PATH_BYTES]: seen[at + _PATH_BYTES : at + _SIZE]
        for at in range(0, len(seen), _SIZE)
    }


def fingerprint(change: Change) -> str:
    """Return the hash of a change in a digest, 32 hexadecimal characters."""
    return _change_hash(change).hex()


def was_seen(digest: dict[bytes, bytes], change: Change) -> bool:
    """Return whether the reviewer saw exactly this change."""
    return digest.get(_path_key(change.path)) == _change_hash(change)


def path_was_seen(digest: dict[bytes, bytes], path: str) -> bool:
    """Return whether the reviewer saw any change at the path."""
    return _path_key(path) in digest


def keyed_hash(*parts: object) -> str:
    """Return a keyed hash of JSON values, 32 hexadecimal characters.

    Without the key, collisions cannot be searched.
    """
    return _hmac("parts", _sorted_json(parts)).hex()[:32]


def value_hash(value: Value) -> str:
    """Return the keyed hash of a change's value. Equal proposals have equal hashes."""
    return keyed_hash(_value_to_json(value))


def _path_key(path: str) -> bytes:
    return _hmac("path", path)[:_PATH_BYTES]


def _change_hash(change: Change) -> bytes:
    seen = [
        change.path,
        change.kind,
        _value_to_json(change.before),
        _value_to_json(change.after),
        change.behind,
    ]
    return _hmac("change", _sorted_json(seen))[:_CHANGE_BYTES]


def _value_to_json(value: Value) -> Json:
    if value is ABSENT:
        return {"absent": True}
    if isinstance(value, ModuleDocument):
        return value.to_json(0)
    # A list distinguishes any plain value from the two objects above.
    return [value]  # type: ignore[list-item]  # the other kinds of value were handled above


def _sorted_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _hmac(purpose: str, text: str) -> bytes:
    # JSON can contain lone surrogates, which strict UTF-8 refuses.
    data = text.encode("utf-8", "surrogatepass")
    return salted_hmac(f"content.review.{purpose}", data, algorithm="sha256").digest()
