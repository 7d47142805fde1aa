"""What an agent is given to work on: the payloads of the specification, key by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.models import AgentRun
from agents_app.running.fields import FieldTarget, fields_json
from content import store
from content.definitions import modules
from content.document import ModuleDocument, PostDocument
from content.layers import Layers
from content.models import ModuleInstance, Post
from content.post_fields import POST_FIELDS
from core.actor import Actor
from core.json import Json, JsonObject

_POST_NAMES: Final = (
    "type",
    "locale",
    "slug",
    *(
        name
        for name, field in POST_FIELDS.items()
        if field.proposable and field.kind != "media" and name != "slug"
    ),
    "customFields",
)


def canonical_payload(
    run: AgentRun,
    post: Post | None,
    document: PostDocument | None,
    translation_of: JsonObject | None = None,
) -> JsonObject:
    """The payload of every scope but `field`. The content is AI Review's: what the answer is applied to.

    Beside the specification's keys a post has its `customFields`, a module its `postModuleId`: without them no
    answer could name them. `translation_of` is the source of a translation.
    """
    payload: JsonObject = {}
    if post is not None and document is not None:
        payload["post"] = _post(post, document)
        payload["modules"] = _modules(document)
        others = Post.objects.alive().filter(translation_group=post.translation_group)
        others = others.exclude(pk=post.pk)
        payload["translations"] = [
            {"id": str(id_), "locale": locale}
            for id_, locale in others.order_by("locale").values_list("pk", "locale")
        ]
    context = _context(run)
    if translation_of is not None:
        context["translationOf"] = translation_of
    payload["context"] = context
    return payload


def source_of(post: Post | None, agent: AgentDefinition, actor: Actor) -> JsonObject | None:
    """The live post that this one translates, for agents that translate and may see it."""
    if post is None or post.translated_from_id is None:
        return None
    if not agent.entries(Scope.CREATE_TRANSLATION) or not actor.can("posts.view"):
        return None
    source = Post.objects.alive().filter(pk=post.translated_from_id, is_placeholder=False).first()
    if source is None:
        return None
    document = store.load(source)
    return {
        "postId": str(source.pk),
        "locale": source.locale,
        "post": _post(source, document),
        "modules": _modules(document),
    }


def _post(post: Post, document: PostDocument) -> JsonObject:
    fields = fields_json(document)
    return {**{name: fields.get(name) for name in _POST_NAMES}, "status": post.status}


def _context(run: AgentRun) -> JsonObject:
    own: JsonObject = {"triggeredBy": run.scope, "userId": run.by_id}
    if run.open_ended_context:
        own["openEndedContext"] = run.open_ended_context
    return {**run.context, **own}


def _modules(document: PostDocument) -> list[Json]:
    shared = shared_props(document)
    found: list[Json] = []
    for index, module in enumerate(document.modules):
        value = module.to_json(index)
        del value["moduleInstanceId"]
        if module.scope == "global":
            value["props"] = shared.get(module.instance_id, {})
        found.append(value)
    return found


def shared_props(document: PostDocument) -> dict[str, JsonObject]:
    """The props of the global modules of a document, by instance id."""
    ids = [module.instance_id for module in document.modules if module.scope == "global"]
    if not ids:
        return {}
    rows = ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "props")
    return {str(pk): props for pk, props in rows}


def field_payload(run: AgentRun, post: Post, layers: Layers, target: FieldTarget) -> JsonObject:
    """The payload of the scope `field`."""
    document = layers.ai_review.document
    current = run.context.get("currentValue", target.value(document))
    module = target.module(document)
    return {
        "scope": "field",
        "post": {
            "id": str(post.pk),
            "type": post.type,
            "locale": post.locale,
            "status": post.status,
        },
        "field": {"key": target.key, "currentValue": current},
        "draftBase": fields_json(document),
        "module": None if module is None else _module_layers(layers, module),
        "context": _context(run),
    }


def _module_layers(layers: Layers, module: ModuleDocument) -> JsonObject:
    """One module, live and where a layer differs from the one below."""
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
