"""The media files that snippets and post templates use, stored as rows at every write.

They are references of the layer Review, because visitors do not see them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final
from uuid import UUID

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from content.models import Layer
from content.modules.module_copies import StoredCopy
from content.store.media_usage import Uses, files_by_prop, files_of_text
from media.models import MediaReference
from media.services.references import Held, set_references
from media.usage_sources import UsageSource
from proofroom.definitions import modules, post_types
from proofroom_apps.snippets.models import PostTemplate, Snippet

SNIPPET: Final = "snippet"
TEMPLATE: Final = "post-template"


def snippet_uses(row: Snippet) -> Uses:
    """Return the files of a snippet by path."""
    if row.kind == Snippet.Kind.MODULES:
        return _uses_of_copies(row.modules)
    used = files_of_text(row.text)
    return {"text": used} if used else {}


def template_uses(row: PostTemplate) -> Uses:
    """Return the files of a template by path."""
    post_type = post_types.get(row.type)
    custom = row.fields.get("customFields")
    fields = files_by_prop(post_type.CustomFields, custom) if post_type and custom else {}
    return {
        **{f"customFields.{name}": used for name, used in fields.items()},
        **_uses_of_copies(row.modules),
    }


def hold_snippet(row: Snippet, before: Uses) -> None:
    """Store what a snippet uses now, instead of `before`. Must be called in the transaction of the write."""
    set_references([Held(SNIPPET, row.pk, Layer.REVIEW, before, snippet_uses(row))])


def hold_template(row: PostTemplate) -> None:
    """Store what a new template uses. Must be called in the transaction of the write."""
    set_references([Held(TEMPLATE, row.pk, Layer.REVIEW, {}, template_uses(row))])


def label_snippets(ids: Collection[UUID]) -> Mapping[UUID, UsageSource]:
    """Return the names and pages of snippets."""
    return {
        pk: UsageSource(
            title=_("Snippet “%(name)s”") % {"name": name},
            address=reverse("admin:proofroom_snippets_snippet_change", args=[pk]),
        )
        for pk, name in Snippet.objects.filter(pk__in=ids).values_list("pk", "name")
    }


def label_templates(ids: Collection[UUID]) -> Mapping[UUID, UsageSource]:
    """Return the names of templates, and the list where they can be deleted."""
    address = reverse("admin:proofroom_snippets_posttemplate_changelist")
    return {
        pk: UsageSource(title=_("Post template “%(name)s”") % {"name": name}, address=address)
        for pk, name in PostTemplate.objects.filter(pk__in=ids).values_list("pk", "name")
    }


@transaction.atomic
def rebuild() -> None:
    """Rebuild the references of all snippets and templates."""
    snippets = Snippet.objects.order_by("pk").select_for_update()
    templates = PostTemplate.objects.order_by("pk").select_for_update()
    MediaReference.objects.filter(holder_kind__in=(SNIPPET, TEMPLATE)).delete()
    for row in snippets.iterator(chunk_size=100):
        hold_snippet(row, {})
    for template in templates.iterator(chunk_size=100):
        hold_template(template)


def _uses_of_copies(copies: Iterable[StoredCopy]) -> Uses:
    found: Uses = {}
    for place, copy in enumerate(copies):
        definition = modules.get(copy["type"])
        if definition is None:
            continue
        for part, values in (("props", copy["props"]), ("overrides", copy["overrides"])):
            for name, used in files_by_prop(definition.Props, values).items():
                found[f"modules.{place}.{part}.{name}"] = used
    return {path: used for path, used in found.items() if used}
