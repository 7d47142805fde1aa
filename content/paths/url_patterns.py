"""URL patterns: kept per post type and locale. The stored paths of posts follow a change, at once or by and by."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from content.models import Post, UrlPattern
from content.paths.pattern_changes import BATCH_SIZE, check_addresses, move_all
from content.paths.post_paths import pattern_of
from content.rules.url_patterns import clean_pattern
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotFound, RuleViolation, invalid
from proofroom.definitions import find_post_type

CHANGED: Final = "urlPattern.changed"


@transaction.atomic
def create_pattern(*, actor: Actor, type: str, locale: str, pattern: str) -> UrlPattern:
    """Give the posts of a type other addresses in a locale. Raises `RuleViolation` by field; there is one of each."""
    _allow(actor)
    _require_known(type, locale)
    text = clean_pattern(pattern)
    row = UrlPattern.objects.select_for_update().filter(type=type, locale=locale).first()
    if row is not None and not row.is_removed:
        raise _taken(type, locale)
    row = row or UrlPattern(type=type, locale=locale)
    row.pattern, row.is_removed = text, False
    return _keep(row, actor)


@transaction.atomic
def change_pattern(
    *,
    pattern_id: UUID | str,
    actor: Actor,
    pattern: str,
    type: str | None = None,
    locale: str | None = None,
    expected_version: int | None = None,
) -> UrlPattern:
    """Another pattern for the same type and locale. Raises `Conflict` on an old version, else as `create_pattern`."""
    _allow(actor)
    row = _locked(pattern_id)
    for name, given in (("type", type), ("locale", locale)):
        if given is not None and given != getattr(row, name):
            raise invalid(
                name,
                _("The %(name)s of a pattern cannot change; make another pattern.")
                % {"name": name},
            )
    _require_known(row.type, row.locale)
    if expected_version is not None and expected_version != row.version:
        raise Conflict(
            _("This pattern changed since you read it."), code="stale_version", current=row.version
        )
    text = clean_pattern(pattern)
    if text == row.pattern:
        return row
    row.pattern = text
    return _keep(row, actor)


@transaction.atomic
def delete_pattern(*, pattern_id: UUID | str, actor: Actor) -> UUID:
    """Go back to the type's own pattern. Answers the id that is gone."""
    _allow(actor)
    row = _locked(pattern_id)
    id_ = row.pk
    row.is_removed = True
    _keep(row, actor)
    return id_


def _keep(row: UrlPattern, actor: Actor) -> UrlPattern:
    """Save the row; few posts move at once, for many the row waits for a worker."""
    is_new = row._state.adding
    row.version += 0 if is_new else 1
    row.changed_by_id = actor.user.pk
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise _taken(row.type, row.locale) from None
    check_addresses(row.type, row.locale, pattern_of(row.type, row.locale))
    posts = Post.objects.filter(type=row.type, locale=row.locale)
    row.is_pending = posts[: BATCH_SIZE + 1].count() > BATCH_SIZE
    row.save(update_fields=["is_pending"])
    if not row.is_pending:
        move_all(row.type, row.locale, actor)
    outbox.record(
        CHANGED,
        actor=actor,
        payload={"id": str(row.pk), "type": row.type, "locale": row.locale},
    )
    if row.is_removed and not row.is_pending:
        row.delete()
    return row


def _locked(pattern_id: UUID | str) -> UrlPattern:
    try:
        id_ = UUID(str(pattern_id))
    except ValueError:
        raise _not_found(pattern_id) from None
    row = UrlPattern.objects.select_for_update().filter(pk=id_, is_removed=False).first()
    if row is None:
        raise _not_found(pattern_id)
    return row


def _require_known(type_name: str, locale: str) -> None:
    find_post_type(type_name)
    if locale not in settings.CMS_ENV.locales:
        known = ", ".join(settings.CMS_ENV.locales)
        raise invalid(
            "locale",
            _("%(locale)r is not a locale of this site; known: %(known)s.")
            % {"locale": locale[:20], "known": known},
        )


def _not_found(pattern_id: object) -> NotFound:
    return NotFound(
        _("No URL pattern has the id %(pattern_id)s.") % {"pattern_id": str(pattern_id)[:80]}
    )


def _taken(type_name: str, locale: str) -> RuleViolation:
    return invalid(
        "type",
        _("There is a pattern for %(type_name)s in %(locale)s already; change that one.")
        % {"type_name": type_name, "locale": locale},
        code="pattern_exists",
    )


def _allow(actor: Actor) -> None:
    actor.require_person("change URL patterns")
    actor.require("urlPatterns.edit")
