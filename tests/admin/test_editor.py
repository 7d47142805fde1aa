"""The post form with scripts: modules, the picker, and the number of queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.models import Post
from content.posts.edit import edit_post
from content.store import document_edits
from proofroom.core.json import Json
from tests import make
from tests.admin.pages import fields, url
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def long_post(count: int = 20) -> Post:
    """Create a post whose modules are collapsed: a hero, prose, questions and then callouts."""
    post = make.post()

    def add(document: Any) -> Any:
        for number in range(count):
            props = {"title": f"Callout {number}"}
            document, _ = document_edits.add_module(document, type="callout", props=props)
        return document

    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=add)
    return post


def queries(client: Client, address: str) -> int:
    client.get(address)
    return page_queries(client, address)


def test_a_form_with_a_hundred_modules_takes_as_many_queries_as_one_with_few(
    signed_in: SignedIn,
) -> None:
    client = signed_in("admin")

    topics: list[Json] = [str(make.term("Coffee").pk)]
    assert queries(client, url(make.post("Short", taxonomyTermIds=topics))) == 12
    assert queries(client, url(long_post(97))) == 12


def test_fields_of_closed_modules_come_when_they_are_opened_and_are_kept_when_they_are_not(
    signed_in: SignedIn,
) -> None:
    post, client = long_post(), signed_in()
    last = make.layers(post).live.modules[-1]
    name = f"modules.{last.id}.props.title"
    sent = fields(client.get(url(post)))
    assert name not in sent

    client.post(url(post), {**sent, "post.title": "Typed", "do": "save"})
    assert make.layers(post).live.module(last.id) == last

    part = client.get(url(post, "change/module", f"?module={last.id}"))
    assert f'name="{name}" value="Callout 19"' in part.content.decode()
    page = client.post(url(post), {**fields(client.get(url(post))), "do": f"open:{last.id}"})
    assert fields(page)[name] == ["Callout 19"]
    client.post(url(post), {**fields(page), name: "Opened", "do": "save"})
    module = make.layers(post).live.module(last.id)
    assert module is not None
    assert module.props["title"] == "Opened"


def test_a_new_module_and_a_copy_with_what_is_typed_come_as_parts(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    prose = make.module_id(post, "prose")
    address = url(post, "change/module")
    before = make.live_hash()

    made = client.post(address, {"do": "add", "add": "callout", "number": "7"}).content.decode()
    copy = client.post(
        address,
        {
            **fields(client.get(url(post))),
            f"modules.{prose}.props.content": "Typed, not saved",
            "do": f"duplicate:{prose}",
            "number": "8",
        },
    ).content.decode()

    assert 'name="order" value="new-7:callout"' in made
    assert 'name="modules.new-7.props.title"' in made
    assert 'name="order" value="new-8:prose"' in copy
    assert "Typed, not saved" in copy
    assert make.live_hash() == before


@pytest.mark.parametrize("sent", [{"do": "add", "add": "heroo"}, {"do": "duplicate:x"}, {}])
def test_a_part_that_there_is_not_is_not_found(signed_in: SignedIn, sent: dict[str, str]) -> None:
    post, client = make.post(), signed_in()

    assert client.post(url(post, "change/module"), sent).status_code == 404
    assert client.get(url(post, "change/module", "?module=nonsense")).status_code == 404


def test_modules_and_items_are_duplicated_without_scripts(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    faq = make.module_id(post, "faq")
    path = f"modules.{faq}.props.items"
    page = client.post(url(post), {**fields(client.get(url(post))), "do": f"item-add:{path}"})
    typed = {**fields(page), f"{path}.0.question": "Why?"}
    page = client.post(url(post), {**typed, "do": f"item-duplicate:{path}.0"})
    page = client.post(url(post), {**fields(page), "do": f"duplicate:{faq}"})
    client.post(url(post), {**fields(page), "do": "save"})

    live = make.layers(post).live
    assert [module.type for module in live.modules] == ["hero", "prose", "faq", "faq"]
    for module in live.modules[2:]:
        items: Any = module.props["items"]
        assert [item["question"] for item in items] == ["Why?", "Why?"]


def test_the_picker_shows_what_may_be_added_with_drawings(signed_in: SignedIn) -> None:
    make.global_module()
    post = make.post()

    page = signed_in().get(url(post, "change/picker")).content.decode()

    assert 'value="callout"' in page
    assert 'value="callout@newsletter"' in page
    assert page.count('<svg class="wire"') == page.count('class="pick"')
