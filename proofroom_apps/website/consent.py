"""The question for consent, generated from the settings. The pages of the site show the same texts.

`visitor_text` is not extracted: its texts are in the catalogue of the pages (`locale/` of this app).
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as visitor_text


@dataclass(frozen=True, slots=True)
class Consent:
    """The texts of the question. `is_asked` says whether the settings require it."""

    is_asked: bool
    question: str
    explanation: str
    agree: str
    refuse: str


def consent_texts() -> Consent:
    """Return the texts in the active language."""
    env = settings.CMS_ENV
    return Consent(
        is_asked=bool(env.analytics_tracking and env.analytics_consent),
        question=visitor_text("May we count your visits?"),
        explanation=visitor_text(
            "We count which pages are opened and where visitors click, without cookies and without "
            "knowing who you are."
        ),
        agree=visitor_text("Yes, count my visits"),
        refuse=visitor_text("No"),
    )


def counting_text() -> str:
    """Return in a sentence what the site counts of its visitors with the present settings."""
    env = settings.CMS_ENV
    if not env.analytics_tracking:
        return visitor_text("This site does not count visits.")
    if env.analytics_consent:
        return visitor_text(
            "This site counts visits only if you agree. It stores neither address nor name."
        )
    return visitor_text(
        "This site counts visits without cookies. It stores neither address nor name, and counts "
        "nothing if your browser sends Do Not Track or Global Privacy Control."
    )
