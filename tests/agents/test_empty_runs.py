"""The page of agent runs before there is one."""

from __future__ import annotations

import pytest
from django.test import Client

from tests import make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("role", "may"), [("admin", True), ("editor", False)])
def test_the_empty_page_has_the_button_that_starts_a_run(
    client: Client, role: str, may: bool
) -> None:
    client.force_login(make.user(role))
    page = client.get("/admin/agents_app/agentrun/").content.decode()
    empty = page.partition('class="card empty"')[2].partition("</div>")[0]
    assert ('href="/admin/agents_app/ask/"' in empty) is may
