"""The description of the API, as the code makes it. As JSON: YAML takes longer to read than to make."""

from __future__ import annotations

import json
from functools import cache
from io import StringIO
from typing import Any

from django.core.management import call_command

from proofroom.core.api.schema import operations


def api_description(*options: str) -> Any:
    """The OpenAPI document; `options` are those of the command `spectacular`."""
    made = StringIO()
    call_command("spectacular", "--format", "openapi-json", *options, stdout=made)
    return json.loads(made.getvalue())


def plain(path: str) -> str:
    """The path without the names of what stands in it, which addresses of tests spell in their own way."""
    return "/".join("<>" if part[:1] in ("<", "{") else part for part in path.split("/"))


@cache
def management_lists() -> dict[str, list[str]]:
    """The parameters of every list that is not public, by its path, as the OpenAPI document has them."""
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
