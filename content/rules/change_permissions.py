"""Permissions to change a post, for people, translators and agents. To publish: `publish_permissions.py`."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _

from content.document.changes import ABSENT, Change, Changes
from content.document.document import AGENT_FIELD_NAMES, CUSTOM_PREFIX, PostDocument
from content.document.post_fields import POST_FIELDS
from content.models import ModuleInstance, Post
from content.store.translation_rules import changes_text_only
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.json import Json
from proofroom.definitions import find_module, find_post_type, props_of


def check_change_permissions(
    post: Post, changes: Changes, before: PostDocument, actor: Actor
) -> None:
    """Raise `NotAllowed`, or `RuleViolation` by field, unless the actor may make all these changes.

    - People with `posts.edit` may make all changes.
    - Agents and AI clients may only propose fields that are open to them.
    - Translators may change translatable values of translations.
    - People with `posts.create` may fill a new post.
    """
    if not actor.is_person:
        for change in changes:
            name = change.path.removeprefix("post.")
            if change.module_id or name == "taxonomyTermIds" or name.startswith(CUSTOM_PREFIX):
                continue
            if name not in AGENT_FIELD_NAMES:
                message = _("Agents and AI clients cannot propose %(name)s.") % {"name": name}
                raise RuleViolation(message, code="not_stageable", details={name: [message]})
    elif post._state.adding and actor.can("posts.create"):
        return  # authors may fill a new post without the permission to edit
    elif not actor.can("posts.edit"):
        if post.translated_from_id is None:
            raise NotAllowed(
                _("Translators can only edit translations, and this post is an original.")
            )
        # An override without a previous value replaces the shared value, so compare with that. Props by instance id.
        ids = {
            module.instance_id
            for change in changes
            if change.module_id is not None and change.before is ABSENT
            if (module := before.module(change.module_id)) is not None and module.scope == "global"
        }
        rows = ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "props") if ids else ()
        shared = {str(pk): props for pk, props in rows}
        for change in changes:
            if not _is_translatable(change, before, shared):
                raise NotAllowed(
                    _("Translators can only edit translatable fields, and %(path)s is not one.")
                    % {"path": change.path},
                    details={change.path: [_("not translatable")]},
                )


def _is_translatable(
    change: Change, before: PostDocument, shared: Mapping[str, Mapping[str, Json]]
) -> bool:
    module_id = change.module_id
    if module_id is None:
        name = change.path.removeprefix("post.")
        declared = POST_FIELDS.get(name)
        if declared is not None and declared.translatable:
            return True
        fields = find_post_type(before.type).CustomFields
        prop = props_of(fields).get(name.removeprefix(CUSTOM_PREFIX))
        return name.startswith(CUSTOM_PREFIX) and changes_text_only(
            prop, change.before, change.after
        )
    module = before.module(module_id)
    parts = change.path.split(".", 3)
    if module is None or len(parts) != 4:
        return False
    was = change.before
    if was is ABSENT:  # compare a new override with the shared value
        was = shared.get(module.instance_id, {}).get(parts[3], ABSENT)
    prop = props_of(find_module(module.type).Props).get(parts[3])
    return changes_text_only(prop, was, change.after)
