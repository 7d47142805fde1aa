"""Notifications for people who invited a reviewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import (
    Category,
    Notice,
    NotificationKind,
    NotificationText,
)
from proofroom_apps.reviewers.models import ReviewerLink


def _find_maker(event: Event) -> list[Notice]:
    """Return a notice for the maker of the link."""
    id_ = str(event.payload["id"])
    made = ReviewerLink.objects.filter(pk=id_, created_by__isnull=False)
    people = list(made.values_list("created_by", flat=True))
    return [Notice(people, id_, id_)] if people else []


def _describe_advice(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    ids = {row.subjects[0] for row in rows}
    found = ReviewerLink.objects.filter(pk__in=ids, post__deleted_at__isnull=True)
    links = {str(link.pk): link for link in found.select_related("post").prefetch_related("advice")}
    texts = {}
    for row in rows:
        link = links.get(row.subjects[0])
        if link is None:
            texts[row.pk] = NotificationText(
                _("A reviewer of a deleted post answered"), "", "check"
            )
            continue
        text = _("%(name)s reviewed “%(title)s”") % {"name": link.name, "title": link.post.title}
        url = reverse("admin:content_post_review", args=[link.post_id]) + f"?layer={link.layer}"
        count = len(link.advice.all())
        detail = ngettext("Advice on %(n)s change", "Advice on %(n)s changes", count) % {"n": count}
        texts[row.pk] = NotificationText(text, url, "comment", detail)
    return texts


KINDS: Final = (
    NotificationKind(
        "reviewer.advice",
        gettext_lazy("Advice of reviewers you invited"),
        "reviewers.invite",
        ("post.reviewer-advice.given",),
        _find_maker,
        _describe_advice,
        can_be_mailed=True,
        category=Category.DECIDED,
    ),
)
