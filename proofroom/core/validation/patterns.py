"""Patterns that people write and strangers' words are held against: of form fields, of conditions.

They run in an engine without backtracking, whose time grows with the pattern times the text; both are bounded, so
that no text and no pattern can hold up a worker. It has no look-around and no back-references.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod
from typing import Final

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

MAX_PATTERN_LENGTH: Final = 200
MAX_TEXT_LENGTH: Final = 500
"""Characters of a value that a pattern is held against."""
MAX_REPETITIONS: Final = 2_000
"""What a pattern may grow to once its counts are written out."""

_COUNT = re.compile(r"(.?)\{(\d{1,9})(?:,(\d{0,9}))?\}", re.DOTALL)


def find_pattern_fault(pattern: str) -> str:
    """Return why the pattern cannot be used, as the rest of a sentence; empty where it can."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"has {len(pattern):,} characters; at most {MAX_PATTERN_LENGTH} are allowed"
    if re.search(r"\(\?(?!:)", pattern):
        return "may group with (…) and (?:…) only"
    # No less than the length of the pattern with its counted repetitions written out.
    groups, singles = [1], [len(pattern)]
    for before, least, most in _COUNT.findall(pattern):
        number = max(int(least), int(most or 0), 1)
        (groups if before == ")" else singles).append(number)
    if prod(groups) * sum(singles) > MAX_REPETITIONS:
        return "repeats too much: lower the counts in its braces"
    try:
        _compiled(pattern)
    except SchemaError as error:
        cause = str(error).strip().splitlines()[-1].strip().removeprefix("error: ")
        return f"is no regular expression that is known here: {cause}"
    return ""


def matches(pattern: str, text: str, longest: int = MAX_TEXT_LENGTH) -> bool:
    """Return whether the whole text fits the pattern; a text longer than that does not."""
    if len(text) > longest:
        return False
    try:
        _compiled(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> SchemaValidator:
    # By itself first: a bracket that closes what the pattern did not open must not join our own.
    SchemaValidator(core_schema.str_schema(pattern=pattern))
    return SchemaValidator(core_schema.str_schema(pattern=f"^(?:{pattern})$"))
