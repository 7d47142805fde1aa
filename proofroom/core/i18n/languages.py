"""Names of the languages of the content and of the admin."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import get_language_info
from django.utils.translation import gettext as _

from proofroom.core.errors import invalid


def language_name(code: str) -> str:
    """Return the name in the reader's language, with the code if it has a region or script, such as `de-AT`."""
    try:
        info = get_language_info(code)
    except KeyError:
        return code
    name = str(info["name_translated"])
    return name if info["code"] == code else f"{name} ({code})"


def validate_language(code: str) -> None:
    """Raise `ValidationError` for a language that the admin is not translated into."""
    if code not in dict(settings.LANGUAGES):
        raise ValidationError(_("This language is not available."), code="unknown_language")


def require_site_language(code: str) -> None:
    """Raise `RuleViolation` on `locale` unless the site has the language."""
    if code not in settings.CMS_ENV.locales:
        raise invalid(
            "locale",
            _("%(locale)r is not a language of this site. Available: %(known)s.")
            % {"locale": code[:20], "known": ", ".join(settings.CMS_ENV.locales)},
        )


def site_languages() -> list[tuple[str, str]]:
    """Return the languages of the site as choices."""
    return [(code, language_name(code)) for code in settings.CMS_ENV.locales]


def other_languages() -> list[tuple[str, str]]:
    """Return the languages of the site except the default one."""
    default: str = settings.CMS_ENV.default_locale
    return [(code, name) for code, name in site_languages() if code != default]
