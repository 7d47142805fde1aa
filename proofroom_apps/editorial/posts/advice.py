"""What reviewers without an account said, in words."""

from __future__ import annotations

from django.utils.translation import ngettext


def describe_advice(yes: int, no: int, comments: int) -> str:
    """Return what a reviewer said, in numbers."""
    parts = [
        ngettext("%(n)s yes", "%(n)s yes", yes) % {"n": yes} if yes else "",
        ngettext("%(n)s no", "%(n)s no", no) % {"n": no} if no else "",
        ngettext("%(n)s comment", "%(n)s comments", comments) % {"n": comments} if comments else "",
    ]
    return ", ".join(part for part in parts if part)
