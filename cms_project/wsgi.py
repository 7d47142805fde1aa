"""HTTP for production servers with threads."""

import os

import django

from cms_project.requests import Utf8WSGIHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cms_project.settings")

django.setup(set_prefix=False)

from agents_app.runs.waiting import MOST_IN_WEB, limit_waiting  # noqa: E402

limit_waiting(MOST_IN_WEB)
application = Utf8WSGIHandler()
