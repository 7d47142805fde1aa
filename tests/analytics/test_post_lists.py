"""The lists under Insights: experiments with their verdicts, and posts by views with links to heatmaps."""

from __future__ import annotations

import pytest
from django.test import Client

from analytics.admin import post_lists
from analytics.periods import today
from content.models import Post, Status
from content.posts.variations import create_variation
from content.store.traffic import stop_variations
from proofroom.accounts.roles import GRANTS, PERMISSIONS
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from tests import make
from tests.analytics.begun import begun
from tests.analytics.counted import ago, arm, count
from tests.analytics.test_summary_page import words
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
LIMITABLE = sorted(PERMISSIONS & GRANTS["admin"] - WHOLE_SITE)
EXPERIMENTS = "/admin/analytics/experiments/"
HEATMAPS = "/admin/analytics/heatmaps/"


@pytest.fixture
def editor(client: Client) -> Client:
    client.force_login(make.user("editor"))
    return client


def html(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def titled(post: Post, title: str) -> None:
    slug = title.lower().replace(" ", "-")
    Post.objects.filter(pk=post.pk).update(title=title, slug=slug, path=f"/blog/{slug}")


def test_experiments_say_their_state_shares_and_verdicts(editor: Client) -> None:
    running, (b,) = begun()
    titled(running, "Runs")
    ended, _ = begun()
    titled(ended, "Is over")
    stop_variations(ended, make.actor("editor"))
    waiting = make.post("Waits")
    create_variation(post_id=waiting.pk, variation="B", weight=50, actor=make.actor("editor"))
    make.post("Without variations")
    arm(running.pk, running.pk, 5000, 500)
    arm(running.pk, b.pk, 5000, 680)

    page = html(editor, EXPERIMENTS)

    text = words(page)
    assert text.index("Runs") < min(text.index("Is over"), text.index("Waits"))
    assert "Without variations" not in text
    assert "A 50 % B 50 % Conversions for “signup” B is better than A" in text
    assert ("Running" in text, "Ended" in text, "Not started" in text) == (True, True, True)
    assert f"/admin/analytics/variations/{running.pk}/" in page
    assert f"/admin/content/post/{waiting.pk}/variations/" in page


def test_a_site_without_experiments_shows_the_next_step(editor: Client) -> None:
    make.post()
    page = words(html(editor, EXPERIMENTS))
    assert "No experiments yet" in page
    assert "Choose a post" in page


def test_experiments_are_paged_and_cost_a_fixed_number_of_statements_each(
    editor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured() -> int:
        html(editor, EXPERIMENTS)
        return count_queries(html, editor, EXPERIMENTS)

    first, _ = begun()
    titled(first, "First")
    one = measured()
    begun()
    assert measured() - one == 6
    monkeypatch.setattr(post_lists, "EXPERIMENTS_PAGE", 1)
    assert measured() == one
    assert "1 / 2" in html(editor, EXPERIMENTS)


def test_heatmaps_are_found_by_what_was_viewed_most(editor: Client) -> None:
    posts = {title: make.post(title, slug=title.lower()) for title in ("Seldom", "Often", "Draft")}
    Post.objects.filter(pk=posts["Draft"].pk).update(status=Status.DRAFT)
    count(today(), 3, post_id=posts["Seldom"].pk)
    count(ago(2), 1200, post_id=posts["Often"].pk)
    count(ago(40), 9000, post_id=posts["Seldom"].pk)

    page = html(editor, HEATMAPS)

    text = words(page)
    assert "Often /blog/often 1,200 Seldom /blog/seldom 3" in text
    assert "Draft" not in text
    assert f"/admin/analytics/heatmap/{posts['Often'].pk}/" in page
    assert "Often" not in words(html(editor, f"{HEATMAPS}?q=seld"))
    assert "No posts match your search." in words(html(editor, f"{HEATMAPS}?q=nothing"))


def test_only_visible_objects_are_listed(client: Client) -> None:
    hidden, _ = begun()
    page = make.post("Inside", type="page", markdown="")
    create_variation(post_id=page.pk, variation="B", weight=50, actor=make.actor("editor"))
    make.site_role("pages", *LIMITABLE, scope=ContentScope(types=frozenset({"page"})))
    client.force_login(make.user("pages"))
    for address in (EXPERIMENTS, HEATMAPS):
        text = words(html(client, address))
        assert "Inside" in text
        assert hidden.title not in text
    client.force_login(make.user("translator"))
    assert client.get(EXPERIMENTS).status_code == 403
    assert client.get(HEATMAPS).status_code == 403
