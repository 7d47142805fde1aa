"""The Django app of taxonomies."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class TaxonomiesConfig(AppConfig):
    name = "proofroom.taxonomies"
    label = "proofroom_taxonomies"
    verbose_name = "Content"  # the admin section that lists the terms
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.archive.registry import archive_kinds
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            navigation_entries,
        )
        from proofroom.core.content_scope import scope_dimensions
        from proofroom.core.find_replace import text_sources
        from proofroom.shared_content.shared_types import TERM, shared_kinds
        from proofroom.taxonomies.archive import TermArchive
        from proofroom.taxonomies.find_replace import TERMS
        from proofroom.taxonomies.scope_part import TermPart
        from proofroom.taxonomies.shared_kind import TermKind

        archive_kinds.register(TermArchive(), name=TermArchive.name, order=20)
        scope_dimensions.register(TermPart(), name="terms")
        text_sources.register(TERMS)
        shared_kinds.register(TermKind(), name=TERM, order=30)
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SITE,
                gettext_lazy("Topics and tags"),
                "admin:proofroom_taxonomies_term_changelist",
                "tag",
                permissions=("taxonomies.edit",),
            ),
            order=20,
        )
