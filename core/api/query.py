"""Query parameters as typed values. What is not asked about is ignored; what does not fit is 422."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator
from rest_framework.request import Request

from core.api.body import Body, check

Q = TypeVar("Q", bound=Body)


def _whole(text: str) -> str:
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise ValueError("must be a whole number")
    return text


WholeNumber = Annotated[str, AfterValidator(_whole)]
"""A whole number as it stands in an address."""
YesOrNo = Literal["true", "false"]


def read_query(request: Request, shape: type[Q]) -> Q:
    """The parameters that `shape` names, by their names on the wire."""
    names = {field.alias or name for name, field in shape.model_fields.items()}
    given = {name: text for name, text in request.query_params.items() if name in names}
    return check(given, shape)


def is_yes(text: YesOrNo | None) -> bool | None:
    """`true` and `false` as what they mean; None where it was not asked."""
    return None if text is None else text == "true"
