"""Every rule that a change of content must obey, in one place, for every layer and every door."""

from content.rules.check import check_changes

__all__ = ["check_changes"]
