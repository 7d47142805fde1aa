"""Admin pages of connected AI clients. The library's admin is unregistered: it bypasses the services."""

from __future__ import annotations

from contextlib import suppress

import oauth2_provider.admin  # noqa: F401  # registers the classes that are unregistered below
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.exceptions import NotRegistered
from oauth2_provider.models import get_application_model

from proofroom.oauth.admin.connection_list import OAuthConnectionAdmin

for _model in (*apps.get_app_config("oauth2_provider").get_models(), get_application_model()):
    with suppress(NotRegistered):
        admin.site.unregister(_model)

__all__ = ["OAuthConnectionAdmin"]
