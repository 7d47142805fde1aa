"""The page that shows a translation beside its source."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from agents_app.models import AgentRun
from content.layers import digest_of, open_layers
from content.layers.approve import approve
from content.models import CopyOrigin, Layer, Post
from content.posts.edit import edit_post
from content.store import document_edits
from content.store.translation_status import states_of
from content.translations.translate import create_translation, mark_up_to_date
from tests import make
from tests.admin.pages import fields
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def german_of(source: Post) -> Post:
    """Create a translation whose texts may be its source's."""
    made = create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))
    paths = list(states_of([made])[made.pk].untranslated_paths)
    mark_up_to_date(post_id=made.pk, actor=make.actor("admin"), paths=paths)
    return made


def address(post: Post) -> str:
    return f"/admin/content/post/{post.pk}/translate/"


def row(html: str, path: str) -> str:
    return html.partition(f'id="t-{path}"')[2].partition('class="beside-row"')[0]


def state(html: str, path: str) -> str:
    found = re.search(r'data-state="(\w+)"', row(html, path))
    return found.group(1) if found else ""


def stale(post: Post) -> tuple[str, ...]:
    return states_of([post])[post.pk].stale_paths


def test_what_changed_in_the_source_is_marked(signed_in: SignedIn) -> None:
    source = make.post("Coffee", excerpt="The whole way, in ten minutes.")
    german = german_of(source)
    make.edited(source, {"excerpt": "The whole way, in five minutes."})

    html = signed_in().get(address(german)).content.decode()

    assert state(html, "post-excerpt") == "stale"
    assert state(html, "post-title") == "current"
    shown = row(html, "post-excerpt").partition("data-source>")[2].partition("beside-own")[0]
    assert re.findall(r"<(ins|del)>.*?(five|ten)", shown) == [("del", "ten"), ("ins", "five")]
    assert "3 of 4 fields up to date" in html


@pytest.mark.parametrize("do", ["save", "save-review"])
def test_a_text_counts_as_made_from_the_source_that_its_translator_read(
    signed_in: SignedIn, do: str
) -> None:
    source = make.post("Coffee", excerpt="Only 5 euros.")
    german = german_of(source)
    make.edited(source, {"excerpt": "Only 6 euros."})
    client = signed_in("editor")
    sent = {**fields(client.get(address(german)), "was"), "post.excerpt": "Nur 6 Euro."}
    make.edited(source, {"excerpt": "Only 9 euros."})

    client.post(address(german), {**sent, "do": do})
    if do == "save-review":
        make.edited(source, {"excerpt": "Only 10 euros."})
        digest = digest_of(make.layers(german).review.changes)
        approve(post_id=german.pk, actor=make.actor("editor"), digest=digest)

    german.refresh_from_db()
    assert german.excerpt == "Nur 6 Euro."
    assert stale(german) == ("post.excerpt",)
    sent = {**fields(client.get(address(german)), "was"), "post.excerpt": "Nur 10 Euro."}
    client.post(address(german), {**sent, "do": "save"})
    assert stale(german) == ()


@pytest.mark.parametrize("sources", ["[", "[]", '{"post.excerpt": 1}', '{"post.excerpt": "x"}'])
def test_hashes_that_are_none_count_as_the_source_as_it_is(
    signed_in: SignedIn, sources: str
) -> None:
    source = make.post("Coffee", excerpt="Only 5 euros.")
    german = german_of(source)
    make.edited(source, {"excerpt": "Only 6 euros."})
    client = signed_in("editor")
    sent = {**fields(client.get(address(german)), "was"), "post.excerpt": "Nur 6 Euro."}

    client.post(address(german), {**sent, "sources": sources, "do": "save"})

    assert stale(german) == ()


def test_a_text_that_is_only_copied_is_not_translated_yet(signed_in: SignedIn) -> None:
    source = make.post("Coffee", excerpt="First")
    german = create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))
    make.edited(german, {"title": "Kaffee"})
    make.staged(german, {"excerpt": "Erstens"}, layer=Layer.REVIEW)
    client = signed_in()

    html = client.get(address(german)).content.decode()
    assert state(html, "post-title") == "current"
    assert state(html, "post-excerpt") == "untranslated"
    assert "Not translated yet" in row(html, "post-excerpt")
    staged = client.get(f"{address(german)}?layer=review").content.decode()
    assert state(staged, "post-excerpt") == "current"
    (start,) = re.findall(r'href="([^"]+)&(?:amp;)?fields=stale" data-agent-dialog', html)
    dialog = client.get(start.replace("&amp;", "&") + "&fields=stale").content.decode()
    assert "post.excerpt" in re.findall(r'name="fields" value="([^"]+)"', dialog)
    listed = client.get(f"/admin/content/post/{german.pk}/translations/").content.decode()
    assert "Excerpt: not translated yet" in listed

    client.post(address(german), {"checked": "post.excerpt"})

    assert state(client.get(address(german)).content.decode(), "post-excerpt") == "current"


def test_a_text_that_no_revision_has_is_named(signed_in: SignedIn) -> None:
    source = make.post("Coffee", excerpt="First")
    german = german_of(source)
    make.edited(source, {"excerpt": "Second"})
    source.revisions.all().delete()

    html = signed_in().get(address(german)).content.decode()

    assert "No revision has the earlier text" in row(html, "post-excerpt")
    assert "Second" in row(html, "post-excerpt")


def test_a_post_without_a_source_leads_to_its_translations(signed_in: SignedIn) -> None:
    post = make.post()

    answer = signed_in().get(address(post))

    assert answer.status_code == 302
    assert answer["Location"] == f"/admin/content/post/{post.pk}/translations/"


def test_fields_are_called_up_to_date_one_by_one_and_together(signed_in: SignedIn) -> None:
    source = make.post("Coffee", excerpt="First")
    german = german_of(source)
    make.edited(source, {"title": "Tea", "excerpt": "Second"})
    client = signed_in()

    client.post(address(german), {"checked": "post.title"})
    assert stale(german) == ("post.excerpt",)
    client.post(address(german), {"checked": "all"})
    assert stale(german) == ()

    german.refresh_from_db()
    assert german.title == "Coffee"


def test_a_path_that_is_not_compared_changes_nothing(signed_in: SignedIn) -> None:
    german = german_of(make.post())
    before = CopyOrigin.objects.get(post=german).hashes

    answer = signed_in().post(address(german), {"checked": "post.nonsense"}, follow=True)

    assert "This translation has no field" in answer.content.decode()
    assert CopyOrigin.objects.get(post=german).hashes == before


def test_what_is_saved_leads_back_here(signed_in: SignedIn) -> None:
    source = make.post("Coffee")
    german = german_of(source)
    make.edited(source, {"title": "Tea"})
    german.refresh_from_db()
    sent = {"do": "save", "version": german.version, "was": '{"post.title": "old"}'}

    answer = signed_in().post(address(german), {**sent, "post.title": "Tee"})

    german.refresh_from_db()
    assert (answer.status_code, answer["Location"]) == (302, address(german))
    assert german.title == "Tee"
    assert stale(german) == ()
    assert open_layers(german).review.changes.items == ()


def test_a_refused_save_keeps_what_was_typed(signed_in: SignedIn) -> None:
    german = german_of(make.post("Coffee"))
    german.refresh_from_db()
    sent = {"do": "save", "version": german.version, "was": '{"post.title": "old"}'}

    answer = signed_in().post(address(german), {**sent, "post.title": "x" * 400})

    html = answer.content.decode()
    assert answer.status_code == 422
    assert "data-beside" in html
    assert "x" * 400 in html
    german.refresh_from_db()
    assert german.title == "Coffee"


def test_a_translator_saves_a_published_post_to_review_only(signed_in: SignedIn) -> None:
    german = german_of(make.post("Coffee"))
    edit_post(post_id=german.pk, actor=make.actor("editor"), status="published")
    german.refresh_from_db()
    client = signed_in("translator")
    sent = {"version": german.version, "was": '{"post.title": "old"}', "post.title": "Kaffee"}

    page = client.get(address(german)).content.decode()
    assert 'value="save-review"' in page
    assert 'value="save"' not in page
    assert client.post(address(german), {**sent, "do": "save"}).status_code == 403
    answer = client.post(address(german), {**sent, "do": "save-review"})

    german.refresh_from_db()
    assert answer["Location"] == f"{address(german)}?layer=review"
    assert german.title == "Coffee"
    assert open_layers(german).review.document.fields["title"] == "Kaffee"


def test_modules_follow_the_source_by_their_buttons(signed_in: SignedIn) -> None:
    source = make.post("Coffee")
    german = german_of(source)
    make.added_module(
        source, type="callout", props={"title": "Mind the heat"}, index=1, by=make.actor("admin")
    )
    callout = make.module_id(source, "callout")
    client = signed_in()
    german.refresh_from_db()

    page = client.get(address(german)).content.decode()
    assert f'value="add:{callout}"' in page
    assert f'value="modules.{callout}"' in page
    german_structure = {"structure": f"add:{callout}", "version": german.version}
    assert signed_in("translator").post(address(german), german_structure).status_code == 302
    assert make.layers(german).live.modules[1].type == "prose"
    client.post(address(german), german_structure)

    assert make.layers(german).live.modules[1].type == "callout"
    assert f'value="add:{callout}"' not in client.get(address(german)).content.decode()


def test_a_new_module_may_be_left_out(signed_in: SignedIn) -> None:
    source = make.post("Coffee")
    german = german_of(source)
    make.added_module(source, type="separator", by=make.actor("admin"))
    separator = make.module_id(source, "separator")

    signed_in("translator").post(address(german), {"checked": f"modules.{separator}"})

    assert states_of([german])[german.pk].new_modules == ()


def test_an_agent_is_started_on_the_fields_that_are_out_of_date(signed_in: SignedIn) -> None:
    source = make.post("Coffee", excerpt="First")
    german = german_of(source)
    make.edited(source, {"title": "Tea"})
    client = signed_in()

    page = client.get(address(german)).content.decode()
    (start,) = re.findall(r'href="([^"]+)&(?:amp;)?fields=stale" data-agent-dialog', page)
    assert "fields=post.title" in row(page, "post-title")
    dialog = client.get(start.replace("&amp;", "&") + "&fields=stale").content.decode()
    assert re.findall(r'name="fields" value="([^"]+)"', dialog) == ["post.title"]
    sent = {"agent": "translator", "do": "run", "fields": "post.title"}
    client.post(start.partition("?")[0], sent)
    assert AgentRun.objects.get(agent_id="translator", scope="dropdown").context == {
        "onlyFields": ["post.title"]
    }
    refused = client.post(start.partition("?")[0], {**sent, "fields": "post.nonsense"})
    assert refused.status_code == 422
    assert AgentRun.objects.filter(scope="dropdown").count() == 1
    assert (
        "Translate with an agent"
        not in signed_in("translator").get(address(german)).content.decode()
    )


@pytest.mark.parametrize("modules", [10, 100])
def test_the_page_takes_the_same_statements_for_any_number_of_modules(
    signed_in: SignedIn, modules: int
) -> None:
    def fill(document):
        for number in range(modules):
            document, _id = document_edits.add_module(
                document, type="callout", props={"title": f"No. {number}"}
            )
        return document

    source = make.post("Coffee")
    edit_post(post_id=source.pk, actor=make.actor("admin"), edit=fill)
    german = german_of(source)
    make.edited(source, {"title": "Tea"})
    client = signed_in()
    client.get(address(german))

    assert count_queries(client.get, address(german)) == 14
