"""Texts with placeholders such as `{{data.slug}}`, filled with what happened, and the rules of declared requests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from django.conf import settings
from pydantic import JsonValue

from proofroom.core.errors import CmsError
from proofroom.core.json import Json
from proofroom.core.validation.conditions import value_at
from proofroom.webhooks import rules

PLACEHOLDER: Final = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_PATH: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_LONGEST_PATH: Final = 200


def placeholders(template: JsonValue) -> Iterator[str]:
    """The path of every placeholder in every text of the template."""
    if isinstance(template, str):
        yield from PLACEHOLDER.findall(template)
    elif isinstance(template, dict):
        for value in template.values():
            yield from placeholders(value)
    elif isinstance(template, list):
        for value in template:
            yield from placeholders(value)


def fault_of(template: JsonValue, roots: frozenset[str]) -> str:
    """Return what is wrong with the placeholders of a template, as a sentence; empty where nothing is."""
    for path in placeholders(template):
        if len(path) > _LONGEST_PATH or not _PATH.fullmatch(path):
            return f"the placeholder {{{{{path[:60]}}}}} is no path such as data.slug"
        if path.partition(".")[0] not in roots:
            known = ", ".join(sorted(roots))
            return f"the placeholder {{{{{path[:60]}}}}} begins with none of: {known}"
    return ""


def filled(template: JsonValue, values: Mapping[str, Json]) -> Json:
    """The template with every placeholder filled once: what is put in is never looked at again.

    A text that is one placeholder becomes the value, of whatever type; in a longer text it becomes words. What is
    not there is null, and in a longer text nothing.
    """
    if isinstance(template, str):
        alone = PLACEHOLDER.fullmatch(template)
        if alone is not None:
            found: Json = value_at(values, alone[1])  # type: ignore[assignment]  # of values, which are JSON
            return found
        return PLACEHOLDER.sub(lambda match: words_of(value_at(values, match[1])), template)
    if isinstance(template, dict):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, values) for value in template]
    return template


def words_of(value: object) -> str:
    """A value as it stands in the middle of a text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


SECRET_ROOT: Final = "secret"  # noqa: S105  # the name of a placeholder
CREDENTIAL_HEADERS: Final = frozenset({"authorization", "cookie", "x-api-key"})


def check_url(url: str) -> str:
    """Return the address without blanks around it. Raises `ValueError` if it may not be called."""
    refusals_as_value_errors(lambda: rules.clean_url(url))
    return url.strip()


def check_headers(headers: dict[str, str]) -> dict[str, str]:
    """Return the headers. Raises `ValueError` also if one holds a credential, or names no known secret."""
    refusals_as_value_errors(lambda: rules.clean_headers(headers, {}))
    fault = fault_of(dict(headers), frozenset({SECRET_ROOT}))
    if fault:
        raise ValueError(fault)
    for name, value in headers.items():
        if name.lower() in CREDENTIAL_HEADERS and not list(placeholders(value)):
            raise ValueError(
                f"put the credential of {name} into WORKFLOW_SECRETS and write {{{{secret.<its name>}}}} here"
            )
    for path in placeholders(dict(headers)):
        name = path.partition(".")[2]
        if name not in settings.CMS_ENV.workflow_secrets:
            raise ValueError(f"WORKFLOW_SECRETS has no value named {name!r}")
    return headers


def refusals_as_value_errors(check: Callable[[], object]) -> None:
    """Turn a refusal into the kind of error that is a problem of the file."""
    try:
        check()
    except CmsError as error:
        raise ValueError(error.message) from None
