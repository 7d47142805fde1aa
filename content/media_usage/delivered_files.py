"""The files that published posts use, for frontends: found by the rows of their uses, in one query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from django.db.models import Q

from content.media_usage.references import GLOBAL, POST
from media.models import MediaReference
from media.presenters import delivered_asset
from media.services.references import LIVE
from proofroom.core.database.statements import Row
from proofroom.core.json import JsonObject


def media_of(
    locales: Mapping[UUID, str], modules: Mapping[UUID, Sequence[Row]]
) -> dict[UUID, JsonObject]:
    """By post, the files of its live fields and modules, by id, with words in the language that it is given here.

    `modules` are rows of `queries.module_rows`.
    """
    shared = {
        (post_id, row["instance_id"])
        for post_id, rows in modules.items()
        for row in rows
        if row["instance__scope"] == "global"
    }
    users: dict[UUID, set[UUID]] = defaultdict(set)
    for post_id, instance_id in shared:
        users[instance_id].add(post_id)
    uses = MediaReference.objects.filter(
        Q(holder_kind=POST, holder_id__in=locales) | Q(holder_kind=GLOBAL, holder_id__in=users),
        layer=LIVE,
    )
    found: dict[UUID, JsonObject] = {id_: {} for id_ in locales}
    for use in uses.select_related("asset").order_by("asset_id"):
        for post_id in [use.holder_id] if use.holder_kind == POST else users[use.holder_id]:
            asset = delivered_asset(use.asset, locales[post_id])
            found[post_id][str(use.asset_id)] = asset
    return found
