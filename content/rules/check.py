"""Checks a change of a document as a whole: who may change what, and what may stand in a post."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _

from content.changes import ABSENT, Change, Changes, diff
from content.document import AGENT_FIELD_NAMES, CUSTOM_PREFIX, PostDocument
from content.models import ModuleInstance, Post
from content.post_fields import POST_FIELDS
from content.rules.fields import clean_fields
from content.rules.modules import check_locks, clean_modules
from content.rules.references import check_references
from content.rules.terms import check_terms
from content.rules.translations import changes_text_only
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.json import Json
from proofroom.definitions import find_module, find_post_type, props_of


def check_changes(
    *,
    post: Post,
    before: PostDocument,
    after: PostDocument,
    actor: Actor,
    taken_over: PostDocument | None = None,
) -> PostDocument:
    """`after` with cleaned values, or the first refusal.

    Only what differs from `before` is looked at, so that content which outlived its definition can still be
    edited around, reverted and rejected. What `taken_over`, the source of a copy, refers to may be gone. Raises
    `RuleViolation` with details keyed by path, or `NotAllowed`.
    """
    changes = diff(before, after)
    if len(changes) == 0:
        return after
    _check_who(post, changes, before, actor)
    return clean_changes(post, before, after, taken_over)


def clean_changes(
    post: Post, before: PostDocument, after: PostDocument, taken_over: PostDocument | None = None
) -> PostDocument:
    """The same whoever does it: of content that is copied, its author answers for it already."""
    changes = diff(before, after)
    check_locks(before, after)
    after = clean_fields(post, before, after, changes)
    check_terms(post, after, changes)
    after = clean_modules(post, before, after, changes)
    # As cleaned: ids in their one form, Markdown as the document that it stands for.
    check_references(before, after, diff(before, after), taken_over=taken_over)
    return after


def _check_who(post: Post, changes: Changes, before: PostDocument, actor: Actor) -> None:
    if not actor.is_person:
        for change in changes:
            name = change.path.removeprefix("post.")
            if change.module_id or name == "taxonomyTermIds" or name.startswith(CUSTOM_PREFIX):
                continue
            if name not in AGENT_FIELD_NAMES:
                message = _("Agents and AI clients cannot propose %(name)s.") % {"name": name}
                raise RuleViolation(message, code="not_stageable", details={name: [message]})
    elif post._state.adding and actor.can("posts.create"):
        return  # what is new is its author's, whether or not they may change what is there
    elif not actor.can("posts.edit"):
        _translation_only(post, changes, before)


def _translation_only(post: Post, changes: Changes, before: PostDocument) -> None:
    """Translators change translatable values of a translation, and nothing else."""
    if post.translated_from_id is None:
        raise NotAllowed(_("Translators edit translations only, and this post is an original."))
    shared = _shared_values(changes, before)
    for change in changes:
        if not _is_translatable(change, before, shared):
            raise NotAllowed(
                _("Translators edit translatable fields only; %(path)s is not one.")
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
    if was is ABSENT:  # what an override goes on top of
        was = shared.get(module.instance_id, {}).get(parts[3], ABSENT)
    prop = props_of(find_module(module.type).Props).get(parts[3])
    return changes_text_only(prop, was, change.after)


def _shared_values(changes: Changes, before: PostDocument) -> Mapping[str, Mapping[str, Json]]:
    """The props of the shared modules that get their first overrides here, by instance."""
    ids = {
        module.instance_id
        for change in changes
        if change.module_id is not None and change.before is ABSENT
        if (module := before.module(change.module_id)) is not None and module.scope == "global"
    }
    if not ids:
        return {}
    rows = ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "props")
    return {str(pk): props for pk, props in rows}
