"""The address of a preview link of a release."""

from __future__ import annotations

from django.urls import re_path

from proofroom_apps.releases.views import release_preview

urlpatterns = [
    re_path(
        r"^preview/release/(?P<token>[^/]+)/(?P<path>.*)$", release_preview, name="release-preview"
    )
]
