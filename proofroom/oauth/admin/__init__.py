"""Pages of the admin. The library's own are taken away: they show and change what only services may."""

from __future__ import annotations

from django.apps import apps
from django.contrib import admin
from oauth2_provider.models import get_application_model

from proofroom.oauth.admin.connection_list import OAuthConnectionAdmin

for _model in (*apps.get_app_config("oauth2_provider").get_models(), get_application_model()):
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)

__all__ = ["OAuthConnectionAdmin"]
