"""Lists of the delivery API with cursors, filters by field, `include`, `facets` or fields of single posts.

`content.api.delivery.list_queries` parses their queries.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, cast

import orjson
from django.conf import settings
from django.db.models import Count, QuerySet
from django.db.models.expressions import RawSQL

from content import presenters
from content.api import post_lists
from content.api.delivery.list_queries import ListQuery, cursor_text, default_order
from content.api.delivery.rendered_posts import render_posts
from content.models import Post, PostTerm
from content.presenters.delivered_texts import TextFormat
from content.presenters.related_content import Tree, load_included
from content.store import post_queries
from content.store.list_filters import (
    OrderKey,
    apply_conditions,
    follow_after,
    key_columns,
)
from proofroom.core.api.pagination import HasQuery, page_of
from proofroom.core.caching.content_tags import EVERYTHING, depend_on
from proofroom.core.database.compiled_queries import Row
from proofroom.core.database.row_counts import RowCount, count_rows
from proofroom.core.json import JsonObject
from proofroom.core.search import RankedInstances
from proofroom.definitions import taxonomies
from proofroom.definitions.listings import LIST_PAGE_SIZE, IndexPage

MAX_FACET_VALUES: Final = 100


def list_queried_posts(
    request: HasQuery,
    query: ListQuery,
    *,
    fields: Collection[str] | None,
    listed: Collection[str],
    total: RowCount | None = None,
    text_format: TextFormat = "json",
) -> JsonObject:
    """Return the page of published posts that a query asks for.

    `listed` names the fields that the rows of a list contain. Other `fields` are rendered as for a single post.
    Without `total`, the posts are counted. Runs one query for each of these, however many posts there are: the count,
    the posts, their parts, the fields of single posts, each facet. `load_included` adds its own.
    """
    if query.include is not None or query.facets:
        # Terms, global modules and moves change such an answer, too.
        depend_on(EVERYTHING)
    order = query.order
    if query.cursor is not None and order is None:
        order = default_order()
    found: QuerySet[Post] | RankedInstances[Post] | None = None
    if (
        query.has_all_posts
        and not query.facets
        and not post_lists.filters_of(request, staged=False)
    ):
        # The page of a list without filters is compiled once, and counts the posts itself.
        page = page_of(request)
        rows, total = post_queries.page_of(
            settings.CMS_ENV.default_locale,
            post_lists.ordering_of(request),
            page.slice,
            only_published=True,
            total=total,
        )
        answer = page.envelope(rows, total)
    else:
        posts = apply_conditions(post_queries.published_posts(), query.conditions)
        if query.ids is not None:
            posts = posts.filter(pk__in=query.ids)
        found = post_lists.filter_posts(request, posts, staged=False, order=order)
        if total is None:
            total = (
                RowCount(found.count()) if isinstance(found, RankedInstances) else count_rows(found)
            )
        answer, rows = _page(request, query, found, order, total)
    wires, included = _present(rows, fields, listed, query.include, text_format)
    if included is not None:
        answer["included"] = included
    answer["data"] = cast(Any, post_lists.mark_fallbacks(wires, rows, request.query_params))
    if query.facets and found is not None:
        matching = found.matching() if isinstance(found, RankedInstances) else found
        counts = {"terms": _count_terms, "type": _count_types}
        # Without posts there is nothing to count. The database may not even have SQL for the conditions, for example
        # for a number that is larger than its column can hold.
        ids = _ids_of(matching) if total.number else None
        answer["facets"] = {
            name: counts[name](ids) if ids is not None else [] for name in query.facets
        }
    return answer


def list_page_posts(
    listing: IndexPage,
    page: int,
    *,
    fields: Collection[str] | None,
    listed: Collection[str],
    include: Tree | None,
    text_format: TextFormat = "json",
) -> tuple[list[presenters.Wire], JsonObject | None]:
    """Return the posts on a page of one of the site's lists, in its order, and what they include.

    `listed` has the meaning that it has in `list_queried_posts`. Runs one query for the posts, and the queries of
    their parts.
    """
    begin = (page - 1) * LIST_PAGE_SIZE
    found = post_queries.list_posts_of(listing)
    part = post_queries.part_of(found, slice(begin, begin + LIST_PAGE_SIZE))
    return _present(list(post_queries.listed_rows(part)), fields, listed, include, text_format)


def _present(
    rows: Sequence[Row],
    fields: Collection[str] | None,
    listed: Collection[str],
    include: Tree | None,
    text_format: TextFormat,
) -> tuple[list[presenters.Wire], JsonObject | None]:
    """Return the posts of the rows with the requested fields, and what they include, if that was asked."""
    wires = _wires(rows, fields, listed, text_format)
    if include is None:
        return wires, None
    included = load_included(
        [row["id"] for row in rows],
        include,
        text_format,
        {row["id"]: row["live_modules"] for row in rows if "live_modules" in row},
    )
    wires = [included.add_to(row["id"], wire) for row, wire in zip(rows, wires, strict=True)]
    return wires, included.as_wire()


def _page(
    request: HasQuery,
    query: ListQuery,
    found: QuerySet[Post] | RankedInstances[Post],
    order: Sequence[OrderKey] | None,
    total: RowCount,
) -> tuple[JsonObject, list[Row]]:
    """Return the envelope without its posts, and their rows."""
    page = page_of(request)
    if query.cursor is None or order is None or isinstance(found, RankedInstances):
        rows: list[Row] = (
            found[page.slice]
            if isinstance(found, RankedInstances)
            else list(post_queries.listed_rows(post_queries.part_of(found, page.slice)))
        )
        return page.envelope(rows, total), rows
    if query.cursor.post_id is not None:
        found = follow_after(found, order, query.cursor.values, query.cursor.post_id)
    # One more row shows whether there is a next page.
    listed = post_queries.listed_rows(found).annotate(**key_columns(order))[: page.size + 1]
    rows = list(listed)
    has_next = len(rows) > page.size
    rows = rows[: page.size]
    meta: JsonObject = {"total": total.number, "per_page": page.size, "next": None}
    if not total.is_exact:
        meta["total_is_estimate"] = True
    if has_next:
        last = rows[-1]
        values = [last[f"key_{place}"] for place in range(len(order))]
        meta["next"] = cursor_text(order, values, last["id"])
    return {"data": [], "meta": meta}, rows


def _wires(
    rows: Sequence[Row],
    fields: Collection[str] | None,
    listed: Collection[str],
    text_format: TextFormat,
) -> list[presenters.Wire]:
    """Return the posts of the rows with the requested fields."""
    of_single = set(fields or ()).difference(listed, {"media"})
    if fields is not None and "customFields" in of_single:
        # Ids of headings are unique in a post, so one place gives them to all of its texts.
        of_single |= {"modules"}.intersection(fields)
    has_media = fields is not None and "media" in fields
    has_modules = (fields is None or "modules" in fields) and "modules" not in of_single
    wanted: dict[post_queries.Part, bool] = {"live_modules": has_modules, "global_ids": has_media}
    post_queries.add_parts(rows, frozenset(part for part, is_wanted in wanted.items() if is_wanted))
    wires = [presenters.listed_post(row) for row in rows]
    post_lists.present_modules(rows, wires, text_format)
    if has_media:
        wires = post_lists.add_media(wires, rows)
    if of_single:
        rendered = render_posts([row["id"] for row in rows], of_single, text_format)
        depend_on(*(tag for one in rendered.values() for tag in one.depends_on))
        wires = [
            {**wire, **orjson.loads(rendered[row["id"]].body)} if row["id"] in rendered else wire
            for row, wire in zip(rows, wires, strict=True)
        ]
    if fields is not None:
        wires = [post_lists.select_fields(wire, fields) for wire in wires]
    return wires


def _ids_of(posts: QuerySet[Post]) -> RawSQL:
    """Return the ids of posts as a subquery."""
    # As SQL, because the conditions of a search name the table, and the ORM renames the tables of subqueries.
    return RawSQL(*posts.order_by().values("pk").query.sql_with_params())  # noqa: S611  # has parameters


def _count_terms(ids: RawSQL) -> Any:
    """Return the most used terms of posts with their counts, for a facet. One query."""
    uses = PostTerm.objects.filter(post_id__in=ids, term__taxonomy__in=taxonomies.names())
    rows = uses.values("term_id", "term__slug", "term__name").annotate(count=Count("id"))
    return [
        {
            "id": str(row["term_id"]),
            "slug": row["term__slug"],
            "name": row["term__name"],
            "count": row["count"],
        }
        for row in rows.order_by("-count", "term__slug", "term_id")[:MAX_FACET_VALUES]
    ]


def _count_types(ids: RawSQL) -> Any:
    """Return the types of posts with their counts, for a facet. One query."""
    # In a subquery, because the posts may have annotations that would split the groups.
    rows = Post.objects.filter(pk__in=ids).values("type").annotate(count=Count("pk"))
    return [
        {"value": row["type"], "count": row["count"]}
        for row in rows.order_by("-count", "type")[:MAX_FACET_VALUES]
    ]
