"""The sample form of the demo, in two languages. Found by the `seed` command."""

from __future__ import annotations

from typing import Final

from django.conf import settings

from forms.models import FormDefinition
from forms.services.definitions import create_form
from proofroom.core.actor import Actor
from proofroom.core.json import Json

SLUG: Final = "contact"
BEFORE_POSTS: Final = True
"""True: posts of the demo contain the form, so it must exist before them."""
_WORDS: Final[dict[str, dict[str, str]]] = {
    "en": {
        "title": "Write to us",
        "description": "We answer within two days.",
        "name": "Name",
        "email": "Email",
        "message": "Message",
        "submitLabel": "Send",
        "successMessage": "Thank you. We will write back.",
    },
    "de": {
        "title": "Schreiben Sie uns",
        "description": "Wir antworten innerhalb von zwei Tagen.",
        "name": "Name",
        "email": "E-Mail",
        "message": "Nachricht",
        "submitLabel": "Senden",
        "successMessage": "Danke. Wir melden uns bei Ihnen.",
    },
}


def seed(*, actor: Actor) -> None:
    """Create the form in the site's languages. Existing forms are unchanged."""
    for locale, words in _WORDS.items():
        there = FormDefinition.objects.filter(slug=SLUG, locale=locale).exists()
        if locale in settings.CMS_ENV.locales and not there:
            fields: list[Json] = [
                {"name": name, "label": words[name], "type": type_, "required": True}
                for name, type_ in (("name", "text"), ("email", "email"), ("message", "textarea"))
            ]
            texts = {
                name: words[name] for name in words if name not in ("name", "email", "message")
            }
            create_form(slug=SLUG, locale=locale, values={**texts, "fields": fields}, actor=actor)
