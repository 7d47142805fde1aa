"""The pages of a user's own account: preferences, password and sessions."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.forms import AdminPasswordChangeForm
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.utils import translation
from django.utils.translation import get_language_info, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.i18n import set_language

from proofroom.accounts.devices import device_name
from proofroom.accounts.models import PUBLIC_NAME_MAX, Density, Theme, User
from proofroom.accounts.queries import preferences_of
from proofroom.accounts.scope_words import describe_scopes
from proofroom.accounts.services.preferences import change_preferences
from proofroom.accounts.services.sessions import end_sessions, list_sessions
from proofroom.core.admin.form_pages import save_form
from proofroom.core.admin.permissions import actor_of
from proofroom.core.errors import CmsError
from proofroom.core.i18n import said
from proofroom.core.i18n.time_zones import time_zone_choices
from proofroom.core.templatetags.shell import THEME_COOKIE

_YEAR_SECONDS = 365 * 24 * 60 * 60


def _languages() -> list[tuple[str, Any]]:
    """Return the languages of the admin, each by its own name."""
    # A user who understands only one language must find it, so the names are not translated.
    own = [
        (code, get_language_info(code)["name_local"].capitalize()) for code, _ in settings.LANGUAGES
    ]
    return [("", gettext_lazy("Browser setting")), *own]


class PreferencesForm(forms.Form):
    time_zone = forms.ChoiceField(
        label=gettext_lazy("Time zone"),
        required=False,
        help_text=gettext_lazy("Times in the admin are shown and entered in this time zone."),
    )
    language = forms.ChoiceField(label=gettext_lazy("Language"), required=False, choices=_languages)
    theme = forms.ChoiceField(
        label=gettext_lazy("Theme"), choices=said(Theme.choices), widget=forms.RadioSelect
    )
    density = forms.ChoiceField(
        label=gettext_lazy("Density"),
        choices=said(Density.choices),
        widget=forms.RadioSelect,
        help_text=gettext_lazy(
            "Compact shows more rows and fields at once. Phones always use Comfortable."
        ),
    )
    has_letter_keys = forms.BooleanField(
        label=gettext_lazy("Use single letters as keyboard shortcuts"),
        required=False,
        help_text=gettext_lazy("Shortcuts with Ctrl, Alt or ⌘ always work."),
    )
    public_name = forms.CharField(
        label=gettext_lazy("Name for readers"),
        required=False,
        max_length=PUBLIC_NAME_MAX,
        help_text=gettext_lazy(
            "Shown below posts that name you as an author. Leave blank to stay unnamed."
        ),
    )
    is_named_publicly = forms.BooleanField(
        label=gettext_lazy("Name me on pages whose AI work I approved"),
        required=False,
        help_text=gettext_lazy(
            "Where the site discloses AI work, visitors see your username. Otherwise, they see only your role."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zones = cast("forms.ChoiceField", self.fields["time_zone"])
        zones.choices = [("", _("Time zone of the browser")), *time_zone_choices()]


def account(request: HttpRequest) -> HttpResponse:
    """GET shows the account. POST saves the preferences, or the theme alone (`do=theme`)."""
    user = cast("User", request.user)
    actor = actor_of(request)
    if request.POST.get("do") == "theme":
        return _save_theme(request)
    names = tuple(PreferencesForm.base_fields)
    stored = preferences_of(user)
    initial = {name: getattr(stored, name) for name in names}
    form = PreferencesForm(request.POST if request.method == "POST" else None, initial=initial)
    if form.is_bound and save_form(
        form, lambda: change_preferences(actor=actor, **form.cleaned_data)
    ):
        saved = form.cleaned_data
        # The message appears on the next page, which already has the new language.
        with translation.override(saved["language"] or None):
            messages.success(request, _("Preferences saved."))
        response = HttpResponseRedirect(request.path)
        _remember_language(response, saved["language"])
        _remember_theme(response, saved["theme"])
        return response
    has_password = settings.PASSWORD_LOGIN and user.has_usable_password()
    password_form = AdminPasswordChangeForm(user) if has_password else None
    if password_form is not None:
        # The browser would scroll to the second form.
        password_form.fields["old_password"].widget.attrs.pop("autofocus", None)
    context = {
        **admin.site.each_context(request),
        "title": _("Your account"),
        "account": user,
        "limits": [line for lines in describe_scopes([*user.scopes], actor) for line in lines],
        "form": form,
        "password_form": password_form,
    }
    status = 422 if form.errors else 200
    return TemplateResponse(request, "admin/account/account.html", context, status=status)


def sessions(request: HttpRequest) -> HttpResponse:
    """GET lists the account's sessions. POST ends one session (`session`), or all others."""
    user = cast("User", request.user)
    current = request.session.session_key or ""
    if request.method == "POST":
        chosen = request.POST.get("session", "")
        # Ids have at most 18 digits here: a longer number can overflow the database's integer type.
        if chosen and not (chosen.isascii() and chosen.isdecimal() and len(chosen) < 19):
            raise Http404
        ended = end_sessions(
            actor=actor_of(request),
            keep=current,
            session_id=int(chosen) if chosen else None,
        )
        messages.success(
            request,
            ngettext("Ended %(ended)d session.", "Ended %(ended)d sessions.", ended)
            % {"ended": ended},
        )
        return HttpResponseRedirect(request.path)
    context = {
        **admin.site.each_context(request),
        "title": _("Sessions"),
        "sessions": [(one, device_name(one.user_agent)) for one in list_sessions(user)],
        "current": current,
    }
    return TemplateResponse(request, "admin/account/sessions.html", context)


def _save_theme(request: HttpRequest) -> HttpResponse:
    try:
        stored = change_preferences(actor=actor_of(request), theme=request.POST.get("theme", ""))
    except CmsError as error:
        return JsonResponse({"error": error.code, "message": error.message}, status=error.status)
    # A script sends the theme in the background. Without scripts, the form needs a redirect.
    response: HttpResponse = (
        HttpResponse(status=204)
        if request.accepts("application/json") and not request.accepts("text/html")
        else HttpResponseRedirect(request.path)
    )
    _remember_theme(response, stored.theme)
    return response


def choose_language(request: HttpRequest) -> HttpResponse:
    """Store the language in the account, then let Django's view store it in a cookie."""
    language = request.POST.get("language", "")
    if request.user.is_authenticated and language in dict(settings.LANGUAGES):
        change_preferences(actor=actor_of(request), language=language)
    return set_language(request)


def _remember_theme(response: HttpResponse, theme: str) -> None:
    """Store the theme in a cookie for the login page."""
    response.set_cookie(
        THEME_COOKIE,
        theme,
        max_age=_YEAR_SECONDS,
        path="/admin/",
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def _remember_language(response: HttpResponse, language: str) -> None:
    """Store the language in a cookie for previews and the login page, as `set_language` does."""
    if not language:
        response.delete_cookie(settings.LANGUAGE_COOKIE_NAME, samesite="Lax")
        return
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
        samesite="Lax",
    )
