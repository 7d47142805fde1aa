"""Hashes that identify content of a source. They are stored with imported objects, so they must never change."""

from __future__ import annotations

import hashlib
import json


def hash_of(value: object) -> str:
    """Return the hash of a value as JSON, 16 characters."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def source_key(source_id: str) -> str:
    """Return the key of an object: a hash, since ids in a source can be of any length."""
    return hashlib.sha256(source_id.encode("utf-8", "surrogatepass")).hexdigest()
