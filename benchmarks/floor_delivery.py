"""The floor of whole posts and of `include` in the delivery API: the same rows, written as the same JSON by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import orjson
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from benchmarks import floor_sql as sql

Wire = dict[str, Any]
Database = AsyncConnection[TupleRow]
SITE: Final = "http://127.0.0.1"
NAME: Final = "127.0.0.1"
LIST_TITLES: Final = {"/blog": "Blog", "/de/blog": "Blog"}
LISTS: Final = {"blog": {"en": "/blog", "de": "/de/blog"}}
LOCALES: Final = ("en", "de")
_CONTEXT: Final = "https://schema.org"


async def whole_posts(connection: Database, ids: Sequence[UUID]) -> list[Wire]:
    """Return published posts with all that a page needs, in the order of the ids."""
    rows = await _all(connection, sql.PUBLISHED, list(ids))
    modules = await load_modules(connection, ids)
    terms: dict[UUID, list[TupleRow]] = defaultdict(list)
    for row in await _all(connection, sql.TERMS_OF, list(ids)):
        terms[row[0]].append(row)
    media: dict[UUID, Wire] = defaultdict(dict)
    for row in await _all(connection, sql.MEDIA_OF, list(ids)):
        media[row[0]][str(row[2])] = asset(row)
    others: dict[UUID, list[TupleRow]] = defaultdict(list)
    for row in await _all(connection, sql.OTHERS_OF, [row[-1] for row in rows]):
        others[row[0]].append(row)
    above = {path for row in rows for path in paths_above(row[sql.WHOLE.index("url")])}
    around = await _all(connection, sql.AROUND, sorted({"/", "/de/", *above}))
    posts: dict[UUID, Wire] = {}
    for *values, group in rows:
        post: Wire = dict(zip(sql.WHOLE, values, strict=True))
        for name in ("customFields", "robotsJson", "jsonldOverrides"):
            post[name] = orjson.loads(post[name]) if post[name] is not None else None
        id_ = post["id"]
        del post["version"], post["publishAt"], post["unpublishAt"]
        # No post of the benchmarks has an author with a name for readers.
        post |= {"authors": [], "byline": None}
        post["modules"] = modules[id_]
        post["taxonomyTermIds"] = sorted(row[1] for row in terms[id_])
        post["terms"] = present_terms(terms[id_], post)
        of_group = [row for row in others[group] if row[1] != id_]
        post["translations"] = [{"id": row[1], "locale": row[2], "url": row[4]} for row in of_group]
        post["media"] = media[id_]
        found = {row[3]: row[2] for row in around if row[1] == post["locale"]}
        post["ancestors"] = [
            {"title": found[path], "url": path}
            for path in paths_above(post["url"])
            if path in found and path not in ("/", "/de/")
        ]
        post["seo"] = head(post, of_group, found)
        posts[id_] = post
    return [posts[id_] for id_ in ids]


async def listed_with_included(connection: Database) -> Wire:
    """Return the first page of the list, with the files, terms and listed posts of its posts."""
    total = (await (await connection.execute(sql.COUNT["live"])).fetchone() or (0,))[0]
    rows = await (await connection.execute(sql.LIST["live"])).fetchall()
    posts: list[Wire] = [dict(zip(sql.LISTED, row, strict=True)) for row in rows]
    roots = {post["id"]: post for post in posts}
    modules = await load_modules(connection, list(roots))
    listed: dict[UUID, None] = {}
    for post in posts:
        post["modules"] = modules[post["id"]]
        for module in post["modules"]:
            if module["type"] == "testimonial-list":
                module["posts"] = module["props"]["postIds"]
                listed.update(dict.fromkeys(map(UUID, module["posts"])))
    cards: dict[str, Wire] = {}
    for *values, custom in await _all(connection, sql.CARDS, list(listed)):
        card = dict(zip(sql.LISTED, values, strict=True))
        card |= {"customFields": orjson.loads(custom), "taxonomyTermIds": []}
        cards[str(card["id"])] = card
    terms: dict[str, Wire] = {}
    for post in posts:
        post["taxonomyTermIds"] = []
    for row in await _all(connection, sql.TERMS_OF, [*roots, *listed]):
        held = roots.get(row[0]) or cards[str(row[0])]
        held["taxonomyTermIds"].append(row[1])
        if row[0] in roots:
            (term,) = present_terms([row], held)
            terms.setdefault(str(row[1]), {**term, "parentId": row[7]})
    media: dict[str, Wire] = {}
    for row in await _all(connection, sql.MEDIA_OF, [*roots, *listed]):
        media.setdefault(str(row[2]), asset(row))
    meta = {"total": total, "per_page": 20, "current_page": 1, "last_page": -(-total // 20)}
    included = {"posts": cards, "media": media, "terms": terms}
    return {"data": posts, "meta": meta, "included": included}


async def _all(connection: Database, statement: str, *parameters: object) -> list[TupleRow]:
    return await (await connection.execute(statement.encode(), parameters)).fetchall()


async def load_modules(connection: Database, ids: Sequence[UUID]) -> dict[UUID, list[Wire]]:
    """Return the modules of posts by id of the post, with their props parsed."""
    found: dict[UUID, list[Wire]] = defaultdict(list)
    for row in await _all(connection, sql.MODULES, list(ids)):
        post_id, id_, instance, type_, scope, order, locked, props, overrides, slug = row
        found[post_id].append(
            {
                "postModuleId": id_,
                "moduleInstanceId": instance,
                "type": type_,
                "scope": scope,
                "orderIndex": order,
                "locked": locked,
                "props": orjson.loads(props),
                "overrides": None if overrides == "{}" else orjson.loads(overrides),
                "globalSlug": slug,
            }
        )
    return found


def present_terms(rows: Iterable[TupleRow], post: Mapping[str, Any]) -> list[Wire]:
    ordered = sorted(rows, key=lambda row: (row[2], row[5], row[4]))
    path = LISTS.get(post["type"], {}).get(post["locale"])
    return [
        {
            "id": row[1],
            "taxonomy": row[2],
            "slug": row[3],
            "name": row[4],
            "url": f"{path}/{row[2]}/{row[3]}" if path else None,
        }
        for row in ordered
    ]


def asset(row: TupleRow) -> Wire:
    _, _, _, file, mime, status, width, height, variants, dark, focal_x, focal_y, alt = row[:13]
    duration, poster, captions = row[13:]
    return {
        "url": f"/media/{file}",
        "mime": mime,
        "alt": alt,
        "width": width,
        "height": height,
        "duration": duration,
        "poster": f"/media/{poster}" if poster else None,
        "captions": {locale: f"/media/{name}" for locale, name in (captions or {}).items()},
        "variants": {size: f"/media/{name}" for size, name in variants.items()}
        if status == "ready"
        else {},
        "darkVariants": {size: f"/media/{name}" for size, name in dark.items()},
        "focalPoint": {"x": focal_x, "y": focal_y} if focal_x is not None else None,
    }


def paths_above(path: str) -> list[str]:
    """Return the paths above one, from the home page of its language down."""
    home = "/de/" if path.startswith("/de/") else "/"
    parts = path.removeprefix(home).split("/")
    return [home, *(home + "/".join(parts[:end]) for end in range(1, len(parts)))]


def head(post: Mapping[str, Any], others: Iterable[TupleRow], titles: Mapping[str, str]) -> Wire:
    """Return the metadata of a page."""
    url = f"{SITE}{post['url']}"
    is_article = post["type"] == "blog"
    title = post["metaTitle"] or f"{post['title']} · {NAME}"
    description = " ".join((post["metaDescription"] or post["excerpt"]).split())
    by_locale = {**{row[2]: row[4] for row in others}, post["locale"]: post["url"]}
    links = [
        {"locale": locale, "url": f"{SITE}{by_locale[locale]}"}
        for locale in LOCALES
        if locale in by_locale
    ]
    published, modified = _time(post["publishedAt"]), _time(post["updatedAt"])
    common = {"name": post["title"], "description": description, "url": url}
    image = next(iter(post["media"].values()), None)
    shown = None
    if image is not None:
        largest = f"{SITE}{image['variants'].get('large', image['url'])}"
        shown = {"url": largest, "width": image["width"], "height": image["height"]}
        common["image"] = {"@type": "ImageObject", **shown}
    dates = {
        "inLanguage": post["locale"],
        "datePublished": published,
        "dateModified": modified,
    }
    site = {"@type": "Organization", "name": NAME, "url": f"{SITE}/"}
    main: Wire
    if is_article:
        more = {"author": site, "publisher": site, "mainEntityOfPage": url}
        main = {"@type": "BlogPosting", "headline": post["title"], **common, **dates, **more}
    elif post["type"] == "testimonial":
        del dates["dateModified"]
        main = {"@type": "Review", **common, "itemReviewed": site, **dates}
    else:
        main = {"@type": "WebPage", **common, **dates}
    data: list[Wire] = [{"@context": _CONTEXT, **main, **(post["jsonldOverrides"] or {})}]
    questions = [
        {
            "@type": "Question",
            "name": item["question"],
            "acceptedAnswer": {"@type": "Answer", "text": _plain(item["answer"])},
        }
        for module in post["modules"]
        if module["type"] == "faq"
        for item in module["props"]["items"]
    ]
    if questions:
        data.append({"@context": _CONTEXT, "@type": "FAQPage", "mainEntity": questions})
    crumbs = [
        (titles.get(path) or LIST_TITLES[path], path)
        for path in paths_above(post["url"])
        if path in titles or path in LIST_TITLES
    ]
    if crumbs:
        steps = [
            {"@type": "ListItem", "position": place, "name": name, "item": f"{SITE}{path}"}
            for place, (name, path) in enumerate([*crumbs, (post["title"], post["url"])], 1)
        ]
        data.append({"@context": _CONTEXT, "@type": "BreadcrumbList", "itemListElement": steps})
    return {
        "title": title,
        "description": description,
        "canonical": url,
        "robots": "",
        "alternates": [*links, {"locale": "x-default", "url": links[0]["url"]}]
        if len(links) > 1
        else [],
        "openGraph": {
            "type": "article" if is_article else "website",
            "title": title,
            "description": description,
            "url": url,
            "siteName": NAME,
            "locale": post["locale"],
            "image": {**shown, "alt": image["alt"]} if image is not None and shown else None,
            "publishedTime": published if is_article else None,
            "modifiedTime": modified if is_article else None,
        },
        "jsonLd": data,
    }


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(node: Any) -> str:
    if isinstance(node, dict):
        return node["text"] if "text" in node else " ".join(map(_plain, node.get("content", ())))
    return ""
