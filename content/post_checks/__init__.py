"""Checks of posts: one file a check. Sites add their own in `<app>/post_checks/`."""

from content.post_checks.context import CheckSubject
from content.post_checks.registry import Failure, PostCheck

__all__ = ["CheckSubject", "Failure", "PostCheck"]
