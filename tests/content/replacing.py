"""Calls of find and replace, and their results."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from content.models import ModuleInstance, Post
from tests import make
from tests.api_client import ApiClient

URL = "/api/database/find-replace"
CONTENT = ["posts", "modules"]


def send(find: str, replace: str, *tables: str, **more: Any) -> Any:
    body = {"find": find, "replace": replace, "tables": list(tables or CONTENT), **more}
    return ApiClient("admin").write("POST", URL, body)


def words_of(post: Post, type: str = "prose") -> str:
    return json.dumps(make.layers(post).live.module(make.module_id(post, type)).props)


def keys_of(rows: Sequence[Post | ModuleInstance]) -> Callable[[int], object]:
    return lambda number: rows[number].pk
