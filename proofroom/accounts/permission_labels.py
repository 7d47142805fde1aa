"""Labels of permissions for people. `roles.py` defines who has them."""

from __future__ import annotations

from collections.abc import Collection
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.accounts.roles import all_permissions, permission_sets
from proofroom.core.content_scope import WHOLE_SITE

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

GROUP_LABELS: Final[dict[str, StrPromise]] = {
    "agents": gettext_lazy("Agents"),
    "analytics": gettext_lazy("Analytics"),
    "briefs": gettext_lazy("Editorial briefs"),
    "comments": gettext_lazy("Comments"),
    "content": gettext_lazy("Find and replace"),
    "database": gettext_lazy("Content of the whole site"),
    "disclosure": gettext_lazy("Disclosure of AI work"),
    "feedback": gettext_lazy("Feedback"),
    "forms": gettext_lazy("Forms"),
    "globals": gettext_lazy("Global modules"),
    "lists": gettext_lazy("Saved views"),
    "media": gettext_lazy("Media"),
    "menus": gettext_lazy("Menus"),
    "posts": gettext_lazy("Posts"),
    "privacy": gettext_lazy("Personal data"),
    "quality": gettext_lazy("Quality"),
    "redirects": gettext_lazy("Redirects"),
    "releases": gettext_lazy("Releases"),
    "reviewers": gettext_lazy("Reviewers"),
    "seo": gettext_lazy("SEO"),
    "settings": gettext_lazy("Settings"),
    "snippets": gettext_lazy("Snippets and templates"),
    "taxonomies": gettext_lazy("Topics and tags"),
    "tokens": gettext_lazy("API tokens"),
    "urlPatterns": gettext_lazy("URL patterns"),
    "users": gettext_lazy("People"),
    "webhooks": gettext_lazy("Webhooks"),
}
"""Labels of groups, by the first part of a permission's name."""

LABELS: Final[dict[str, StrPromise]] = {
    "agents.dropdown": gettext_lazy("Run agents on a post"),
    "agents.edit": gettext_lazy("Turn agents on or off and change AI settings"),
    "agents.evaluate": gettext_lazy("Evaluate models and prompts of agents"),
    "agents.field": gettext_lazy("Run agents on a field"),
    "agents.global": gettext_lazy("Run agents on many posts"),
    "agents.view": gettext_lazy("View agents and their runs"),
    "analytics.read": gettext_lazy("View analytics in the admin"),
    "analytics.view": gettext_lazy("View analytics in the admin and read them through the API"),
    "briefs.edit": gettext_lazy("Create and edit editorial briefs"),
    "comments.view": gettext_lazy("Read comments"),
    "comments.write": gettext_lazy("Write and resolve comments"),
    "content.replace": gettext_lazy("Find and replace in posts"),
    "database.manage": gettext_lazy("Import, replace and delete content across the site"),
    "disclosure.edit": gettext_lazy("Decide which pages tell visitors about AI work"),
    "feedback.create": gettext_lazy("Leave feedback"),
    "feedback.delete": gettext_lazy("Delete own feedback"),
    "feedback.moderate": gettext_lazy("Delete other people’s feedback"),
    "feedback.resolve": gettext_lazy("Resolve feedback"),
    "feedback.view": gettext_lazy("View feedback"),
    "forms.edit": gettext_lazy("Create and edit forms"),
    "forms.submissions": gettext_lazy("View and export submissions"),
    "globals.edit": gettext_lazy("Create and edit global modules"),
    "lists.share": gettext_lazy("Share saved views with the team"),
    "media.delete": gettext_lazy("Delete files"),
    "media.edit": gettext_lazy("Edit file details"),
    "media.upload": gettext_lazy("Upload files"),
    "media.view": gettext_lazy("View files"),
    "menus.edit": gettext_lazy("Create and edit menus"),
    "posts.ai-review.approve": gettext_lazy("Submit changes from AI Review to Review"),
    "posts.ai-review.save": gettext_lazy("Propose changes in AI Review"),
    "posts.archive": gettext_lazy("Archive posts"),
    "posts.create": gettext_lazy("Create posts"),
    "posts.delete": gettext_lazy("Move posts to the trash"),
    "posts.edit": gettext_lazy("Edit live content and drafts"),
    "posts.preview": gettext_lazy("Create preview links"),
    "posts.publish": gettext_lazy("Publish and unpublish posts"),
    "posts.restore": gettext_lazy("Restore posts from the trash"),
    "posts.review.approve": gettext_lazy("Approve changes in Review"),
    "posts.review.save": gettext_lazy("Save changes to Review"),
    "posts.revisions.manage": gettext_lazy("Restore earlier revisions"),
    "posts.translate": gettext_lazy("Translate posts"),
    "posts.unlock": gettext_lazy("End page locks of other people"),
    "posts.view": gettext_lazy("View posts, including drafts"),
    "privacy.manage": gettext_lazy("Export and erase a person’s data"),
    "quality.view": gettext_lazy("View the quality of agents and AI clients"),
    "redirects.edit": gettext_lazy("Create and edit redirects"),
    "releases.manage": gettext_lazy("Create, schedule, publish and undo releases"),
    "reviewers.invite": gettext_lazy("Create links for reviewers without an account"),
    "seo.manage": gettext_lazy("Change SEO settings"),
    "settings.manage": gettext_lazy("Change site settings and read the activity log"),
    "snippets.manage": gettext_lazy("Create, edit and delete snippets and post templates"),
    "taxonomies.edit": gettext_lazy("Create and edit terms"),
    "tokens.manage": gettext_lazy("Create and revoke API tokens"),
    "urlPatterns.edit": gettext_lazy("Change URL patterns"),
    "users.manage": gettext_lazy("Invite people and change their roles"),
    "webhooks.manage": gettext_lazy("Create and edit webhooks"),
}


COMMON: Final = (
    "posts.view",
    "posts.create",
    "posts.edit",
    "posts.translate",
    "posts.review.save",
    "posts.review.approve",
    "posts.ai-review.approve",
    "posts.publish",
    "comments.write",
    "media.view",
    "media.upload",
    "media.edit",
)
"""Permissions in which most roles of editors differ. The form of a role lists them first, in this order."""


def label_of(permission: str) -> str | StrPromise:
    """Return the label of a permission, or its name if the app that declares it gives no label."""
    if permission in LABELS:
        return LABELS[permission]
    return next(
        (
            app_permissions.labels[permission]
            for app_permissions in permission_sets
            if permission in app_permissions.labels
        ),
        permission,
    )


def permission_choices(
    names: Collection[str] | None = None,
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return permissions with their labels, grouped by product area: `names`, or all.

    In the reader's language, sorted by label.
    """
    found = sorted(all_permissions() if names is None else names)
    return sorted(
        (
            str(GROUP_LABELS.get(group, group)),
            sorted(((name, str(label_of(name))) for name in group_names), key=itemgetter(1)),
        )
        for group, group_names in groupby(found, lambda name: name.partition(".")[0])
    )


Choices = list[tuple[str, list[tuple[str, str]]]]


def marked_permission_choices(names: Collection[str] | None = None) -> Choices:
    """Return `permission_choices` for forms with limits: permissions that apply to the whole site are marked."""
    return _mark_whole_site(permission_choices(names))


def role_permission_choices(names: Collection[str] | None = None) -> Choices:
    """Return the choices of a role's form: the common permissions first, then the others by group."""
    known = all_permissions() if names is None else names
    common = [(name, str(label_of(name))) for name in COMMON if name in known]
    others = permission_choices(set(known) - set(COMMON))
    return _mark_whole_site([(_("Common"), common), *others] if common else others)


def _mark_whole_site(groups: Choices) -> Choices:
    return [
        (
            group,
            [
                (name, _("%(label)s (whole site)") % {"label": label})
                if name in WHOLE_SITE
                else (name, label)
                for name, label in choices
            ],
        )
        for group, choices in groups
    ]
