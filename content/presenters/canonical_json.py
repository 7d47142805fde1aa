"""Posts as canonical JSON: export, and import as new drafts on this or another site."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from uuid import uuid4

from django.db import transaction
from django.utils import timezone

from content import presenters
from content.document.document import FIELD_NAMES, PostDocument
from content.document.post_fields import AUTHORS, SCHEDULE_FIELDS
from content.layers import open_layers
from content.models import Post
from content.posts.create import NO_DATES, PostDates, create_post
from content.rules.modules import rekey_by_names
from content.store import post_queries
from content.store.post_queries import shared_module
from content.store.publish_permissions import PUBLISH
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject


def export_post(*, post: Post, actor: Actor) -> JsonObject:
    """Return the live post as canonical JSON, without staged changes, and record the export."""
    actor.require("posts.view")
    document = open_layers(post).live
    payload: JsonObject = {"id": str(post.pk), "locale": post.locale}
    outbox.record("post.exported", actor=actor, post_id=post.pk, payload=payload)
    return presenters.canonical(post, document, post_queries.visible_translations(post, actor))


@transaction.atomic
def import_post(
    *,
    actor: Actor,
    document: PostDocument,
    slug: str | None = None,
    locale: str | None = None,
    published_at: datetime | None = None,
) -> Post:
    """Create a draft from a document. It is not published or scheduled, and all ids are new.

    A publication date in the past is used if the actor may publish. Referenced terms, parents, media and global
    modules must exist. Raises `RuleViolation` by field, and by `modules.<n>`.
    """
    actor.require("posts.create")
    modules = []
    for number, module in enumerate(document.modules):
        try:
            if module.locked:
                actor.require("posts.edit")
            shared = shared_module(module.global_slug, module.scope)
            modules.append(
                replace(
                    module,
                    id=str(uuid4()),
                    instance_id=shared[1] if shared else str(uuid4()),
                    scope="global" if shared else module.scope,
                    props={} if shared else module.props,
                    overrides={**(module.props if shared else {}), **module.overrides},
                )
            )
        except RuleViolation as error:
            details = {f"modules.{number}.{path}": text for path, text in error.details.items()}
            raise RuleViolation(error.message, code=error.code, details=details) from None
    # Another site has other accounts, so the importer is the author.
    left_out = (*SCHEDULE_FIELDS, AUTHORS)
    fields: JsonObject = {
        name: document.fields.get(name) for name in FIELD_NAMES if name not in left_out
    }
    fields["customFields"] = document.custom_fields
    fields["taxonomyTermIds"] = list(document.taxonomy_term_ids)
    if slug is not None:
        fields["slug"] = slug
    if fields["slug"] is None:
        del fields["slug"]  # it is made from the title
    is_past = published_at is not None and published_at <= timezone.now()
    keeps_date = is_past and actor.can(PUBLISH)
    try:
        return create_post(
            actor=actor,
            type=document.type,
            locale=locale or document.locale,
            fields=fields,
            edit=lambda empty: replace(empty, modules=tuple(modules)),
            dates=PostDates(published_at) if keeps_date else NO_DATES,
        )
    except RuleViolation as error:
        # The client knows the modules by their number, not by their new ids.
        names = {module.id: str(number) for number, module in enumerate(modules)}
        raise rekey_by_names(error, names) from None
