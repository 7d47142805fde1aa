"""The panel beside a post's form that links to its translations, variations and preview links."""

from __future__ import annotations

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import gettext

from content.models import Post
from proofroom.core.admin.permissions import may
from proofroom_apps.editorial.posts.extensions import PostPanel
from proofroom_apps.editorial.posts.post_pages import post_url


def related_panel(request: HttpRequest, post: Post) -> PostPanel:
    """Return the panel of a post. No query."""
    pages = [(gettext("Translations"), "translations"), (gettext("Variations"), "variations")]
    if may(request, "posts.preview"):
        pages.append((gettext("Preview links"), "previews"))
    links = [(label, post_url(name, post)) for label, name in pages]
    html = render_to_string("admin/posts/related_panel.html", {"links": links})
    return PostPanel("settings", html)
