"""New posts from templates. The app that stores templates registers how to find one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from content.document.document import CUSTOM_PREFIX, PostDocument
from content.document.labels import field_label
from content.models import Post, Status
from content.modules.module_copies import (
    ModuleCopy,
    RefusedCopy,
    add_copies,
    split_copies,
    split_valid,
)
from content.posts.create import NO_DATES, PostDates, create_post, shared_modules
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.hooks import Hook
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import find_post_type, post_types, props_of, validation

TEMPLATE_FIELDS: Final = ("excerpt", "robotsJson", "jsonldOverrides")
"""Post fields that a template has besides custom fields: what does not name or place one post."""


@dataclass(frozen=True, slots=True)
class TemplateContent:
    """The content of a template. `fields` has values of post fields, and `customFields`."""

    name: str
    type: str
    locale: str
    fields: JsonObject
    modules: tuple[ModuleCopy, ...]


@dataclass(frozen=True, slots=True)
class PostFromTemplate:
    """A new post, and the parts of its template that posts of the type no longer have."""

    post: Post
    left_out: list[RefusedCopy]


find_template: Hook[[str], TemplateContent | None] = Hook()
"""Return the template with an id; None if there is none."""


def create_from_template(
    *,
    actor: Actor,
    template_id: str,
    fields: Mapping[str, Json],
    type: str = "",
    locale: str | None = None,
    status: str = Status.DRAFT,
    dates: PostDates = NO_DATES,
) -> PostFromTemplate:
    """Create a post from a template; `fields` win over its values. An empty `type` is the template's.

    Modules and custom fields that the type no longer has, or whose values are no longer valid, are left out. Raises
    the errors of `create_post`, and `RuleViolation` on `template`.
    """
    template = next((found for found in find_template(template_id) if found is not None), None)
    if template is None:
        raise invalid("template", _("There is no template with this ID."), code="unknown_template")
    if template.type not in post_types:
        raise invalid("template", _("The post type of this template no longer exists."))
    if type and type != template.type:
        raise invalid(
            "type", _("The template is for posts of the type %(type)s.") % {"type": template.type}
        )
    shared = shared_modules()
    allowed, left_out = split_copies(template.modules, post_type=template.type, shared=shared)
    usable, invalid_copies = split_valid(allowed)
    values, left_fields = _usable_fields(template)
    custom = fields.get("customFields")
    own: JsonObject = {**values, **fields}
    if isinstance(custom, Mapping):
        own["customFields"] = {**_mapping(values["customFields"]), **custom}

    def seed(document: PostDocument) -> PostDocument:
        named = {
            CUSTOM_PREFIX + name: one for name, one in _mapping(values["customFields"]).items()
        }
        return add_copies(document.with_fields(named), usable, shared)

    post = create_post(
        actor=actor,
        type=template.type,
        locale=locale,
        fields=own,
        status=status,
        seed=seed,
        dates=dates,
    )
    return PostFromTemplate(post, [*left_out, *invalid_copies, *left_fields])


def _usable_fields(template: TemplateContent) -> tuple[JsonObject, list[RefusedCopy]]:
    """Return the template's fields that the post type still has and accepts, and the others."""
    shape = find_post_type(template.type).CustomFields
    known = props_of(shape)
    custom: JsonObject = {}
    left_out: list[RefusedCopy] = []
    for name, value in _mapping(template.fields.get("customFields")).items():
        label = field_label(template.type, CUSTOM_PREFIX + name)
        if name not in known:
            left_out.append(RefusedCopy(label, _("Posts of this type no longer have this field.")))
            continue
        try:
            custom |= validation.check_partial(shape, {name: value}, prefix="customFields", what="")
        except RuleViolation as error:
            left_out.append(
                RefusedCopy(label, "; ".join(error.details.get(f"customFields.{name}", ())))
            )
    fields: JsonObject = {
        name: template.fields[name] for name in TEMPLATE_FIELDS if template.fields.get(name)
    }
    return {**fields, "customFields": custom}, left_out


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
