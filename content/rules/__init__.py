"""Rules for changes of content, the same for every layer and interface."""

from content.rules.check import check_changes

__all__ = ["check_changes"]
