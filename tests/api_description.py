"""The OpenAPI document generated from the code. As JSON, because YAML takes longer to read than to generate."""

from __future__ import annotations

import json
from functools import cache
from io import StringIO
from typing import Any

from django.core.management import call_command

from proofroom.core.api.schema import operations


@cache
def api_description() -> Any:
    """Return the OpenAPI document, made once a process: tests only read it."""
    made = StringIO()
    call_command("spectacular", "--format", "openapi-json", stdout=made)
    return json.loads(made.getvalue())


def plain(path: str) -> str:
    """Return the path with unnamed parameters, because tests name them differently."""
    return "/".join("<>" if part[:1] in ("<", "{") else part for part in path.split("/"))


@cache
def management_lists() -> dict[str, list[str]]:
    """Return the query parameters of every list that is not public, by path."""
    document = api_description()
    shapes = document["components"]["schemas"]
    found = {}
    for path, method, described in operations(document):
        body = described["responses"].get("200", {}).get("content", {}).get("application/json")
        if method != "get" or not body or not described.get("security"):
            continue
        shape = shapes[body["schema"]["$ref"].rpartition("/")[2]]
        if "data" in shape["properties"]:
            parameters = described.get("parameters", ())
            found[plain(path)] = [one["name"] for one in parameters if one["in"] == "query"]
    return found
