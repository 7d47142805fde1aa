"""The pages of people, companies and testimonials show their facts."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Post
from tests import make
from tests.content.test_rendering import ATTACK, Page
from tests.site.test_images import image
from tests.site.test_pages import text

pytestmark = pytest.mark.django_db


def facts(client, post: Post) -> Any:
    html = text(client.get(post.path))
    return html[html.index('class="facts') : html.index("</main>")]


def test_a_person_has_role_picture_and_ways_to_reach_them(client):
    post = make.post(
        "Sample Roaster", type="profile", featuredMediaId=str(image("face.png").pk),
        customFields={
            "role": "Head of roasting", "email": "roaster@example.com",
            "website": "https://example.com/me",
        },
    )  # fmt: skip

    html = facts(client, post)

    assert "<dt>Role</dt><dd>Head of roasting</dd>" in html
    assert '<a href="mailto:roaster@example.com">roaster@example.com</a>' in html
    assert '<a href="https://example.com/me" rel="noopener noreferrer">' in html
    assert 'alt="Picture face.png"' in html
    assert '<link rel="stylesheet" href="/static/cms/modules/facts.css">' in text(
        client.get(post.path)
    )


def test_a_company_has_its_logo_and_industry(client):
    post = make.post(
        "Sample Mill", type="company",
        customFields={"industry": "Milling", "logoId": str(image("logo.png").pk)},
    )  # fmt: skip

    html = facts(client, post)

    assert "<dt>Industry</dt><dd>Milling</dd>" in html
    assert 'alt="Picture logo.png"' in html
    assert "<dt>Website</dt>" not in html


def test_a_testimonial_is_a_quote_with_who_said_it(client):
    post = make.post(
        "Said once", type="testimonial",
        customFields={
            "quote": "Good & slow.", "authorName": "A guest", "company": "Sample Mill",
            "portraitId": str(image("portrait.png").pk), "rating": 5,
        },
    )  # fmt: skip

    html = facts(client, post)

    assert "<blockquote><p>Good &amp; slow.</p></blockquote>" in html
    assert "<cite>A guest</cite>" in html
    assert "<span>Sample Mill</span>" in html
    assert 'aria-label="5 of 5 stars">★★★★★</p>' in html
    assert 'alt="Picture portrait.png"' in html


@pytest.mark.parametrize("type", ["profile", "company", "testimonial"])
@pytest.mark.parametrize(
    "stored",
    [{}, {"logoId": 5, "rating": "5", "quote": "", "website": "javascript:alert(1)"}, "attack"],
    ids=["nothing", "odd", "attack"],
)
def test_what_is_stored_in_any_shape_harms_no_page(client, type, stored):
    post = make.post("Somebody", type=type)
    names = ("role", "email", "website", "industry", "quote", "authorName", "authorRole", "company")
    values = dict.fromkeys(names, ATTACK) if stored == "attack" else stored
    Post.objects.filter(pk=post.pk).update(custom_fields=values)

    response = client.get(post.path)

    assert response.status_code == 200
    found = Page(text(response).partition("<main")[2].partition(">")[2].partition("</main>")[0])
    assert found.count("script") == found.count("img") == 0
    for _, attributes in found.elements:
        assert "script:" not in (attributes.get("href") or "").partition("mailto:")[0]
        assert not [name for name in attributes if name.startswith("on")]
