"""URLs of the provider, and its claims about users."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.idp.oidc.adapter import DefaultOIDCAdapter
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import include, path
from django.utils.html import escape

_FORM = """<!doctype html><html lang="en"><title>Example ID</title><link rel="icon" href="data:,">
<form><input type="hidden" name="next" value="{}">
<input type="hidden" name="verified" value="yes"><label>Name <input name="name"></label>
<label>Email <input name="email"></label><button>Sign in</button></form></html>"""


class Adapter(DefaultOIDCAdapter):
    """Adds the groups of users, stored in the unused first name."""

    def get_claims(self, purpose: Any, user: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        claims: dict[str, Any] = super().get_claims(purpose, user, *args, **kwargs)
        return {**claims, "groups": user.first_name.split()}


def log_in(request: HttpRequest) -> HttpResponse:
    """Log a user in at the provider, as described by the query; without a name, show the login form."""
    asked = request.GET
    if "name" not in asked:
        return HttpResponse(_FORM.format(escape(asked.get("next", ""))))
    user, _created = User.objects.get_or_create(username=asked["name"])
    user.first_name = asked.get("groups", "")
    user.save()
    EmailAddress.objects.filter(user=user).delete()
    EmailAddress.objects.create(
        user=user, email=asked["email"], verified=asked["verified"] == "yes", primary=True
    )
    login(request, user, "django.contrib.auth.backends.ModelBackend")
    return HttpResponseRedirect(asked["next"]) if "next" in asked else HttpResponse()


urlpatterns = [path("log-in", log_in), path("", include("allauth.idp.urls"))]
