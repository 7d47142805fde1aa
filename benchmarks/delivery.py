"""Lists with what their posts lead to, and a static build of the whole site, as a frontend reads them."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from benchmarks.endpoints import Endpoint, find_difference, new_address
from benchmarks.list_changes import Change
from benchmarks.load import Series, get
from benchmarks.report import Report
from benchmarks.seed import Seeded, in_batches
from benchmarks.servers import Server
from content.api.delivery.posts import WHOLE
from content.models import ModuleInstance, Post, PostModule
from content.store.media_usage import POST
from media.models import LIVE, Asset, MediaReference
from proofroom.definitions import modules
from proofroom_apps.menus.models import Menu

INCLUDED: Final = "/api/public/posts?include=media,terms,modules.posts"
MOST_REQUESTS: Final = 25
_FILES: Final = 40
_SIZES: Final = ("small", "medium", "large")
_OTHERS: Final = (
    "/api/public/site", "/api/public/terms?per_page=100", "/api/public/redirects?per_page=100",
    "/api/public/changes", "/api/menus/by-slug/main",
)  # fmt: skip
"""What a build reads besides the pages, of a site with one language and one menu."""
_NEEDED: Final = frozenset(
    ("url", "seo", "terms", "ancestors", "translations", "media", "modules", "customFields")
)
"""Fields without which a page cannot be built."""


def add_relations(seeded: Seeded) -> None:
    """Give each post an image, and each English article a list of three testimonials."""
    assets = [
        Asset(
            filename=f"photo-{number}.jpg", file=f"photo-{number}.jpg", size=100_000,
            mime="image/jpeg", width=1600, height=1200, alt_text=f"Photo {number}",
            variants={size: f"variants/{number}-{size}.webp" for size in _SIZES},
        )
        for number in range(_FILES)
    ]  # fmt: skip
    in_batches(assets)
    posts = list(Post.objects.filter(pk__in=seeded.any).order_by("pk"))
    for number, post in enumerate(posts):
        post.featured_media = assets[number % _FILES]
    Post.objects.bulk_update(posts, ["featured_media"], batch_size=500)
    in_batches(
        [
            MediaReference(
                asset=assets[number % _FILES], holder_kind=POST, holder_id=post.pk, layer=LIVE,
                path="post.featuredMediaId",
            )
            for number, post in enumerate(posts)
        ]
    )  # fmt: skip
    live = {UUID(id_) for id_ in seeded.published}
    shown = [
        post
        for post in posts
        if post.type == "testimonial" and post.locale == "en" and post.pk in live
    ]
    definition = modules.get("testimonial-list")
    assert definition is not None
    defaults = definition.default_props()
    instances: list[ModuleInstance] = []
    placed: list[PostModule] = []
    for number, post in enumerate(post for post in posts if post.locale == "en"):
        chosen = [str(shown[(number * 3 + place) % len(shown)].pk) for place in range(3)]
        props = {**defaults, "heading": f"They say {number}", "postIds": chosen}
        instance = ModuleInstance(type="testimonial-list", scope="local", props=props)
        instances.append(instance)
        placed.append(PostModule(post=post, instance=instance, order_index=9))
    in_batches(instances)
    in_batches(placed)
    home = {"id": "home", "label": "Home", "type": "custom", "url": "/"}
    Menu.objects.create(name="Main", slug="main", locale="en", items=[home])


def endpoints(change: Change) -> list[Endpoint]:
    address = new_address(lambda number: INCLUDED)
    return [
        Endpoint(
            "GET /api/public/posts, 20 with files, terms and listed posts",
            get(address, is_fresh=True, change=change), "included, changed", 1.5,
        )
    ]  # fmt: skip


def floors(change: Change) -> dict[str, Series]:
    address = new_address(lambda number: "/included")
    return {"included, changed": get(address, is_fresh=True, change=change)}


def require_same(product: Server, floor: Server) -> None:
    """Raise `SystemExit` with the first difference unless floor and product give the same response."""
    difference = find_difference(_read(product, INCLUDED)[0], _read(floor, "/included")[0], "")
    if difference:
        raise SystemExit(f"The floor answers something else than {INCLUDED}: {difference}")


def build_site(product: Server, report: Report, posts: int) -> None:
    """Read all pages of the site twice, as a build of a static site does; the second time with the ETags."""
    known: dict[str, str] = {}
    for name in ("first build", "next build"):
        begin, cpu = time.perf_counter(), product.cpu_seconds()
        statuses = [_read(product, other, known)[1] for other in _OTHERS]
        pages, incomplete, after = 0, 0, ""
        while after is not None:
            query = {"per_page": "100", "fields": ",".join(sorted(WHOLE)), "after": after}
            path = f"/api/public/posts?allLocales=true&{urlencode(query)}"
            answer, status = _read(product, path, known)
            statuses.append(status)
            pages, after = pages + len(answer["data"]), answer["meta"]["next"]
            incomplete += sum(not _is_complete(page) for page in answer["data"])
        if incomplete:
            report.fail(f"{incomplete} of {pages} pages lack a part or a file.")
        if len(statuses) > MOST_REQUESTS or pages != posts:
            report.fail(f"{pages} of {posts} pages took {len(statuses)} requests.")
        report.say(
            f"{name}: {pages:,} pages in {len(statuses)} requests and "
            f"{time.perf_counter() - begin:.1f} s, {product.cpu_seconds() - cpu:.1f} s of CPU; "
            f"{statuses.count(304)} answers were 304 and none 429."
        )


def _is_complete(page: dict[str, Any]) -> bool:
    """Return whether a page has all parts, and the file of its image."""
    image = page.get("featuredMediaId")
    return page.keys() >= _NEEDED and (image is None or image in page["media"])


_bodies: dict[str, Any] = {}


def _read(server: Server, path: str, known: dict[str, str] | None = None) -> tuple[Any, int]:
    """Return the JSON at a path and the status. A 304 leads to the JSON that was read before."""
    headers = {"If-None-Match": known[path]} if known and path in known else {}
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310  # a server of ours
            _bodies[path] = json.load(response)
            if known is not None and response.headers["ETag"]:
                known[path] = response.headers["ETag"]
            return _bodies[path], response.status
    except urllib.error.HTTPError as error:
        if error.code == 429:
            raise SystemExit(f"The build was refused at {path}: 429.") from error
        if error.code != 304:
            raise
        return _bodies[path], 304
