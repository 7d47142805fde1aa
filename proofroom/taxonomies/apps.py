"""Registers the app with Django."""

from django.apps import AppConfig


class TaxonomiesConfig(AppConfig):
    name = "proofroom.taxonomies"
    label = "proofroom_taxonomies"
    verbose_name = "Content"  # the section of the admin that its list stands in
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.core.find_replace import text_sources
        from proofroom.taxonomies.find_replace import TERMS

        text_sources.register(TERMS)
