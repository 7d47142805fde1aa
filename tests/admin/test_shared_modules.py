"""The pages of global modules, module groups, and find and replace."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.models import ModuleGroup, ModuleInstance
from content.modules.global_modules import create_global
from proofroom.core.json import Json
from proofroom.definitions.richtext.markdown_reader import from_markdown
from tests import make
from tests.admin.pages import fields

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
GLOBALS = "/admin/content/moduleinstance/"
GROUPS = "/admin/content/modulegroup/"
REPLACE = "/admin/content/replacement/"


def test_a_global_module_is_made_changed_and_deleted(signed_in: SignedIn) -> None:
    client = signed_in()
    made = client.post(
        f"{GLOBALS}add/", {"type": "callout", "globalSlug": "letter", "label": "Letter"}
    )
    module = ModuleInstance.objects.get(global_slug="letter")
    assert (made.status_code, made["Location"]) == (302, f"{GLOBALS}{module.pk}/change/")
    make.placed(make.post("Coffee by hand"), module)
    page = client.get(made["Location"]).content.decode()
    assert "Coffee by hand" in page
    assert "Publish to 1 page<" in page
    assert 'name="props.title"' in page
    form = {
        "label": "Letter", "version": 1, "props.title": "Subscribe", "props.body": "**Monthly**",
        "props.tone": "info", "props.ctaLabel": "", "props.ctaUrl": "javascript:alert(1)",
    }  # fmt: skip

    refused = client.post(made["Location"], form)
    module.refresh_from_db()
    assert (refused.status_code, module.version) == (422, 1)
    assert "Enter a path that starts with" in refused.content.decode()
    assert client.post(made["Location"], {**form, "props.ctaUrl": "/about"}).status_code == 302
    module.refresh_from_db()
    assert (module.version, module.props["title"], module.props["ctaUrl"]) == (
        2,
        "Subscribe",
        "/about",
    )
    assert "Monthly" in json.dumps(module.props["body"])
    stale = client.post(made["Location"], {**form, "props.ctaUrl": "/late"})
    assert stale.status_code == 422
    assert "has changed since you" in stale.content.decode()
    in_use = client.post(f"{GLOBALS}{module.pk}/delete/")
    assert in_use.status_code == 422
    assert ModuleInstance.objects.filter(pk=module.pk).exists()


def test_a_global_module_has_the_fields_of_any_module(signed_in: SignedIn) -> None:
    items: list[Json] = [{"question": "Why?", "answer": from_markdown("Because **so**")}]
    module = create_global(
        actor=make.actor("admin"),
        slug="questions",
        type="faq",
        label="Questions",
        props={"items": items},
    )
    image = make.image()
    hero = create_global(actor=make.actor("admin"), slug="top", type="hero")
    client, page = signed_in(), f"{GLOBALS}{module.pk}/change/"
    opened: Any = client.get(page)
    sent: Any = fields(opened)

    assert "data-richtext" in opened.content.decode()
    assert sent["props.items.0.question"] == ["Why?"]
    assert client.post(page, sent).status_code == 302
    module.refresh_from_db()
    assert (module.version, module.props["items"]) == (1, items)
    rows: Any = fields(client.post(page, {**sent, "do": "item-add:props.items"}))
    rows = {**rows, "props.items.1.question": "How?", "props.items.1.answer": "By hand"}
    rows = fields(client.post(page, {**rows, "do": "item-up:props.items.1"}))
    assert client.post(page, rows).status_code == 302
    module.refresh_from_db()
    assert [item["question"] for item in module.props["items"]] == ["How?", "Why?"]
    assert module.props["items"][1]["answer"] == items[0]["answer"]
    refused = client.post(page, {**rows, "version": "2", "props.items.0.question": "x" * 5000})
    assert refused.status_code == 422
    assert "Correct the marked fields." in refused.content.decode()
    assert 'href="#f-props-items-0-question"' in refused.content.decode()

    page = f"{GLOBALS}{hero.pk}/change/"
    sent = fields(client.get(page))
    assert client.post(page, {**sent, "props.imageId": str(image.pk)}).status_code == 302
    hero.refresh_from_db()
    assert hero.props["imageId"] == str(image.pk)
    assert f'value="{image.pk}" selected' in client.get(page).content.decode()


def test_an_unused_global_module_is_deleted_and_local_ones_have_no_page(
    signed_in: SignedIn,
) -> None:
    client = signed_in()
    module = create_global(actor=make.actor("admin"), slug="unused", type="callout")
    make.post()
    local = ModuleInstance.objects.filter(scope="local").first()
    assert local is not None

    assert client.post(f"{GLOBALS}{module.pk}/delete/").status_code == 302
    assert not ModuleInstance.objects.filter(pk=module.pk).exists()
    assert client.get(f"{GLOBALS}{local.pk}/change/").status_code == 404
    assert client.post(f"{GLOBALS}{local.pk}/delete/").status_code == 404


def test_a_module_group_is_made_changed_and_deleted(signed_in: SignedIn) -> None:
    client = signed_in("admin")
    form = {"name": "landing", "label": "Landing", "postType": "page"}
    assert client.post(f"{GROUPS}add/", {**form, "name": "Landing!"}).status_code == 422
    made = client.post(f"{GROUPS}add/", form)
    group = ModuleGroup.objects.get()
    page = f"{GROUPS}{group.pk}/change/"
    assert (made.status_code, made["Location"]) == (302, page)
    opened: Any = client.get(page)
    assert '<span class="badge">Page</span>' in opened.content.decode()
    sent: Any = fields(opened)

    for wrong in ("[1]", "nonsense", '{"type": "hero"}', '[{"type": "no-such"}]', "[" * 100_000):
        assert client.post(page, {**sent, "modules": wrong}).status_code == 422
    modules = json.dumps([{"type": "hero", "locked": True}])
    changed = {**sent, "label": "Start", "modules": modules}
    assert client.post(page, changed).status_code == 302
    group.refresh_from_db()
    assert (group.label, group.version, group.modules[0]["locked"]) == ("Start", 2, True)
    assert client.post(page, changed).status_code == 422
    assert client.post(f"{GROUPS}{group.pk}/delete/", {"x": "1"}).status_code == 302
    assert not ModuleGroup.objects.exists()


def test_the_modules_of_a_group_are_put_in_order_by_their_buttons(signed_in: SignedIn) -> None:
    client = signed_in("admin")
    create_global(actor=make.actor("admin"), slug="letter", type="callout", label="Letter")
    client.post(f"{GROUPS}add/", {"name": "landing", "label": "Landing", "postType": "page"})
    group = ModuleGroup.objects.get()
    page = f"{GROUPS}{group.pk}/change/"
    rows: Any = fields(client.get(page))

    for new in ("hero", "prose", "callout@letter", "no-such"):
        rows = fields(client.post(page, {**rows, "do": "add", "new": new}))
    rows = {**rows, "locked-0": "on", "props-1": '{"width": "wide"}'}
    for do in ("up:2", "copy:0", "remove:0", "up:0", "down:9", "nonsense"):
        rows = fields(client.post(page, {**rows, "do": do}))
    group.refresh_from_db()
    assert (group.version, group.modules) == (1, [])
    rows.pop("props-2")
    assert client.post(page, rows).status_code == 302

    group.refresh_from_db()
    assert [(row["type"], row["locked"], row["globalSlug"]) for row in group.modules] == [
        ("hero", True, None),
        ("callout", False, "letter"),
        ("prose", False, None),
    ]
    odd = client.post(page, {**rows, "do": "preview", "props-0": "{"})
    assert odd.status_code == 200
    assert (
        "This is not valid JSON. Line 1: a bracket or a value is missing at the end."
        in odd.content.decode()
    )
    rows = {**fields(client.get(page)), "props-0": "{", "props-2": '{"width": "narrow"}'}
    refused = client.post(page, rows)
    again: Any = fields(refused)
    assert refused.status_code == 422
    assert refused.content.decode().count("This is not valid JSON") == 1
    assert again["props-0"] == ["{"]
    assert json.loads(again["props-2"][0]) == {"width": "narrow"}


def test_who_has_no_right_changes_nothing(signed_in: SignedIn) -> None:
    module = create_global(actor=make.actor("admin"), slug="letter", type="callout")
    before = make.live_hash()

    for role, address in (
        ("translator", f"{GLOBALS}add/"),
        ("translator", f"{GLOBALS}{module.pk}/change/"),
        ("translator", f"{GLOBALS}{module.pk}/delete/"),
        ("editor", f"{GROUPS}add/"),
        ("translator", f"{REPLACE}add/"),
    ):
        assert signed_in(role).post(address, {"label": "Mine"}).status_code == 403
    assert make.live_hash() == before
