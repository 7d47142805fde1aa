"""What a URL pattern may look like."""

from __future__ import annotations

import re
from typing import Final

from django.conf import settings

from content.models.url_pattern import PATTERN_MAX
from core.errors import RuleViolation, invalid

VARIABLES: Final = ("slug", "path", "locale", "yyyy", "mm", "dd")
RESERVED: Final = frozenset(
    {
        "admin",
        "api",
        "forms",
        "health",
        "llms.txt",
        "media",
        "mcp",
        "preview",
        "robots.txt",
        "search",
        "sitemap.xml",
        "static",
        "ws",
    }
)
"""First parts of addresses that are not for pages."""
RESERVED_IN_EVERY_LOCALE: Final = frozenset({"llms.txt", "search"})
"""First parts that are not for pages after the prefix of a locale either."""
_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")
_LITERAL: Final = re.compile(r"[\w.~-]*\Z")


def clean_pattern(value: object) -> str:
    """The pattern as it is stored; `RuleViolation` on `pattern` for one that cannot work."""
    if not isinstance(value, str):
        raise _refused("pattern must be text.")
    if len(value) > PATTERN_MAX:
        raise _refused(f"A pattern has at most {PATTERN_MAX} characters.")
    if not value.startswith("/"):
        raise _refused("A pattern begins with /.")
    names = _VARIABLE.findall(value)
    known = ", ".join("{" + name + "}" for name in VARIABLES)
    for name in names:
        if name not in VARIABLES:
            raise _refused(f"There is no variable {{{name[:40]}}}; known: {known}.")
        if names.count(name) > 1:
            raise _refused(f"{{{name}}} stands more than once in it.")
    if not {"slug", "path"} & set(names):
        raise _refused("A pattern holds {slug} or {path}, so that each post has its own address.")
    _check_parts(value[1:].split("/"))
    return value


def _check_parts(parts: list[str]) -> None:
    for part in parts:
        literal = _VARIABLE.sub("", part)
        if not part or part in (".", ".."):
            raise _refused("A pattern has no empty part, no . and no .., and no / at its end.")
        if not _LITERAL.match(literal) or not literal.isprintable():
            raise _refused(
                "Between the variables stand letters, digits, hyphens, dots, underscores and ~ only."
            )
        if "{path}" in part and part != "{path}":
            raise _refused("{path} holds slashes: it is a part of its own.")
    below = parts[1] if parts[0] == "{locale}" and len(parts) > 1 else parts[0]
    if parts[0] in RESERVED or below in RESERVED_IN_EVERY_LOCALE:
        raise _refused(f"Addresses below /{below} are not for pages.")
    if parts[0] in settings.CMS_ENV.locales:
        raise _refused(
            f"/{parts[0]} is the prefix of a locale, which comes by itself; /{{locale}} stands for it."
        )


def _refused(message: str) -> RuleViolation:
    return invalid("pattern", message)
