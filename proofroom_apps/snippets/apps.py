"""Registers the app with Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class SnippetsConfig(AppConfig):
    name = "proofroom_apps.snippets"
    label = "proofroom_snippets"
    verbose_name = "Content"  # the section of the admin with its lists
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from content.posts.post_templates import find_template
        from content.store.media_usage import other_holders
        from media.usage_sources import holder_lookups
        from proofroom.archive.registry import archive_kinds
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            NavigationTab,
            navigation_entries,
        )
        from proofroom_apps.snippets import media_usage
        from proofroom_apps.snippets.archive import SnippetArchive, TemplateArchive
        from proofroom_apps.snippets.templates import template_content

        find_template.register(template_content)
        holder_lookups.register(media_usage.label_snippets, name=media_usage.SNIPPET)
        holder_lookups.register(media_usage.label_templates, name=media_usage.TEMPLATE)
        other_holders.register(media_usage.rebuild)
        archive_kinds.register(SnippetArchive(), name=SnippetArchive.name, order=112)
        archive_kinds.register(TemplateArchive(), name=TemplateArchive.name, order=113)
        snippets = "admin:proofroom_snippets_snippet_changelist"
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SITE,
                gettext_lazy("Snippets and templates"),
                snippets,
                "file",
                permissions=("snippets.manage",),
                is_frequent=False,
                tabs=(
                    NavigationTab(gettext_lazy("Snippets"), snippets),
                    NavigationTab(
                        gettext_lazy("Post templates"),
                        "admin:proofroom_snippets_posttemplate_changelist",
                    ),
                ),
            ),
            order=80,
        )
