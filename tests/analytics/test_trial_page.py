"""The page of an experiment: a verdict in a sentence, its data, and advice without one."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from analytics.admin.variations import arm_rows
from analytics.experiments.evaluation import evaluate_trial
from analytics.experiments.sentences import round_estimate
from content.store.traffic import change_variation
from proofroom.core.actor import SYSTEM
from tests import make
from tests.analytics.begun import begun
from tests.analytics.counted import ago, arm, count
from tests.analytics.test_summary_page import words

pytestmark = pytest.mark.django_db


@pytest.fixture
def editor(client: Client) -> Client:
    client.force_login(make.user("editor"))
    return client


def shown(client: Client, post_id: object, query: str = "", status: int = 200) -> str:
    response = client.get(f"/admin/analytics/variations/{post_id}/{query}")
    assert response.status_code == status
    return response.content.decode()


def test_verdicts_stand_in_sentences_with_their_ranges(editor: Client) -> None:
    post, (b, c, d, e) = begun(*"BCDE", weight=20)
    for row, reached in ((post, 500), (b, 680), (c, 340), (d, 510)):
        arm(post.pk, row.pk, 5000, reached)
    arm(post.pk, e.pk, 4900, 1, goal="other")

    text = words(shown(editor, post.pk))

    assert "Conversions for “signup”" in text
    assert "B is better than A, by 1.34 to 5.86 points." in text
    assert "C is worse than A, by 1.26 to 5.14 points." in text
    assert "The true difference may be −1.91 to +2.31 points." in text
    assert "No difference found between D and A." in text
    assert "E is worse than A, by 8.51 to 11.49 points." in text
    assert "B 20 % 5,000 0 680 13.6 % +1.34 to +5.86 points" in text
    assert "A the original 20 % 5,000 0 500 10.0 % –" in text
    assert "To detect a difference of 20 % of A’s rate, this page needs about " in text
    assert f"/admin/content/post/{post.pk}/variations/" in shown(editor, b.pk)
    other = words(shown(editor, post.pk, "?goal=other&effect=50"))
    assert "It is too early to judge B. Each version needs at least 100 views" in other


def test_the_page_of_the_variations_leads_here(editor: Client) -> None:
    post, _ = begun()

    page = editor.get(f"/admin/content/post/{post.pk}/variations/").content.decode()

    assert f'href="/admin/analytics/variations/{post.pk}/">Experiment results</a>' in page


def test_rates_are_drawn_on_one_scale() -> None:
    post, (b,) = begun()
    arm(post.pk, post.pk, 1000, 100)
    arm(post.pk, b.pk, 1000, 100)

    a, other = arm_rows(evaluate_trial(post_id=post.pk, who=SYSTEM, params={}))

    assert (a.left, a.width, a.dot) == (other.left, other.width, other.dot)
    assert (a.left, a.width) == ("0.00%", "100.00%")
    assert re.fullmatch(r"4\d\.\d\d%", a.dot)  # Wilson's ranges reach farther to the middle


def test_doubts_stand_above_the_verdicts(editor: Client) -> None:
    post, (b,) = begun(days=3)
    arm(post.pk, post.pk, 500, 40)
    arm(post.pk, b.pk, 500, 40)
    assert "with doubt" not in shown(editor, post.pk)

    change_variation(post_id=post.pk, variation_id=b.pk, weight=10, actor=make.actor("editor"))

    page = shown(editor, post.pk)
    assert "The shares were changed during this period" in page
    assert page.index("may be unreliable") < page.index("Conversions for")


def test_a_post_without_a_test_says_what_to_do(editor: Client) -> None:
    post = make.post("Not tried", slug="not-tried")

    text = words(shown(editor, post.pk))
    assert "Not started" in text
    assert "This post has no experiment yet. Create a variation" in text
    assert "start it. Go to the variations" in text

    tried, _ = begun()
    text = words(shown(editor, tried.pk))
    assert "No conversions yet" in text
    assert "too early to judge B" in text


@pytest.mark.parametrize("query", ["?from=x", f"?from={ago(1)}&to={ago(3)}"])
def test_odd_days_are_said_and_the_whole_test_is_shown(editor: Client, query: str) -> None:
    post, (b,) = begun()
    arm(post.pk, b.pk, 100, 10)

    page = shown(editor, post.pk, query, 422)

    assert 'role="alert"' in page
    assert "signup (10)" in page
    assert shown(editor, post.pk, "?goal=<b>&effect=x&from=&to=")


def test_goals_of_forms_and_estimates_are_said_as_people_do(editor: Client) -> None:
    post, (b,) = begun()
    for row, reached in ((post, 66), (b, 70)):
        arm(post.pk, row.pk, 1234, reached, goal="form:contact")

    text = words(shown(editor, post.pk))

    assert "form submitted: contact (136)" in text
    assert "Conversions for “form submitted: contact”" in text
    assert re.search(r"about \d\d?,?\d?00 more views", text)
    assert [round_estimate(number) for number in (0, 7, 42, 125, 25227)] == [0, 7, 42, 120, 25000]


def test_a_test_that_nobody_saw_is_not_called_none(editor: Client) -> None:
    post, (b,) = begun()
    change_variation(post_id=post.pk, variation_id=b.pk, running=False, actor=make.actor("editor"))

    text = words(shown(editor, post.pk))

    assert "Nothing to compare No views of variations in this period." in text
    assert "No experiment" not in text


def test_an_originals_heatmap_links_its_variations(client: Client) -> None:
    client.force_login(make.user("admin"))
    post, (b, c) = begun("B", "C", weight=20)
    count(ago(0), 1, post_id=b.pk)

    page = client.get(f"/admin/analytics/heatmap/{post.pk}/").content.decode()

    assert f'<a href="/admin/analytics/heatmap/{b.pk}/">heatmap of B</a>' in page
    assert f"/admin/analytics/heatmap/{c.pk}/" not in page
    assert (
        f'<a href="/admin/analytics/sitecount/?postId={post.pk}">Analytics for this post</a>'
        in page
    )
    assert "saw a variation" not in client.get(f"/admin/analytics/heatmap/{b.pk}/").content.decode()


def test_who_may_not_edit_posts_does_not_see_it(client: Client) -> None:
    post, _ = begun()
    client.force_login(make.user("translator"))

    shown(client, post.pk, status=403)
    client.force_login(make.user("editor"))
    shown(client, "00000000-0000-4000-8000-000000000000", status=404)
