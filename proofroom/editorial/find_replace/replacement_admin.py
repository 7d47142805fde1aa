"""Find and replace: tried without writing first, done, listed, and undone."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.find_replace.services import (
    FIND_MAX,
    REPLACE_MAX,
    find_and_replace,
    sample_of,
    undo_replacement,
)
from content.models import Replacement
from proofroom.core.admin.form_pages import FormAdmin, form_page
from proofroom.core.admin.permissions import actor_of, refusals_as_messages, require
from proofroom.core.find_replace import known_tables
from proofroom.core.i18n import said

_SAMPLES_SHOWN = 10
_DRY_RUN = gettext_lazy("Only show what would change")


class FindReplaceForm(forms.Form):
    find = forms.CharField(label=gettext_lazy("Find"), max_length=FIND_MAX, strip=False)
    replace = forms.CharField(
        label=gettext_lazy("Replace with"), max_length=REPLACE_MAX, required=False, strip=False
    )
    tables = forms.MultipleChoiceField(
        label=gettext_lazy("In"), widget=forms.CheckboxSelectMultiple
    )
    case_sensitive = forms.BooleanField(
        label=gettext_lazy("Upper and lower case count"), required=False, initial=True
    )
    dry_run = forms.BooleanField(label=_DRY_RUN, required=False, initial=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = [(table, table.replace("_", " ").capitalize()) for table in known_tables()]
        cast(forms.MultipleChoiceField, self.fields["tables"]).choices = said(named)


@admin.register(Replacement)
class ReplacementAdmin(FormAdmin[Replacement]):
    view_permission = add_permission = "database.manage"
    empty_words = gettext_lazy("Words that occur in many posts are found and replaced together.")
    list_title = gettext_lazy("Find and replace")
    add_title, add_button, add_form = (
        gettext_lazy("Find and replace"),
        gettext_lazy("Find and replace"),
        FindReplaceForm,
    )
    list_display = ("__str__", "total", "by_name", "created_at", "undone_at")
    search_fields = ("find", "replace")
    ordering = ("-created_at",)

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        values = form.cleaned_data
        done = find_and_replace(
            actor=actor_of(request),
            find=values["find"],
            replace=values["replace"],
            tables=values["tables"],
            is_case_sensitive=values["case_sensitive"],
            is_dry_run=values["dry_run"],
        )
        if done.row is not None:
            messages.success(
                request, _("Replaced in %(places)s.") % {"places": _places(len(done.places))}
            )
            return HttpResponseRedirect(reverse("admin:content_replacement_changelist"))
        tried = _("It is found nowhere in these tables. Nothing was changed.")
        if done.places:
            text = _(
                "It would be replaced in %(places)s. Nothing was changed yet: untick “%(dry_run)s” "
                "to replace it."
            )
            tried = text % {"places": _places(len(done.places)), "dry_run": _DRY_RUN}
        context = {
            "button": self.add_button,
            "said": tried,
            "places": sample_of(done.places[:_SAMPLES_SHOWN]),
        }
        return form_page(
            request,
            "admin/forms/tried.html",
            Replacement,
            context,
            title=self.add_title,
            form=form,
        )

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """GET asks whether to undo it, POST does."""
        require(request, self.add_permission)
        try:
            row = Replacement.objects.filter(pk=UUID(object_id)).first()
        except ValueError:
            row = None
        if row is None:
            raise Http404(_("There is no such replacement."))
        back = reverse("admin:content_replacement_changelist")
        if request.method == "POST":
            with refusals_as_messages(request):
                done = undo_replacement(actor=actor_of(request), replacement_id=row.pk)
                text = ngettext(
                    "%(restored)s place is as it was; kept: %(number)s.",
                    "%(restored)s places are as they were; kept: %(number)s.",
                    done.restored,
                ) % {"restored": f"{done.restored:,}", "number": f"{len(done.kept):,}"}
                messages.success(request, text)
            return HttpResponseRedirect(back)
        sentence = ngettext(
            "“%(find)s” was replaced by “%(replace)s” in %(total)s place. What somebody changed "
            "since stays as it is.",
            "“%(find)s” was replaced by “%(replace)s” in %(total)s places. What somebody changed "
            "since stays as it is.",
            row.total,
        ) % {"find": row.find, "replace": row.replace, "total": f"{row.total:,}"}
        context = {"sentence": sentence, "button": _("Undo it"), "back": back}
        return form_page(request, "admin/forms/confirm.html", Replacement, context, title=str(row))


def _places(number: int) -> str:
    return _("1 place") if number == 1 else _("%(number)s places") % {"number": f"{number:,}"}
