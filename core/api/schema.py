"""The OpenAPI document: who may call, and the one shape of every error, declared once."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import serializers

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
_REFUSED: Final = {
    "description": "An error.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}


class MetaSchema(serializers.Serializer[object]):
    """Where a page stands in its list."""

    total = serializers.IntegerField()
    per_page = serializers.IntegerField()
    current_page = serializers.IntegerField()
    last_page = serializers.IntegerField()


class ManagementSessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself
    """How `ManagementSession` reads in the document."""

    target_class = "core.api.authentication.ManagementSession"
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "Unsafe methods also need the cookie csrftoken in the header X-CSRFToken.",
        }


def declare_errors(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Add the error envelope as the default answer of every operation."""
    result["components"].setdefault("schemas", {})["Error"] = _ERROR
    for path in result["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and "responses" in operation:
                operation["responses"]["default"] = _REFUSED
    return result
