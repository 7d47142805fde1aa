"""The one registry of roles and permissions.

Every face asks `user.has_perm("posts.publish")`; the answer comes from here.

What is written beside a grant in words ("only into AI Review", "submit only", "generate_image only") is held by
the services: an actor that is no person never reaches Review or live content, whatever its user may do.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class Role(StrEnum):
    ADMIN = "admin"
    EDITOR = "editor"
    TRANSLATOR = "translator"
    AI_AGENT = "ai_agent"


RoleName = Literal["admin", "editor", "translator", "ai_agent"]


_TRANSLATOR = frozenset(
    {
        "posts.view",
        "posts.translate",
        "posts.review.save",
        "media.view",
        "feedback.view",
        "feedback.create",
        "feedback.resolve",
        "feedback.delete",
    }
)

_EDITOR = _TRANSLATOR | {
    "feedback.moderate",  # delete the notes of others
    "posts.create",
    "posts.edit",
    "posts.publish",
    "posts.archive",
    "posts.delete",
    "posts.restore",
    "posts.review.approve",
    "posts.ai-review.approve",
    "posts.revisions.manage",
    "posts.preview",
    "media.upload",
    "media.edit",
    "media.delete",
    "menus.edit",
    "taxonomies.edit",
    "forms.edit",
    "forms.submissions",
    "globals.edit",
    "redirects.edit",
    "urlPatterns.edit",
    "agents.view",
    "agents.dropdown",
    "agents.field",
    "analytics.read",  # the admin's pages; the API's figures need `analytics.view`
    "lists.share",  # saved views of the admin's lists, for the team
    "content.replace",  # find and replace in the admin; the API's needs `database.manage`
}

_ADMIN = _EDITOR | {
    "agents.global",
    "agents.edit",
    "analytics.view",
    "seo.manage",
    "webhooks.manage",
    "settings.manage",
    "users.manage",
    "database.manage",
    "tokens.manage",
}

_AI_AGENT = frozenset(
    {
        "posts.view",
        "posts.create",  # only into AI Review
        "posts.ai-review.save",
        "posts.ai-review.approve",  # submit only
        "posts.preview",
        "media.view",
        "media.upload",  # generate_image only
        "agents.view",
    }
)

GRANTS: dict[Role, frozenset[str]] = {
    Role.ADMIN: frozenset(_ADMIN),
    Role.EDITOR: frozenset(_EDITOR),
    Role.TRANSLATOR: _TRANSLATOR,
    Role.AI_AGENT: _AI_AGENT,
}

PERMISSIONS: frozenset[str] = frozenset().union(*GRANTS.values())


def permissions_of(role: str) -> frozenset[str]:
    """Every permission of a role; none for an unknown one."""
    try:
        return GRANTS[Role(role)]
    except ValueError:
        return frozenset()
