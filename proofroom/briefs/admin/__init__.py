"""The admin of editorial briefs. Importing it registers every class."""

from proofroom.briefs.admin import brief_admin

__all__ = ["brief_admin"]
