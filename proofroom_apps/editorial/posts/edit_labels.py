"""The changes of a bulk edit as labels and texts, for the page of its job."""

from __future__ import annotations

from typing import cast

from django.utils.translation import gettext as _

from content.document.labels import field_label
from content.document.post_fields import SCHEDULE_FIELDS
from content.models import PostJob
from content.posts.bulk_edit import BulkEdit
from proofroom.accounts.models import User
from proofroom.core.i18n.time_zones import exact_time
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.moments import parse_moment
from proofroom.taxonomies.models import Term
from proofroom_apps.comments.bulk_assignment import ASSIGNMENT


def describe_bulk_edit(job: PostJob) -> list[tuple[str, str]]:
    """Return what a bulk edit changes in each post; empty for other jobs. At most two queries."""
    if job.edit is None:
        return []
    edit = BulkEdit.from_json(job.edit)
    lines: list[tuple[str, str]] = []
    if edit.term_mode is not None:
        labels = {
            "add": _("Terms to add"),
            "remove": _("Terms to remove"),
            "replace": _("Terms in place of others"),
        }
        names = Term.objects.filter(pk__in=edit.term_ids).values_list("name", flat=True)
        lines.append((labels[edit.term_mode], ", ".join(names) or _("deleted terms")))
    for name, value in edit.fields.items():
        lines.append((field_label(edit.type, name), _value_text(name, value)))
    if assignment := edit.parts.get(ASSIGNMENT):
        lines.append((_("Assignment"), _assignment_text(assignment)))
    return lines


def _value_text(name: str, value: Json) -> str:
    if value is None or value == "":
        return _("removed")
    if name in SCHEDULE_FIELDS and (moment := parse_moment(value)) is not None:
        return exact_time(moment)
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    return str(value) if isinstance(value, str | int | float) else _("a new value")


def _assignment_text(assignment: JsonObject) -> str:
    person = User.objects.filter(pk=cast(int, assignment["assignee"])).values_list(
        "username", flat=True
    )
    text = f"{person.first() or _('Former member')}: {assignment['body']}"
    due = parse_moment(assignment["dueAt"])
    return f"{text} ({_('due %(at)s') % {'at': exact_time(due)}})" if due is not None else text
