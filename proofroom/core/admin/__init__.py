"""The admin of the core: the activity log and the base classes of all admin pages."""

from proofroom.core.admin import events

__all__ = ["events"]
