"""The Django app of shared content."""

from django.apps import AppConfig


class SharedContentConfig(AppConfig):
    name = "proofroom.shared_content"
    label = "proofroom_shared_content"
    verbose_name = "Content"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from proofroom.archive.registry import archive_kinds
        from proofroom.shared_content.archive import ProposalArchive

        archive_kinds.register(ProposalArchive(), name=ProposalArchive.name, order=120)
