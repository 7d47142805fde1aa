"""The page lock in the editor: choices of its end, and the buttons to lock and unlock."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from content.posts.page_lock import UNLOCK, lock_page, unlock_page
from content.store.page_locks import PageLock
from proofroom.core.admin.permissions import (
    actor_of,
    may,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.errors import invalid
from proofroom.core.i18n.time_zones import exact_time
from proofroom_apps.editorial.posts.post_pages import get_post_or_404, post_url

DURATIONS: Final[Mapping[str, tuple[Promise, timedelta]]] = {
    "1h": (gettext_lazy("1 hour"), timedelta(hours=1)),
    "4h": (gettext_lazy("4 hours"), timedelta(hours=4)),
    "1d": (gettext_lazy("1 day"), timedelta(days=1)),
    "1w": (gettext_lazy("1 week"), timedelta(weeks=1)),
}
"""How long a lock can hold, by form value."""


@require_POST
@service_errors_as_http
def page_lock(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Lock the post for the chosen time (`do=lock`), or end its lock."""
    require(request, "posts.edit", "posts.translate")
    post, actor = get_post_or_404(request, post_id), actor_of(request)
    with service_errors_as_messages(request):
        if request.POST.get("do") == "lock":
            duration = request.POST.get("duration", "")
            if duration not in DURATIONS:
                raise invalid("until", _("Choose how long the lock holds."))
            until = timezone.now() + DURATIONS[duration][1]
            locked = lock_page(post_id=post.pk, until=until, actor=actor)
            text = _("Locked until %(until)s. Only you can edit this post.")
            messages.success(request, text % {"until": exact_time(locked.locked_until or until)})
        else:
            unlock_page(post_id=post.pk, actor=actor)
            messages.success(request, _("Unlocked. Others can edit this post."))
    return HttpResponseRedirect(post_url("change", post))


def lock_context(request: HttpRequest, lock: PageLock | None) -> dict[str, object]:
    """Return what the page shows of a lock. `is_locked_by_other`: the user cannot edit the post."""
    is_own = lock is not None and lock.user_id == request.user.pk
    return {
        "page_lock": lock,
        "has_own_lock": is_own,
        "is_locked_by_other": lock is not None and not is_own,
        "may_break_lock": lock is not None and not is_own and may(request, UNLOCK),
        "lock_durations": [(value, label) for value, (label, _length) in DURATIONS.items()],
    }
