"""Shared parts of the OpenAPI document: bodies, parameters, the session, and the post-processing hook."""

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

_ERROR_RESPONSES: Final = {
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
    """Return references to shared headers."""
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
    "responses": {
        name: _response(status, text) for status, (name, text) in _ERROR_RESPONSES.items()
    },
}


def refusals(*statuses: str) -> dict[str, Any]:
    """Return references to the error responses of these statuses and to the default response."""
    return {
        status: {"$ref": f"#/components/responses/{_ERROR_RESPONSES[status][0]}"}
        for status in (*statuses, "default")
    }


JSON_TYPE: Final = "application/json"
_ANSWER_REF: Final = "#/components/schemas/{model}"
_METHODS: Final = ("get", "put", "post", "delete", "patch")


def query_parameter(
    name: str, description: str, schema: dict[str, Any] | None = None, *, required: bool = False
) -> OpenApiParameter:
    """Return a query parameter; a string unless a schema is given."""
    shape = schema or {"type": "string"}
    return OpenApiParameter(
        name, shape, OpenApiParameter.QUERY, description=description, required=required
    )


def choice_schema(*values: str) -> dict[str, Any]:
    """Return the schema of a string with these values."""
    return {"type": "string", "enum": list(values)}


def names_pattern(names: Iterable[str]) -> str:
    """Return the pattern of a parameter that takes some of these names with commas between them."""
    one = "|".join(names)
    return f"^({one})(,({one}))*$"


def integer_schema(least: int, most: int, default: int | None = None) -> dict[str, Any]:
    """Return the schema of an integer within bounds."""
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
    description="The URL of the created object.",
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
"""drf-spectacular has its own extension for pydantic classes. With equal priority the first one loaded would win."""


class AnswerDescription(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # as above
    """Describes an answer by its pydantic class."""

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


class TypedDictDescription(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # as above
    """Describes a plain dict by its `TypedDict`."""

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
    """Register nested answers as components, each without the suffix `Answer`."""
    for name, nested in shape.pop("$defs", {}).items():
        known = _answers_by_name() | _answers_by_name(DescribedType)
        identity = known.get(name, _NestedShape)
        name = name.removesuffix("Answer")
        component = ResolvedComponent(name, ResolvedComponent.SCHEMA, nested, identity)  # type: ignore[no-untyped-call]  # untyped library
        auto_schema.registry.register_on_missing(component)
        _name_answers(nested)
    _name_answers(shape)
    return shape


class _NestedShape:
    """The identity of nested components, which several answers or serializers may share."""


set_override(_NestedShape, "suppress_collision_warning", True)


def _answers_by_name(parent: type = Answer) -> dict[str, type]:
    found: dict[str, type] = {}
    children: list[type] = parent.__subclasses__()
    for child in children:
        found |= {child.__name__: child, **_answers_by_name(child)}
    return found


def _name_answers(shape: dict[str, Any]) -> None:
    shape.pop("title", None)
    for part in _nested_schemas(shape):
        match part.get("anyOf"):
            case [{"enum": list(values), "type": kind}, {"type": "null"}]:
                # The form that drf-spectacular needs to give the enum its own component, which
                # generated clients use by name.
                del part["anyOf"]
                part |= {"type": [kind, "null"], "enum": [*values, None]}
        if str(part.get("$ref", "")).startswith("#/components/schemas/"):
            part["$ref"] = part["$ref"].removesuffix("Answer")


class BodyDescription(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # as above
    """Describes a request body by its pydantic class."""

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
            # The plain name is reserved for answers.
            name = f"{name}Input"
            component = ResolvedComponent(name, ResolvedComponent.SCHEMA, nested, name)  # type: ignore[no-untyped-call]  # untyped library
            auto_schema.registry.register_on_missing(component)
        return shape


def finish(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Add shared components and make changes that need the whole document."""
    components = result["components"]
    for kind, shared in COMPONENTS.items():
        components.setdefault(kind, {}).update(shared)
    # Inline nullable enums: without a component for null.
    schemas = result["components"]["schemas"]
    if schemas.pop("NullEnum", None) is not None:
        for shape in _nested_schemas(schemas):
            if shape.get("$ref") == "#/components/schemas/NullEnum":
                shape.clear()
                shape["type"] = "null"
    # Objects that are only sent, never answered, refuse unknown keys.
    sent: set[str] = set()
    answered: set[str] = set()
    for _path, _method, operation in operations(result):
        _collect_references(operation.get("requestBody"), schemas, sent)
        _collect_references(operation["responses"], schemas, answered)
    for name in sent - answered:
        if "properties" in schemas[name]:
            schemas[name].setdefault("additionalProperties", False)
    # Link each creation to the operations on the id it returns.
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
    # Endpoints of an app unknown to the project still get a tag.
    result["tags"] += [
        {"name": name, "description": ""} for name in sorted(used - described.keys())
    ]
    return result


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every path, method and operation."""
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                yield path, method, item[method]


def _nested_schemas(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    values = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for value in list(values):
        yield from _nested_schemas(value)


def _collect_references(part: Any, schemas: dict[str, Any], found: set[str]) -> None:
    if isinstance(part, dict):
        name = str(part.get("$ref", "")).removeprefix("#/components/schemas/")
        if name in schemas and name not in found:
            found.add(name)
            _collect_references(schemas[name], schemas, found)
        for value in part.values():
            _collect_references(value, schemas, found)
    elif isinstance(part, list):
        for value in part:
            _collect_references(value, schemas, found)
