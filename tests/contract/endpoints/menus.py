"""Menus."""

from __future__ import annotations

from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import create_menu
from tests import make
from tests.contract.endpoint import ALL, EDITORS, Endpoint, Names


def scene() -> Names:
    post = make.post()
    menu = create_menu(
        actor=make.actor(),
        name="Main",
        slug="main",
        locale="en",
        items=[{"label": "", "type": "post", "postId": str(post.pk)}],
    )
    return {"menu_slug": "main", "menu_id": str(menu.pk)}


def grow(number: int) -> None:
    begin = Menu.objects.count()
    make.copies(Menu.objects.earliest("slug"), number, slug=lambda place: f"menu-{begin + place}")


ITEMS = [{"label": "Home", "url": "/", "children": [{"label": "Blog", "url": "/blog"}]}]
ENDPOINTS = [
    Endpoint("GET /api/menus", EDITORS, invalid=("?locale=xx", "locale"), grow=grow),
    Endpoint(
        "POST /api/menus",
        EDITORS,
        201,
        body={"name": "Side", "slug": "side", "locale": "en", "items": ITEMS},
        invalid=(
            {"name": "Side", "slug": "side", "items": [{"label": "x", "url": "javascript:x"}]},
            "items.0.url",
        ),
    ),
    Endpoint("GET /api/menus/by-slug/<menu_slug>", ALL, invalid=("?locale=xx", "locale")),
    Endpoint("GET /api/menus/<menu_slug>", ALL, invalid=("?locale=xx", "locale")),
    Endpoint(
        "PUT /api/menus/<menu_id>",
        EDITORS,
        body={"items": ITEMS},
        invalid=({"items": [{"label": ""}]}, "items.0.label"),
        stale={"items": ITEMS, "version": 99},
    ),
    Endpoint("DELETE /api/menus/<menu_id>", EDITORS),
]
