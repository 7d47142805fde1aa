"""Releases."""

from __future__ import annotations

from uuid import uuid4

from content.models import Layer
from proofroom_apps.releases.models import Release, ReleaseItem, ReleasePreviewLink
from proofroom_apps.releases.preview_links import create_release_link
from proofroom_apps.releases.runs import publish_release
from proofroom_apps.releases.services import add_item, create_release
from tests import make
from tests.contract.endpoint import EDITORS, Endpoint, Names


def scene() -> Names:
    editor = make.actor("editor")
    draft = make.post(status="draft")
    other = make.post("Other", slug="other", status="draft")
    published = make.post("Published", slug="published", status="draft")
    make.staged(draft, {"title": "New"}, layer=Layer.REVIEW)
    release = create_release(name="Launch", actor=editor)
    add_item(release_id=release.pk, kind="post", object_id=draft.pk, actor=editor)
    done = create_release(name="Done", actor=editor)
    add_item(release_id=done.pk, kind="post", object_id=published.pk, actor=editor)
    publish_release(release_id=done.pk, actor=editor)
    link, _ = create_release_link(release_id=release.pk, actor=editor)
    return {
        "link_id": str(link.pk),
        "kind": "post",
        "release_id": str(release.pk),
        "done_id": str(done.pk),
        "post_id": str(draft.pk),
        "other_id": str(other.pk),
    }


def grow(number: int) -> None:
    make.copies(Release.objects.filter(name="Launch").earliest("created_at"), number)


def grow_links(number: int) -> None:
    link = ReleasePreviewLink.objects.earliest("created_at")
    make.copies(link, number, token_hash=lambda _: uuid4().hex)


def grow_items(number: int) -> None:
    item = ReleaseItem.objects.filter(release__name="Launch").earliest("pk")
    slug = f"post-{ReleaseItem.objects.count()}"
    posts = [make.post("Post", slug=f"{slug}-{n}", status="draft") for n in range(number)]
    make.copies(item, number, object_id=lambda place: posts[place].pk)


ENDPOINTS = [
    Endpoint("GET /api/releases", EDITORS, invalid=("?state=later", "state"), grow=grow),
    Endpoint(
        "POST /api/releases",
        EDITORS,
        201,
        body={"name": "Walked", "at": "2099-01-01T09:00", "timeZone": "Europe/Berlin"},
        invalid=({"name": " "}, "name"),
    ),
    Endpoint("GET /api/releases/<release_id>", EDITORS),
    Endpoint(
        "PUT /api/releases/<release_id>",
        EDITORS,
        body={"name": "Walked"},
        invalid=({"at": "tomorrow"}, "at"),
    ),
    Endpoint(
        "GET /api/releases/<release_id>/items",
        EDITORS,
        invalid=("?page=0", "page"),
        grow=grow_items,
    ),
    Endpoint(
        "POST /api/releases/<release_id>/items",
        EDITORS,
        201,
        body={"kind": "post", "id": "<other_id>"},
        invalid=({"kind": "page", "id": "<other_id>"}, "kind"),
    ),
    Endpoint("DELETE /api/releases/<release_id>/items/<kind>/<post_id>", EDITORS),
    Endpoint(
        "GET /api/releases/<release_id>/preview-links",
        EDITORS,
        invalid=("?page=0", "page"),
        grow=grow_links,
    ),
    Endpoint(
        "POST /api/releases/<release_id>/preview-links",
        EDITORS,
        201,
        body={"expiresInHours": 1},
        invalid=({"expiresInHours": 721}, "expiresInHours"),
    ),
    Endpoint("DELETE /api/releases/<release_id>/preview-links/<link_id>", EDITORS),
    Endpoint("POST /api/releases/<release_id>/publish", EDITORS),
    Endpoint("POST /api/releases/<done_id>/undo", EDITORS),
    Endpoint("DELETE /api/releases/<release_id>", EDITORS),
]
