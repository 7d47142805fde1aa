"""Notes on the page of a post, below its comments."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from content.models import Post
from proofroom.core.admin.permissions import may
from proofroom_apps.editorial.posts.extensions import PostPagesExtension, post_pages_extensions
from proofroom_apps.feedback.models import Feedback, FeedbackStatus

_MAX_NOTES: Final = 50


class NotesOnPostPages(PostPagesExtension):
    def notes(self, request: HttpRequest, post: Post) -> SafeString:
        """Return the open notes on the page of the post. One query."""
        if not may(request, "feedback.view"):
            return SafeString()
        rows = Feedback.objects.filter(post=post, status=FeedbackStatus.PENDING)
        found = list(rows.select_related("author").order_by("-created_at", "-id")[:_MAX_NOTES])
        if not found:
            return SafeString()
        return render_to_string("admin/feedback/notes.html", {"rows": found})


post_pages_extensions.register(NotesOnPostPages(), name="feedback", order=3)
