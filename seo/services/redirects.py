"""Create, change and delete redirects, by people and by moves of posts. Chains are collapsed, loops refused."""

from __future__ import annotations

from typing import Final
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils.translation import gettext

from content.models import Post
from content.store.post_queries import published_posts
from content.store.term_lists import find_moved_lists, find_rename
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.caching.content_version import lock_content_version
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.models import Event
from proofroom.core.site_urls import locale_of
from seo.models import NewRedirect, Redirect, RedirectChanges, RedirectType
from seo.queries import find_redirect
from seo.redirect_paths import clean_from, clean_to, key_of, path_in, query_of, with_query

# Bounds the number of queries. Saved redirects are collapsed, so chains are short.
MAX_CHAIN: Final = 20


@transaction.atomic
def create_redirect(
    *,
    actor: Actor,
    redirect: NewRedirect,
    redirect_id: UUID | None = None,
    is_automatic: bool = False,
) -> Redirect:
    """Create a redirect. `redirect_id` is its id from another installation.

    Raises `RuleViolation` by field; for a loop the key is `toPath`.
    """
    require_redirect_editor(actor)
    row = Redirect(id=redirect_id or uuid4(), is_automatic=is_automatic)
    _set_fields(row, redirect)
    # An imported redirect may be at the address of a post and stay inactive, as in its source.
    return _store(row, actor, may_be_shadowed=redirect_id is not None)


@transaction.atomic
def change_redirect(*, redirect_id: UUID | str, actor: Actor, changes: RedirectChanges) -> Redirect:
    """Change the given values; None leaves a value. Raises as `create_redirect`, and `NotFound`."""
    require_redirect_editor(actor)
    row = _lock_redirect(redirect_id)
    active_at = row.from_key if row.is_active else ""
    _set_fields(row, changes)
    return _store(row, actor, may_be_shadowed=row.from_key == active_at)


@transaction.atomic
def delete_redirect(*, redirect_id: UUID | str, actor: Actor) -> None:
    """Delete a redirect."""
    require_redirect_editor(actor)
    row = _lock_redirect(redirect_id)
    _record(row, actor, "deleted")
    row.delete()


def redirect_moved_post(event: Event) -> None:
    """Redirect the old address of a moved post that was once published.

    Runs in the transaction of the move, which has locked the content version.
    """
    before, after = str(event.payload["from"]), str(event.payload["to"])
    known = Post.objects.filter(pk=str(event.payload["id"]), published_at__isnull=False)
    if not (before and after and known.exists()):
        return
    leave_redirect(before, after)


def redirect_renamed_term(event: Event) -> None:
    """Redirect the lists of a renamed term that visitors could open: those with published posts.

    Runs in the transaction of the change, which has locked the content version.
    """
    rename = find_rename(event.payload)
    for moved in find_moved_lists(rename) if rename is not None else ():
        leave_redirect(moved.before, moved.after)


def leave_redirect(before: str, after: str) -> None:
    """Create an automatic redirect from an address that moved."""
    # A redirect from the new address back to the old one would close a loop. Others there stay, inactive while a
    # post has the address.
    Redirect.objects.filter(from_key=key_of(after), to_key=key_of(before)).delete()
    standing = Redirect.objects.select_for_update().filter(from_key=key_of(before)).first()
    row = standing or Redirect()
    row.type, row.is_active, row.is_automatic = RedirectType.PERMANENT, True, True
    aim(row, before, after)
    save_collapsed(row, is_end=True)


def update_reactivated_redirect(event: Event) -> None:
    """Update the redirect at the address of a post that is no longer live, because it is active again.

    Runs in the transaction of the change. A redirect that would close a loop is deleted, because the others are
    newer.
    """
    status, path = event.payload.get("status"), str(event.payload.get("url", ""))
    if event.name == "post.updated" and (
        status == "published" or event.payload.get("changedPaths")
    ):
        return
    rows = Redirect.objects.select_for_update().filter(is_active=True)
    row = rows.filter(from_key=key_of(path)).first() if path else None
    if row is None or is_shadowed(row.from_path):
        return
    try:
        save_collapsed(row)
    except RuleViolation:
        row.delete()


def is_shadowed(path: str) -> bool:
    """Return whether a published post has the path, so that a redirect there is inactive."""
    return published_posts().filter(path=path).exists()


def record_export(*, actor: Actor) -> None:
    """Record an export of all redirects."""
    actor.require("redirects.edit")
    outbox.record("redirects.exported", actor=actor, payload={})


def _set_fields(row: Redirect, values: NewRedirect) -> None:
    """Set the given values on the row, without saving it."""
    given = values.model_dump(exclude_none=True)
    from_path = clean_from(given["from_path"]) if "from_path" in given else row.from_path
    to_path = clean_to(given["to_path"]) if "to_path" in given else row.to_path
    aim(row, from_path, to_path)
    row.type = given.get("type", row.type)
    row.is_active = given.get("active", row.is_active)


def _store(row: Redirect, actor: Actor, *, may_be_shadowed: bool) -> Redirect:
    if row.type not in RedirectType.values:
        raise invalid("type", gettext("type must be 301 (permanent) or 302 (temporary)."))
    # First, because recording locks the content version: two concurrent redirects can't close a loop.
    _record(row, actor, "created" if row._state.adding else "changed")
    if row.is_active and not may_be_shadowed and is_shadowed(row.from_path):
        raise invalid(
            "fromPath",
            gettext(
                "A published post has the address %(from_path)s, so the redirect would never apply."
            )
            % {"from_path": row.from_path},
            code="path_in_use",
        )
    save_collapsed(row)
    return row


def aim(row: Redirect, from_path: str, to_path: str) -> None:
    """Set source and target of a redirect, without saving it. Both must be clean."""
    row.from_path, row.from_key, row.locale = from_path, key_of(from_path), locale_of(from_path)
    row.to_path, row.to_key = to_path, key_of(path_in(to_path))


def save_collapsed(row: Redirect, *, is_end: bool = False) -> None:
    """Save a redirect with its final target, and update redirects that lead to it.

    Redirects at the address of a published post are ignored. `is_end`: the target is already final.
    """
    if row.is_active and not is_end:
        aim(row, row.from_path, end_of_chain(row))
    elif row.to_key == row.from_key:
        raise redirect_loop_error(row)
    try:
        # A savepoint: after an IntegrityError PostgreSQL refuses every query until a rollback.
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise invalid(
            "fromPath",
            gettext("There is already a redirect from %(from_path)s. Edit that one.")
            % {"from_path": row.from_path},
            code="redirect_exists",
        ) from None
    if not row.is_active:
        return
    leading = Redirect.objects.filter(to_key=row.from_key, is_active=True).exclude(pk=row.pk)
    # Excludes the redirect at the target's address, inactive behind a post, which would lead to itself.
    led_here = list(leading.exclude(from_key=row.to_key))
    if led_here and is_shadowed(row.from_path):
        return
    for other in led_here:
        aim(other, other.from_path, with_query(row.to_path, query_of(other.to_path)))
    Redirect.objects.bulk_update(led_here, ["to_path", "to_key"])


def end_of_chain(row: Redirect) -> str:
    """Return the final target after all following redirects. Raises `RuleViolation` for a loop."""
    to_path, key = row.to_path, row.to_key
    for _ in range(MAX_CHAIN):
        if key == row.from_key:
            break
        following = (
            Redirect.objects.filter(from_key=key, is_active=True).exclude(pk=row.pk).first()
            if key
            else None
        )
        if following is None or is_shadowed(following.from_path):
            return to_path
        to_path = with_query(following.to_path, query_of(to_path))
        key = following.to_key
    raise redirect_loop_error(row)


def redirect_loop_error(row: Redirect) -> RuleViolation:
    """Return the error for a redirect that leads back to itself."""
    return invalid(
        "toPath",
        gettext("This would create a loop: %(to_path)s redirects back to %(from_path)s.")
        % {"to_path": row.to_path, "from_path": row.from_path},
        code="redirect_loop",
    )


def _lock_redirect(redirect_id: UUID | str) -> Redirect:
    """Return the redirect, locked after the content version."""
    # The same order as moves of posts: content version, then redirects.
    lock_content_version()
    return find_redirect(redirect_id, Redirect.objects.select_for_update())


def _record(row: Redirect, actor: Actor, did: str) -> None:
    outbox.record(
        "content.changed",
        actor=actor,
        payload={"what": "redirect", "id": str(row.pk), "did": did, "fromPath": row.from_path},
    )


def require_redirect_editor(actor: Actor) -> None:
    """Raise `NotAllowed` unless the actor is a person with the permission to change redirects."""
    actor.require_person("change redirects")
    actor.require("redirects.edit")
