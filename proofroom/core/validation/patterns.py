"""Regular expressions written by editors and applied to visitors' input: in form fields and conditions.

They run in pydantic-core's engine without backtracking, whose time grows with pattern times text. Both have limits,
so that no input can block a worker. The engine has no look-around and no back-references.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod
from typing import Final

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

MAX_PATTERN_LENGTH: Final = 200
MAX_TEXT_LENGTH: Final = 500
"""Maximum length of a value that a pattern is matched against."""
MAX_REPETITIONS: Final = 2_000
"""Maximum size of a pattern with its counts expanded."""

_COUNT = re.compile(r"(.?)\{(\d{1,9})(?:,(\d{0,9}))?\}", re.DOTALL)


def find_pattern_fault(pattern: str) -> str:
    """Return why the pattern is invalid, as the rest of a sentence; empty if it is valid."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"has {len(pattern):,} characters; at most {MAX_PATTERN_LENGTH} are allowed"
    if re.search(r"\(\?(?!:)", pattern):
        return "may group with (…) and (?:…) only"
    # An upper bound for the length of the pattern with its counted repetitions expanded.
    groups, singles = [1], [len(pattern)]
    for before, least, most in _COUNT.findall(pattern):
        number = max(int(least), int(most or 0), 1)
        (groups if before == ")" else singles).append(number)
    if prod(groups) * sum(singles) > MAX_REPETITIONS:
        return "repeats too much: lower the counts in its braces"
    try:
        _compile(pattern)
    except SchemaError as error:
        cause = str(error).strip().splitlines()[-1].strip().removeprefix("error: ")
        return f"is no regular expression that is known here: {cause}"
    return ""


def matches(pattern: str, text: str, longest: int = MAX_TEXT_LENGTH) -> bool:
    """Return whether the whole text matches the pattern. A text longer than `longest` does not."""
    if len(text) > longest:
        return False
    try:
        _compile(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


@lru_cache(maxsize=256)
def _compile(pattern: str) -> SchemaValidator:
    # Compile it alone first: an unbalanced closing bracket could otherwise match the group added
    # here.
    SchemaValidator(core_schema.str_schema(pattern=pattern))
    return SchemaValidator(core_schema.str_schema(pattern=f"^(?:{pattern})$"))
