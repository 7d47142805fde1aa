"""HTTP for production servers with threads."""

import os

import django

from cms_project.requests import Utf8WSGIHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cms_project.settings")

django.setup(set_prefix=False)

from agents_app.runs.lifecycle import MAX_WAITING_IN_WEB, limit_waiting  # noqa: E402
from proofroom.core.caching.front_applications import FrontWSGI  # noqa: E402

limit_waiting(MAX_WAITING_IN_WEB)
application = FrontWSGI(Utf8WSGIHandler(), is_listening=True)
