"""Rules of URL patterns."""

from __future__ import annotations

import re
from typing import Final

from django.conf import settings
from django.utils.translation import gettext as _

from content.models.paths import PATTERN_MAX
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.i18n.words import MARK, compile_pattern

VARIABLES: Final = ("slug", "path", "locale", "yyyy", "mm", "dd")
RESERVED: Final = frozenset(
    {
        ".well-known",
        "admin",
        "api",
        "embeds",
        "favicon.ico",
        "forms",
        "health",
        "llms.txt",
        "media",
        "mcp",
        "oauth",
        "preview",
        "robots.txt",
        "search",
        "sitemap.xml",
        "static",
        "ws",
    }
)
"""First path segments that pages may not use. `is_reserved` also covers numbered files."""
_NUMBERED: Final = re.compile(r"sitemap-[0-9]+\.xml")
RESERVED_IN_EVERY_LOCALE: Final = frozenset({"llms.txt", "search"})
"""First path segments after a locale prefix that pages may not use."""
_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")
_LITERAL: Final = compile_pattern(rf"[\w{MARK}.~-]*\Z")


def is_reserved(first: str) -> bool:
    """Return whether a path with this first segment belongs to something other than pages."""
    return first in RESERVED or _NUMBERED.fullmatch(first) is not None


def clean_pattern(value: object) -> str:
    """Return the pattern in stored format. Raises `RuleViolation` on `pattern` if it is invalid."""
    if not isinstance(value, str):
        raise _pattern_error(_("pattern must be text."))
    if len(value) > PATTERN_MAX:
        raise _pattern_error(
            _("A pattern can have at most %(pattern_max)s characters.")
            % {"pattern_max": PATTERN_MAX}
        )
    if not value.startswith("/"):
        raise _pattern_error(_("A pattern must start with /."))
    names = _VARIABLE.findall(value)
    known = ", ".join("{" + name + "}" for name in VARIABLES)
    for name in names:
        if name not in VARIABLES:
            raise _pattern_error(
                _("There is no variable {%(name)s}. Available: %(known)s.")
                % {"name": name[:40], "known": known}
            )
        if names.count(name) > 1:
            raise _pattern_error(_("{%(name)s} is used more than once.") % {"name": name})
    if not {"slug", "path"} & set(names):
        raise _pattern_error(
            _("A pattern must contain {slug} or {path}, so that each post has its own address.")
        )
    parts = value[1:].split("/")
    for part in parts:
        literal = _VARIABLE.sub("", part)
        if not part or part in (".", ".."):
            raise _pattern_error(
                _("A pattern must not contain empty parts, . or .., and must not end with /.")
            )
        if not _LITERAL.match(literal) or not literal.isprintable():
            raise _pattern_error(
                _(
                    "Outside variables, only letters, digits, hyphens, dots, "
                    "underscores and ~ are allowed."
                )
            )
        if "{path}" in part and part != "{path}":
            raise _pattern_error(_("{path} contains slashes, so it must be a part of its own."))
    below = parts[1] if parts[0] == "{locale}" and len(parts) > 1 else parts[0]
    if is_reserved(parts[0]) or below in RESERVED_IN_EVERY_LOCALE:
        raise _pattern_error(_("Addresses below /%(below)s are reserved.") % {"below": below})
    if parts[0] in settings.CMS_ENV.locales:
        raise _pattern_error(
            _(
                "/%(parts)s is a language prefix, which is added automatically. "
                "Use /{locale} instead."
            )
            % {"parts": parts[0]}
        )
    return value


def _pattern_error(message: str) -> RuleViolation:
    return invalid("pattern", message)
