"""Reads JSON bodies strictly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

_DEEPEST = 64


class StrictJsonParser(JSONParser):
    """JSON without NaN, lone surrogates or nesting beyond 64; an empty body is an empty object."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        body = stream.read()
        if not body.strip():
            return {}
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise ParseError(f"The body is not valid JSON: {error}.") from None
        if _is_deeper(value, _DEEPEST):
            raise ParseError(f"The body is nested deeper than {_DEEPEST} levels.")
        return value


def _is_deeper(value: object, left: int) -> bool:
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return left == 0 or any(_is_deeper(item, left - 1) for item in items)
    return False
