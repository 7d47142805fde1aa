"""The payloads of the specification: the content that an agent works on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, cast
from uuid import UUID

from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.models import AgentRun
from agents_app.runs.examples import ApprovedExample
from agents_app.runs.field_context import EXAMPLES_KEY, SYSTEM_KEYS, field_context
from agents_app.runs.field_scope import only_fields
from agents_app.runs.field_target import FieldTarget
from agents_app.runs.module_props import shared_props
from content.document.document import ModuleDocument, PostDocument
from content.document.post_fields import POST_FIELDS
from content.layers import Layers
from content.layers.rejected_changes import EarlierRejection, earlier_rejections
from content.models import CopyOrigin, Post
from content.presenters import value_as_json
from content.store import post_repository
from content.store.scopes import visible_to
from content.store.translation_status import source_hashes, values_for_copy
from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.definitions import modules

POST_NAMES: Final = (
    "type",
    "locale",
    "slug",
    *(
        name
        for name, field in POST_FIELDS.items()
        if field.proposable and field.kind != "media" and name != "slug"
    ),
    "customFields",
    "status",
)
"""Keys of a post in the payload."""


def canonical_payload(
    run: AgentRun,
    post: Post | None,
    document: PostDocument | None,
    translation_of: TranslationSource | None = None,
) -> JsonObject:
    """Return the payload of every scope except `field`. The content is AI Review's, to which the
    answer is applied.

    In addition to the specification's keys a post has its `customFields`, a module its
    `postModuleId`, because answers must name them. `translation_of`: the source of a translation.
    If the run is limited to some fields, the source's values of these fields are repeated by the
    paths of the translation.
    """
    payload: JsonObject = {}
    if post is not None and document is not None:
        payload |= {name: build(post, document) for name, build in POST_PARTS.items()}
    context = _context(run)
    if translation_of is not None:
        context[SOURCE_CONTEXT_KEY] = translation_of.payload
        if wanted := only_fields(run.context):
            values = translation_of.values
            context[SOURCE_VALUES_KEY] = {
                path: values[path] for path in sorted(wanted & values.keys())
            }
    payload["context"] = context
    return payload


SOURCE_CONTEXT_KEY: Final = "translationOf"
SOURCE_VALUES_KEY: Final = "sourceValues"
COPY_KEY: Final = "translationModuleId"
"""Key of a source's module with the id of the translation's module that translates it."""


@dataclass(frozen=True, slots=True)
class TranslationSource:
    """The live post that is translated: its payload, and its values by the paths of the translation,
    with their hashes.
    """

    payload: JsonObject
    values: Mapping[str, Json]
    hashes: Mapping[str, str]


def reads_source(agent: AgentDefinition) -> bool:
    """Return True if the agent translates, so that its runs get the source of a translation."""
    return bool(agent.entries(Scope.CREATE_TRANSLATION))


def translation_source(
    post: Post | None, agent: AgentDefinition, actor: Actor
) -> TranslationSource | None:
    """Return the live source of a translation, for agents that translate and may see it."""
    if post is None or post.translated_from_id is None:
        return None
    if not reads_source(agent) or not actor.can("posts.view"):
        return None
    sources = visible_to(Post.objects.alive(), actor)
    source = sources.filter(pk=post.translated_from_id, is_placeholder=False).first()
    if source is None:
        return None
    document = post_repository.load(source)
    origin = CopyOrigin.objects.filter(post=post).first()
    copies = origin.modules if origin is not None else {}
    source_modules = _modules(document)
    for module in source_modules:
        module[COPY_KEY] = copies.get(str(module["postModuleId"]))
    payload: JsonObject = {
        "postId": str(source.pk),
        "locale": source.locale,
        "post": _post(source, document),
        "modules": cast("list[Json]", source_modules),
    }
    return TranslationSource(
        payload, values_for_copy(document, copies), source_hashes(document, copies)
    )


def _post(post: Post, document: PostDocument) -> JsonObject:
    fields = fields_json(document)
    return {name: post.status if name == "status" else fields.get(name) for name in POST_NAMES}


def fields_json(document: PostDocument) -> JsonObject:
    """Return the post's fields with wire names, custom fields in one object."""
    return cast(JsonObject, document.to_json()["post"])


def _context(run: AgentRun) -> JsonObject:
    own: JsonObject = {"triggeredBy": run.scope, "userId": run.by_id}
    if run.open_ended_context:
        own["openEndedContext"] = run.open_ended_context
    return {**run.context, **own}


def _translations(post: Post) -> list[Json]:
    others = Post.objects.alive().filter(translation_group=post.translation_group)
    return [
        {"id": str(id_), "locale": locale}
        for id_, locale in others.exclude(pk=post.pk).order_by("locale").values_list("pk", "locale")
    ]


def _modules(document: PostDocument) -> list[JsonObject]:
    shared = shared_props(document)
    found: list[JsonObject] = []
    for index, module in enumerate(document.modules):
        value = module.to_json(index)
        del value["moduleInstanceId"]
        if module.scope == "global":
            # A global module's own props are empty; its shared instance has them.
            value["props"] = shared.get(module.instance_id, {})
        found.append(value)
    return found


POST_PARTS: Final[Mapping[str, Callable[[Post, PostDocument], Json]]] = {
    "post": _post,
    "modules": lambda _post, document: cast("list[Json]", _modules(document)),
    "translations": lambda post, _document: _translations(post),
}
"""The parts of the payload about a post, beside the context. `agents_app.data_flows` lists them."""


def field_payload(
    run: AgentRun,
    post: Post,
    layers: Layers,
    target: FieldTarget,
    examples: Sequence[ApprovedExample] = (),
) -> JsonObject:
    """Return the payload of the scope `field`.

    In addition to the specification's keys, the context has the post's text as Markdown, the
    field's neighbours and limits, and the examples.
    """
    document = layers.ai_review.document
    context = {name: value for name, value in _context(run).items() if name not in SYSTEM_KEYS}
    context |= field_context(document, target)
    if examples:
        context[EXAMPLES_KEY] = [example.as_context() for example in examples]
    about = FieldOfRun(run, post, layers, target)
    parts = {name: build(about) for name, build in FIELD_PARTS.items()}
    return {"scope": "field", **parts, "context": context}


@dataclass(frozen=True, slots=True)
class FieldOfRun:
    """What the parts of the payload of a field are made of."""

    run: AgentRun
    post: Post
    layers: Layers
    target: FieldTarget

    @property
    def document(self) -> PostDocument:
        return self.layers.ai_review.document


def _post_of_field(about: FieldOfRun) -> Json:
    post = about.post
    return {"id": str(post.pk), "type": post.type, "locale": post.locale, "status": post.status}


def _field(about: FieldOfRun) -> Json:
    given = about.run.context
    # A caller may send the value of an open form, which is not saved yet.
    value = given.get("currentValue", about.target.value(about.document))
    return {"key": about.target.key, "currentValue": value}


def _module_of_field(about: FieldOfRun) -> Json:
    module = about.target.module(about.document)
    return None if module is None else _module_layers(about.layers, module)


FIELD_PARTS: Final[Mapping[str, Callable[[FieldOfRun], Json]]] = {
    "post": _post_of_field,
    "field": _field,
    "draftBase": lambda about: fields_json(about.document),
    "module": _module_of_field,
}
"""The parts of the payload of a field, beside the context. `agents_app.data_flows` lists them."""


def _module_layers(layers: Layers, module: ModuleDocument) -> JsonObject:
    """Return one module: its live values, and the values of each layer that differ from the layer below."""
    live = layers.live.module(module.id)
    review = layers.review.document.module(module.id)
    definition = modules.get(module.type)
    props = live.props if live else {}
    if module.scope == "global":
        props = shared_props(layers.ai_review.document).get(module.instance_id, {})
    return {
        "postModuleId": module.id,
        "moduleInstanceId": module.instance_id,
        "type": module.type,
        "scope": module.scope,
        "props": props,
        "reviewProps": _where_different(review, live, "props"),
        "aiReviewProps": _where_different(module, review, "props"),
        "overrides": live.overrides if live else {},
        "reviewOverrides": _where_different(review, live, "overrides"),
        "aiReviewOverrides": _where_different(module, review, "overrides"),
        "schema": definition.props_schema() if definition else None,
    }


def _where_different(upper: ModuleDocument | None, lower: ModuleDocument | None, part: str) -> Json:
    if upper is None:
        return None
    value: Mapping[str, Json] = getattr(upper, part)
    below: Mapping[str, Json] = getattr(lower, part) if lower else {}
    return dict(value) if value != below else None


REJECTED_KEY: Final = "rejectedBefore"
"""Key in the payload's context. Callers' values under it are dropped, because the system sets it."""
_MAX_FIELD_REJECTIONS: Final = 5
_MAX_POST_REJECTIONS: Final = 20
_MAX_FIELD_VALUE_CHARACTERS: Final = 4_000
"""Maximum characters of a value as JSON, in the payload of a field; longer values are omitted; their
notes are not.
"""
_MAX_POST_VALUE_CHARACTERS: Final = 400
"""Maximum characters of a text, in the payload of a whole post."""


def add_rejections(
    payload: JsonObject,
    post: Post | None,
    document: PostDocument | None,
    target: FieldTarget | None,
) -> JsonObject:
    """Return the payload with earlier rejections of the field, or of any field, newest first. Two queries."""
    context = payload.get("context")
    own = (
        {name: value for name, value in context.items() if name != REJECTED_KEY}
        if isinstance(context, dict)
        else {}
    )
    if post is not None and document is not None:
        paths = None if target is None else [target.document_path(document)]
        most = _MAX_POST_REJECTIONS if target is None else _MAX_FIELD_REJECTIONS
        found = earlier_rejections([post.pk], paths).latest()[:most]
        # Values written by runs that had read visitors' texts are not passed on to other runs.
        runs = {id_ for one in found for id_ in _runs(one)}
        rows = AgentRun.objects.filter(pk__in=runs, has_read_untrusted=True)
        untrusted_runs = {str(pk) for pk in rows.values_list("pk", flat=True)} if runs else set()
        rejections: list[Json] = []
        for one in found:
            is_vouched = untrusted_runs.isdisjoint(_runs(one))
            wire: JsonObject = {"at": format_time(one.at), "by": one.by, "note": one.note}
            if target is None:
                wire = {"path": one.path, **wire}
                text = one.value if isinstance(one.value, str) else ""
                if is_vouched and 0 < len(text) <= _MAX_POST_VALUE_CHARACTERS:
                    wire["value"] = text
            elif is_vouched and not isinstance(one.value, ModuleDocument):
                value = target.part_of(value_as_json(one.value))
                if value is not None and len(json.dumps(value)) <= _MAX_FIELD_VALUE_CHARACTERS:
                    wire["value"] = value
            rejections.append(wire)
        if rejections:
            own[REJECTED_KEY] = rejections
    return {**payload, "context": own}


def _runs(one: EarlierRejection) -> set[str]:
    marks = one.proposal.marks.values() if one.proposal is not None else ()
    found: set[str] = set()
    for mark in marks:
        with suppress(ValueError):  # not every writer has the id of a run
            UUID(mark.run_id)
            found.add(mark.run_id)
    return found
