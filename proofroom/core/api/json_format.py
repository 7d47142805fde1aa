"""JSON parser and renderer for DRF."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer

from proofroom.core.api.body import dumps
from proofroom.core.validation.input_validation import MAX_DEPTH, is_deeper, reject_unstorable


def read_json(body: bytes) -> Any:
    """Return the value of a JSON body; an empty body is an empty object.

    Raises `ParseError`, and `RuleViolation` with the path of a well-formed value that cannot be stored.
    """
    if not body.strip():
        return {}
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ParseError(f"The body is not valid JSON: {error}.") from None
    if is_deeper(value):
        raise ParseError(f"The body is nested deeper than {MAX_DEPTH} levels.")
    reject_unstorable(value)
    return value


class StrictJsonParser(JSONParser):
    """JSON without NaN, NUL, lone surrogates, numbers beyond 2**53 or nesting beyond 64.

    An empty body is an empty object. Valid JSON with values that cannot be stored raises 422 with their path.
    """

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return read_json(stream.read())


class OrjsonRenderer(JSONRenderer):
    """Renders with orjson. JSON text from a column is passed through as a `Fragment`."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else dumps(data)
