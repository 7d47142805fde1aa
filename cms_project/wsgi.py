"""HTTP for production servers with threads."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cms_project.settings")

application = get_wsgi_application()
