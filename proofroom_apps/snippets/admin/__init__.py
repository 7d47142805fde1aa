"""The admin of snippets and post templates. Importing it registers every class."""

from proofroom_apps.snippets.admin import snippet_admin, template_admin

__all__ = ["snippet_admin", "template_admin"]
