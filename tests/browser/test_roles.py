"""A role limited to a section: created by an administrator, and the view of its users."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from proofroom.accounts.models import SiteRole
from tests import make
from tests.browser.test_looks import serious

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_role_is_limited_to_a_section_and_its_people_see_no_other(
    open_page: Any, scripts: bool
) -> None:
    docs = make.post("Handbook", type="page", slug="handbook")
    make.post("Install", type="page", slug="install", parentId=str(docs.pk))
    about = make.post("About us", type="page", slug="about-us")
    admin = open_page("admin", scripts=scripts)
    admin.goto("/admin/proofroom_accounts/siterole/add/")
    admin.get_by_label("Name", exact=True).fill("Desk")
    for permission in ("View posts, including drafts", "Edit live content and drafts"):
        admin.get_by_label(permission).check()
    if scripts:
        admin.get_by_role("combobox", name="Limit to sections").press_sequentially("Handb")
        admin.get_by_role("option", name=re.compile("^Handbook ")).click()
        assert serious(admin) == []
    else:
        admin.get_by_label("Handbook (/handbook)").check()

    admin.get_by_role("button", name="Create role").click()

    admin.get_by_role("link", name="Desk").first.wait_for()
    assert SiteRole.objects.get(name="desk").scope.sections == {docs.pk}
    desk = open_page("desk", scripts=scripts)
    desk.goto("/admin/content/post/")
    desk.get_by_role("link", name="Install").first.wait_for()
    expect(desk.get_by_text("About us")).to_have_count(0)
    assert desk.request.get(f"/admin/content/post/{about.pk}/change/").status == 404


def test_the_page_of_access_answers_for_a_post(open_page: Any) -> None:
    make.post("About us", type="page", slug="about-us")
    make.user("editor")
    admin = open_page("admin")
    admin.goto("/admin/proofroom_accounts/siterole/access/")
    admin.get_by_label("Person", exact=True).select_option("editor")
    admin.get_by_label("Action", exact=True).select_option("Publish and unpublish posts")
    admin.get_by_role("combobox", name="Post (optional)").press_sequentially("About")
    admin.get_by_role("option", name=re.compile("^About us ")).click()

    admin.get_by_role("button", name="Check access").click()

    admin.get_by_text("Yes. editor has the role Editor").wait_for()
    expect(admin.get_by_role("combobox", name="Post (optional)")).to_have_value("About us")
    assert serious(admin) == []
