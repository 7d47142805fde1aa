"""Concurrent writes of redirects."""

from __future__ import annotations

import pytest

from proofroom.core.errors import CmsError, NotFound
from seo.middleware import hits
from seo.models import NewRedirect, Redirect, RedirectChanges
from seo.services.redirects import change_redirect, create_redirect, delete_redirect
from tests import make
from tests.content.at_once import at_once, while_under_way

pytestmark = pytest.mark.django_db


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_redirects_made_at_once_close_no_loop() -> None:
    actor = make.actor()

    results = at_once(
        lambda: create_redirect(actor=actor, redirect=NewRedirect(from_path="/a", to_path="/b")),
        lambda: create_redirect(actor=actor, redirect=NewRedirect(from_path="/b", to_path="/a")),
    )

    codes = [result.code for result in results if isinstance(result, CmsError)]
    assert codes == ["redirect_loop"]
    assert Redirect.objects.count() == 1


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_at_once_changes_of_one_redirect_both_stand() -> None:
    actor = make.actor()
    row = make.redirect("/a", "/b")

    while_under_way(
        lambda: change_redirect(
            redirect_id=row.pk, actor=actor, changes=RedirectChanges(active=False)
        ),
        lambda: change_redirect(
            redirect_id=row.pk, actor=actor, changes=RedirectChanges(to_path="/c")
        ),
    )

    row.refresh_from_db()
    assert (row.is_active, row.to_path) == (False, "/c")


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_at_once_a_deleted_redirect_does_not_come_back() -> None:
    actor = make.actor()
    row = make.redirect("/a", "/b")

    answer = while_under_way(
        lambda: delete_redirect(redirect_id=row.pk, actor=actor),
        lambda: change_redirect(
            redirect_id=row.pk, actor=actor, changes=RedirectChanges(to_path="/c")
        ),
    )

    assert isinstance(answer, NotFound)
    assert not Redirect.objects.exists()


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_at_once_a_change_loses_no_hit() -> None:
    actor = make.actor()
    row = make.redirect("/a", "/b")

    def counted() -> None:
        hits.add(row.pk)

    while_under_way(
        counted,
        lambda: change_redirect(
            redirect_id=row.pk, actor=actor, changes=RedirectChanges(to_path="/c")
        ),
    )

    row.refresh_from_db()
    assert (row.hits, row.to_path) == (1, "/c")
