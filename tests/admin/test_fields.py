"""Requests of form fields to the server, and their additional form data."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from content.models import Post
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.taxonomies.models import Term
from proofroom_apps.editorial.post_editor import choices
from tests import make
from tests.admin.pages import fields, url

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
TARGETS = "/admin/content/post/targets/"
RICHTEXT = "/admin/content/post/richtext/"
LETTERED: dict[str, Any] = {
    "type": "doc",
    "content": [
        {
            "type": "orderedList",
            "attrs": {"start": 1, "type": "a"},
            "content": [
                {
                    "type": "listItem",
                    "content": [
                        {"type": "paragraph", "content": [{"type": "text", "text": "one"}]}
                    ],
                }
            ],
        }
    ],
}


def prose(post: Post) -> tuple[str, Any]:
    """Return the name of its field, and the stored value."""
    id_ = make.module_id(post, "prose")
    module = make.layers(post).live.module(id_)
    assert module is not None
    return f"modules.{id_}.props.content", module.props["content"]


def send(client: Client, post: Post, **typed: str) -> Any:
    sent = fields(client.get(url(post)))
    return client.post(url(post), {**sent, **typed, "do": "save"})


def found(client: Client, **asked: str) -> list[str]:
    return [item["title"] for item in client.get(TARGETS, asked).json()["results"]]


def test_the_document_of_the_editor_goes_before_the_markdown(signed_in: SignedIn) -> None:
    post = make.post(markdown="Before.")
    name, _ = prose(post)

    answer = send(signed_in(), post, **{name: "a. one", f"{name}~doc": json.dumps(LETTERED)})

    assert answer.status_code == 302
    assert prose(post)[1] == LETTERED


@pytest.mark.parametrize(
    "document",
    [
        "{",
        "[" * 100_000,
        '{"type": "doc", "content": [NaN]}',
        '{"type": "doc", "content": [{"type": "video"}]}',
        '{"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "\\u0000"}]}]}',
        '{"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "\\ud800"}]}]}',
        '"words"',
        "7",
    ],
)
def test_a_document_that_is_none_is_refused_at_its_field(
    signed_in: SignedIn, document: str
) -> None:
    post = make.post()
    before, (name, _) = make.live_hash(), prose(post)

    answer = send(signed_in(), post, **{name: "Typed", f"{name}~doc": document})

    assert answer.status_code == 422
    assert f'id="f-{name.replace(".", "-")}-errors"' in answer.content.decode()
    assert make.live_hash() == before


def test_a_document_survives_the_refusal_of_something_else(signed_in: SignedIn) -> None:
    post = make.post()
    name, _ = prose(post)
    typed = {name: "a. one", f"{name}~doc": json.dumps(LETTERED), "post.title": "x" * 400}

    page = send(signed_in(), post, **typed)

    assert page.status_code == 422
    assert fields(page)[f"{name}~doc"] == [json.dumps(LETTERED)]


def test_an_equal_document_is_no_change(signed_in: SignedIn) -> None:
    post = make.post(markdown="Before.")
    name, stored = prose(post)
    before = make.live_hash()

    answer = send(signed_in(), post, **{name: "Before", f"{name}~doc": json.dumps(stored)})

    assert answer.status_code == 302
    assert make.live_hash() == before


def test_markdown_and_documents_are_read_as_the_form_reads_them(signed_in: SignedIn) -> None:
    client = signed_in("translator")

    tools = client.get(RICHTEXT)
    document = client.post(RICHTEXT, {"markdown": "## A\n\n- b"})
    markdown = client.post(RICHTEXT, {"document": json.dumps(from_markdown("## A\n\n- b"))})
    wrong = client.post(RICHTEXT, {"document": '{"type": "doc", "content": [{"type": "video"}]}'})
    long = client.post(RICHTEXT, {"markdown": "x" * 400_001})

    assert 'role="toolbar"' in tools.content.decode()
    assert document.json() == {"document": from_markdown("## A\n\n- b")}
    assert markdown.json() == {"markdown": "## A\n\n- b"}
    assert (wrong.status_code, long.status_code) == (422, 422)


def test_posts_are_found_by_title_words_path_and_id(signed_in: SignedIn) -> None:
    client = signed_in()
    coffee, tea = make.post("Filter coffee"), make.post("Green tea", excerpt="Like coffee, milder")
    make.post("Kaffee", locale="de", slug="kaffee")

    assert found(client, kind="link", q="offe") == ["Filter coffee"]
    assert found(client, kind="link", q="coffee") == ["Filter coffee", "Green tea"]
    assert found(client, kind="link", q="/blog/") == ["Filter coffee", "Green tea"]
    assert found(client, kind="post-reference", q=str(tea.pk)) == ["Green tea"]
    assert found(client, kind="link", locale="de") == ["Kaffee"]
    assert found(client, kind="post-reference", locale="en", without=str(coffee.pk)) == [
        "Green tea"
    ]
    assert found(client, kind="post-reference", among="page") == []
    assert found(client, kind="link", q="'%_\ufffd") == []


def test_a_search_is_bounded_and_takes_few_queries(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in()
    monkeypatch.setattr(choices, "_MAX_RESULTS", 2)
    for number in range(4):
        make.post(f"Cup {number}")

    with CaptureQueriesContext(connection) as queries:
        titles = found(client, kind="link", q="cup")

    assert titles == ["Cup 3", "Cup 2"]
    assert len([one for one in queries if 'FROM "content_post"' in one["sql"]]) == 1


@pytest.mark.parametrize(
    ("role", "may"), [("admin", True), ("editor", True), ("translator", False)]
)
def test_permitted_users_create_terms_in_the_form(
    signed_in: SignedIn, role: str, may: bool
) -> None:
    post = make.post(status="draft", locale="en")
    page = signed_in(role).get(url(post)).content.decode()
    assert ("data-creatable=" in page) is may
    assert ('data-creatable="[{&quot;slug&quot;: &quot;topics&quot;' in page) is may


def test_parents_are_found_in_the_very_language_and_without_the_term_itself(
    signed_in: SignedIn,
) -> None:
    client = signed_in()
    everywhere, english = make.term("Everywhere"), make.term("English")
    Term.objects.filter(pk=english.pk).update(locale="en")
    assert found(client, kind="terms", only_locale="en") == ["English"]
    assert found(client, kind="terms", only_locale="") == ["Everywhere"]
    assert found(client, kind="terms", only_locale="", without=str(everywhere.pk)) == []


def test_terms_are_found_by_name_within_their_taxonomy(signed_in: SignedIn) -> None:
    make.term("Coffee"), make.term("Tea")

    client = signed_in()

    assert found(client, kind="terms", q="off") == ["Coffee"]
    assert found(client, kind="taxonomy-reference", among="topics") == ["Coffee", "Tea"]
    assert found(client, kind="taxonomy-reference", among="others") == []


def test_an_address_is_said_to_be_live_a_draft_or_nothing(signed_in: SignedIn) -> None:
    live, draft = make.post("Here"), make.post("Later", status="draft")
    client = signed_in()

    def state(address: str) -> str:
        return str(client.get(TARGETS, {"address": address}).json()["state"])

    assert state(f"{live.path}?a=1#b") == "live"
    assert state(f"{live.path}/") == "live"
    assert state(draft.path) == "draft"
    assert state("/nowhere") == "missing"
    assert state("https://example.com/") == "external"
    assert state("#top") == state("mailto:a@example.com") == "plain"
    assert state("javascript:alert(1)") == state("//example.com") == state("") == "refused"


def test_without_scripts_a_list_is_short_and_a_post_is_named_by_its_path(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choices, "_MAX_CHOICES", 2)
    oldest, *_, newest = (make.post(f"Page {at}", type="page", markdown="") for at in range(5))
    client = signed_in()

    form = client.get(url(newest)).content.decode()
    answer = send(client, newest, **{"post.parentId~other": oldest.path})

    offered = [post.title for post in Post.objects.all() if f'<option value="{post.pk}"' in form]
    assert offered == ["Page 2", "Page 3"]
    assert answer.status_code == 302
    newest.refresh_from_db()
    assert newest.parent_id == oldest.pk
    assert f'<option value="{oldest.pk}" selected>' in client.get(url(newest)).content.decode()


def test_the_page_beside_the_form_has_what_is_typed_and_stores_nothing(
    signed_in: SignedIn,
) -> None:
    post = make.post()
    client, before = signed_in("translator"), make.live_hash()
    sent = fields(client.get(url(post)))
    name, _ = prose(post)
    address = f"/admin/content/post/{post.pk}/preview/typed/"

    shown = client.post(address, {**sent, name: "Typed **now** <script>"})
    refused = client.post(address, {**sent, f"{name}~doc": "{"})

    assert "Typed <strong>now</strong> &lt;script&gt;" in shown.content.decode()
    assert "script-src 'none'" in shown["Content-Security-Policy"]
    assert shown["Cache-Control"].startswith("no-store")
    assert refused.status_code == 422
    assert refused.json() == {
        "message": "The text was not received in full. Reload the page and enter it again."
    }
    assert client.get(address).status_code == 405
    assert make.live_hash() == before


def test_a_title_in_pasted_markdown_becomes_a_heading_of_the_text(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in("editor")

    shown = client.post(RICHTEXT, {"markdown": "# Title\n\n> # Inner\n\n### Deep"}).json()
    send(client, post, **{prose(post)[0]: "# Title\n\nText"})

    blocks = shown["document"]["content"]
    assert blocks[0]["attrs"] == blocks[1]["content"][0]["attrs"] == {"level": 2}
    assert blocks[2]["attrs"] == {"level": 3}
    assert prose(post)[1]["content"][0]["attrs"] == {"level": 2}
