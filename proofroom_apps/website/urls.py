"""The catch-all address of the site. It must come last."""

from django.urls import re_path

from proofroom_apps.website.views import page

urlpatterns = [
    # Left out, so that Django adds the slash to `/admin`, and a missing file costs no query.
    re_path(r"^(?!admin$|static/)(?P<path>.*)$", page, name="page"),
]
