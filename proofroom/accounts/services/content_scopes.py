"""Checks of the content that a role or a token is limited to."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from django.conf import settings
from django.utils.translation import gettext as _

from proofroom.accounts.services.role_grants import in_words, is_wider
from proofroom.core.actor import Actor
from proofroom.core.content_scope import WHOLE_SITE, ContentScope, label_scope_ids
from proofroom.core.errors import invalid
from proofroom.core.post_type_names import post_type_labels

MAX_IN_PART: Final = 100


def check_scope(scope: ContentScope, actor: Actor) -> ContentScope:
    """Return the scope if the actor may give it to others.

    Raises `RuleViolation` by part, and on `scope` if it reaches content the actor cannot reach.
    """
    check_parts(scope, actor)
    if is_wider(actor, scope):
        raise invalid(
            "scope",
            _("You can only give access to content that you have access to."),
            code="role_above_own",
        )
    return scope


def check_parts(scope: ContentScope, actor: Actor) -> ContentScope:
    """Return the scope if all its parts exist for the actor. For tokens that act as their account.

    Raises `RuleViolation` by part if it names too many objects, or one the actor cannot see.
    """
    for part, known in (
        ("types", scope.types.intersection(post_type_labels())),
        ("locales", scope.locales.intersection(settings.CMS_ENV.locales)),
        ("sections", label_scope_ids("sections", scope.sections, actor)),
        ("terms", label_scope_ids("terms", scope.terms, actor)),
    ):
        wanted = getattr(scope, part)
        if len(wanted) > MAX_IN_PART:
            raise invalid(part, _("Choose at most %(most)s.") % {"most": MAX_IN_PART})
        if missing := [str(one)[:80] for one in wanted if one not in known]:
            raise invalid(part, _("%(name)s does not exist.") % {"name": missing[0]})
    # Not compared with the actor's scopes: such a token reaches no more than its account, whatever its scope holds.
    return scope


def refuse_whole_site(permissions: Collection[str], scope: ContentScope) -> None:
    """Raise `RuleViolation` if a limited scope is combined with permissions that apply to the whole site."""
    if scope.is_limited and (of_site := sorted(WHOLE_SITE.intersection(permissions))):
        raise invalid(
            "permissions",
            _(
                "These permissions apply to the whole site and cannot be limited to part of the "
                "content: %(names)s."
            )
            % {"names": in_words(of_site)},
            code="whole_site",
        )
