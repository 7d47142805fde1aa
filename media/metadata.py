"""Metadata that people write for a file, in the form in which it is stored."""

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
# Among them the marks that turn the direction of text, which make "gpj.exe" of a name look like "exe.jpg".
_CONTROL: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_UNSTORABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LONGEST_SUFFIX: Final = 20


def clean_filename(name: str) -> str:
    """The last part of a name, for people to read; never a path of the storage. A long one keeps its end."""
    plain = PurePosixPath(_CONTROL.sub("", name).replace("\\", "/")).name.strip()
    longest = _longest("filename")
    suffix = PurePosixPath(plain).suffix
    if len(plain) > longest and len(suffix) <= _LONGEST_SUFFIX:
        plain = plain[: longest - len(suffix)] + suffix
    return plain[:longest] or "file"


def clean_alt_text(value: str) -> str:
    """One line that says what the image shows."""
    text = " ".join(_line(value).split())
    return _fitting("alt_text", text)


def clean_alt_texts(values: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    """What the image shows in languages beside the default one; an empty text takes that of its language away."""
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
    """What pages in this language say that the image shows: in words of the default language where it has none."""
    if asset.is_decorative:
        return ""
    return str(asset.alt_texts.get(locale) or asset.alt_text)


def clean_description(value: str) -> str:
    """Longer words about the file, in lines."""
    lines = _UNSTORABLE.sub(" ", value.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    return _fitting("description", "\n".join(line.rstrip() for line in lines).strip())


def clean_categories(values: Sequence[str]) -> list[str]:
    """The categories without repetitions, each trimmed."""
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
    """Fractions of width and height, from the left and the top."""
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
