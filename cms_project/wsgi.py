"""HTTP for production servers with threads."""

import os

import django

from cms_project.requests import Utf8WSGIHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cms_project.settings")

django.setup(set_prefix=False)
application = Utf8WSGIHandler()
