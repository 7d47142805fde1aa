"""The expected API representation of a post's module, built from its rows."""

from __future__ import annotations

from content.models import PostModule
from proofroom.core.json import JsonObject


def wire_module(place: PostModule) -> JsonObject:
    return {
        "postModuleId": str(place.pk),
        "moduleInstanceId": str(place.instance_id),
        "type": place.instance.type,
        "scope": place.instance.scope,
        "orderIndex": place.order_index,
        "locked": place.locked,
        "props": place.instance.props,
        "overrides": place.overrides or None,
        "globalSlug": place.instance.global_slug,
    }
