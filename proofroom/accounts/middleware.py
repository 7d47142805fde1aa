"""Language and time zone of the admin, as each person chose them."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone, translation

from proofroom.accounts.models import User
from proofroom.accounts.queries import preferences_of
from proofroom.core.middleware import ManagementMiddleware


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
