"""Copy and paste of modules, snippets and templates in the editor."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.document.document import ModuleDocument
from content.models import Post
from proofroom_apps.snippets.models import PostTemplate, Snippet
from tests import make
from tests.admin.pages import fields, url
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def copied(client: Client, post: Post, *ids: str, typed: dict[str, Any] | None = None) -> Any:
    sent = {**(typed or {}), "module": [*ids]}
    return client.post(url(post, "change/copied"), sent)


def pasted(client: Client, post: Post, text: str, **more: str) -> str:
    sent = {"clipboard": text, "number": "3", **more}
    return client.post(url(post, "change/pasted"), sent).content.decode()


def save_with(client: Client, post: Post, part: str) -> tuple[ModuleDocument, ...]:
    """Save the form with the modules of a part, as the script sends it. Return the live modules."""
    form = fields(client.get(url(post)))
    new = fields(type("Part", (), {"content": f"<form>{part}</form>".encode()})(), "order")
    both = {name: [*form.get(name, []), *new.get(name, [])] for name in {**form, **new}}
    answer = client.post(url(post), {**both, "do": "save"})
    assert answer.status_code == 302, answer.content.decode()[:2000]
    return make.layers(post).live.modules


TABLE: Any = {
    "type": "doc",
    "content": [
        {
            "type": "orderedList",
            "attrs": {"start": 1, "type": "a"},
            "content": [
                {
                    "type": "listItem",
                    "content": [
                        {"type": "paragraph", "content": [{"type": "text", "text": "Grind"}]}
                    ],
                }
            ],
        }
    ],
}


def test_what_is_typed_is_copied_and_pasted_in_a_post_of_another_type(signed_in: SignedIn) -> None:
    source, target, client = make.post(), make.post("Team", type="page"), signed_in()
    make.placed(source, make.global_module(title="Mail"), title="Here")
    make.added_module(source, type="faq", props={"items": [{"question": "Why?", "answer": TABLE}]})
    live = make.layers(source).live
    by_type = {module.type: module for module in live.modules}
    form = fields(client.get(url(source)))
    form[f"modules.{by_type['hero'].id}.props.title"] = ["Typed, not saved"]
    before = make.live_hash()

    answer = copied(client, source, *live.order, typed=form)
    part = pasted(client, target, answer.content.decode())

    assert make.live_hash() == before
    found = answer.json()
    assert (found["type"], found["version"]) == ("proofroom/modules", 1)
    assert not {"locked", "id"} & {key for one in found["modules"] for key in one}
    # A page that a browser submits would have other line ends; the document says it all.
    modules = save_with(client, target, part)[-len(live.modules) :]
    assert [module.type for module in modules] == [module.type for module in live.modules]
    assert not {module.id for module in modules} & set(live.order)
    assert not any(module.locked for module in modules)
    assert modules[0].props["title"] == "Typed, not saved"
    shared = next(module for module in modules if module.scope == "global")
    assert (shared.instance_id, shared.overrides) == (
        by_type[shared.type].instance_id,
        {"title": "Here"},
    )
    assert modules[-1].props == live.modules[-1].props


def test_modules_that_a_type_cannot_have_are_named_and_the_others_come(signed_in: SignedIn) -> None:
    post, client = make.post("Acme", type="testimonial"), signed_in()
    text = json.dumps(
        {
            "type": "proofroom/modules",
            "version": 1,
            "modules": [
                {"type": "prose", "props": {}, "overrides": {}, "globalSlug": ""},
                {"type": "nothing"},
                {"type": "callout", "globalSlug": "missing"},
                {"type": "callout", "props": {"title": {"<b>": 1}}},
            ],
        }
    )

    part = pasted(client, make.post(), text)

    assert re.findall(r'name="order" value="([^"]+)"', part) == ["new-3:prose"]
    refused = re.findall(r"<li>([^<:]+): ([^<]+)</li>", part.partition("data-refused")[2])
    assert [label for label, _reason in refused] == ["nothing", "Callout", "Callout"]
    assert "3 modules were not inserted" in part
    assert "<b>" not in part.partition("data-refused")[2]
    assert pasted(client, post, text).count('name="order"') <= 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The clipboard has no modules."),
        ("[" * 100_000, "The clipboard has no modules."),
        ('{"type": "proofroom/modules", "version": 9}', "another version"),
        ('{"type": "proofroom/modules", "version": 1, "modules": {}}', "at least one module"),
        ('{"type": "proofroom/modules", "version": 1, "modules": [[]]}', "must be an object"),
        (
            '{"type": "proofroom/modules", "version": 1, "modules": '
            + json.dumps([{"type": "callout", "props": {"text": "x" * 2_000_000}}])
            + "}",
            "too large: 2,000 kB; at most 1,000 kB",
        ),
    ],
)
def test_a_bad_clipboard_is_refused_with_a_sentence(
    signed_in: SignedIn, text: str, sentence: str
) -> None:
    post, client = make.post(), signed_in()
    before = make.live_hash()

    answer = client.post(url(post, "change/pasted"), {"clipboard": text})

    assert answer.status_code == 422
    assert sentence in answer.json()["message"]
    assert make.live_hash() == before


def test_rights_hold(signed_in: SignedIn) -> None:
    post, snippet = make.post(), make.snippet()
    translator = signed_in("translator")
    hero = make.module_id(post, "hero")

    assert copied(translator, post, hero).json()["modules"][0]["type"] == "hero"
    sent = {"snippet": str(snippet.pk)}
    assert translator.post(url(post, "change/pasted"), sent).status_code == 403
    assert translator.get("/admin/proofroom_snippets/snippet/").status_code == 403
    page = translator.get(url(post)).content.decode()
    assert "data-select-module" not in page
    assert "Save as template" not in page
    assert signed_in().post(url(post, "change/pasted"), {"snippet": "x"}).status_code == 404


def test_a_snippet_is_offered_in_the_picker_and_inserted_as_a_copy(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    snippet = make.snippet(types=["blog"])
    make.snippet("Elsewhere", types=["page"])
    make.snippet("German", locale="de")
    make.snippet("Claim", text="Roasted **fresh**.")

    picker = client.get(url(post, "change/picker")).content.decode()
    part = pasted(client, post, "", snippet=str(snippet.pk))
    modules = save_with(client, post, part)
    make.changed_snippet(snippet, modules=[{"type": "callout", "props": {"title": "Later"}}])

    assert f'value="snippet:{snippet.pk}"' in picker
    assert picker.count('value="snippet:') == 1
    assert modules[-1].props["title"] == "Get the newsletter"
    assert make.layers(post).live.modules == modules
    menu = client.get("/admin/content/post/richtext/").content.decode()
    assert menu.count('data-insert-block="snippet:') == 1


def test_snippets_are_written_renamed_and_deleted_in_the_admin(signed_in: SignedIn) -> None:
    client, base = signed_in(), "/admin/proofroom_snippets/snippet/"
    modules = make.snippet()

    client.post(f"{base}add/", {"name": "Claim", "text": "Roasted **fresh**.", "locale": "en"})
    claim = Snippet.objects.get(name="Claim")
    page = f"{base}{claim.pk}/change/"
    form = fields(client.get(page), "text")
    assert form["text"] == ["Roasted **fresh**."]
    assert "<template data-document=" in client.get(page).content.decode()
    client.post(page, {**form, "name": "Slogan", "text~doc": json.dumps(TABLE)})
    claim.refresh_from_db()
    assert (claim.name, claim.text, claim.version) == ("Slogan", TABLE, 2)
    taken = client.post(page, {**fields(client.get(page), "text"), "name": modules.name})
    assert (taken.status_code, "already a snippet" in taken.content.decode()) == (422, True)
    other = f"{base}{modules.pk}/change/"
    client.post(other, {**fields(client.get(other), "name"), "name": "Tip", "types": ["blog"]})
    modules.refresh_from_db()
    assert (modules.name, modules.types, len(modules.modules)) == ("Tip", ["blog"], 1)
    assert "Get the newsletter" in client.get(other).content.decode()
    assert page_queries(client, base) == 7
    client.post(f"{base}{claim.pk}/delete/", {})
    assert [*Snippet.objects.all()] == [modules]


def test_a_post_is_saved_as_a_template_and_a_new_one_starts_from_it(signed_in: SignedIn) -> None:
    client, post = signed_in(), make.post("Weekly recipe")
    make.added_module(post, type="callout", props={"title": "Tip"})
    base = "/admin/proofroom_snippets/posttemplate/"

    assert f"{base}add/?post={post.pk}" in client.get(url(post)).content.decode()
    form = fields(client.get(f"{base}add/?post={post.pk}"), "post")
    assert form["name"] == ["Weekly recipe"]
    client.post(f"{base}add/", {**form, "name": "Recipe", "description": "Every Friday"})
    template = PostTemplate.objects.get()
    page = client.get(f"{base}{template.pk}/change/").content.decode()
    assert f"/admin/content/post/add/?template={template.pk}" in page
    template.modules += [{"type": "gone", "props": {}, "overrides": {}, "globalSlug": ""}]
    template.save()
    add = f"/admin/content/post/add/?template={template.pk}"
    form = fields(client.get(add), "template")
    assert form["template"] == [str(template.pk)]
    answer = client.post(add, {**form, "title": "Pancakes", "type": "page"}, follow=True)

    new = Post.objects.get(title="Pancakes")
    assert (new.type, make.layers(new).live.modules[-1].props["title"]) == ("blog", "Tip")
    assert "Parts of the template were left out: gone" in answer.content.decode()
    assert client.get(f"{base}add/").status_code == 302
    client.post(f"{base}{template.pk}/delete/", {})
    assert "template-choice" not in client.get("/admin/content/post/add/").content.decode()
