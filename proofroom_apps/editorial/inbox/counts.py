"""Counts of the inbox, shared by its tabs, Home and the navigation.

Changes of posts count in their layer. Changes of global modules, menus and terms wait for approval as changes in
Review do, so they count in Review, for users who may edit that kind. Proposed alt texts count in AI Review, for users
who may edit files. What waits in sections of other apps counts in neither layer.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db.models import Count, IntegerField, QuerySet, Value
from django.http import HttpRequest

from content.inbox.queries import queue
from proofroom.core.admin.permissions import actor_of
from proofroom_apps.editorial.inbox.alt_texts import waiting_alt_text_rows
from proofroom_apps.editorial.inbox.sections import waiting_sections
from proofroom_apps.editorial.shared_content.review import waiting_shared


def waiting_everywhere(request: HttpRequest) -> QuerySet[Any]:
    """Return one row for everything that waits."""
    # As a union, since counting it then takes one query.
    each: list[QuerySet[Any]] = [
        rows.order_by().annotate(one=Value(1, IntegerField())).values_list("one")
        for rows in (
            queue(actor_of(request)),
            waiting_shared(request),
            waiting_alt_text_rows(request),
            *(rows for _section, rows in waiting_sections(request)),
        )
    ]
    return each[0].union(*each[1:], all=True)


def count_besides_queue(request: HttpRequest) -> tuple[int, int, int]:
    """Return how many changes of shared content, alt texts, and things in sections wait. One query."""
    kinds = [("shared", waiting_shared(request)), ("alt-text", waiting_alt_text_rows(request))]
    kinds += [("section", rows) for _section, rows in waiting_sections(request)]
    each = [
        rows.order_by().annotate(what=Value(name)).values("what").annotate(number=Count("pk"))
        for name, rows in kinds
    ]
    found: Counter[str] = Counter()
    for row in each[0].union(*each[1:], all=True):
        found[row["what"]] += row["number"]
    return found["shared"], found["alt-text"], found["section"]
