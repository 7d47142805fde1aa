"""Sections that other apps add to the inbox, above the changes."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.safestring import SafeString

from proofroom.core.hooks import ExtensionPoint


class InboxSection:
    """A section of the inbox. Override `show`, and register an instance at start."""

    def show(self, request: HttpRequest) -> SafeString:
        """Return the HTML of the section, empty if nothing waits."""
        return SafeString()


inbox_sections: ExtensionPoint[InboxSection] = ExtensionPoint()


def show_sections(request: HttpRequest) -> list[SafeString]:
    """Return the sections in which something waits."""
    shown = [section.show(request) for section in inbox_sections]
    return [html for html in shown if html]
