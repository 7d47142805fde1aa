"""Find and replace in the admin: search, choose hits, replace in Review or live, list, and undo."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.find_replace.allowed_tables import searchable_tables, writable_tables
from content.find_replace.hits import find_hits
from content.find_replace.review import REVIEW_TABLES
from content.find_replace.runs import cancel_replacement, start_replacement, visible_replacements
from content.find_replace.services import FIND_MAX, REPLACE_MAX, undo_replacement
from content.models import JobState, Layer, Replacement
from proofroom.core.actor import Actor
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.admin.run_pages import STATES, RunAdmin
from proofroom_apps.editorial.find_replace.hit_groups import MAX_LISTED, group_hits, table_label


class FindReplaceForm(forms.Form):
    # Not stripped: spaces at the ends belong to the text.
    find = forms.CharField(label=gettext_lazy("Find"), max_length=FIND_MAX, strip=False)
    replace = forms.CharField(
        label=gettext_lazy("Replace with"), max_length=REPLACE_MAX, required=False, strip=False
    )
    tables = forms.MultipleChoiceField(
        label=gettext_lazy("In"), widget=forms.CheckboxSelectMultiple
    )
    case_sensitive = forms.BooleanField(
        label=gettext_lazy("Match case"), required=False, initial=True
    )
    whole_words = forms.BooleanField(label=gettext_lazy("Whole words only"), required=False)

    def __init__(self, *args: Any, who: Actor, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast(forms.MultipleChoiceField, self.fields["tables"])
        field.choices = [(table, table_label(table)) for table in searchable_tables(who)]
        field.initial = sorted(REVIEW_TABLES)


@admin.register(Replacement)
class ReplacementAdmin(RunAdmin[Replacement]):
    view_permission = add_permission = "content.replace"
    empty_words = gettext_lazy("Find text in many posts and replace it.")
    list_title = gettext_lazy("Earlier replacements")
    add_title, add_button, add_form = (
        gettext_lazy("Find and replace"),
        gettext_lazy("Find"),
        FindReplaceForm,
    )
    list_display = ("__str__", "where", "total", "by_name", "created_at", "outcome")
    search_fields = ("find", "replace")
    ordering = ("-created_at",)
    run_template = "admin/replace/replacement.html"
    not_found = gettext_lazy("Replacement not found.")
    states = {**STATES, JobState.FAILED: ("failed", gettext_lazy("Stopped"))}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Replacement]:
        return visible_replacements(super().get_queryset(request), actor_of(request))

    def new_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> forms.Form:
        return super().new_form(request, *args, who=actor_of(request), **kwargs)

    @admin.display(description=gettext_lazy("Where"))
    def where(self, row: Replacement) -> str:
        return _("Review") if row.layer == Layer.REVIEW else _("Live")

    @admin.display(description=gettext_lazy("Status"))
    def outcome(self, row: Replacement) -> str:
        return _("Undone") if row.undone_at else str(self.states[row.state][1])

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        """Show the hits to choose from; with `action`, replace the chosen ones."""
        values = form.cleaned_data
        search = {
            "actor": actor_of(request),
            "find": values["find"],
            "replace": values["replace"],
            "tables": values["tables"],
            "is_case_sensitive": values["case_sensitive"],
            "is_whole_words": values["whole_words"],
        }
        action = request.POST.get("action", "")
        if action in ("review", "live"):
            listed = request.POST.getlist("listed")
            chosen = request.POST.getlist("hit")
            # Unlisted hits are replaced too if the user ticked the box.
            left_out = set(listed) - set(chosen) if request.POST.get("rest") else None
            row = start_replacement(
                **search, to_review=action == "review", chosen=chosen, left_out=left_out
            )
            return HttpResponseRedirect(reverse("admin:content_replacement_change", args=[row.pk]))
        finder = find_hits(**search)
        allowed = set(writable_tables(actor_of(request)))
        can_review = set(values["tables"]) <= REVIEW_TABLES and may(request, "posts.review.save")
        can_live = set(values["tables"]) <= allowed
        groups = group_hits(finder)
        total = len(finder.hits)
        context = {
            "button": self.add_button,
            "found": True,
            "groups": groups,
            "has_addresses": any(line.hit.is_in_address for group in groups for line in group.hits),
            "total": total,
            "shown": min(total, MAX_LISTED),
            "rest": total - MAX_LISTED,
            "can_review": can_review,
            "can_live": can_live,
            # The default for editors is Review. Database managers could always replace live texts.
            "prefers_live": can_live and (not can_review or may(request, "database.manage")),
            "search": [
                ("find", values["find"]),
                ("replace", values["replace"]),
                *(("tables", table) for table in values["tables"]),
                *([("case_sensitive", "on")] if values["case_sensitive"] else []),
                *([("whole_words", "on")] if values["whole_words"] else []),
            ],
        }
        return self._find_page(request, form, context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        answer = super().add_view(request, form_url, extra_context)
        if isinstance(answer, TemplateResponse):
            answer.template_name = "admin/replace/find.html"
        return answer

    def _find_page(
        self, request: HttpRequest, form: forms.Form, context: dict[str, Any]
    ) -> HttpResponse:
        return form_page(
            request,
            "admin/replace/find.html",
            Replacement,
            context,
            title=self.add_title,
            form=form,
        )

    def act(self, request: HttpRequest, run: Replacement, action: str) -> Replacement:
        if action == "cancel":
            cancel_replacement(replacement_id=run.pk, actor=actor_of(request))
            messages.success(
                request, _("Cancelled. Text already replaced is kept. You can undo it here.")
            )
            return run
        done = undo_replacement(actor=actor_of(request), replacement_id=run.pk)
        text = ngettext(
            "Restored %(restored)s place; kept: %(number)s.",
            "Restored %(restored)s places; kept: %(number)s.",
            done.restored,
        ) % {"restored": f"{done.restored:,}", "number": f"{len(done.kept):,}"}
        messages.success(request, text)
        return run

    def run_context(
        self, request: HttpRequest, run: Replacement, *, is_own: bool
    ) -> dict[str, Any]:
        return {
            "is_review": run.layer == Layer.REVIEW,
            "may_undo": is_own and not run.is_running and not run.undone_at and run.total,
            "counts": [(table_label(table), count) for table, count in run.counts.items()],
        }
