"""The app configuration."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy


class MediaConfig(AppConfig):
    name = "media"
    label = "media"
    verbose_name = "Media"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from media.archive import MediaArchive
        from media.find_replace import MEDIA
        from media.models import POSTER_HOLDER
        from media.queries import has_files
        from media.usage_sources import holder_lookups, label_files
        from proofroom.archive.registry import archive_kinds
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            navigation_entries,
        )
        from proofroom.core.diagnostics.availability import file_users
        from proofroom.core.find_replace import text_sources

        post_migrate.connect(_update_search_index, sender=self)
        archive_kinds.register(MediaArchive(), name=MediaArchive.name, order=10)
        text_sources.register(MEDIA)
        holder_lookups.register(label_files, name=POSTER_HOLDER)
        file_users.register(has_files)
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.WRITE,
                gettext_lazy("Media"),
                "admin:media_asset_changelist",
                "image",
                permissions=("media.view",),
            ),
            order=40,
        )


def _update_search_index(**kwargs: Any) -> None:
    from proofroom.core.database import migrate

    if migrate.is_complete():
        from media.search import follow_word_rules

        follow_word_rules()
