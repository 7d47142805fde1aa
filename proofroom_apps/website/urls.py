"""The catch-all address of the site. It must come last."""

from django.urls import re_path

from proofroom_apps.website.views import page

urlpatterns = [
    # Exclude `/admin`, so that Django appends the slash, and `static/`, so that a missing file sends no query.
    re_path(r"^(?!admin$|static/)(?P<path>.*)$", page, name="page"),
]
