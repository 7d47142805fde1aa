"""Addresses of the site: previews, and every address that is left. Must come last."""

from django.urls import path, re_path

from proofroom.website.preview_view import preview
from proofroom.website.views import page

urlpatterns = [
    path("preview/<str:token>", preview, name="preview"),
    # Left out, so that Django adds the slash to `/admin`, and a missing file costs no query.
    re_path(r"^(?!admin$|static/)(?P<path>.*)$", page, name="page"),
]
