"""Scripts in text fields are shown as text everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from content.models import Post
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert(1)</script>"


TEXTS: list[Callable[[ApiClient, Post], Any]] = [
    lambda c, p: c.write("PUT", f"/api/posts/{p.pk}", {"title": SCRIPT}),
    lambda c, p: c.write("PUT", f"/api/posts/{p.pk}", {"excerpt": SCRIPT}),
    lambda c, p: c.write("PUT", f"/api/posts/{p.pk}", {"metaTitle": f'"{SCRIPT}'}),
    lambda c, p: c.write("PUT", f"/api/posts/{p.pk}", {"metaDescription": f"'>{SCRIPT}"}),
    lambda c, p: c.write(
        "PUT", f"/api/posts/{p.pk}", {"jsonldOverrides": {"name": f"</script>{SCRIPT}"}}
    ),
    lambda c, p: c.write(
        "PUT", f"/api/post-modules/{make.module_id(p, 'hero')}", {"props": {"title": SCRIPT}}
    ),
]


@pytest.mark.parametrize("write", TEXTS)
def test_script_in_a_text_is_text_wherever_it_is_shown(
    write: Callable[[ApiClient, Post], Any],
) -> None:
    post = make.post()
    write(ApiClient("editor"), post)

    page = ApiClient().get(Post.objects.get().path)

    assert page.status_code == 200
    assert b"<script>alert" not in page.content
    answer = ApiClient().get(f"/api/public/posts/{post.pk}")
    assert answer["Content-Type"] == "application/json"
    assert answer["X-Content-Type-Options"] == "nosniff"
