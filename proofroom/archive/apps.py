"""The Django app of archives."""

from django.apps import AppConfig


class ArchiveConfig(AppConfig):
    name = "proofroom.archive"
    label = "proofroom_archive"
    verbose_name = "Export and import"
    default_auto_field = "django.db.models.BigAutoField"
