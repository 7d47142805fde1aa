"""The admin of export schedules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.archive.export import PERMISSION
from proofroom.core.admin.edit_pages import EditAdmin
from proofroom.core.admin.permissions import actor_of
from proofroom_apps.imports.export_form import ExportForm
from proofroom_apps.imports.export_runs import ExportOptions
from proofroom_apps.imports.export_schedules import (
    KEEP_MAX,
    KEEP_MAX_ON_SITE,
    delete_schedule,
    save_schedule,
)
from proofroom_apps.imports.models import SCHEDULE_NAME_MAX, Every, ExportSchedule, ExportTarget

_CHOICE: tuple[str, ...] = (
    "sections",
    "posts",
    "post_types",
    "locales",
    "published_only",
    "revisions",
)
_TIMES: tuple[str, ...] = ("name", "every", "weekday", "hour", "target", "keep", "is_active")


class ScheduleForm(ExportForm):
    """When to export, where to, and the choice of content. A schedule has no date to begin from."""

    changed_since = None  # type: ignore[assignment]  # removes the field of the base
    name = forms.CharField(label=gettext_lazy("Name"), max_length=SCHEDULE_NAME_MAX)
    every = forms.ChoiceField(label=gettext_lazy("Repeat"), choices=Every.choices)
    weekday = forms.TypedChoiceField(
        label=gettext_lazy("Weekday"),
        choices=list(WEEKDAYS.items()),
        coerce=int,
        initial=0,
        help_text=gettext_lazy("For weekly exports."),
    )
    hour = forms.IntegerField(
        label=gettext_lazy("Hour"),
        min_value=0,
        max_value=23,
        initial=3,
        help_text=gettext_lazy("0 to 23, in the time zone of the site."),
    )
    target = forms.ChoiceField(label=gettext_lazy("Save archives"), choices=ExportTarget.choices)
    keep = forms.IntegerField(
        label=gettext_lazy("Archives to keep"),
        min_value=1,
        max_value=KEEP_MAX,
        initial=7,
        help_text=gettext_lazy("Older ones are deleted."),
    )
    is_active = forms.BooleanField(label=gettext_lazy("Active"), required=False, initial=True)
    field_order = _TIMES

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if settings.CMS_ENV.export_folder is None:
            target = self.fields["target"]
            if isinstance(target, forms.ChoiceField):
                target.choices = [ExportTarget.choices[0]]
        self.fields["keep"].help_text = _(
            "Older ones are deleted. At most %(site)s on the site, %(folder)s in the folder."
        ) % {"site": KEEP_MAX_ON_SITE, "folder": KEEP_MAX}

    def values(self) -> dict[str, Any]:
        """Return the values for the service."""
        options = ExportOptions(**{name: self.cleaned_data[name] for name in _CHOICE})
        return {**{name: self.cleaned_data[name] for name in _TIMES}, "options": options}


@admin.register(ExportSchedule)
class ExportScheduleAdmin(EditAdmin[ExportSchedule]):
    view_permission = add_permission = PERMISSION
    empty_words = gettext_lazy("Export content every day or week, for backups outside of the site.")
    list_title = gettext_lazy("Export schedules")
    add_title = gettext_lazy("New schedule")
    add_button = gettext_lazy("Create schedule")
    add_form = change_form = ScheduleForm
    delete_sentence = gettext_lazy(
        "This deletes the schedule. Archives in the folder stay; those on the site are deleted "
        "after a week."
    )
    list_display = ("name", "times", "target_label", "keep", "next_at", "last_state")
    search_fields = ("name",)
    ordering = ("name",)

    @admin.display(description=gettext_lazy("Repeat"))
    def times(self, row: ExportSchedule) -> str:
        day = f"{WEEKDAYS[row.weekday]}, " if row.every == Every.WEEK else ""
        return f"{row.get_every_display()}: {day}{row.hour:02}:00"

    @admin.display(description=gettext_lazy("Save archives"))
    def target_label(self, row: ExportSchedule) -> str:
        return str(row.get_target_display())

    @admin.display(description=gettext_lazy("Last export"))
    def last_state(self, row: ExportSchedule) -> str:
        run = row.runs.order_by("-created_at").first()
        return "—" if run is None else str(run.why or run.get_state_display())

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        row = save_schedule(actor=actor_of(request), values=_values(form))
        messages.success(request, _("Created “%(name)s”.") % {"name": row.name})
        return HttpResponseRedirect(reverse("admin:proofroom_imports_exportschedule_changelist"))

    def initial(self, row: ExportSchedule) -> Mapping[str, object]:
        options = ExportOptions.model_validate(row.options)
        choice = {name: getattr(options, name) for name in _CHOICE}
        return {
            **choice,
            "sections": "\n".join(options.sections),
            "posts": "\n".join(options.posts),
            **{name: getattr(row, name) for name in _TIMES if name != "is_active"},
            "is_active": row.next_at is not None,
        }

    def form_of(
        self, request: HttpRequest, row: ExportSchedule, data: QueryDict | None
    ) -> forms.Form:
        return ScheduleForm(data, initial=dict(self.initial(row)))

    def change(self, request: HttpRequest, row: ExportSchedule, form: forms.Form) -> None:
        save_schedule(actor=actor_of(request), values=_values(form), schedule_id=row.pk)

    def remove(self, request: HttpRequest, row: ExportSchedule, form: forms.Form) -> None:
        delete_schedule(schedule_id=row.pk, actor=actor_of(request))


def _values(form: forms.Form) -> dict[str, Any]:
    assert isinstance(form, ScheduleForm)  # noqa: S101  # both forms are
    return form.values()
