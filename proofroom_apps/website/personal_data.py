"""What the pages of the site store in browsers of visitors. The texts are in the catalogue of the pages."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.utils.translation import gettext_lazy as visitor_text

from proofroom.core.privacy.browser_storage import Audience, StorageKind, StoredItem


def asks_for_consent() -> bool:
    return bool(settings.CMS_ENV.analytics_tracking and settings.CMS_ENV.analytics_consent)


STORED_ITEMS: Final = (
    StoredItem(
        "cms-consent",
        StorageKind.LOCAL,
        Audience.VISITORS,
        visitor_text("Remembers whether you agreed to the counting of visits."),
        visitor_text("When you answer the question at the bottom of the page"),
        is_used=asks_for_consent,
    ),
)
