"""Addresses of the provider, and what it says of people."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.idp.oidc.adapter import DefaultOIDCAdapter
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.urls import include, path


class Adapter(DefaultOIDCAdapter):
    """Says the groups of people: their first name, which nothing else needs."""

    def get_claims(self, purpose: Any, user: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        claims: dict[str, Any] = super().get_claims(purpose, user, *args, **kwargs)
        return {**claims, "groups": user.first_name.split()}


def log_in(request: HttpRequest) -> HttpResponse:
    """Log somebody in at the provider, as the query describes them."""
    asked = request.GET
    user, _created = User.objects.get_or_create(username=asked["name"])
    user.first_name = asked.get("groups", "")
    user.save()
    EmailAddress.objects.filter(user=user).delete()
    EmailAddress.objects.create(
        user=user, email=asked["email"], verified=asked["verified"] == "yes", primary=True
    )
    login(request, user, "django.contrib.auth.backends.ModelBackend")
    return HttpResponse()


urlpatterns = [path("log-in", log_in), path("", include("allauth.idp.urls"))]
