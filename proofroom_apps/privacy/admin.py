"""The admin pages of personal data: requests about people, retention, and what the site stores in browsers."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.admin.form_pages import answer_form, form_page
from proofroom.core.admin.labels import badge
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.admin.run_pages import RunAdmin
from proofroom.core.privacy.declarations import find_address, retentions, stored_items
from proofroom.core.privacy.person import EMAIL_MAX
from proofroom_apps.privacy.models import PersonalDataRequest, RequestAction
from proofroom_apps.privacy.presenters import (
    ACTION_LABELS,
    AUDIENCE_LABELS,
    NOT_SEARCHED,
    STORAGE_LABELS,
    lifetime_of,
    results_of,
)
from proofroom_apps.privacy.services.export_file import FILENAME, open_export
from proofroom_apps.privacy.services.requests import (
    cancel_request,
    repeat_request,
    start_request,
)
from proofroom_apps.website.consent import consent_texts

PERMISSION = "privacy.manage"


class PersonForm(forms.Form):
    # No EmailField: the service checks the address, in the API too.
    email = forms.CharField(
        label=gettext_lazy("Email address"),
        max_length=EMAIL_MAX,
        help_text=gettext_lazy("Upper and lower case make no difference."),
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )


class ConfirmForm(forms.Form):
    confirm = forms.CharField(
        label=gettext_lazy("Email address of the person"),
        max_length=EMAIL_MAX,
        help_text=gettext_lazy("Type it to confirm."),
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )


@admin.register(PersonalDataRequest)
class PersonalDataRequestAdmin(RunAdmin[PersonalDataRequest]):
    view_permission = add_permission = PERMISSION
    empty_words = gettext_lazy(
        "Find what is stored about a person, then export or erase it. Requests appear here for 30 days."
    )
    list_title = gettext_lazy("Personal data")
    add_title = gettext_lazy("Find a person’s data")
    add_button = gettext_lazy("Find data")
    add_form = PersonForm
    list_display = ("person", "action_label", "outcome", "by_name", "created_at")
    ordering = ("-created_at", "-id")
    run_template = "admin/privacy/request.html"
    not_found = gettext_lazy("Request not found.")

    @admin.display(description=gettext_lazy("Person"))
    def person(self, row: PersonalDataRequest) -> str:
        return _person_label(row)

    @admin.display(description=gettext_lazy("Request"), ordering="action")
    def action_label(self, row: PersonalDataRequest) -> str:
        return str(ACTION_LABELS[RequestAction(row.action)])

    @admin.display(description=gettext_lazy("Status"), ordering="state")
    def outcome(self, row: PersonalDataRequest) -> SafeString:
        style, label = self.states[row.state]
        return badge(style, str(label))

    def get_urls(self) -> list[URLPattern]:
        def page(route: str, view: Any, name: str) -> URLPattern:
            full_name = f"proofroom_privacy_personaldatarequest_{name}"
            url: URLPattern = path(route, self.admin_site.admin_view(view), name=full_name)
            return url

        return [
            page("retention/", show_retention, "retention"),
            page("cookies/", show_cookies, "cookies"),
            page("<uuid:object_id>/erase/", self.erase_view, "erase"),
            page("<uuid:object_id>/download/", self.download_view, "download"),
            *super().get_urls(),
        ]

    def new_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> forms.Form:
        if "initial" in kwargs:
            kwargs["initial"] = {"email": find_address(kwargs["initial"], actor_of(request))}
        return super().new_form(request, *args, **kwargs)

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        found = start_request(
            email=form.cleaned_data["email"],
            action=RequestAction.SEARCH,
            actor=actor_of(request),
        )
        return _page_of(found)

    def run_title(self, run: PersonalDataRequest) -> str:
        # Without the address: the browser remembers titles.
        return f"{_('Personal data')}: {ACTION_LABELS[RequestAction(run.action)]}"

    def act(
        self, request: HttpRequest, run: PersonalDataRequest, action: str
    ) -> PersonalDataRequest:
        """Cancel the request, or start a search or an export for the same person."""
        actor = actor_of(request)
        if action == "cancel":
            return cancel_request(request_id=run.pk, actor=actor)
        # An erasure has its own page, which asks for confirmation.
        is_export = action == RequestAction.EXPORT
        wanted = RequestAction.EXPORT if is_export else RequestAction.SEARCH
        return repeat_request(request_id=run.pk, action=wanted, actor=actor)

    def run_context(
        self, request: HttpRequest, run: PersonalDataRequest, *, is_own: bool
    ) -> dict[str, Any]:
        results = results_of(run)
        return {
            "person": _person_label(run),
            "results": results,
            "not_searched": NOT_SEARCHED,
            "found": sum(result.found for result in results),
            "is_erasure": run.action == RequestAction.ERASE,
            "is_ended": not run.is_running,
            "has_person": bool(run.email),
            "may_cancel": run.is_running and may(request, PERMISSION),
            "done": len(run.results),
        }

    def erase_view(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        """Say on GET what will be erased and what stays; erase on POST with the address."""
        require(request, PERMISSION)
        run = self.find_run(request, str(object_id))
        if not run.email:
            raise Http404(self.not_found)
        form = ConfirmForm(request.POST if request.method == "POST" else None)

        def erase() -> HttpResponse:
            job = repeat_request(
                request_id=run.pk,
                action=RequestAction.ERASE,
                actor=actor_of(request),
                confirm=form.cleaned_data["confirm"],
            )
            return _page_of(job)

        done = answer_form(form, erase) if form.is_bound else None
        if done is not None:
            return done
        results = results_of(run)
        context = {
            "run": run,
            "person": run.email,
            "changed": [result for result in results if result.erasure != "kept"],
            "kept": [result for result in results if result.erasure == "kept"],
            "back": reverse(_CHANGE_PAGE, args=[run.pk]),
        }
        template = "admin/privacy/erase.html"
        title = _("Erase data")
        return form_page(request, template, PersonalDataRequest, context, title=title, form=form)

    def download_view(self, request: HttpRequest, object_id: UUID) -> HttpResponseBase:
        """Answer the file of an export. It must not be cached."""
        require(request, PERMISSION)
        return _download(request, self.find_run(request, str(object_id)))


_CHANGE_PAGE = "admin:proofroom_privacy_personaldatarequest_change"


def _page_of(run: PersonalDataRequest) -> HttpResponse:
    return HttpResponseRedirect(reverse(_CHANGE_PAGE, args=[run.pk]))


def _person_label(run: PersonalDataRequest) -> str:
    if run.email:
        return run.email
    if run.account_id is not None:
        return run.person.pseudonym
    return _("Erased person")


@service_errors_as_http
def _download(request: HttpRequest, run: PersonalDataRequest) -> FileResponse:
    file = open_export(run, actor_of(request))
    answer = FileResponse(file, as_attachment=True, filename=FILENAME)
    answer["Cache-Control"] = "no-store, private"
    return answer


def show_retention(request: HttpRequest) -> HttpResponse:
    """Show how long each kind of data is kept."""
    require(request, PERMISSION)
    rows = sorted(retentions(), key=lambda retention: str(retention.label))
    context = {"rows": rows, "list_title": _("Personal data")}
    template = "admin/privacy/retention.html"
    return form_page(request, template, PersonalDataRequest, context, title=_("Retention"))


def show_cookies(request: HttpRequest) -> HttpResponse:
    """Show what the site stores in browsers, and the question for consent."""
    require(request, PERMISSION)
    groups = [
        (
            label,
            [
                (item, STORAGE_LABELS[item.kind], lifetime_of(item))
                for item in stored_items()
                if item.audience == audience
            ],
        )
        for audience, label in AUDIENCE_LABELS.items()
    ]
    context = {
        "groups": groups,
        "consent": consent_texts(),
        "list_title": _("Personal data"),
    }
    template = "admin/privacy/cookies.html"
    title = _("Cookies and consent")
    return form_page(request, template, PersonalDataRequest, context, title=title)
