"""Shared parts of the OpenAPI document: bodies, parameters, the session, and what is added at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from drf_spectacular.drainage import set_override
from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter

from proofroom.core.api.answer import Answer, DescribedType
from proofroom.core.api.pagination import LAST_PAGE, MOST_PER_PAGE, PER_PAGE
from proofroom.core.validation.json_schema import PlainJsonSchema

_SENTENCES: Final = {
    "400": ("BadRequest", "The body is not JSON."),
    "401": ("NotAuthenticated", "No credentials, or wrong ones."),
    "403": ("NotAllowed", "The caller may not do this, or the CSRF token is missing."),
    "404": ("NotFound", "There is no such thing, or the caller may not see it."),
    "409": ("Conflict", "What the caller read has changed since; nothing was written."),
    "413": ("TooLarge", "The body is too large."),
    "415": ("UnsupportedMediaType", "The body is not of a type that is read here."),
    "422": ("Invalid", "Understood, and not valid; `details` says what, by path."),
    "429": ("TooManyRequests", "Too many requests."),
    "default": ("Refused", "Any other error."),
}


def _number(description: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "integer", "minimum": 0}}


_HEADERS: Final = {
    "X-RateLimit-Limit": ("RateLimit", _number("Calls that the window allows.")),
    "X-RateLimit-Remaining": ("RateRemaining", _number("Calls that it still allows.")),
    "X-RateLimit-Reset": ("RateReset", _number("When the window ends: seconds of Unix time.")),
    "Retry-After": ("RetryAfter", _number("Seconds to wait.")),
    "ETag": (
        "Version",
        {
            "description": "Of what was answered; send it back in If-None-Match or If-Match.",
            "schema": {"type": "string"},
        },
    ),
}


def headers(*names: str) -> dict[str, Any]:
    """References to shared headers."""
    return {name: {"$ref": f"#/components/headers/{_HEADERS[name][0]}"} for name in names}


RATE_HEADERS: Final = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")

_ERROR: Final = {
    "type": "object",
    "description": "What every error answers.",
    "required": ["error", "code", "details"],
    "properties": {
        "error": {"type": "string", "description": "A sentence for a person."},
        "code": {"type": "string", "description": "A word for a machine."},
        "details": {
            "type": "object",
            "description": "Sentences by the path of the field.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
        "version": {
            "type": "integer",
            "description": "With stale_version: the version that stands now.",
        },
    },
}


def _response(status: str, sentence: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "description": sentence,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    if status == "429":
        made["headers"] = headers("Retry-After", *RATE_HEADERS)
    return made


COMPONENTS: Final[dict[str, dict[str, Any]]] = {
    "schemas": {"Error": _ERROR},
    "headers": dict(_HEADERS.values()),
    "securitySchemes": {
        "secret": {"type": "apiKey", "in": "header", "name": "X-Agent-Key"},
        "secretBearer": {"type": "http", "scheme": "bearer"},
    },
    "responses": {name: _response(status, text) for status, (name, text) in _SENTENCES.items()},
}


def refusals(*statuses: str) -> dict[str, Any]:
    """References to the answers of these statuses, and to that of all others."""
    return {
        status: {"$ref": f"#/components/responses/{_SENTENCES[status][0]}"}
        for status in (*statuses, "default")
    }


JSON_TYPE: Final = "application/json"
_ANSWER_REF: Final = "#/components/schemas/{model}"
_METHODS: Final = ("get", "put", "post", "delete", "patch")


def query_parameter(
    name: str, description: str, schema: dict[str, Any] | None = None, *, required: bool = False
) -> OpenApiParameter:
    """A query parameter; without a schema, a text."""
    shape = schema or {"type": "string"}
    return OpenApiParameter(
        name, shape, OpenApiParameter.QUERY, description=description, required=required
    )


def choice_schema(*values: str) -> dict[str, Any]:
    """A text that is one of these."""
    return {"type": "string", "enum": list(values)}


def integer_schema(least: int, most: int, default: int | None = None) -> dict[str, Any]:
    """A whole number within bounds."""
    found: dict[str, Any] = {"type": "integer", "minimum": least, "maximum": most}
    return found if default is None else {**found, "default": default}


UUID_TEXT: Final = {"type": "string", "format": "uuid"}


def parameter_names(parameters: Iterable[OpenApiParameter]) -> frozenset[str]:
    """Return the names of declared parameters."""
    return frozenset(parameter.name for parameter in parameters)


PAGES: Final = [
    query_parameter("page", "1-based.", integer_schema(1, LAST_PAGE, 1)),
    query_parameter("per_page", "Rows of a page.", integer_schema(1, MOST_PER_PAGE, PER_PAGE)),
]
LOCATION: Final = OpenApiParameter(
    "Location",
    {"type": "string", "format": "uri-reference"},
    OpenApiParameter.HEADER,
    description="The address of what was made.",
    response=[200, 201],
)


class ManagementSessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself
    """Describes `ManagementSession` in the document."""

    target_class = "proofroom.core.api.permissions.ManagementSession"
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "Unsafe methods also need the cookie csrftoken in the header X-CSRFToken.",
        }


_BEFORE_PYDANTIC: Final = 1
"""The library describes classes of pydantic too. Of equals the first that is loaded would win."""


class AnswerDescription(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # likewise
    """An answer as it is rendered: the pydantic class is the description."""

    target_class = "proofroom.core.api.answer.Answer"
    match_subclasses = True
    priority = _BEFORE_PYDANTIC

    def get_name(self, auto_schema: Any, direction: str) -> str:
        return str(self.target.__name__).removesuffix("Answer")

    def map_serializer(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        shape = self.target.model_json_schema(
            ref_template=_ANSWER_REF, schema_generator=PlainJsonSchema, mode="serialization"
        )
        return _register_answers(auto_schema, shape)


class TypedDictDescription(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # likewise
    """An answer that is a plain dict, described by its `TypedDict`."""

    target_class = "proofroom.core.api.answer.DescribedType"
    match_subclasses = True
    priority = _BEFORE_PYDANTIC

    def get_name(self, auto_schema: Any, direction: str) -> str:
        return str(self.target.__name__).removesuffix("Answer")

    def map_serializer(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        shape = self.target.adapter.json_schema(
            ref_template=_ANSWER_REF, schema_generator=PlainJsonSchema, mode="serialization"
        )
        return _register_answers(auto_schema, shape)


def _register_answers(auto_schema: Any, shape: dict[str, Any]) -> dict[str, Any]:
    """Make components of the answers within an answer, each named without `Answer`."""
    for name, nested in shape.pop("$defs", {}).items():
        known = _answers_by_name() | _answers_by_name(DescribedType)
        identity = known.get(name, _NestedShape)
        name = name.removesuffix("Answer")
        component = ResolvedComponent(name, ResolvedComponent.SCHEMA, nested, identity)  # type: ignore[no-untyped-call]  # it has no types
        auto_schema.registry.register_on_missing(component)
        _name_answers(nested)
    _name_answers(shape)
    return shape


class _NestedShape:
    """The key of a component that is no answer of its own: other answers, or serializers, may have it too."""


set_override(_NestedShape, "suppress_collision_warning", True)


def _answers_by_name(parent: type = Answer) -> dict[str, type]:
    found: dict[str, type] = {}
    children: list[type] = parent.__subclasses__()
    for child in children:
        found |= {child.__name__: child, **_answers_by_name(child)}
    return found


def _name_answers(shape: dict[str, Any]) -> None:
    shape.pop("title", None)
    for part in _shapes(shape):
        match part.get("anyOf"):
            case [{"enum": list(values), "type": kind}, {"type": "null"}]:
                # The form in which an enum gets a component of its own, by which clients know it.
                del part["anyOf"]
                part |= {"type": [kind, "null"], "enum": [*values, None]}
        if str(part.get("$ref", "")).startswith("#/components/schemas/"):
            part["$ref"] = part["$ref"].removesuffix("Answer")


class BodyDescription(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # likewise
    """A request body as it is read: the pydantic class is the description."""

    target_class = "proofroom.core.api.body.Body"
    match_subclasses = True
    priority = _BEFORE_PYDANTIC

    def get_name(self, auto_schema: Any, direction: str) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        shape: dict[str, Any] = self.target.model_json_schema(
            ref_template="#/components/schemas/{model}Input", schema_generator=PlainJsonSchema
        )
        shape.pop("title", None)
        for name, nested in shape.pop("$defs", {}).items():
            nested.pop("title", None)
            # What is answered may have the plain name.
            name = f"{name}Input"
            component = ResolvedComponent(name, ResolvedComponent.SCHEMA, nested, name)  # type: ignore[no-untyped-call]  # it has no types
            auto_schema.registry.register_on_missing(component)
        return shape


def finish(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Add what all operations share, and what only the whole document shows."""
    components = result["components"]
    for kind, shared in COMPONENTS.items():
        components.setdefault(kind, {}).update(shared)
    # Write an enum that may be null without a component for null.
    schemas = result["components"]["schemas"]
    if schemas.pop("NullEnum", None) is not None:
        for shape in _shapes(schemas):
            if shape.get("$ref") == "#/components/schemas/NullEnum":
                shape.clear()
                shape["type"] = "null"
    # Say of objects that are only sent, never answered, that no key beside theirs is taken.
    sent: set[str] = set()
    answered: set[str] = set()
    for _path, _method, operation in operations(result):
        _reach(operation.get("requestBody"), schemas, sent)
        _reach(operation["responses"], schemas, answered)
    for name in sent - answered:
        if "properties" in schemas[name]:
            schemas[name].setdefault("additionalProperties", False)
    # Link each creation to what can then be done with the id that it answers.
    for path, method, operation in list(operations(result)):
        made = operation["responses"].get("201")
        if method != "post" or made is None or "content" not in made:
            continue
        links = {
            target["operationId"]: {
                "operationId": target["operationId"],
                "parameters": {below.rpartition("{")[2][:-1]: "$response.body#/id"},
            }
            for below, _, target in operations(result)
            if below.rpartition("/")[0] == path and below.endswith("}")
        }
        name = made["content"][JSON_TYPE]["schema"].get("$ref", "").rpartition("/")[2]
        if links and "id" in schemas.get(name, {}).get("properties", {}):
            made["links"] = links
    described = {tag["name"]: tag for tag in result.get("tags", [])}
    used = {tag for _, _, operation in operations(result) for tag in operation["tags"]}
    result["tags"] = [described[name] for name in described if name in used]
    # An endpoint of an app that the project does not know still has its place.
    result["tags"] += [
        {"name": name, "description": ""} for name in sorted(used - described.keys())
    ]
    return result


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every path, method and operation."""
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                yield path, method, item[method]


def _shapes(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    values = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for value in list(values):
        yield from _shapes(value)


def _reach(part: Any, schemas: dict[str, Any], found: set[str]) -> None:
    if isinstance(part, dict):
        name = str(part.get("$ref", "")).removeprefix("#/components/schemas/")
        if name in schemas and name not in found:
            found.add(name)
            _reach(schemas[name], schemas, found)
        for value in part.values():
            _reach(value, schemas, found)
    elif isinstance(part, list):
        for value in part:
            _reach(value, schemas, found)
