"""The doctor's check of the inbox."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from content.inbox.updates import needs_rebuild
from content.models import QueuedChange
from proofroom.core.diagnostics.doctor import CheckResult


def check_queue() -> Iterator[CheckResult]:
    """Yield whether everything that waits stands in the inbox."""
    if needs_rebuild():
        found = _("some drafts are not listed as they are")
        yield CheckResult("warn", "inbox", found, _("run manage.py rebuild_inbox"))
    else:
        count = QueuedChange.objects.count()
        yield CheckResult("ok", "inbox", f"{count:,} change{'' if count == 1 else 's'} wait")
