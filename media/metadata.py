"""Normalization of metadata that users enter for a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import PurePosixPath
from typing import Final

from django.conf import settings
from django.utils.translation import gettext as _

from media.models import Asset
from proofroom.core.errors import invalid

CATEGORIES_MAX: Final = 20
CATEGORY_MAX: Final = 60
FocalPoint = tuple[float, float]
# Includes the marks that change the direction of text, which can make "gpj.exe" look like "exe.jpg".
_CONTROL: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_UNSTORABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LONGEST_SUFFIX: Final = 20


def clean_filename(name: str) -> str:
    """Return the last part of a name, for display only. A long name keeps its suffix."""
    plain = PurePosixPath(_CONTROL.sub("", name).replace("\\", "/")).name.strip()
    longest = _longest("filename")
    suffix = PurePosixPath(plain).suffix
    if len(plain) > longest and len(suffix) <= _LONGEST_SUFFIX:
        plain = plain[: longest - len(suffix)] + suffix
    return plain[:longest] or "file"


def clean_alt_text(value: str) -> str:
    """Return the alternative text as one line."""
    text = " ".join(_line(value).split())
    return _fitting("alt_text", text)


def clean_alt_texts(values: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    """Return the alternative texts in languages other than the default; an empty text removes that of
    its language."""
    env = settings.CMS_ENV
    known = [locale for locale in env.locales if locale != env.default_locale]
    for locale in values:
        if locale not in known:
            raise invalid(
                "alt_texts", _("This site has no language %(locale)r.") % {"locale": locale[:20]}
            )
    texts = {**before, **{locale: clean_alt_text(text) for locale, text in values.items()}}
    return {locale: text for locale, text in texts.items() if text}


def alt_of(asset: Asset, locale: str = "") -> str:
    """Return the alternative text in a language, or else in the default language. Empty for decorative images."""
    if asset.is_decorative:
        return ""
    return str(asset.alt_texts.get(locale) or asset.alt_text)


def clean_description(value: str) -> str:
    """Return the description with normalized line ends."""
    lines = _UNSTORABLE.sub(" ", value.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    return _fitting("description", "\n".join(line.rstrip() for line in lines).strip())


def clean_categories(values: Sequence[str]) -> list[str]:
    """Return the categories trimmed and without duplicates."""
    words = list(dict.fromkeys(" ".join(_line(value).split()) for value in values))
    words = [word for word in words if word]
    if len(words) > CATEGORIES_MAX or any(len(word) > CATEGORY_MAX for word in words):
        raise invalid(
            "categories",
            _(
                "At most %(categories_max)s categories of %(category_max)s characters each are "
                "allowed."
            )
            % {"categories_max": CATEGORIES_MAX, "category_max": CATEGORY_MAX},
        )
    return words


def clean_focal_point(value: FocalPoint) -> FocalPoint:
    """Return the focal point as fractions from the left and the top. Raises `RuleViolation`."""
    if not all(isfinite(part) and 0 <= part <= 1 for part in value):
        raise invalid("focal_point", _("The focal point must be two numbers between 0 and 1."))
    return (round(float(value[0]), 4), round(float(value[1]), 4))


def _line(value: str) -> str:
    return _UNSTORABLE.sub(" ", value)


def _longest(name: str) -> int:
    return getattr(Asset._meta.get_field(name), "max_length", None) or 255


def _fitting(name: str, text: str) -> str:
    longest = _longest(name)
    if len(text) > longest:
        raise invalid(
            name,
            _("The text has %(number)s characters; at most %(longest)s are allowed.")
            % {"number": len(text), "longest": longest},
        )
    return text
