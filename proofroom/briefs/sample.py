"""The sample briefs of the demo: for the whole site, and for German. Found by the `seed` command."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings

from proofroom.briefs.brief_fields import NewBrief
from proofroom.briefs.models import Brief
from proofroom.briefs.services import create_brief
from proofroom.core.actor import Actor

BEFORE_POSTS: Final = True
"""True: what agents propose for the posts of the demo follows the briefs."""
_BRIEFS: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": "Whole site",
        "audience": "People who like to do things themselves: brew, repair, garden. They want to know why.",
        "voice": "Calm, precise and friendly, like a neighbour who knows the craft. Short sentences, dry humour "
        "at most once a page.",
        "address": "“You” for readers, “we” for the cooperative.",
        "readingLevel": "B1: understandable at the age of 12.",
        "never": ["Claims about health", "The best coffee in the world"],
        "terms": [
            {"term": "utilise", "preferred": "use", "forbidden": True},
            {
                "term": "filter coffee",
                "translations": {"de": "Filterkaffee"},
                "note": "Not “drip coffee”.",
            },
            {"term": "grinder", "translations": {"de": "Mühle"}},
            {"term": "cooperative", "translations": {"de": "Genossenschaft"}},
        ],
        "protectedNames": ["Kettle & Spoke"],
        "examples": [
            {
                "before": "It is recommended that the kettle be taken off the boil prior to pouring.",
                "after": "Take the kettle off the boil before you pour.",
            }
        ],
    },
    {
        "name": "German",
        "locale": "de",
        "address": "„Sie“ für Leserinnen und Leser, „wir“ für die Genossenschaft.",
        "terms": [
            {"term": "Kaffeegenuss", "preferred": "Kaffee", "forbidden": True},
            {"term": "Equipment", "preferred": "Ausrüstung"},
        ],
        "examples": [
            {
                "before": "Die Durchführung der Reinigung sollte regelmäßig erfolgen.",
                "after": "Reinigen Sie die Mühle jede Woche.",
            }
        ],
    },
)


def seed(*, actor: Actor) -> None:
    """Create the briefs in the site's languages. Existing briefs are unchanged."""
    for values in _BRIEFS:
        locale = values.get("locale", "")
        there = Brief.objects.filter(locale=locale, type="", section="").exists()
        if not there and locale in ("", *settings.CMS_ENV.locales):
            create_brief(actor=actor, brief=NewBrief.model_validate(values))
