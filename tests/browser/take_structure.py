"""Takes the screenshots of `docs/admin/structure.md`: `python -m pytest
tests/browser/take_structure.py -m browser`.

`SCREENSHOTS` names another folder, to save each in light, dark and narrow.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from content.modules.module_groups import create_group
from content.posts.trash import delete_post
from proofroom.taxonomies.models import Term
from proofroom_apps.menus.services import create_menu
from proofroom_apps.previews.services import create_preview_link
from tests import make
from tests.browser.take_pictures import IMAGES, keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
_MOST_BYTES = 200_000


def a_menu() -> str:
    brew = make.post(title="How to brew filter coffee", slug="brew")
    make.post(title="What water does", slug="water")
    below: Any = [
        {"type": "post", "postId": str(brew.pk)},
        {"label": "Every article", "url": "/blog"},
    ]
    items: Any = [
        {"label": "Home", "url": "/"},
        {"label": "Learn", "children": below},
        {"label": "Topics", "url": "/blog/topics/coffee"},
        {"label": "Contact", "url": "/contact"},
    ]
    menu = create_menu(actor=make.actor(), name="Main", slug="main", locale="en", items=items)
    return f"/admin/proofroom_menus/menu/{menu.pk}/change/"


def terms() -> str:
    top = {name: make.term(name) for name in ("Coffee", "Tea", "Kitchen")}
    for name, above in (("Filter", "Coffee"), ("Espresso", "Coffee"), ("Green tea", "Tea")):
        Term.objects.create(
            taxonomy="topics", name=name, slug=name.lower().replace(" ", "-"),
            parent=top[above],
        )  # fmt: skip
    make.post(taxonomyTermIds=[str(top["Coffee"].pk)])
    return "/admin/proofroom_taxonomies/term/?taxonomy=topics"


def a_form() -> str:
    names: dict[str, str] = {"name": "text", "email": "email", "message": "textarea"}
    fields: Any = [
        {"name": name, "label": name.title(), "type": type_, "required": True}
        for name, type_ in names.items()
    ]
    brew = {"name": "brew", "label": "How do you brew?", "type": "select"}
    fields.append({**brew, "options": ["Filter", "Espresso", "Something else"]})
    fields[2]["help"] = "Tell us which coffee it is about."
    form = make.form(title="Write to us", fields=fields, description="We answer within a day.")
    return f"/admin/forms/formdefinition/{form.pk}/change/"


def a_pattern() -> str:
    for slug in ("filter-coffee", "green-tea", "kettles"):
        make.post(title=slug.replace("-", " ").capitalize(), slug=slug)
    return "/admin/content/urlpattern/add/?type=blog&locale=en&pattern=/journal/{yyyy}/{slug}"


def a_group() -> str:
    places: Any = [{"type": "hero", "locked": True}, {"type": "prose"}, {"type": "faq"}]
    group = create_group(
        actor=make.actor("admin"), name="article", label="Article", post_type="blog", modules=places
    )
    return f"/admin/content/modulegroup/{group.pk}/change/"


def a_shared_module() -> str:
    module = make.global_module()
    for name in ("Filter coffee", "Green tea"):
        make.placed(make.post(title=name, slug=name.lower().replace(" ", "-")), module)
    return f"/admin/content/moduleinstance/{module.pk}/change/"


def preview_links() -> str:
    post = make.post(title="Filter coffee")
    for layer in ("source", "review"):
        create_preview_link(post_id=post.pk, layer=layer, hours=72, actor=make.actor())
    return f"/admin/content/post/{post.pk}/previews/"


def the_trash() -> str:
    for name in ("Old prices", "Summer menu"):
        post = make.post(title=name, slug=name.lower().replace(" ", "-"))
        delete_post(post_id=post.pk, actor=make.actor())
    return "/admin/content/post/trash/"


SCREENS: dict[str, Callable[[], str]] = {
    "menu": a_menu,
    "terms": terms,
    "form": a_form,
    "pattern": a_pattern,
    "module-group": a_group,
    "global-module": a_shared_module,
    "preview-links": preview_links,
    "trash": the_trash,
}


@pytest.mark.parametrize("name", SCREENS)
def test_the_picture_of_a_screen(open_page: Any, name: str) -> None:
    folder, address = os.environ.get("SCREENSHOTS"), SCREENS[name]()
    looks = {"light": 1280, "dark": 1280, "narrow": 360} if folder else {"light": 1280}
    for look, width in looks.items():
        page = open_page("admin", dark=look == "dark", width=width, height=860)
        page.goto(address)
        path = Path(folder) / f"{name}-{look}.png" if folder else IMAGES / f"{name}.png"
        keep(page, path, whole=bool(folder))
        assert path.stat().st_size < _MOST_BYTES
