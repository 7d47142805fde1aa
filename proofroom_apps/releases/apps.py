"""Registers the app with Django."""

from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    name = "proofroom_apps.releases"
    label = "proofroom_releases"
    verbose_name = "Content"  # the section of the admin with its list
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from content.posts.schedule import find_due_work
        from proofroom_apps.releases.runs import find_due_releases

        find_due_work.register(find_due_releases)
