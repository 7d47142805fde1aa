"""Query parameters as typed values; invalid values raise 422.

Lists of the management API and all reads of the delivery API (`content.api.delivery.viewset`) refuse undeclared
parameters, except the ones that campaigns and CDNs append. All other endpoints ignore them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeVar
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter
from pydantic import AfterValidator
from rest_framework.request import Request

from proofroom.core.api.answer import Answer, DescribedType
from proofroom.core.api.body import Body
from proofroom.core.api.pagination import HasQuery
from proofroom.core.api.permissions import PUBLIC, SECRET, declared_access
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.validation.errors import validate_input
from proofroom.core.validation.moments import parse_moment

Q = TypeVar("Q", bound=Body)
_NAME_MAX: Final = 80
_MAX_REPORTED: Final = 20
_IGNORED_NAME: Final = re.compile(r"utm_.*|gclid|fbclid|msclkid|mc_.*|_.*", re.DOTALL)


def _whole_number(text: str) -> str:
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise ValueError("must be a whole number")
    return text


WholeNumber = Annotated[str, AfterValidator(_whole_number)]
"""A whole number as text, as in a query string."""
BooleanText = Literal["true", "false"]


def read_query(request: Request, shape: type[Q]) -> Q:
    """Return the parameters of `shape`, by their wire names. Other parameters are ignored."""
    names = {field.alias or name for name, field in shape.model_fields.items()}
    given = {name: text for name, text in request.query_params.items() if name in names}
    return validate_input(given, shape)


_PAGE_PARAMETERS: Final = ("page", "per_page")
"""Parameters of pages. Lists without pages accept them, too, so that a client can read all lists in the same way."""


def parse_boolean(text: BooleanText | None) -> bool | None:
    """Return the value as a bool; None if it was not given."""
    return None if text is None else text == "true"


def choice_in(request: HasQuery, name: str, known: Collection[str]) -> str | None:
    """Return the value of a parameter with a fixed set of values; None if it was not given."""
    value = request.query_params.get(name)
    if value is not None and value not in known:
        raise invalid(name, f"{name} must be one of: {', '.join(known)}.")
    return value


def uuid_in(request: Request, name: str) -> UUID | None:
    """Return the id in a parameter; None if it was not given."""
    text = request.query_params.get(name)
    try:
        return None if text is None else UUID(text)
    except ValueError:
        raise invalid(name, f"{name} must be a UUID.") from None


def moment_in(request: Request, name: str, *, is_end: bool = False) -> datetime | None:
    """Return the time in a parameter, in UTC unless it has a zone.

    A date means its start, or its end with `is_end`.
    """
    text = request.query_params.get(name)
    if text is None:
        return None
    try:
        # An ISO date has ten characters.
        if len(text) <= 10:
            day = datetime.combine(date.fromisoformat(text), time(), UTC)
            return day + timedelta(days=1) if is_end else day
    # OverflowError: the last day of the year 9999 has no end.
    except (ValueError, OverflowError):
        pass
    moment = parse_moment(text, zone=UTC)
    if moment is not None:
        return moment
    raise invalid(name, f"{name} must be a date or a time, such as 2026-01-31.")


def refuse_unknown_parameters(request: Request, view: Any) -> None:
    """Raise `RuleViolation` if a list of the management API is called with an undeclared parameter.

    A misspelled filter would otherwise list everything. Public endpoints are left alone: the delivery API refuses on
    its own, and the others ignore all.
    """
    if declared_access(view, view.action) in (PUBLIC, SECRET):
        return
    known = _parameters_of_list(type(view), view.action)  # type: ignore[arg-type]  # classes are hashable
    if known is None:
        return
    taken = (*known, *_PAGE_PARAMETERS)
    refuse_names(
        [name for name in request.query_params if name not in taken and not is_ignored(name)], known
    )


def is_ignored(name: str) -> bool:
    """Return whether a query parameter is one that campaigns and CDNs append to links."""
    return _IGNORED_NAME.fullmatch(name) is not None


def refuse_names(
    unknown: Sequence[str], known: Sequence[str], suggest: Callable[[str], str] = lambda name: ""
) -> None:
    """Raise `RuleViolation` if there are unknown query parameters, with the nearest known name of each.

    `suggest` returns a name that is not among the known ones, or an empty string.
    """
    if not unknown:
        return
    # The caller controls the number and the length of the names.
    names = [name[:_NAME_MAX] for name in unknown[:_MAX_REPORTED]]
    details = {name: [_unknown_parameter_message(name, known, suggest(name))] for name in names}
    raise RuleViolation(next(iter(details.values()))[0], details=details)


def answers_list(schema: Any) -> bool:
    """Return whether a schema describes a collection."""
    answer = schema.get_response_serializers()
    if isinstance(answer, type) and issubclass(answer, Answer):
        return "data" in answer.model_fields
    if isinstance(answer, type) and issubclass(answer, DescribedType):
        return "data" in getattr(answer.shape, "__annotations__", ())
    return "data" in getattr(answer, "_declared_fields", ())


@cache
def _parameters_of_list(view: type[Any], action: str) -> tuple[str, ...] | None:
    """Return the query parameters that a list declares. None for endpoints without `data`."""
    described = getattr(getattr(view, action), "kwargs", {}).get("schema")
    if described is None:
        return None
    schema = described()
    schema.view = view()
    # The schema class reads the request for the API version, but there is only one version.
    schema.view.request, schema.view.kwargs, schema.method = None, {}, "GET"
    if not answers_list(schema):
        return None
    return tuple(
        parameter.name
        for parameter in schema.get_override_parameters()
        if isinstance(parameter, OpenApiParameter) and parameter.location == OpenApiParameter.QUERY
    )


def _unknown_parameter_message(name: str, known: Sequence[str], suggestion: str) -> str:
    if not known:
        return f"There is no parameter {name!r} here; none is taken."
    names = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), names, n=1, cutoff=0.6)
    meant = suggestion or (names[near[0]] if near else "")
    guess = f" Did you mean {meant!r}?" if meant else ""
    return f"There is no parameter {name!r} here; known: {', '.join(known)}.{guess}"
