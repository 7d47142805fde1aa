"""Create and delete templates of posts."""

from __future__ import annotations

from typing import Final
from uuid import UUID

import orjson
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from content.document.document import PostDocument
from content.modules.module_copies import ModuleCopy, copies_of, require_small
from content.posts.post_templates import TEMPLATE_FIELDS, TemplateContent
from content.store import post_repository
from content.store.post_queries import require_post
from media.services.references import drop_references
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound, RuleViolation, invalid
from proofroom.core.json import JsonObject
from proofroom_apps.snippets.media_usage import TEMPLATE, hold_template
from proofroom_apps.snippets.models import PostTemplate
from proofroom_apps.snippets.services import require_manager

TEMPLATES_MAX: Final = 200


@transaction.atomic
def create_template(
    *, actor: Actor, post_id: UUID | str, name: str, description: str = ""
) -> PostTemplate:
    """Create a template from the live content of a post. Raises `RuleViolation` by field, or `NotFound`."""
    require_manager(actor)
    post = require_post(post_id, actor)
    if post.is_placeholder:
        message = _("Approve this page first. It has no live content yet.")
        raise RuleViolation(message, code="not_approved")
    row = PostTemplate(
        type=post.type, locale=post.locale, **_content_of(post_repository.load(post))
    )
    return store_template(row, actor=actor, name=name, description=description)


def store_template(
    row: PostTemplate, *, actor: Actor, name: str, description: str = ""
) -> PostTemplate:
    """Store a new template under a free name. Raises `RuleViolation` by field."""
    if PostTemplate.objects.count() >= TEMPLATES_MAX:
        raise invalid(
            "body", _("There can be at most %(most)s templates.") % {"most": TEMPLATES_MAX}
        )
    row.name, row.description = name, description
    try:
        # A savepoint: after an IntegrityError, PostgreSQL refuses further queries in the transaction.
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        raise invalid(
            "name", _("There is already a template with this name."), code="name_taken"
        ) from None
    hold_template(row)
    _record(row, actor, "postTemplate.created")
    return row


@transaction.atomic
def delete_template(*, template_id: UUID | str, actor: Actor) -> UUID:
    """Delete a template and return its id. Posts that were started from it stay. Raises `NotFound`."""
    require_manager(actor)
    row = find_by_id(PostTemplate.objects.select_for_update(), template_id)
    if row is None:
        raise NotFound(_("No template has the ID %(id)s.") % {"id": str(template_id)[:80]})
    id_ = row.pk
    _record(row, actor, "postTemplate.deleted")
    drop_references(TEMPLATE, [row.pk])
    row.delete()
    return id_


def template_content(template_id: str) -> TemplateContent | None:
    """Return the content of a template for a new post; None if there is no such template."""
    row = find_by_id(PostTemplate.objects.all(), template_id)
    if row is None:
        return None
    copies = tuple(map(ModuleCopy.from_stored, row.modules))
    return TemplateContent(row.name, row.type, row.locale, row.fields, copies)


def _content_of(document: PostDocument) -> dict[str, object]:
    fields: JsonObject = {name: document.fields.get(name) for name in TEMPLATE_FIELDS}
    fields["customFields"] = document.custom_fields
    modules = [copy.to_json() for copy in copies_of(document.modules, keep_locks=True)]
    require_small(len(orjson.dumps(modules)) + len(orjson.dumps(fields)), "post")
    return {"fields": fields, "modules": modules}


def _record(row: PostTemplate, actor: Actor, event: str) -> None:
    outbox.record(
        event,
        actor=actor,
        payload={"id": str(row.pk), "name": row.name, "type": row.type, "locale": row.locale},
    )
