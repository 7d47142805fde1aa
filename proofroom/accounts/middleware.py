"""What each person chose for their admin, and the second factor that a role has to have."""

from __future__ import annotations

from typing import Final
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone, translation

from proofroom.accounts.models import User
from proofroom.accounts.queries import preferences_of
from proofroom.core.middleware import ManagementMiddleware
from proofroom.core.second_factor import lacks_second_factor


class PreferencesMiddleware(ManagementMiddleware):
    """Answers pages of the admin in the reader's language and time zone.

    The API, previews and public pages stay in the site's: what programs read is the same for everybody.
    """

    def process_request(self, request: HttpRequest) -> None:
        user = request.user if request.path_info.startswith("/admin/") else None
        if not isinstance(user, User):
            return
        preferences = preferences_of(user)
        if preferences.time_zone:
            timezone.activate(ZoneInfo(preferences.time_zone))
        if preferences.language:
            translation.activate(preferences.language)
            request.LANGUAGE_CODE = preferences.language

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        timezone.deactivate()
        return response


_WITHOUT_SECOND_FACTOR: Final = (
    "/admin/account/",
    "/admin/login/",
    "/admin/logout/",
    "/admin/language/",
    "/admin/jsi18n/",
    "/api/",  # its session authentication asks, where an endpoint wants to know who calls
)


class SecondFactorMiddleware(ManagementMiddleware):
    """Lets nobody further in the admin whose role must log in with a second factor and who has none."""

    def process_request(self, request: HttpRequest) -> HttpResponseBase | None:
        if request.path_info.startswith(_WITHOUT_SECOND_FACTOR):
            return None
        user = request.user
        if not isinstance(user, User) or not lacks_second_factor(user, request.session):
            return None
        return HttpResponseRedirect(reverse("mfa_index"))
