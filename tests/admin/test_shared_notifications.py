"""Notifications of pending changes of global modules, menus and terms."""

from __future__ import annotations

import pytest

from proofroom.core.actor import Actor
from proofroom.core.models import Event
from proofroom.notifications.queries import describe, visible_notifications
from proofroom.notifications.services import add_notifications
from proofroom.shared_content.models import SharedProposal
from proofroom.shared_content.proposals import approve_proposal, propose_change, reject_proposal
from proofroom.shared_content.shared_types import MENU, find_kind
from proofroom_apps.menus.services import create_menu, delete_menu
from tests import make

pytestmark = pytest.mark.django_db


def tell() -> None:
    add_notifications(list(Event.objects.order_by("pk")))


def lines(actor: Actor) -> list[tuple[str, str, str]]:
    found = describe(list(visible_notifications(actor)), actor)
    return [(line.text.text, line.text.url, line.text.detail) for line in found]


def proposed(slug: str = "main") -> SharedProposal:
    menu = create_menu(actor=make.actor(), name="Main", slug=slug, locale="en", items=[])
    kind = find_kind(MENU)
    return propose_change(
        kind=kind,
        row_id=menu.pk,
        document={**kind.document_of(menu), "name": "Header"},
        actor=make.actor("editor", via="admin"),
        expected_version=None,
        expected_proposal=None,
    )


def test_approvers_are_notified_of_pending_changes() -> None:
    admin = make.actor("admin")
    first = proposed()
    tell()
    address = f"/admin/content/shared/menu/{first.row_id}/review/"
    assert lines(admin) == [(f"Changes to “{first.title}” were sent for approval", address, "")]

    proposed("foot")
    tell()
    tell()  # once more

    text = f"Changes to “{first.title}” and 1 other were sent for approval"
    assert lines(admin) == [(text, "/admin/inbox/", "")]
    assert lines(make.actor("editor")) == []
    assert lines(make.actor("translator")) == []


def test_writers_hear_of_the_decision_and_its_reason() -> None:
    first, second = proposed(), proposed("foot")
    admin = make.actor("admin", via="admin")
    approve_proposal(proposal_id=first.pk, version=first.version, actor=admin)
    reject_proposal(proposal_id=second.pk, version=second.version, actor=admin, note="Too long")

    tell()

    assert lines(make.actor("editor")) == [
        (
            f"admin rejected your changes to “{second.title}”",
            f"/admin/content/shared/menu/{second.row_id}/history/",
            "Too long",
        ),
        (
            f"admin approved your changes to “{first.title}”",
            f"/admin/content/shared/menu/{first.row_id}/history/",
            "",
        ),
    ]


def test_what_is_deleted_since_is_not_named() -> None:
    proposal, admin = proposed(), make.actor("admin")
    tell()

    delete_menu(actor=make.actor("admin"), menu_id=proposal.row_id)

    assert lines(admin) == [("Changes to “deleted content” were sent for approval", "", "")]
