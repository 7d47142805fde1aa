"""Hashes by which what came from a source is known again: kept with imported objects, so they never change."""

from __future__ import annotations

import hashlib
import json


def hash_of(value: object) -> str:
    """The hash of a value as JSON, 16 characters."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def source_key(source_id: str) -> str:
    """What an object is found by, however long its id in the source is."""
    return hashlib.sha256(source_id.encode("utf-8", "surrogatepass")).hexdigest()
