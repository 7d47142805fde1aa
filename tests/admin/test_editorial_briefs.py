"""Editorial briefs in the admin: list, edit with rows, preview, history."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from proofroom.briefs.models import Brief
from tests import make
from tests.admin.pages import fields
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIST = "/admin/proofroom_briefs/brief/"
ROWS = {
    "terms": [
        {
            "term": "utilise",
            "preferred": "use",
            "forbidden": True,
            "translations": {"de": "nutzen", "fr": "utiliser"},
            "note": "Everywhere.",
        },
        {"term": "grinder"},
    ],
    "protectedNames": ["AeroPress", "Nova"],
    "never": ["the best"],
    "examples": [{"before": "Line\n\nTwo", "after": "Line"}],
}


def page_of(brief: Brief, page: str = "change") -> str:
    return f"{LIST}{brief.pk}/{page}/"


def form_of(client: Client, address: str) -> dict[str, Any]:
    """Return what a browser sends back when nothing is changed."""
    return dict(fields(client.get(address), "audience"))


def text_of(content: bytes) -> str:
    return unescape(content.decode())


def preview_in(content: bytes) -> str:
    found = re.search(r'<pre class="brief-text"[^>]*>(.*?)</pre>', content.decode(), re.DOTALL)
    return unescape(found[1]) if found else ""


def test_without_briefs_the_list_says_what_comes_next(signed_in: SignedIn):
    page = text_of(signed_in().get(LIST).content)

    assert "A brief tells agents and AI clients how your site writes" in page
    assert f'href="{LIST}add/"' in page


def test_a_brief_is_created_for_its_place_and_filled_in(signed_in: SignedIn):
    client = signed_in()
    given = {"name": "Blog", "locale": "de", "type": "blog", "section": "/guides/"}

    created = client.post(f"{LIST}add/", given)

    brief = Brief.objects.get()
    assert created["Location"] == page_of(brief)
    assert (brief.locale, brief.type, brief.section) == ("de", "blog", "guides")
    form = form_of(client, page_of(brief))
    rows = {"terms-row": ["a"], "terms-term-a": ["utilise"], "terms-forbidden-a": ["on"]}
    saved = client.post(page_of(brief), {**form, **rows, "voice": ["Warm.\r\nShort."]})
    assert saved.status_code == 302
    brief.refresh_from_db()
    assert (brief.voice, brief.version) == ("Warm.\nShort.", 2)
    assert brief.terms == [{"term": "utilise", "forbidden": True}]
    listed = text_of(client.get(LIST).content)
    assert "German · Blog post · guides" in listed


def test_a_second_brief_for_a_place_is_refused_at_its_field(signed_in: SignedIn):
    make.brief("German", locale="de")

    page = signed_in().post(f"{LIST}add/", {"name": "Again", "locale": "de"})

    assert page.status_code == 422
    assert "There is already a brief for this language" in text_of(page.content)
    assert Brief.objects.count() == 1


def test_saving_unchanged_keeps_every_value(signed_in: SignedIn):
    client = signed_in()
    brief = make.brief(
        audience="All", voice="Warm.\nShort.", address="du", readingLevel="B1", **ROWS
    )

    answer = client.post(page_of(brief), form_of(client, page_of(brief)), follow=True)

    assert "No changes to save." in text_of(answer.content)
    stored = Brief.objects.get()
    assert stored.version == 1
    assert stored.terms == ROWS["terms"]


def test_rows_are_removed_and_empty_ones_left_out(signed_in: SignedIn):
    client = signed_in()
    brief = make.brief(**ROWS)
    form = form_of(client, page_of(brief))

    form["terms-term-1"] = [" "]
    form["protectedNames-row"] = ["1", "0"]
    form["never-row"] = []
    client.post(page_of(brief), form)

    stored = Brief.objects.get()
    assert stored.terms == ROWS["terms"][:1]
    assert stored.protected_names == ["Nova", "AeroPress"]
    assert stored.never == []


def test_the_buttons_of_rows_work_without_scripts(signed_in: SignedIn):
    client = signed_in()
    brief = make.brief(**ROWS)
    form = form_of(client, page_of(brief))

    added = client.post(page_of(brief), {**form, "do": "add:terms"}).content.decode()
    removed = client.post(page_of(brief), {**form, "do": "remove:terms:0"}).content.decode()

    assert 'name="terms-term-added-terms"' in added
    assert 'value="utilise"' in added
    assert 'value="utilise"' not in removed
    assert 'value="grinder"' in removed
    assert "Not saved yet" in removed
    assert Brief.objects.get().terms == ROWS["terms"]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"terms-row": ["a"], "terms-note-a": ["No term"]},
            "Term: This must not be empty.",
        ),
        (
            {
                "terms-row": ["a", "b"],
                "terms-term-a": ["same"],
                "terms-term-b": ["same"],
            },
            "Term: “same” is in the list already.",
        ),
        (
            {"examples-row": ["a"], "examples-before-a": ["Only before"]},
            "After: This must not be empty.",
        ),
        (
            {"never-row": ["a"], "never-text-a": ["x" * 301]},
            "This must have at most 300 characters.",
        ),
        (
            {"terms-row": [str(n) for n in range(201)]}
            | {f"terms-term-{n}": [f"t{n}"] for n in range(201)},
            "This must have at most 200 entries.",
        ),
    ],
)
def test_an_error_is_shown_at_its_row(
    signed_in: SignedIn, values: dict[str, list[str]], sentence: str
):
    client = signed_in()
    brief = make.brief()

    page = client.post(page_of(brief), {**form_of(client, page_of(brief)), **values})

    assert page.status_code == 422
    assert "Not saved. Correct the marked fields." in text_of(page.content)
    assert sentence in text_of(page.content)
    assert Brief.objects.get().version == 1


def test_a_colleagues_change_is_not_overwritten(signed_in: SignedIn):
    client = signed_in()
    brief = make.brief(voice="Warm.")
    form = form_of(client, page_of(brief))
    make.changed_brief(brief, voice="Calm.")

    page = client.post(page_of(brief), {**form, "voice": ["Mine."]})

    assert page.status_code == 422
    assert "This brief has changed since you opened it." in text_of(page.content)
    assert Brief.objects.get().voice == "Calm."


def test_the_preview_shows_what_an_agent_reads_before_saving(signed_in: SignedIn):
    client = signed_in()
    make.brief("Site", audience="Everyone", protectedNames=["Nova"])
    brief = make.brief("German", locale="de", voice="Warm.")
    form = form_of(client, page_of(brief))

    opened = preview_in(client.get(page_of(brief)).content)
    typed = client.post(page_of(brief), {**form, "voice": ["Calm."], "do": "preview"})
    elsewhere = client.post(page_of(brief), {**form, "previewLocale": ["en"], "do": "preview"})

    assert opened == (
        "# Editorial brief\n\n## Audience\n\nEveryone\n\n## Voice\n\nWarm.\n\n"
        "## Names to keep exactly as written, in every language\n\n- Nova\n"
    )
    assert "## Voice\n\nCalm.\n" in preview_in(typed.content)
    assert "Voice" not in preview_in(elsewhere.content)
    assert "This brief does not apply to this post type and language." in text_of(elsewhere.content)
    assert Brief.objects.get(locale="de").voice == "Warm."


def test_invalid_values_leave_the_saved_brief_in_the_preview(signed_in: SignedIn):
    client = signed_in()
    brief = make.brief(voice="Warm.")
    form = form_of(client, page_of(brief))

    page = client.post(page_of(brief), {**form, "voice": ["x" * 2001], "do": "preview"})

    assert "The preview shows the saved brief:" in text_of(page.content)
    assert "Warm." in preview_in(page.content)


def test_a_language_that_the_site_no_longer_has_stays_on_save(signed_in: SignedIn):
    client = signed_in()
    brief = make.brief(voice="Warm.")
    Brief.objects.update(locale="pt", type="gone")

    form = form_of(client, page_of(brief))
    saved = client.post(page_of(brief), {**form, "voice": ["Calm."]})

    assert saved.status_code == 302
    assert Brief.objects.values_list("locale", "type", "voice").get() == ("pt", "gone", "Calm.")


def test_translators_read_briefs_and_their_history_but_change_nothing(signed_in: SignedIn):
    client = signed_in("translator")
    brief = make.changed_brief(make.brief(voice="Warm."), voice="Calm.")

    page = client.get(page_of(brief)).content

    assert "Calm." in preview_in(page)
    assert b"<textarea" not in page
    assert client.post(page_of(brief), {"name": "Mine", "do": "save"}).status_code == 200
    assert client.get(page_of(brief, "delete")).status_code == 403
    history = text_of(client.get(page_of(brief, "versions")).content)
    assert "Edited: Voice" in history
    assert "Restore…" not in history
    assert client.post(f"{LIST}{brief.pk}/versions/1/restore/").status_code == 403
    assert Brief.objects.get().voice == "Calm."


def test_versions_are_compared_and_restored(signed_in: SignedIn):
    client = signed_in("admin")
    brief = make.brief(voice="Warm and short.", **ROWS)
    make.changed_brief(brief, voice="Calm and short.", terms=ROWS["terms"][1:])

    history = text_of(client.get(page_of(brief, "versions")).content)
    compared = text_of(client.get(f"{page_of(brief, 'compare')}?from=1&to=2").content)
    restore = f"{LIST}{brief.pk}/versions/1/restore/"
    asked = text_of(client.get(restore).content)
    stale = client.post(restore, {"version": "1"}, follow=True)

    assert "Edited: Voice, Terms" in history
    assert "Calm" in compared
    assert "utilise → use (Never use) · de: nutzen · fr: utiliser · Everywhere." in compared
    assert "Restore version 1" in asked
    assert "This brief has changed since you opened it." in text_of(stale.content)
    done = client.post(restore, {"version": "2"}, follow=True)
    assert "Version 1 restored." in text_of(done.content)
    stored = Brief.objects.get()
    assert (stored.voice, stored.terms, stored.version) == ("Warm and short.", ROWS["terms"], 3)


def test_addresses_of_unknown_versions_are_404(signed_in: SignedIn):
    client = signed_in()
    brief = make.brief()

    for address in (
        f"{page_of(brief, 'compare')}?from=1&to=9",
        f"{page_of(brief, 'compare')}?from=x&to=1",
        f"{LIST}{brief.pk}/versions/9/restore/",
        page_of(brief, "change").replace(str(brief.pk), "x"),
        f"{LIST}00000000-0000-4000-8000-000000000000/versions/",
    ):
        assert client.get(address).status_code == 404, address


def test_a_brief_is_deleted_after_a_confirmation(signed_in: SignedIn):
    client = signed_in()
    brief = make.brief()

    asked = text_of(client.get(page_of(brief, "delete")).content)
    assert "permanently deletes the brief and its history" in asked
    client.post(page_of(brief, "delete"))

    assert not Brief.objects.exists()


def test_texts_of_a_brief_are_not_markup(signed_in: SignedIn):
    evil = '"><img src=x onerror=alert(1)>'
    brief = make.brief(
        evil,
        voice=evil,
        terms=[{"term": evil, "note": evil}],
        never=[evil],
        examples=[{"before": evil, "after": evil}],
    )
    client = signed_in()

    for address in (LIST, page_of(brief), page_of(brief, "versions"), page_of(brief, "delete")):
        assert b"<img src=x" not in client.get(address).content


def test_the_pages_take_as_many_queries_for_many_briefs(signed_in: SignedIn):
    client = signed_in()
    brief = make.brief(**ROWS)
    pages = (LIST, page_of(brief), page_of(brief, "versions"))
    few = [page_queries(client, page) for page in pages]

    make.copies(brief, 20, section=lambda number: f"section/{number}")
    for voice in ("a", "b", "c"):
        make.changed_brief(brief, voice=voice)

    assert [page_queries(client, page) for page in pages] == few
