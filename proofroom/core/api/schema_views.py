"""`/api/schema/` and `/api/docs/`: the description of the API for programs and for people. Both are public."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import override
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from proofroom.core.api.body import dumps
from proofroom.core.api.negotiation import IgnoreAcceptNegotiation
from proofroom.core.api.schema import JSON_TYPE, operations
from proofroom.core.api.views import ThrottleFirstView

CACHE_CONTROL = "public, max-age=300"
Shape = Mapping[str, Any]


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document. It is the same for all callers and cached for the process."""
    # Texts may be lazily translated, but there is one document for all callers.
    with override("en"):
        made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]  # untyped library
    return made


@cache
def document_text() -> bytes:
    """Return the document as YAML."""
    return bytes(OpenApiYamlRenderer().render(document(), renderer_context={}))  # type: ignore[no-untyped-call]  # untyped library


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of a value as text, and the name of the schema it refers to, if any."""

    text: str
    schema: str = ""


@dataclass(frozen=True, slots=True)
class ReferenceEntry:
    """A parameter, a property or a response."""

    name: str
    kinds: tuple[Kind, ...]
    description: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    id: str
    method: str
    path: str
    summary: str
    description: str
    access: str
    parameters: tuple[ReferenceEntry, ...]
    body: tuple[Kind, ...]
    example: str
    answers: tuple[ReferenceEntry, ...]


@dataclass(frozen=True, slots=True)
class ReferenceSection:
    """A tag with its operations."""

    name: str
    description: str
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Type:
    """A schema by name."""

    name: str
    description: str
    kinds: tuple[Kind, ...]
    properties: tuple[ReferenceEntry, ...]


@cache
def page() -> dict[str, Any]:
    """Return the template context of the reference."""
    found = document()
    by_tag: dict[str, list[Operation]] = {tag["name"]: [] for tag in found["tags"]}
    for path, method, operation in operations(found):
        by_tag[operation["tags"][0]].append(_operation(found, path, method, operation))
    return {
        "title": found["info"]["title"],
        "introduction": found["info"]["description"].strip().split("\n\n"),
        "sections": [
            ReferenceSection(tag["name"], tag["description"], tuple(by_tag[tag["name"]]))
            for tag in found["tags"]
        ],
        "types": [_type(name, shape) for name, shape in found["components"]["schemas"].items()],
    }


def kinds_of(shape: Shape) -> tuple[Kind, ...]:
    """Return the types of a schema; several if the value may be one of several."""
    if "$ref" in shape:
        name = str(shape["$ref"]).rpartition("/")[2]
        return (Kind(name, name),)
    several = shape.get("oneOf") or shape.get("anyOf") or shape.get("allOf")
    if several:
        return tuple(kind for choice in several for kind in kinds_of(choice))
    if "enum" in shape:
        return tuple(Kind(repr(value).replace("'", '"')) for value in shape["enum"])
    names = shape.get("type", "any value")
    found: list[Kind] = []
    for name in names if isinstance(names, list) else [names]:
        if name == "array":
            found += [
                Kind(f"list of {kind.text}", kind.schema) for kind in kinds_of(shape["items"])
            ]
        else:
            found.append(Kind(f"{name} ({shape['format']})" if "format" in shape else name))
    return tuple(found)


def _operation(whole: Shape, path: str, method: str, given: Shape) -> Operation:
    schemes = [name for choice in given.get("security", []) for name in choice]
    content = given.get("requestBody", {}).get("content", {})
    # The first example of a JSON body, if there is one.
    examples = content.get(JSON_TYPE, {}).get("examples", {})
    value = next((item["value"] for item in examples.values()), None)
    answers = []
    for status, item in given["responses"].items():
        if "$ref" in item:
            # Resolve a JSON pointer such as #/components/responses/NotFound.
            names = str(item["$ref"]).removeprefix("#/").split("/")
            item = reduce(lambda part, name: part[name], names, whole)
        shape = item.get("content", {}).get(JSON_TYPE, {}).get("schema")
        kinds = kinds_of(shape) if shape else ()
        answers.append(ReferenceEntry(status, kinds, item["description"]))
    parameters = []
    for item in given.get("parameters", []):
        notes = [item["in"], *(["required"] if item.get("required") else [])]
        note = ", ".join([*notes, *_bounds(item["schema"])])
        description = item.get("description", "")
        parameters.append(ReferenceEntry(item["name"], kinds_of(item["schema"]), description, note))
    return Operation(
        id=given["operationId"],
        method=method.upper(),
        path=path,
        summary=given["summary"],
        description=given["description"],
        access=" or ".join(schemes) or "anybody",
        parameters=tuple(parameters),
        body=tuple(kind for item in content.values() for kind in kinds_of(item["schema"])),
        example="" if value is None else json.dumps(value, indent=2, ensure_ascii=False),
        answers=tuple(answers),
    )


def _bounds(shape: Shape) -> list[str]:
    names = {
        "minimum": "from {}",
        "maximum": "to {}",
        "minLength": "at least {} characters",
        "maxLength": "at most {} characters",
        "default": "default {}",
    }
    return [text.format(shape[name]) for name, text in names.items() if name in shape]


def _type(name: str, shape: Shape) -> Type:
    required = shape.get("required", [])
    properties = tuple(
        ReferenceEntry(
            key,
            kinds_of(item),
            item.get("description", ""),
            ", ".join([*(["required"] if key in required else []), *_bounds(item)]),
        )
        for key, item in shape.get("properties", {}).items()
    )
    kinds = () if properties else kinds_of(shape)
    return Type(name, shape.get("description", ""), kinds, properties)


class DescriptionView(ThrottleFirstView):
    """A public description of the API, the same for all callers."""

    # The content is the same for all callers, so no account is looked up.
    authentication_classes: Sequence[type[BaseAuthentication]] = ()
    permission_classes = ()
    content_negotiation_class = IgnoreAcceptNegotiation

    def answer(self, body: Any, content_type: str) -> HttpResponse:
        return HttpResponse(
            body,
            content_type=f"{content_type}; charset=utf-8",
            headers={"Cache-Control": CACHE_CONTROL},
        )


@extend_schema(exclude=True)
class SchemaView(DescriptionView):
    """The OpenAPI document: YAML, or JSON with `?format=json`."""

    def get(self, request: Request) -> HttpResponse:
        if request.query_params.get("format") == "json":
            return self.answer(dumps(document()), "application/vnd.oai.openapi+json")
        return self.answer(document_text(), "application/vnd.oai.openapi")


@extend_schema(exclude=True)
class ReferenceView(DescriptionView):
    """The reference as an HTML page."""

    def get(self, request: Request) -> HttpResponse:
        return self.answer(_reference(), "text/html")


@cache
def _reference() -> str:
    """Render the reference once per process: it takes most of a second."""
    return render_to_string("reference/index.html", page())
