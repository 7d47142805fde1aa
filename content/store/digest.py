"""The digest of what a reviewer saw: one keyed hash per change, so that drift is found on just the paths approved.

The key comes from `SECRET_KEY` (HMAC-SHA-256, RFC 2104, cut to 128 bits): nobody can look offline for two values that
have one digest. What was shown before the key changed counts as moved.
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
    """A token for these changes: before, after and path of each."""
    return digest_of_fingerprints({change.path: fingerprint(change) for change in changes})


def digest_of_fingerprints(seen: Mapping[str, str]) -> str:
    """The token for changes by their paths, from the fingerprint of each, in their order."""
    known = b"".join(_path_key(path) + bytes.fromhex(found) for path, found in seen.items())
    return _PREFIX + base64.urlsafe_b64encode(known).decode().rstrip("=")


def read_digest(digest: str) -> dict[bytes, bytes]:
    """Hash of path → hash of change. Raises `RuleViolation` on `digest` where it is none of ours."""
    wrong = invalid("digest", _("Send the digest from the response of GET …/changes."))
    if not digest.startswith(_PREFIX) or len(digest) > _MAX_CHANGES * _SIZE * 2:
        raise wrong
    body = digest.removeprefix(_PREFIX)
    try:
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
    """The change as a digest knows it, as 32 characters."""
    return _of_change(change).hex()


def was_seen(digest: dict[bytes, bytes], change: Change) -> bool:
    """Return whether the reviewer saw just this change."""
    return digest.get(_path_key(change.path)) == _of_change(change)


def path_was_seen(digest: dict[bytes, bytes], path: str) -> bool:
    """Return whether the reviewer saw any change at the path."""
    return _path_key(path) in digest


def keyed_hash(*parts: object) -> str:
    """JSON values as 32 characters that nobody without the key can find a second value for."""
    return _keyed("parts", _json(parts)).hex()[:32]


def value_hash(value: Value) -> str:
    """A value of a change as 32 characters: what is proposed twice has one hash."""
    return keyed_hash(_plain(value))


def _path_key(path: str) -> bytes:
    return _keyed("path", path)[:_PATH_BYTES]


def _of_change(change: Change) -> bytes:
    seen = [change.path, change.kind, _plain(change.before), _plain(change.after), change.behind]
    return _keyed("change", _json(seen))[:_CHANGE_BYTES]


def _plain(value: Value) -> Json:
    if value is ABSENT:
        return {"absent": True}
    if isinstance(value, ModuleDocument):
        return value.to_json(0)
    return [value]  # type: ignore[list-item]  # the two other kinds of value were taken above


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _keyed(purpose: str, text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return salted_hmac(f"content.review.{purpose}", data, algorithm="sha256").digest()
