"""Lists of the delivery API that are asked by field, term and id, in any order, with cursors and facets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from content.models import FieldValue, Post
from proofroom.core.caching.answer_cache import answers
from proofroom.core.json import Json
from proofroom.taxonomies.models import Term
from tests import make
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
LIST: Final = "/api/public/posts"


def ask(_expect: int = 200, **query: str) -> Any:
    """Send a query; `a__b__c` stands for `a[b][c]`, and `_` within for a dot."""
    text = urlencode({_name(name): value for name, value in query.items()})
    return ApiClient().read(LIST, expect=_expect, QUERY_STRING=text)


def _name(name: str) -> str:
    first, *rest = name.split("__")
    return first + "".join(f"[{part.replace('_', '.')}]" for part in rest)


def titles(**query: str) -> list[str]:
    return sorted(row["title"] for row in ask(**query)["data"])


def praise(title: str, **custom: Json) -> Post:
    return make.post(title, slug=title.lower(), type="testimonial", customFields=custom)


@pytest.fixture
def praises() -> None:
    praise("Five", rating=5, company="Kettle, Sons")
    praise("Four", rating=4, company="Pan")
    praise("Three", rating=3)
    praise("None")
    make.post("Blog", slug="blog")


@pytest.mark.usefixtures("praises")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"filter__customFields_rating__gt": "4"}, ["Five"]),
        ({"filter__customFields_rating__gte": "4"}, ["Five", "Four"]),
        ({"filter__customFields_rating__lt": "3.5"}, ["Three"]),
        ({"filter__customFields_rating__lte": "4"}, ["Four", "Three"]),
        ({"filter__customFields_rating__eq": "4"}, ["Four"]),
        ({"filter__customFields_rating": "4.0"}, ["Four"]),
        (
            {"filter__customFields_rating__ne": "4", "type": "testimonial"},
            ["Five", "None", "Three"],
        ),
        ({"filter__customFields_rating__in": "3,5"}, ["Five", "Three"]),
        ({"filter__customFields_rating__exists": "true"}, ["Five", "Four", "Three"]),
        ({"filter__customFields_rating__exists": "false"}, ["Blog", "None"]),
        ({"filter__customFields_company__contains": "kett"}, ["Five"]),
        ({"filter__customFields_company": "Kettle, Sons"}, ["Five"]),
        ({"filter__customFields_company": "Kettle\\, Sons"}, ["Five"]),
        ({"filter__customFields_company__in": "Kettle\\, Sons,Pan"}, ["Five", "Four"]),
        ({"filter__title__in": "Five,Blog"}, ["Blog", "Five"]),
        ({"filter__title__contains": "F%"}, []),
        ({"filter__title__ne": "Five", "type": "testimonial"}, ["Four", "None", "Three"]),
        ({"filter__slug": "four"}, ["Four"]),
        ({"filter__orderIndex__gte": "0", "type": "blog"}, ["Blog"]),
        ({"filter__parentId__exists": "true"}, []),
        (
            {"filter__customFields_rating__gte": "3", "filter__customFields_rating__lt": "5"},
            ["Four", "Three"],
        ),
        ({"filter__customFields_rating__gte": "3", "search": "three"}, ["Three"]),
        (
            {"filter__customFields_rating__gte": "3", "type": "testimonial", "slug": "five"},
            ["Five"],
        ),
    ],
)
def test_operators(query: dict[str, str], found: list[str]) -> None:
    answer = ask(**query)

    assert sorted(row["title"] for row in answer["data"]) == found
    assert answer["meta"]["total"] == len(found)


def test_times_mean_a_day_or_a_millisecond() -> None:
    moment = datetime(2026, 1, 31, 23, 30, 0, 123_456, tzinfo=UTC)
    for title, days in (("Before", -1), ("On", 0), ("After", 1)):
        post = make.post(title, slug=title.lower())
        Post.objects.filter(pk=post.pk).update(published_at=moment + timedelta(days=days))
    told = ask(slug="on")["data"][0]["publishedAt"]

    def found(operator: str, value: str) -> list[str]:
        return titles(**{f"filter__publishedAt__{operator}": value})

    assert found("eq", "2026-01-31") == found("eq", told) == ["On"]
    assert found("lt", "2026-01-31") == ["Before"]
    assert found("lte", "2026-01-31") == ["Before", "On"]
    assert found("gt", "2026-01-31") == found("gt", told) == ["After"]
    assert found("gte", "2026-01-31") == found("gte", told) == ["After", "On"]
    assert found("ne", "2026-01-31") == ["After", "Before"]
    assert found("in", f"2026-01-30,{told}") == ["Before", "On"]
    assert found("gte", "2026-02-01T02:00:00+02:00") == ["After"]


def test_terms_by_slug_id_and_taxonomy() -> None:
    soil, repair = make.term("Soil"), make.term("Repair")
    make.term("Soil", "tags")
    make.post("Both", slug="both", taxonomyTermIds=[str(soil.pk), str(repair.pk)])
    make.post("One", slug="one", taxonomyTermIds=[str(soil.pk)])
    make.post("No", slug="no")

    assert titles(filter__terms__any="soil,repair") == ["Both", "One"]
    assert titles(filter__terms__all="soil,repair") == ["Both"]
    assert titles(filter__terms__all=f"topics:soil,{repair.pk}") == ["Both"]
    assert titles(filter__terms="topics:repair") == ["Both"]
    assert titles(filter__terms__any="tags:soil") == []
    assert titles(filter__terms__ne="repair") == ["No", "One"]
    assert titles(filter__terms__exists="false") == ["No"]


def test_ids_are_of_every_language_and_never_of_drafts() -> None:
    post = make.post("English", slug="a")
    german = make.post("Deutsch", locale="de", translation_of=post, slug="b")
    draft = make.post("Draft", slug="c", status="draft")
    make.post("Other", slug="d")
    ids = f"{post.pk}, {german.pk},{draft.pk},{post.pk}"

    assert titles(ids=ids) == ["Deutsch", "English"]
    assert titles(ids=ids, locale="de") == ["Deutsch"]
    assert ask(ids=ids)["meta"]["total"] == 2


def test_children_of_a_page() -> None:
    top = make.post("Top", type="page", slug="top")
    make.post("Below", type="page", slug="below", parentId=str(top.pk))

    assert titles(filter__parentId=str(top.pk)) == ["Below"]
    assert titles(filter__parentId__exists="false") == ["Top"]


@pytest.mark.usefixtures("praises")
def test_orders_by_several_fields_and_by_custom_ones() -> None:
    def order(text: str, **query: str) -> list[str]:
        return [row["title"] for row in ask(ordering=text, type="testimonial", **query)["data"]]

    assert order("-customFields.rating") == ["Five", "Four", "Three", "None"]
    assert order("customFields.rating") == ["Three", "Four", "Five", "None"]
    assert order("orderIndex,-title") == ["Three", "None", "Four", "Five"]
    assert order("-customFields.company,title") == ["Four", "Five", "None", "Three"]
    assert order("customFields.rating", filter__customFields_rating__lt="5") == ["Three", "Four"]


@pytest.mark.usefixtures("praises")
@pytest.mark.parametrize(
    "ordering",
    [
        "", "title", "-title", "-publishedAt", "publishedAt,-title", "customFields.rating",
        "-customFields.rating", "-customFields.company,customFields.rating", "-orderIndex",
        "parentId,slug", "-updatedAt",
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", ["1", "2", "100"])
def test_cursors_lead_through_the_whole_list_once(ordering: str, size: str) -> None:
    Post.objects.filter(slug="three").update(published_at=None)
    query = {"type": "testimonial", **({"ordering": ordering} if ordering else {})}
    whole = [row["id"] for row in ask(**query, per_page="100")["data"]]
    seen: list[str] = []
    cursor: str | None = ""

    while cursor is not None:
        answer = ask(**query, per_page=size, after=cursor)
        seen += [row["id"] for row in answer["data"]]
        meta = answer["meta"]
        assert set(meta) == {"total", "per_page", "next"}
        assert meta["total"] == len(whole) == 4
        cursor = meta["next"]
        assert len(seen) <= len(whole)

    assert seen == whole


def test_a_cursor_stays_in_place_while_posts_are_added() -> None:
    for number in range(4):
        make.post(f"Post {number}", slug=f"p{number}")
    first = ask(ordering="title", per_page="2", after="")
    make.post("Post 0 and a half", slug="late")

    second = ask(ordering="title", per_page="2", after=first["meta"]["next"])

    assert [row["title"] for row in second["data"]] == ["Post 2", "Post 3"]
    assert second["meta"]["next"] is None


def test_a_post_that_is_edited_meanwhile_is_neither_skipped_nor_repeated() -> None:
    made = [make.post(f"Post {number}", slug=f"p{number}") for number in range(4)]
    first = ask(per_page="2", after="")
    read, unread = made[3], made[0]

    make.edited(unread, {"title": "Edited"})
    make.edited(read, {"title": "Edited"})
    second = ask(per_page="2", after=first["meta"]["next"])

    assert [row["slug"] for row in (*first["data"], *second["data"])] == ["p3", "p2", "p1", "p0"]
    assert second["data"][1]["title"] == "Edited"


def test_a_cursor_keeps_the_filters_of_its_own_request() -> None:
    for number in range(3):
        make.post(f"Post {number}", slug=f"p{number}")
    make.post("Seite", type="page", slug="page")

    first = ask(type="blog", per_page="2", after="", fields="title")
    second = ask(type="blog", per_page="2", after=first["meta"]["next"], fields="title")

    assert len(first["data"]) == 2
    assert [set(row) for row in second["data"]] == [{"title"}]


def test_facets_count_what_the_filters_leave() -> None:
    soil, repair = make.term("Soil"), make.term("Repair")
    make.post("A", slug="a", taxonomyTermIds=[str(soil.pk), str(repair.pk)])
    make.post("Bokashi", slug="b", taxonomyTermIds=[str(soil.pk)])
    make.post("P", slug="p", type="page")
    make.post("D", slug="d", status="draft", taxonomyTermIds=[str(repair.pk)])
    make.post("G", slug="g", locale="de", taxonomyTermIds=[str(repair.pk)])

    def term(of: Term, count: int) -> dict[str, Any]:
        return {"id": str(of.pk), "slug": of.slug, "name": of.name, "count": count}

    whole = ask(facets="terms,type", per_page="1")
    assert whole["facets"] == {
        "terms": [term(soil, 2), term(repair, 1)],
        "type": [{"value": "blog", "count": 2}, {"value": "page", "count": 1}],
    }
    assert len(whole["data"]) == 1
    narrow = ask(facets="terms,type", filter__terms__any="repair")["facets"]
    assert narrow == {
        "terms": [term(repair, 1), term(soil, 1)],
        "type": [{"value": "blog", "count": 1}],
    }
    assert ask(facets="type", search="nowhere")["facets"] == {"type": []}
    for more in ({}, {"ordering": "title"}, {"ordering": "-title,slug", "after": ""}):
        found = ask(facets="terms,type", search="Bokashi", **more)["facets"]
        assert found == {"terms": [term(soil, 1)], "type": [{"value": "blog", "count": 1}]}
    by_title = ask(facets="type", ordering="-title,slug")
    assert by_title["facets"] == {"type": whole["facets"]["type"]}
    assert "facets" not in ask(per_page="1")


def test_facets_of_no_posts_cost_no_query() -> None:
    make.post("A", slug="a")
    # PostgreSQL has no SQL for a condition that no number of the column can meet.
    beyond = f"{LIST}?filter[orderIndex][gt]=999999999999999"

    assert ApiClient().read(f"{beyond}&facets=terms,type")["facets"] == {"terms": [], "type": []}
    answers.clear()
    without = count_queries(ApiClient().read, beyond)
    answers.clear()
    assert count_queries(ApiClient().read, f"{beyond}&facets=terms,type") == without


def test_a_facet_has_at_most_a_hundred_values() -> None:
    terms = [make.term(f"Term {number}") for number in range(101)]
    post = make.post()
    post.post_terms.model.objects.bulk_create(
        post.post_terms.model(post=post, term=term) for term in terms
    )

    assert len(ask(facets="terms")["facets"]["terms"]) == 100


def test_fields_are_all_that_a_single_post_has() -> None:
    term = make.term("Soil")
    post = make.post(
        "English", slug="a", metaTitle="Meta", taxonomyTermIds=[str(term.pk)],
        featuredMediaId=str(make.image().pk),
    )  # fmt: skip
    make.post("Deutsch", locale="de", translation_of=post, slug="b")
    single = ApiClient().read(f"{LIST}/{post.pk}")
    names = [
        "id", "metaTitle", "customFields", "robotsJson", "taxonomyTermIds", "translations", "modules",
        "media", "publishedAt",
    ]  # fmt: skip

    (row,) = ask(fields=",".join(names))["data"]
    (whole,) = ask(fields=",".join(sorted(single)))["data"]

    assert row == {name: single[name] for name in names}
    assert whole == single
    assert ask(fields="metaTitle,version")["data"] == [
        {"metaTitle": "Meta", "version": row_version(post)}
    ]


def row_version(post: Post) -> int:
    return Post.objects.get(pk=post.pk).version


@pytest.mark.parametrize(
    ("query", "name", "code"),
    [
        ("filter[excerpt]=x", "filter[excerpt]", "not_filterable"),
        ("filter[customFields.quote][eq]=x", "filter[customFields.quote][eq]", "not_filterable"),
        ("filter[password]=x", "filter[password]", "not_filterable"),
        ("filter[author__password]=x", "filter[author__password]", "not_filterable"),
        ("type=blog&filter[customFields.rating]=4", "filter[customFields.rating]", "not_filterable"),
        ("ordering=excerpt", "ordering", "not_filterable"),
        ("ordering=title,customFields.quote", "ordering", "not_filterable"),
        ("type=blog&ordering=customFields.rating", "ordering", "not_filterable"),
        ("ordering=title,password", "ordering", "invalid"),
        ("ordering=title,-title", "ordering", "invalid"),
        ("ordering=title,", "ordering", "invalid"),
        ("filter[title][like]=x", "filter[title][like]", "invalid"),
        ("filter[title][any]=x", "filter[title][any]", "invalid"),
        ("filter[publishedAt][contains]=2026", "filter[publishedAt][contains]", "invalid"),
        ("filter[publishedAt][gte]=yesterday", "filter[publishedAt][gte]", "invalid"),
        ("filter[publishedAt][gte]=2026-02-30", "filter[publishedAt][gte]", "invalid"),
        ("filter[publishedAt][gte]=", "filter[publishedAt][gte]", "invalid"),
        ("filter[customFields.rating]=four", "filter[customFields.rating]", "invalid"),
        ("filter[customFields.rating][gt]=1e400", "filter[customFields.rating][gt]", "invalid"),
        (f"filter[customFields.rating][lt]={10**400}", "filter[customFields.rating][lt]", "invalid"),
        (f"filter[customFields.rating][in]=4,-{10**400}", "filter[customFields.rating][in]", "invalid"),
        ("filter[customFields.rating]=1e400", "filter[customFields.rating]", "invalid"),
        ("filter[customFields.rating]=nan", "filter[customFields.rating]", "invalid"),
        ("filter[orderIndex]=1.5", "filter[orderIndex]", "invalid"),
        ("filter[parentId]=home", "filter[parentId]", "invalid"),
        ("filter[title][exists]=yes", "filter[title][exists]", "invalid"),
        ("filter[title]=%00", "filter[title]", "invalid"),
        ("filter[title]=" + "x" * 301, "filter[title]", "invalid"),
        ("filter[terms][any]=none:soil", "filter[terms][any]", "invalid"),
        ("filter[terms][any]=", "filter[terms][any]", "invalid"),
        ("filter=title", "filter", "invalid"),
        ("filter[]=x", "filter[]", "invalid"),
        ("ids=1", "ids", "invalid"),
        ("ids=", "ids", "invalid"),
        ("facets=author", "facets", "invalid"),
        ("facets=", "facets", "invalid"),
        ("after=x", "after", "invalid"),
        ("after=%ff", "after", "invalid"),
        ("after=W10", "after", "invalid"),
        ("after=&page=1", "page", "invalid"),
        ("after=&search=tea", "after", "invalid"),
        ("type=none&filter[title]=x", "type", "invalid"),
        ("ids=" + ",".join(["00000000-0000-4000-8000-000000000000"] * 101), "ids", "cost_exceeded"),
        ("filter[title][in]=" + ",".join("x" * 101), "filter[title][in]", "cost_exceeded"),
        ("filter[title][in]=" + "," * 100_000, "filter[title][in]", "cost_exceeded"),
        ("filter[terms][all]=" + ",".join("x" * 11), "filter", "cost_exceeded"),
        ("filter[title]=x&filter[terms][all]=" + ",".join("x" * 10), "filter", "cost_exceeded"),
        ("ordering=title,slug,orderIndex,parentId", "ordering", "cost_exceeded"),
        (
            "&".join(f"filter[title][{one}]=x" for one in ("eq", "ne", "in", "lt", "lte", "gt", "gte"))
            + "&" + "&".join(f"filter[slug][{one}]=x" for one in ("eq", "ne", "in", "lt")),
            "filter",
            "cost_exceeded",
        ),
    ],
)  # fmt: skip
def test_a_bad_question_names_the_parameter(query: str, name: str, code: str) -> None:
    make.post()

    answer = ApiClient().read(f"{LIST}?{query}", expect=422)

    assert (list(answer["details"]), answer["code"]) == ([name], code)


def test_what_is_filterable_is_named() -> None:
    def error(query: str) -> str:
        return str(ApiClient().read(f"{LIST}?{query}", expect=422)["error"])

    shared = "title, slug, publishedAt, updatedAt, parentId, orderIndex"
    assert error("type=blog&filter[excerpt]=x").endswith(f"Filterable are: {shared}, terms.")
    assert error("type=testimonial&filter[excerpt]=x").endswith(
        f"Filterable are: {shared}, customFields.company, customFields.rating, terms."
    )
    assert "customFields.rating" in error("type=testimonial&ordering=excerpt")


def test_a_cursor_of_another_order_is_refused() -> None:
    make.post("A", slug="a")
    make.post("B", slug="b")
    cursor = ask(ordering="title", per_page="1", after="")["meta"]["next"]

    assert list(ask(422, ordering="-title", after=cursor)["details"]) == ["after"]
    assert list(ask(422, after=cursor)["details"]) == ["after"]
    assert list(ask(422, ordering="title", after=cursor[:-3])["details"]) == ["after"]


def test_threat_09_no_filter_tells_of_what_is_not_live() -> None:
    post = praise("Kettle", rating=3, company="Plain")
    make.staged(post, {"customFields": {"company": "zeppelin", "rating": 5}})
    make.post(
        "Draft", slug="draft", type="testimonial", status="draft",
        customFields={"company": "zeppelin", "rating": 5},
    )  # fmt: skip

    assert FieldValue.objects.filter(text="zeppelin").count() == 1
    for query in ("filter[customFields.company]=zeppelin", "filter[customFields.rating][gt]=4"):
        assert ApiClient("admin").read(f"{LIST}?{query}&facets=terms,type") == {
            "data": [],
            "meta": {"total": 0, "per_page": 20, "current_page": 1, "last_page": 1},
            "facets": {"terms": [], "type": []},
        }


@pytest.mark.parametrize(
    ("query", "most"),
    [
        ("filter[customFields.rating][gte]=1&type=testimonial", 4),
        ("ordering=-customFields.rating&after=&type=testimonial", 4),
        ("filter[terms][any]=soil&facets=terms,type&type=testimonial", 6),
        ("fields=id,title,metaTitle,customFields,taxonomyTermIds,translations&type=testimonial", 5),
    ],
)
def test_the_number_of_statements_does_not_grow(query: str, most: int) -> None:
    soil = make.term("Soil")

    def fill(begin: int, end: int) -> None:
        for number in range(begin, end):
            post = praise(f"Praise{number}", rating=1 + number % 5, company="Kettle")
            post.post_terms.create(term=soil)

    def cost() -> int:
        answers.clear()
        return count_queries(ApiClient().read, f"{LIST}?{query}&per_page=100")

    fill(0, 3)
    few = cost()
    fill(3, 12)
    assert few == cost() <= most


def test_a_kept_answer_follows_a_changed_value() -> None:
    post = praise("Praise", rating=3)
    assert titles(filter__customFields_rating__gt="4") == []

    make.edited(post, {"customFields": {"rating": 5}})

    assert titles(filter__customFields_rating__gt="4") == ["Praise"]
