"""An object for every URL: all scenes of the table of endpoints, in one database."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from content.models import Post
from proofroom.core.api.schema import operations
from proofroom.core.api.schema_examples import remove_examples
from tests.contract.endpoint import Area, Endpoint, Names, areas, filled


@dataclass
class Scene:
    """Ids by parameter name, and a valid body for each operation with one."""

    ids: dict[str, list[str]] = field(default_factory=dict)
    bodies: dict[str, Any] = field(default_factory=dict)


def everything(document: Any) -> Scene:
    """Build all scenes one after the other."""
    by_address = {
        f"{method.upper()} {_plain(path)}": (path, operation)
        for path, method, operation in operations(document)
    }
    made = Scene()
    for area in areas():
        _add(made, area, area.scene(), by_address)
        # The next scene creates posts with the same names.
        for id_ in Post.objects.values_list("pk", flat=True):
            name = uuid4().hex
            Post.objects.filter(pk=id_).update(slug=name, path=f"/blog/{name}")
    return made


def config(scene: Scene) -> str:
    """Return schemathesis's configuration with the scene's ids: most calls use one of them, others random ones."""
    # As texts, numbers would not fit their description; schemathesis thinks of numbers by itself.
    texts = {name: ids for name, ids in scene.ids.items() if not all(map(_is_number, ids))}
    lines = ["", "[parameters]"]
    lines += [f'"path.{name}" = {{ dictionary = "{name}", probability = 0.8 }}' for name in texts]
    lines += ["", "[dictionaries]"]
    lines += [f"{name} = {{ values = {json.dumps(ids)} }}" for name, ids in texts.items()]
    return "\n".join([*lines, ""])


def _is_number(id_: object) -> bool:
    return str(id_).isdecimal()


def with_examples(document: Any, scene: Scene) -> Any:
    """Return the document with the scene's bodies as its only examples."""
    remove_examples(document)
    for _, _, operation in operations(document):
        body = scene.bodies.get(operation["operationId"])
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body is not None and content is not None:
            content["examples"] = {"scene": {"value": body}}
    return document


def _add(made: Scene, area: Area, names: Names, by_address: dict[str, Any]) -> None:
    for endpoint in area.endpoints:
        found = by_address.get(f"{endpoint.method} {_plain(endpoint.path)}")
        if found is None:  # the description itself
            continue
        path, operation = found
        if endpoint.body is not None:
            made.bodies[operation["operationId"]] = filled(endpoint.body, names)
        for name, value in _gaps(path, endpoint, names):
            ids = made.ids.setdefault(name, [])
            if value not in ids:
                ids.append(value)


def _gaps(path: str, endpoint: Endpoint, names: Names) -> list[tuple[str, str]]:
    pairs = zip(path.split("/"), endpoint.path.split("/"), strict=True)
    return [
        (parameter[1:-1], str(names[gap[1:-1]]))
        for parameter, gap in pairs
        if parameter.startswith("{")
    ]


def _plain(path: str) -> str:
    return "/".join("<>" if part[:1] in ("{", "<") else part for part in path.split("/"))
