"""Concurrent changes of a global module, a menu or a term: one decision, one proposal, no lost write.
Real threads.
"""

from __future__ import annotations

from functools import partial

import pytest

from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError
from proofroom.shared_content.approval import set_modes
from proofroom.shared_content.models import SharedProposal
from proofroom.shared_content.proposals import approve_proposal, propose_change, reject_proposal
from proofroom.shared_content.revisions import list_revisions
from proofroom.shared_content.shared_types import MENU, find_kind
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import change_menu, create_menu
from tests import make
from tests.content.at_once import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services]


def menu() -> Menu:
    return create_menu(actor=make.actor(), name="Main", slug="main", locale="en")


def propose(row: Menu, name: str, actor: Actor) -> SharedProposal:
    kind = find_kind(MENU)
    return propose_change(
        kind=kind,
        row_id=row.pk,
        document={**kind.document_of(row), "name": name},
        actor=actor,
        expected_version=row.version,
        expected_proposal=None,
    )


def codes(results: list[object]) -> list[str]:
    return sorted(result.code for result in results if isinstance(result, CmsError))


def test_a_change_is_decided_on_once() -> None:
    row, editor, admin = menu(), make.actor(), make.actor("admin")
    set_modes(actor=admin, wanted={MENU: "editors"})
    waiting = propose(row, "Top", editor)
    approve = partial(approve_proposal, proposal_id=waiting.pk, version=1, actor=admin)
    reject = partial(reject_proposal, proposal_id=waiting.pk, version=1, actor=admin, note="No")

    results = at_once(approve, reject, approve)

    assert codes(results) == ["stale_proposal", "stale_proposal"]
    waiting.refresh_from_db()
    row.refresh_from_db()
    assert (waiting.state == "approved") == (row.name == "Top")
    assert list_revisions(MENU, row.pk).count() == row.version


def test_one_proposal_waits_for_a_row() -> None:
    row, editor = menu(), make.actor()
    set_modes(actor=make.actor("admin"), wanted={MENU: "editors"})

    results = at_once(*(partial(propose, row, f"Top {number}", editor) for number in range(3)))

    assert codes(results) == ["stale_proposal", "stale_proposal"]
    assert SharedProposal.objects.count() == 1


def test_an_approval_overwrites_no_change_that_came_before_it() -> None:
    row, admin = menu(), make.actor("admin")
    set_modes(actor=admin, wanted={MENU: "editors"})
    waiting = propose(row, "Top", make.actor())

    results = at_once(
        partial(approve_proposal, proposal_id=waiting.pk, version=1, actor=admin),
        partial(
            change_menu, menu_id=row.pk, actor=admin, name="Live", expected_version=row.version
        ),
    )

    assert codes(results) == ["stale_version"]
    row.refresh_from_db()
    assert row.version == 2
    assert [revision.version for revision in list_revisions(MENU, row.pk)] == [2, 1]
    assert list_revisions(MENU, row.pk)[0].document["name"] == row.name
