"""Snippets and post templates: what is stored, what a post gets, and what is refused."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.models import Post
from content.modules.module_copies import COPIES_MAX_BYTES
from content.posts.post_templates import create_from_template
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from proofroom_apps.snippets.models import PostTemplate, Snippet
from proofroom_apps.snippets.services import delete_snippet, list_snippets
from proofroom_apps.snippets.templates import create_template, delete_template
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def test_a_snippet_stores_clean_values_and_is_offered_where_it_belongs(
    django_assert_num_queries: Any,
) -> None:
    tip = make.snippet(types=["blog"], locale="de")
    claim = make.snippet("Claim", text="Roasted **fresh**.")

    [module] = tip.modules
    assert (module["type"], module["props"]["title"]) == ("callout", "Get the newsletter")
    assert claim.text["content"][0]["content"][1] == {
        "type": "text",
        "text": "fresh",
        "marks": [{"type": "bold"}],
    }
    with django_assert_num_queries(1):
        offered = list_snippets(post_type="blog", locale="de")
    assert [one.name for one in offered] == ["Claim", "Newsletter tip"]
    assert list_snippets(post_type="page", locale="de", kind="modules") == []
    with CaptureQueriesContext(connection) as queries:
        page = ApiClient("editor").read("/api/snippets?per_page=1")
    assert ([one["name"] for one in page["data"]], page["meta"]["total"]) == (["Claim"], 2)
    # Only the contents of this page: all together can be a gigabyte.
    whole = [query["sql"] for query in queries if '"modules"' in query["sql"]]
    assert ([" IN (" in one for one in whole], tip.pk.hex in str(whole)) == ([True], False)
    changed = make.changed_snippet(tip, text="A text now.")
    assert (changed.kind, changed.modules, changed.version) == ("text", [], 2)
    assert make.changed_snippet(changed, name="Newsletter tip").version == 2
    assert delete_snippet(snippet_id=tip.pk, actor=make.actor()) == tip.pk
    names = Event.objects.filter(name__startswith="snippet.").order_by("id")
    assert [one.name.partition(".")[2] for one in names] == [
        "created",
        "created",
        "changed",
        "deleted",
    ]


DEEP: Any = {"type": "doc", "content": []}
for _level in range(100):
    DEEP = {"type": "doc", "content": [DEEP]}


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": "Claim", "text": "Twice."}, "name"),
        ({"modules": [], "text": None}, "modules"),
        ({"modules": [{"type": "callout"}], "text": "Both."}, "text"),
        ({"modules": [{"type": "nothing"}]}, "modules.0.type"),
        ({"modules": [{"type": "callout", "props": {"titel": "x"}}]}, "modules.0.props.titel"),
        ({"modules": [{"type": "callout", "props": {"title": 5}}]}, "modules.0.props.title"),
        ({"modules": [{"type": "callout", "id": "1"}]}, "modules.0.id"),
        ({"modules": [{"type": "callout", "props": {"title": "a\x00b"}}]}, "modules.0.props.title"),
        ({"modules": [{"type": "callout", "props": {"x": "y" * COPIES_MAX_BYTES}}]}, "modules"),
        ({"text": " \n"}, "text"),
        ({"text": {"type": "page"}}, "text"),
        ({"text": DEEP}, "text"),
        ({"text": "x", "types": ["nothing"]}, "type"),
        ({"text": "x", "locale": "xx"}, "locale"),
    ],
)
def test_bad_snippets_are_refused_by_field(values: dict[str, Any], field: str) -> None:
    make.snippet("Claim", text="Roasted fresh.")

    with pytest.raises(RuleViolation) as refused:
        make.snippet(**{"name": "Other", **values})

    assert any(key.startswith(field) for key in refused.value.details), refused.value.details
    assert [one.name for one in Snippet.objects.all()] == ["Claim"]


def test_only_people_with_the_permission_manage() -> None:
    snippet, template = make.snippet(), make.template(make.post())

    for actor in (make.actor("translator"), make.agent_actor(), make.mcp_actor("editor")):
        with pytest.raises(NotAllowed):
            delete_snippet(snippet_id=snippet.pk, actor=actor)
        with pytest.raises(NotAllowed):
            delete_template(template_id=template.pk, actor=actor)
    with pytest.raises(NotFound):
        create_template(actor=make.actor(), post_id=uuid4(), name="Gone")
    assert (Snippet.objects.count(), PostTemplate.objects.count()) == (1, 1)


def started(template: PostTemplate, **fields: Any) -> tuple[Post, list[str]]:
    made = create_from_template(
        actor=make.actor(), template_id=str(template.pk), fields={"title": "New", **fields}
    )
    return made.post, [one.label for one in made.left_out]


def test_a_post_from_a_template_has_its_modules_under_new_ids() -> None:
    post = make.post("Recipe", excerpt="Slowly.", metaTitle="Recipe")
    make.placed(post, make.global_module(title="Mail"), title="Here")
    template = make.template(post)
    source = make.layers(post).live

    new, left_out = started(template, excerpt="Fast.")
    document = make.layers(new).live

    assert left_out == []
    assert [one.type for one in document.modules] == [one.type for one in source.modules]
    assert not set(document.order) & set(source.order)
    assert document.modules[0].locked
    shared = document.modules[-1]
    assert (shared.scope, shared.overrides) == ("global", {"title": "Here"})
    assert shared.instance_id == source.modules[-1].instance_id
    assert document.modules[0].instance_id != source.modules[0].instance_id
    assert (new.title, new.status, new.excerpt, new.meta_title) == ("New", "draft", "Fast.", None)
    other, _ = started(template, slug="second")
    assert other.excerpt == "Slowly."


def test_parts_that_the_type_no_longer_has_are_left_out_and_named() -> None:
    template = make.template(make.post())
    template.modules += [
        {"type": "gone", "props": {}, "overrides": {}, "globalSlug": ""},
        {"type": "callout", "props": {"title": "x" * 5000}, "overrides": {}, "globalSlug": ""},
        {"type": "callout", "props": {}, "overrides": {}, "globalSlug": "missing"},
        {"type": "callout", "props": {"old": 1}, "overrides": {}, "globalSlug": ""},
    ]
    template.fields = {"customFields": {"vanished": "x"}}
    template.save()

    new, left_out = started(template)

    assert [one.type for one in make.layers(new).live.modules] == [
        "hero",
        "prose",
        "faq",
        "callout",
    ]
    assert left_out == ["gone", "Callout", "Callout", "vanished"]


def test_a_template_is_for_one_type(client: Any) -> None:
    template = make.template(make.post())
    client.force_login(make.user())

    def create(**body: Any) -> Any:
        answer = client.post(
            "/api/posts", {"template": str(template.pk), **body}, content_type="application/json"
        )
        return answer.status_code, answer.json()

    status, made = create(title="From the API")
    assert (status, made["type"], made["leftOut"]) == (201, "blog", [])
    refused: list[tuple[dict[str, Any], str]] = [
        ({"type": "page"}, "type"),
        ({"modules": []}, "modules"),
        ({"moduleGroup": "blog-default"}, "moduleGroup"),
        ({"template": str(uuid4())}, "template"),
        ({"template": 5}, "template"),
        ({"title": ""}, "title"),
    ]
    for body, field in refused:
        status, answer = create(**{"title": "Refused", **body})
        assert (status, [*answer["details"]]) == (422, [field]), body
    PostTemplate.objects.update(type="vanished")
    assert create(title="Refused")[0] == 422
    assert Post.objects.count() == 2
