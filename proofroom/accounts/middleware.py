"""Middleware for the user's preferences and for required second factors."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone, translation

from proofroom.accounts.models import User
from proofroom.accounts.queries import preferences_of
from proofroom.core.i18n.time_zones import TIME_ZONE_COOKIE, find_time_zone
from proofroom.core.middleware import ManagementMiddleware
from proofroom.core.second_factor import lacks_second_factor


class PreferencesMiddleware(ManagementMiddleware):
    """Activate the user's language and time zone for pages of the admin; the browser's zone until one is chosen.

    The API, previews and public pages use the site's settings, so that programs get the same output for every user.
    """

    def process_request(self, request: HttpRequest) -> None:
        user = request.user if request.path_info.startswith("/admin/") else None
        if not isinstance(user, User):
            return
        preferences = preferences_of(user)
        wanted = preferences.time_zone or request.COOKIES.get(TIME_ZONE_COOKIE)
        if (zone := find_time_zone(wanted)) is not None:
            timezone.activate(zone)
        if preferences.language:
            translation.activate(preferences.language)
            request.LANGUAGE_CODE = preferences.language

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        # The thread serves other requests next, and nothing else resets the time zone.
        timezone.deactivate()
        return response


# The pages a user needs to add a second factor or to log out.
_ALLOWED_WITHOUT_SECOND_FACTOR: Final = (
    "/admin/account/",
    "/admin/login/",
    "/admin/logout/",
    "/admin/language/",
    "/admin/jsi18n/",
    "/api/",  # its session authentication checks the second factor where an endpoint needs a user
)


class SecondFactorMiddleware(ManagementMiddleware):
    """Redirect users whose role requires a second factor to the page that adds one."""

    def process_request(self, request: HttpRequest) -> HttpResponseBase | None:
        if request.path_info.startswith(_ALLOWED_WITHOUT_SECOND_FACTOR):
            return None
        user = request.user
        if not isinstance(user, User) or not lacks_second_factor(user, request.session):
            return None
        return HttpResponseRedirect(reverse("mfa_index"))
