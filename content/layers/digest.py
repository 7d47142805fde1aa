"""The digest of what a reviewer saw: one short hash per change, so that drift is found on just the paths approved."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable
from typing import Final

from django.utils.translation import gettext as _

from content.changes import ABSENT, Change, Value
from content.document import ModuleDocument
from core.errors import invalid
from core.json import Json

_PATH_BYTES: Final = 8
_CHANGE_BYTES: Final = 10
_SIZE: Final = _PATH_BYTES + _CHANGE_BYTES
_MOST: Final = 20_000


def digest_of(changes: Iterable[Change]) -> str:
    """A token for these changes: before, after and path of each."""
    seen = b"".join(_hash(change.path)[:_PATH_BYTES] + _of_change(change) for change in changes)
    return "d1." + base64.urlsafe_b64encode(seen).decode().rstrip("=")


def read_digest(digest: str) -> dict[bytes, bytes]:
    """Hash of path → hash of change. Raises `RuleViolation` on `digest` where it is none of ours."""
    wrong = invalid("digest", _("The digest must be the one that GET …/changes answered."))
    if not digest.startswith("d1.") or len(digest) > _MOST * _SIZE:
        raise wrong
    body = digest.removeprefix("d1.")
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
    """The change as a digest knows it, as 20 characters."""
    return _of_change(change).hex()


def was_seen(digest: dict[bytes, bytes], change: Change) -> bool:
    """Whether the reviewer saw just this change."""
    return digest.get(_hash(change.path)[:_PATH_BYTES]) == _of_change(change)


def path_was_seen(digest: dict[bytes, bytes], path: str) -> bool:
    """Whether the reviewer saw any change at the path."""
    return _hash(path)[:_PATH_BYTES] in digest


def _of_change(change: Change) -> bytes:
    text = json.dumps(
        [change.path, change.kind, _plain(change.before), _plain(change.after), change.behind],
        sort_keys=True,
        ensure_ascii=False,
    )
    return _hash(text)[:_CHANGE_BYTES]


def _plain(value: Value) -> Json:
    if value is ABSENT:
        return {"absent": True}
    if isinstance(value, ModuleDocument):
        return value.to_json(0)
    return [value]  # type: ignore[list-item]  # the two other kinds of value were taken above


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
