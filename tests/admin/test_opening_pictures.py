"""Lists of the admin show the first picture of a post without a featured image."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/admin/content/post/", "/admin/"])
def test_a_list_shows_the_picture_that_opens_a_post(
    signed_in: Callable[..., Client], path: str
) -> None:
    client = signed_in()

    def opened(number: int) -> str:
        post, picture = make.post(f"Post {number}"), make.image(f"picture{number}.png")
        hero = make.module_id(post, "hero")
        make.changed_module(post, hero, props={"imageId": str(picture.pk)})
        return str(picture.file.name).rpartition("/")[2].partition(".")[0]

    first = opened(1)
    client.get(path)
    with CaptureQueriesContext(connection) as once:
        shown = client.get(path).content.decode()
    others = [opened(number) for number in (2, 3)]
    with CaptureQueriesContext(connection) as again:
        more = client.get(path).content.decode()

    assert first in shown
    assert all(name in more for name in (first, *others))
    assert len(again) == len(once)
