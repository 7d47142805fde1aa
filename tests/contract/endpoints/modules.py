"""Module types, global modules and module groups."""

from __future__ import annotations

from uuid import uuid4

from content.models import ModuleGroup, ModuleInstance
from content.modules.global_modules import create_global, edit_global
from content.modules.module_groups import create_group
from proofroom.shared_content.revisions import list_revisions
from proofroom.shared_content.shared_types import GLOBAL_MODULE
from tests import make
from tests.contract.endpoint import ADMIN, EDITORS, PEOPLE, Endpoint, Names
from tests.contract.endpoints.posts import grow as grow_posts


def scene() -> Names:
    actor = make.actor("admin")
    for slug in ("letter", "unused"):
        create_global(actor=actor, slug=slug, type="callout", props={"title": "Subscribe"})
    module = edit_global(actor=actor, slug="letter", props={"title": "Subscribe now"})
    post = make.post()
    make.placed(post, module)
    create_group(
        actor=actor, name="landing", label="Landing", post_type="page", modules=[{"type": "hero"}]
    )
    oldest = list_revisions(GLOBAL_MODULE, module.pk).last()
    assert oldest is not None
    return {
        "slug": "letter",
        "unused": "unused",
        "revision": str(oldest.pk),
        "group": "landing",
        "module_type": "callout",
    }


def grow_globals(number: int) -> None:
    make.copies(
        ModuleInstance.objects.get(global_slug="letter"), number, global_slug=lambda _: uuid4().hex
    )


def grow_revisions(number: int) -> None:
    module = ModuleInstance.objects.get(global_slug="letter")
    newest = list_revisions(GLOBAL_MODULE, module.pk)[0]
    make.copies(newest, number, version=lambda place: newest.version + 1 + place)


def grow_groups(number: int) -> None:
    make.copies(ModuleGroup.objects.get(name="landing"), number, name=lambda _: uuid4().hex)


LETTER = "/api/modules/global/<slug>"
ENDPOINTS = [
    Endpoint("GET /api/modules/registry", PEOPLE, invalid=("?postType=nothing", "postType")),
    Endpoint("GET /api/modules/static", PEOPLE, invalid=("?per_page=0", "per_page")),
    Endpoint("GET /api/modules/<module_type>/schema", PEOPLE),
    Endpoint("GET /api/modules/global", PEOPLE, invalid=("?page=0", "page"), grow=grow_globals),
    Endpoint(
        "POST /api/modules/global",
        EDITORS,
        201,
        body={"globalSlug": "walked", "type": "callout"},
        invalid=({"globalSlug": "Not A Slug", "type": "callout"}, "globalSlug"),
    ),
    Endpoint(f"GET {LETTER}", PEOPLE),
    Endpoint(
        f"PUT {LETTER}",
        EDITORS,
        body={"props": {"title": "Walked"}},
        invalid=({"props": {"nonsense": 1}}, "props.nonsense"),
        stale={"label": "Walked", "version": 99},
    ),
    Endpoint("DELETE /api/modules/global/<unused>", EDITORS),
    Endpoint(f"GET {LETTER}/usage", PEOPLE, invalid=("?page=x", "page"), grow=grow_posts),
    Endpoint(f"GET {LETTER}/revisions", PEOPLE, invalid=("?page=x", "page"), grow=grow_revisions),
    Endpoint(
        f"POST {LETTER}/revisions/<revision>/revert",
        EDITORS,
        body={},
        invalid=({"version": "x"}, "version"),
        stale={"version": 99},
    ),
    Endpoint("GET /api/module-groups", PEOPLE, invalid=("?page=x", "page"), grow=grow_groups),
    Endpoint(
        "POST /api/module-groups",
        ADMIN,
        201,
        body={"name": "walked", "label": "Walked", "postType": "blog", "modules": []},
        invalid=(
            {"name": "x", "label": "X", "postType": "blog", "modules": [{"type": "nothing"}]},
            "modules.0.type",
        ),
    ),
    Endpoint("GET /api/module-groups/<group>", PEOPLE),
    Endpoint(
        "PUT /api/module-groups/<group>",
        ADMIN,
        body={"label": "Walked"},
        invalid=({"label": ""}, "label"),
        stale={"label": "Walked", "version": 99},
    ),
    Endpoint("DELETE /api/module-groups/<group>", ADMIN),
]
