"""What a release shows: the site as it would be once the release is live."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.core.actor import Actor
from proofroom.core.database.trial_writes import trial_writes
from proofroom.core.errors import CmsError
from proofroom_apps.releases.kinds import (
    KINDS,
    Conflicts,
    find_conflicts,
    in_order,
    lock_objects,
)
from proofroom_apps.releases.models import EDITABLE, Release, ReleaseItem, ReleaseState

MAX_SHOWN: Final = 100
"""Maximum number of items that a preview shows: each request writes them and rolls them back."""
_WAITING: Final = (*EDITABLE, ReleaseState.RUNNING)


@dataclass(frozen=True, slots=True)
class ReleasePreview:
    """A release that a block shows. `missing` are the items that it cannot show, with the reason."""

    release: Release
    at: datetime
    missing: Sequence[tuple[ReleaseItem, str]]


def viewable_kinds(actor: Actor) -> list[str]:
    """Return the kinds of items whose waiting content the actor may view."""
    return [name for name, kind in KINDS.items() if actor.can(kind.view_permission)]


@contextmanager
def show_release(
    release: Release, actor: Actor, kinds: Collection[str]
) -> Iterator[ReleasePreview]:
    """Let all reads of the block see the site as of the release: its items of these kinds that the actor may view.

    Nothing is stored: the block sees trial writes. A release that has gone live shows the site as it is.
    """
    at = release.at if release.at is not None else timezone.now()
    with trial_writes():
        items = in_order(release.items.all()) if release.state in _WAITING else []
        shown = set(kinds).intersection(viewable_kinds(actor))
        missing = {item.pk: _("You may not view this.") for item in items if item.kind not in shown}
        missing |= _show_items(
            [item for item in items[:MAX_SHOWN] if item.pk not in missing], actor, at
        )
        left_out = _("A preview shows %(most)s items at most.") % {"most": MAX_SHOWN}
        missing |= {item.pk: left_out for item in items[MAX_SHOWN:]}
        yield ReleasePreview(
            release, at, [(item, missing[item.pk]) for item in items if item.pk in missing]
        )


def _show_items(items: Sequence[ReleaseItem], actor: Actor, at: datetime) -> Conflicts:
    """Write what items show, and return why some could not."""
    lock_objects(items)
    missing = find_conflicts(items)
    for item in items:
        if item.pk in missing:
            continue
        try:
            with transaction.atomic():
                KINDS[item.kind].show(item, actor, at)
        except CmsError as error:
            missing[item.pk] = error.message
        except IntegrityError:
            missing[item.pk] = _("Something else has the same address or name.")
    return missing
