"""`python -m tests.accounts.oidc_provider PORT SITE`: serves the provider, with the site as its only client."""

from __future__ import annotations

import os
import sys
from wsgiref.simple_server import make_server

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.accounts.oidc_provider.settings"
django.setup()

from allauth.idp.oidc.models import Client  # noqa: E402
from django.contrib.auth.hashers import make_password  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402

call_command("migrate", verbosity=0)
Client.objects.create(
    id="site",
    name="Site",
    secret=make_password("site-secret"),
    scopes="openid\nprofile\nemail",
    redirect_uris=f"{sys.argv[2]}/admin/login/oidc/callback/",
    skip_consent=True,
)
with make_server("127.0.0.1", int(sys.argv[1]), get_wsgi_application()) as server:
    server.serve_forever()
