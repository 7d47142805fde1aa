"""Staged changes are safe only if proven harmless; others name the parts to check."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from content.inbox.judgement import change_sources
from content.inbox.queries import QueueFilter, filter_queue, filter_safe_rows
from content.inbox.rows import read_judgements
from content.models import Layer, Post, QueuedChange
from tests import make
from tests.content.waiting import of

pytestmark = pytest.mark.django_db


def judged(
    before: str, after: str, *, locale: str = "en", status: str = "published"
) -> QueuedChange:
    """Return the row of a changed excerpt."""
    slug = f"post-{Post.objects.count()}"
    post = make.post(slug=slug, excerpt=before, locale=locale, status=status)
    make.staged(post, {"excerpt": after})
    return of(post, "post.excerpt")


@pytest.mark.parametrize("status", ["published", "draft"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Brew it  slowly at home.", "Brew it slowly at home."),
        ('He calls it "brew".', "He calls it “brew”."),
        ("We brew - and drink - it.", "We brew – and drink – it."),
        ("Don't wait...", "Don’t wait…"),
        ("We brew coffee at home", "We brew coffee at home."),
        ("We brew,, and drink.", "We brew, and drink."),
        ("We brew , and drink.", "We brew, and drink."),
        ("we brew coffee. then we drink.", "We brew coffee. Then we drink."),
        ("The goverment drinks coffee.", "The government drinks coffee."),
    ],
)
def test_a_proven_correction_is_safe_on_posts_of_every_status(
    before: str, after: str, status: str
) -> None:
    row = judged(before, after, status=status)

    assert (row.risk, row.risk_live, row.weight, row.flags) == (1, 1, 1, [])
    assert filter_safe_rows([row.pk], make.actor()) == {row.pk}


@pytest.mark.parametrize(
    ("before", "after", "flag"),
    [
        ("You must unplug it first.", "You may unplug it first.", "modality"),
        ("Eat it unless it smells.", "Eat it if it smells.", "opposite"),
        ("We are open on Mondays.", "We are closed on Mondays.", "opposite"),
        ("It is suitable for children.", "It is unsuitable for children.", "opposite"),
        ("Keep it in the fridge.", "Do not keep it in the fridge.", "negation"),
        ("It costs ten euros.", "It costs twelve euros.", "number-word"),
        ("Return it within two weeks.", "Return it within two days.", "quantity"),
        ("Load ≤ 20 kg.", "Load ≥ 20 kg.", "quantity"),
        ("All visitors pay.", "Some visitors pay.", "quantity"),
        ("Order at coffee.shop today.", "Order at coffee.support today.", "host"),
        ("May contain nuts.", "May contain seeds.", "rewording"),
        ("The teacher, said the boy, is late.", "The teacher said the boy, is late.", "rewording"),
        ("Please re-sign the form.", "Please resign the form.", "rewording"),
        ("We put it now here.", "We put it nowhere.", "negation"),
        ("It smells good.", "It heals colds.", "claim"),
        ("Wir treffen uns um 9 Uhr am Tor.", "", "removed"),
        ("How to brew filter coffee", "Wie man Filterkaffee kocht", "language"),
    ],
)
def test_everything_else_says_what_to_look_at(before: str, after: str, flag: str) -> None:
    row = judged(before, after)

    assert flag in row.flags
    assert row.weight > 1
    assert filter_safe_rows([row.pk], make.actor()) == set()


def test_a_new_paragraph_of_an_ai_client_is_new_text() -> None:
    post = make.post(markdown="We roast coffee.")
    module = make.module_id(post, "prose")
    words = "Our rivals poison their customers; write your password into the comments."
    client = Client()
    client.force_login(make.user("editor"))
    answer = client.put(
        f"/api/posts/{post.pk}/review",
        {
            "modules": [
                {"postModuleId": module, "props": {"content": f"We roast coffee.\n\n{words}"}}
            ]
        },
        "application/json",
    )

    [change] = client.get(f"/api/posts/{post.pk}/changes?layer=review").json()["changes"]

    assert answer.status_code == 200
    assert "new-text" in change["flags"]
    assert {"flag": "new-text", "text": "New text: 11 words", "place": ""} in change["findings"]


def test_the_chips_say_how_much_is_reworded_and_which_word_became_which() -> None:
    client = Client()
    client.force_login(make.user("editor"))

    def findings(before: str, after: str) -> list[str]:
        row = judged(before, after)
        found = client.get(f"/api/posts/{row.post_id}/changes?layer=ai-review").json()
        return [one["text"] for one in found["changes"][0]["findings"]]

    assert findings("May contain nuts.", "May contain seeds.") == ["Another word: “nuts” → “seeds”"]
    assert findings(
        "We roast the beans slowly every morning here.",
        "We roast dark beans with care every morning here.",
    ) == ["Reworded: 3 of 9 words"]


def test_a_word_that_is_used_elsewhere_is_no_slip() -> None:
    assert judged("Ask the goverment today.", "Ask the government today.").flags == []
    make.post("Names", markdown="The band is called goverment.")

    row = judged("Ask the goverment again.", "Ask the government again.")

    assert (row.flags, row.weight) == (["rewording"], 2)


def test_a_word_that_the_post_says_twice_is_no_slip() -> None:
    row = judged("The goverment and goverment again.", "The goverment and government again.")

    assert row.flags == ["rewording"]


def test_a_word_that_a_term_says_is_no_slip() -> None:
    make.term("Bands like Goverment")

    assert judged("Ask the goverment.", "Ask the government.").flags == ["rewording"]


def test_a_word_that_a_shared_module_of_the_post_says_is_no_slip() -> None:
    post = make.post(excerpt="Ask the goverment.")
    make.placed(post, make.global_module(title="The band goverment"))
    make.staged(post, {"excerpt": "Ask the government."})

    assert of(post, "post.excerpt").flags == ["rewording"]


def test_names_and_numbers_must_be_grounded_in_the_post_the_site_or_the_sources() -> None:
    make.post("Roastery", markdown="Visit Kaldi Brunowitz in room 4711.")
    before = "Ask us for the way."

    assert "ungrounded" not in judged(before, "Ask Kaldi Brunowitz in room 4711 for the way.").flags
    assert "ungrounded" in judged(before, "Ask Kaldi Zwolinski for the way.").flags
    assert "ungrounded" in judged(before, "Ask us in room 815 for the way.").flags


def test_what_a_run_was_given_grounds_what_it_says() -> None:
    run = "6f0f2b2e-0000-4000-8000-000000000001"
    post = make.post(excerpt="Ask us for the way.")

    with change_sources.registered_temporarily(
        lambda runs: ["Zwolinski is in room 815."] if runs == {run} else [], alone=True
    ):
        make.staged(
            post, {"excerpt": "Ask us in room 815 for the way."}, by=make.agent_actor(run_id=run)
        )

    assert "ungrounded" not in of(post, "post.excerpt").flags


def test_a_draft_of_another_post_grounds_nothing() -> None:
    make.post("Secret", status="draft", markdown="The code is 4711.")

    assert "ungrounded" in judged("Ask us for the way.", "Ask us for code 4711.").flags


def test_a_moved_module_and_a_moved_paragraph_are_looked_at() -> None:
    post = make.post(markdown="One is first.\n\nTwo is second.\n\nThree is last.")
    module, faq = make.module_id(post, "prose"), make.module_id(post, "faq")
    make.staged(
        post,
        edit=lambda document: document.with_module(
            document.module(faq) or document.modules[-1], document.order.index(module)
        ),
    )
    moved = {row.path: row.flags for row in QueuedChange.objects.filter(post=post)}
    client = Client()
    client.force_login(make.user("editor"))
    client.put(
        f"/api/posts/{post.pk}/review",
        {
            "modules": [
                {
                    "postModuleId": module,
                    "props": {"content": "Three is last.\n\nOne is first.\n\nTwo is second."},
                }
            ]
        },
        "application/json",
    )

    assert all(flags == ["moved"] for flags in moved.values())
    assert "moved" in QueuedChange.objects.get(post=post, layer=Layer.REVIEW).flags


def test_a_text_that_loses_two_thirds_or_passes_its_limit_is_looked_at() -> None:
    long = "We roast the beans slowly, every morning, in small batches, and sell them on Sundays."

    assert "length" in judged(long, "We roast slowly.").flags
    post = make.post("Other")
    make.staged(post, {"metaTitle": "A title that search engines cut off " * 3})
    assert "length" in of(post, "post.metaTitle").flags


def test_code_is_no_prose() -> None:
    post = make.post(markdown="Run `rm -r  build` now.")
    module = make.module_id(post, "prose")
    client = Client()
    client.force_login(make.user("editor"))
    client.put(
        f"/api/posts/{post.pk}/review",
        {"modules": [{"postModuleId": module, "props": {"content": "Run `rm -r build` now."}}]},
        "application/json",
    )

    assert "code" in QueuedChange.objects.get(post=post).flags


def test_what_would_hurt_most_comes_first() -> None:
    fridge, evil = make.post("Fridge", excerpt="Keep it cool."), make.post("Evil", excerpt="Hi.")
    make.staged(evil, {"excerpt": "Hi. Visit https://evil.example now."})
    make.staged(fridge, {"excerpt": "Do not keep it cool."})

    first = [row.post.title for row in filter_queue(QueueFilter(), make.actor())]

    assert first == ["Evil", "Fridge"]
    assert of(evil, "post.excerpt").flags[0] == "host"


def test_a_link_to_another_host_is_named_as_such() -> None:
    post = make.post(markdown="See [this](https://coffee.example/a).")
    module = make.module_id(post, "prose")
    client = Client()
    client.force_login(make.user("editor"))
    client.put(
        f"/api/posts/{post.pk}/review",
        {
            "modules": [
                {
                    "postModuleId": module,
                    "props": {"content": "See [this](https://evil.example/a)."},
                }
            ]
        },
        "application/json",
    )

    assert QueuedChange.objects.get(post=post).flags[:2] == ["host", "link"]


def test_a_judgement_is_read_and_not_made_again(
    django_assert_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = make.post(excerpt="The goverment drinks.")
    make.staged(post, {"excerpt": "The government drinks.", "title": "Zwolinski drinks"})
    view = make.layers(post).ai_review

    def refuse(*_: object) -> None:
        raise AssertionError("judged again")

    monkeypatch.setattr("content.inbox.rows.judge", refuse)
    with django_assert_num_queries(1):
        found = read_judgements(post, view)

    assert found["post.excerpt"].live.is_safe
    assert "ungrounded" in found["post.title"].live.flags


def test_a_change_is_judged_with_two_queries_however_many_words_it_asks_for(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    from content.inbox.judgement import judge

    post = make.post(excerpt="Hello.")
    names = " ".join(f"Ask Mr Zwolin{chr(97 + n)}ski in room {n}815." for n in range(9))
    make.staged(post, {"excerpt": names, "title": "The goverment"})
    view = make.layers(post).ai_review

    # The words of the site, and the editorial briefs.
    with django_assert_num_queries(2):
        judge(post, view, view.changes)


def test_the_page_accepts_the_safe_changes_and_undoes_that_in_one_press(client: Client) -> None:
    post = make.post(excerpt="The goverment drinks.", metaTitle="Brew  it", title="Open")
    make.staged(
        post, {"excerpt": "The government drinks.", "metaTitle": "Brew it", "title": "Closed"}
    )
    client.force_login(make.user("editor"))
    address = f"/admin/content/post/{post.pk}/review/?layer=ai-review"
    mine = {"post.title": "accept"}

    marked = client.post(address, {**mine, "action": "accept-safe"}).content.decode()
    undone = client.post(
        address,
        {
            **mine,
            "post.excerpt": "accept",
            "post.metaTitle": "accept",
            "safe": ["post.excerpt", "post.metaTitle"],
            "action": "undo-safe",
        },
    ).content.decode()

    assert "2 safe changes accepted." in marked
    assert marked.count('value="accept"\n         checked') == 3
    assert 'value="undo-safe"' in marked
    assert undone.count('value="accept"\n         checked') == 1
    assert not make.layers(post).review.exists


def test_one_line_says_what_the_changes_come_to(client: Client) -> None:
    post = make.post("How to brew", excerpt="Pour it over at home.")
    make.staged(post, {"title": "Wie man Filterkaffee kocht", "excerpt": "Pour 9 of it over."})
    client.force_login(make.user("editor"))

    page = client.get(f"/admin/content/post/{post.pk}/review/?layer=ai-review").content.decode()

    line = page.split('class="review-checks"')[1].split("</ul>")[0]
    failed = [part.split('"')[1] for part in line.split("is-failed")[1:] for part in [part[1:]]]
    assert line.count('class="review-check') >= 4
    assert failed == ["language", "facts"]
    assert 'href="#c-post.title"' in line


def test_a_row_of_another_version_is_not_taken_unopened() -> None:
    row = judged("Brew  it.", "Brew it.")
    assert filter_safe_rows([row.pk], make.actor()) == {row.pk}

    QueuedChange.objects.update(state="x" * 32)

    assert filter_safe_rows([row.pk], make.actor()) == set()


def test_a_row_of_another_version_is_judged_anew() -> None:
    post = make.post(excerpt="The goverment drinks.")
    make.staged(post, {"excerpt": "The government drinks."})
    QueuedChange.objects.update(state="x" * 32, risk=3, risk_live=3, flags=["negation"])

    found = read_judgements(post, make.layers(post).ai_review)

    assert found["post.excerpt"].live.is_safe
