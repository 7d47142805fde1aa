"""The translation matrix: missing, outdated and pending translations, and creation of missing ones."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from content.models import Layer, Post
from content.store.translation_status import states_of
from content.translations.translate import create_translation, mark_up_to_date
from proofroom.taxonomies.models import Term
from tests import make
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
MATRIX = "/admin/content/translations/"


def german(of: Post) -> Post:
    """Create a translation whose texts may be its source's."""
    made = create_translation(post_id=of.pk, locale="de", actor=make.actor("admin"))
    paths = list(states_of([made])[made.pk].untranslated_paths)
    mark_up_to_date(post_id=made.pk, actor=make.actor("admin"), paths=paths)
    return made


def titles(html: str) -> list[str]:
    return re.findall(r'scope="row"><a href="[^"]+">([^<]+)</a>', html)


def cell(html: str, of: Post) -> str:
    """Return the last cell of the post's row."""
    return html.partition(f"{of.title}</a>")[2].partition("</tr>")[0].rpartition("<td")[2]


def test_a_cell_says_what_is_missing_old_or_waiting(signed_in: SignedIn) -> None:
    alone, stale, waiting = make.post("Alone"), make.post("Stale"), make.post("Waiting")
    german(stale)
    other = german(waiting)
    make.edited(stale, {"title": "Stale by now", "excerpt": "New"})
    make.staged(other, {"title": "Wartend"}, layer=Layer.REVIEW)
    stale.refresh_from_db()

    page = signed_in().get(MATRIX).content.decode()

    assert sorted(titles(page)) == ["Alone", "Stale by now", "Waiting"]
    assert f'value="{alone.pk}:de"' in cell(page, alone)
    assert "2 to update" in cell(page, stale)
    assert "Review 1" in cell(page, waiting)
    assert "not translated yet" not in page


def test_texts_that_are_only_copied_are_counted_and_found(signed_in: SignedIn) -> None:
    copied, done = make.post("Copied"), make.post("Done")
    create_translation(post_id=copied.pk, locale="de", actor=make.actor("admin"))
    german(done)
    make.edited(copied, {"title": "Copied before"})
    copied.refresh_from_db()

    page = signed_in().get(f"{MATRIX}?state=untranslated").content.decode()

    assert titles(page) == ["Copied before"]
    assert re.search(r"[2-9] not translated yet", cell(page, copied))
    assert "to update" not in cell(page, copied)
    assert titles(signed_in().get(f"{MATRIX}?state=untranslated&locale=en").content.decode()) == []


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", ["Both", "Changed", "Single"]),
        ("state=missing", ["Single"]),
        ("state=missing&locale=de", ["Single"]),
        ("state=missing&locale=en", []),
        ("state=draft", ["Both", "Changed"]),
        ("state=changed", ["Changed"]),
        ("state=waiting", ["Both"]),
        ("q=sing", ["Single"]),
        ("type=page", []),
        ("type=nonsense&state=nonsense&locale=xx&page=99", ["Both", "Changed", "Single"]),
    ],
)
def test_the_matrix_is_narrowed(signed_in: SignedIn, query: str, shown: list[str]) -> None:
    both, changed = make.post("Both"), make.post("Before")
    make.post("Single")
    german(both)
    german(changed)
    make.staged(both, {"excerpt": "Waits"}, layer=Layer.REVIEW)
    make.edited(changed, {"title": "Changed"})

    page = signed_in().get(f"{MATRIX}?{query}").content.decode()

    assert sorted(titles(page)) == shown


def test_what_is_ticked_is_made_and_what_is_there_is_named(signed_in: SignedIn) -> None:
    one, two = make.post("One"), make.post("Two")
    german(two)
    client = signed_in("translator")

    answer = client.post(MATRIX, {"make": [f"{one.pk}:de", f"{two.pk}:de"]}, follow=True)

    page = answer.content.decode()
    assert "Created 1 draft with the source text." in page
    assert "Not created in German: The post already exists in German" in page
    made = Post.objects.get(translation_group=one.translation_group, locale="de")
    assert (made.status, made.title) == ("draft", "One")


def test_terms_are_translated_and_missing_counterparts_are_reported(signed_in: SignedIn) -> None:
    def term(name: str, locale: str, slug: str) -> Term:
        made = make.term(name)
        made.locale, made.slug = locale, slug
        made.save()
        return made

    coffee, german_coffee = term("Coffee", "en", "coffee"), term("Kaffee", "de", "coffee")
    garden, shared = term("Garden", "en", "garden"), term("Shared", "", "shared")
    ids = [str(one.pk) for one in (coffee, garden, shared)]
    post = make.post("One", taxonomyTermIds=ids)
    other = make.post("Two", taxonomyTermIds=ids)
    client = signed_in()

    page = client.post(MATRIX, {"make": f"{post.pk}:de"}, follow=True).content.decode()

    assert "Terms left out, as German has none with the same slug: Garden." in page
    made = Post.objects.get(translation_group=post.translation_group, locale="de")
    terms = set(made.post_terms.values_list("term_id", flat=True))
    assert terms == {german_coffee.pk, shared.pk}
    address = f"/admin/content/post/{other.pk}/translations/"
    page = client.post(address, {"do": "create", "locale": "de"}, follow=True).content.decode()
    assert "Terms left out, as German has none with the same slug: Garden." in page


def test_nonsense_makes_nothing(signed_in: SignedIn) -> None:
    post = make.post()
    for marks in ([], ["x:de"], [f"{post.pk}:xx"], [f"{make.user().pk}:de"]):
        assert signed_in().post(MATRIX, {"make": marks}).status_code == 422
    unknown = ["00000000-0000-4000-8000-000000000000:de"]
    assert signed_in().post(MATRIX, {"make": unknown}).status_code == 302
    assert Post.objects.count() == 1


def test_no_row_costs_a_query(signed_in: SignedIn) -> None:
    german(make.post("First"))
    make.edited(Post.objects.get(locale="en"), {"title": "First, again"})
    client = signed_in()

    def count() -> int:
        client.get(MATRIX)
        return count_queries(client.get, MATRIX)

    before = count()
    for number in range(4):
        german(make.post(f"No. {number}"))
    assert count() == before == 12
