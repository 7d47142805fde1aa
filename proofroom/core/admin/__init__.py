"""The admin of the core: the activity log, and what every admin class shares."""

from proofroom.core.admin import events

__all__ = ["events"]
