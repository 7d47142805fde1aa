"""A post with all its layers, read in one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import orjson
from django.db.models import Exists, OuterRef

from content.models import Post, RejectedChange
from content.store import post_repository
from content.store.author_names import named_authors
from content.store.layer_state import Layers, draft_rows, drafts_from_rows, layers_of
from content.store.page_locks import HOLDER_COLUMNS
from content.store.post_queries import listed_posts, reachable_posts, whole_post
from content.store.scopes import hidden_post_ids
from proofroom.core.content_scope import Scoped
from proofroom.core.database.compiled_queries import CompiledQuery, columns_of
from proofroom.core.database.json_text import JSONObject, JSONValue, rows_as_text
from proofroom.core.json import JsonObject

_LAYERED_ROWS: Final = CompiledQuery(
    lambda post_id: (
        reachable_posts()
        .filter(pk=post_id)
        .values(
            *columns_of(Post),
            "author__username",
            *HOLDER_COLUMNS,
            **post_repository.live_rows(),
            draft_rows=draft_rows(),
            named_authors=rows_as_text(named_authors().values(entry=JSONValue("reader_name"))),
            has_rejections=Exists(
                RejectedChange.objects.filter(post=OuterRef("pk"), taken_back_at__isnull=True)
            ),
            translation_rows=rows_as_text(
                listed_posts()
                .filter(translation_group=OuterRef("translation_group"))
                .exclude(pk=OuterRef("pk"))
                .order_by("locale")
                .values(entry=JSONObject(id="id", locale="locale"))
            ),
        )
    )
)


@dataclass(frozen=True, slots=True)
class LayeredPost:
    """A post with everything that its page needs.

    `translations`: (id, locale) of each. `shared`: props of the global modules by instance id. `has_rejections`:
    changes were rejected and not restored, so that reading them is worth a query.
    """

    post: Post
    layers: Layers
    translations: list[tuple[str, str]]
    shared: Mapping[str, JsonObject]
    has_rejections: bool
    author_names: Sequence[str] = ()
    """The names of its authors that readers see."""


def read_layered_post(post_id: UUID, who: Scoped) -> LayeredPost | None:
    """Return a post that is not in the trash, with the translations the user may see, or None.

    One statement, and one more for a user with a limited scope.
    """
    rows = _LAYERED_ROWS.rows(post_id)
    if not rows:
        return None
    row = rows[0]
    post = whole_post(row)
    modules = orjson.loads(row["module_rows"])
    live = post_repository.document_of(
        post, map(post_repository.module_of, modules), orjson.loads(row["term_rows"])
    )
    drafts = drafts_from_rows(post, orjson.loads(row["draft_rows"]))
    translations = [(one["id"], one["locale"]) for one in orjson.loads(row["translation_rows"])]
    hidden = {str(id_) for id_ in hidden_post_ids([id_ for id_, _locale in translations], who)}
    return LayeredPost(
        post=post,
        layers=layers_of(post, live, drafts),
        translations=[one for one in translations if one[0] not in hidden],
        shared={
            one["instance_id"]: one["instance__props"]
            for one in modules
            if one["instance__scope"] == "global"
        },
        has_rejections=bool(row["has_rejections"]),
        author_names=orjson.loads(row["named_authors"]),
    )
