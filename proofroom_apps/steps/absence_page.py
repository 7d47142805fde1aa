"""The page on which people name a deputy for editorial steps while they are away."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any, Final, cast

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from proofroom.accounts.models import User
from proofroom.accounts.queries import active_people, roles_with
from proofroom.core.admin.form_pages import save_form
from proofroom.core.admin.permissions import actor_of, require
from proofroom_apps.steps.models import Absence
from proofroom_apps.steps.queries import coming_absences, overlapping
from proofroom_apps.steps.services import end_absence, set_absence

_MAX_PEOPLE: Final = 500
_DAY: Final = timedelta(days=1)


def _date_input() -> forms.DateInput:
    return forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


class AbsenceForm(forms.Form):
    deputy = forms.ChoiceField(label=gettext_lazy("Deputy"))
    begins_at = forms.DateField(label=gettext_lazy("First day"), widget=_date_input())
    ends_at = forms.DateField(label=gettext_lazy("Last day"), widget=_date_input())

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = active_people().filter(role__in=roles_with("posts.view"))
        people = people.exclude(pk=user.pk).order_by("username")
        names = people.values_list("username", flat=True)[:_MAX_PEOPLE]
        cast("forms.ChoiceField", self.fields["deputy"]).choices = [(name, name) for name in names]


@require_http_methods(["GET", "HEAD", "POST"])
def absence(request: HttpRequest) -> HttpResponse:
    """GET shows the deputy of the user. POST saves one, or with `do=end` removes it."""
    require(request, "posts.view")
    actor, user = actor_of(request), cast("User", request.user)
    stored = Absence.objects.filter(user=user, ends_at__gt=timezone.now()).select_related("deputy")
    row = stored.first()
    if request.POST.get("do") == "end":
        end_absence(actor=actor)
        messages.success(request, _("Your absence was removed."))
        return HttpResponseRedirect(request.path)
    form = AbsenceForm(
        request.POST if request.method == "POST" else None, user=user, initial=_initial(row)
    )
    if form.is_bound and save_form(form, lambda: _save(form, request)):
        messages.success(request, _("Absence saved."))
        _warn_of_others(request, user)
        return HttpResponseRedirect(request.path)
    context = {
        **admin.site.each_context(request),
        "title": _("Absence"),
        "form": form,
        "row": row,
        "deputy_of": [
            # Stored as the midnight after the last day.
            (each.user.username, each.begins_at, each.ends_at - _DAY)
            for each in coming_absences(user.pk)
        ],
    }
    status = 422 if form.errors else 200
    return TemplateResponse(request, "admin/steps/absence.html", context, status=status)


def _warn_of_others(request: HttpRequest, user: User) -> None:
    """Say for whom the user cannot stand in: the deputy of a deputy decides for nobody else."""
    row = Absence.objects.get(user=user)
    for other in overlapping(row.begins_at, row.ends_at).filter(deputy=user).select_related("user"):
        text = _("You are the deputy of %(name)s in this time. Ask them to name somebody else.")
        messages.warning(request, text % {"name": other.user.username})


def _initial(row: Absence | None) -> dict[str, Any]:
    if row is None:
        return {"begins_at": timezone.localdate()}
    return {
        "deputy": row.deputy.username,
        "begins_at": timezone.localdate(row.begins_at),
        # Stored as the midnight after the last day.
        "ends_at": timezone.localdate(row.ends_at - _DAY),
    }


def _save(form: AbsenceForm, request: HttpRequest) -> None:
    given = form.cleaned_data
    set_absence(
        actor=actor_of(request),
        deputy=given["deputy"],
        begins_at=_midnight(given["begins_at"]),
        ends_at=_midnight(given["ends_at"] + _DAY),
    )


def _midnight(day: date) -> datetime:
    """Return the beginning of a day in the reader's time zone."""
    return timezone.make_aware(datetime.combine(day, time()))
