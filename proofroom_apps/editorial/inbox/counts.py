"""How much waits in the inbox: the one rule for its tabs, for Home and for the navigation.

Changes of posts count where they wait. Changes of global modules, menus and terms wait for approval as those in
Review do, and count there for whoever may edit such.
"""

from __future__ import annotations

from typing import Any

from django.db.models import IntegerField, QuerySet, Value
from django.http import HttpRequest

from content.inbox.queries import queue
from proofroom.core.admin.permissions import actor_of
from proofroom_apps.editorial.shared_content.review import waiting_shared


def waiting_everywhere(request: HttpRequest) -> QuerySet[Any]:
    """A row for everything that waits."""
    each = [
        rows.order_by().annotate(one=Value(1, IntegerField())).values_list("one")
        for rows in (queue(actor_of(request)), waiting_shared(request))
    ]
    return each[0].union(each[1], all=True)
