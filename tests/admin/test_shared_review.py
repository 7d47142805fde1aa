"""Changes of global modules, menus and terms that need approval: sent, compared, decided, never live before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.models import ModuleInstance
from content.modules.global_modules import create_global, delete_global, edit_global
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, Conflict, NotAllowed
from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event
from proofroom.shared_content.approval import set_modes
from proofroom.shared_content.models import SharedProposal
from proofroom.shared_content.proposals import (
    approve_proposal,
    find_waiting_proposal,
    propose_change,
    reject_proposal,
    withdraw_proposal,
)
from proofroom.shared_content.revisions import list_revisions, restore_revision
from proofroom.shared_content.shared_types import GLOBAL_MODULE, MENU, TERM, find_kind
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import change_term, create_term, delete_term, move_term
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import change_menu, create_menu, delete_menu
from tests import make
from tests.admin.pages import fields
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
Row = ModuleInstance | Menu | Term
CHANGE = {
    GLOBAL_MODULE: "/admin/content/moduleinstance/{}/change/",
    MENU: "/admin/proofroom_menus/menu/{}/change/",
    TERM: "/admin/proofroom_taxonomies/term/{}/change/",
}


def text(response: Any) -> str:
    return " ".join(str(response.content.decode()).split())


def require_approval(mode: str = "editors") -> None:
    wanted = dict.fromkeys((GLOBAL_MODULE, MENU, TERM), mode)
    set_modes(actor=make.actor("admin"), wanted=wanted)


def rows() -> dict[str, Row]:
    items: list[Json] = [{"id": "a", "label": "Coffee", "url": "/coffee", "children": []}]
    return {
        GLOBAL_MODULE: create_global(
            actor=make.actor(), slug="letter", type="callout", props={"title": "Subscribe"}
        ),
        MENU: create_menu(actor=make.actor(), name="Main", slug="main", locale="en", items=items),
        TERM: create_term(actor=make.actor(), taxonomy="topics", name="Coffee"),
    }


TYPED = {
    GLOBAL_MODULE: {"props.title": "Write to us"},
    MENU: {"label-a": "Filter coffee"},
    TERM: {"name": "Hot drinks"},
}
WORDS = {GLOBAL_MODULE: "Write to us", MENU: "Filter coffee", TERM: "Hot drinks"}


def send(client: Client, kind: str, row: Row, **more: str) -> Any:
    address = CHANGE[kind].format(row.pk)
    sent: Any = fields(client.get(address))
    return client.post(address, {**sent, **TYPED[kind], **more})


def review_url(kind: str, row: Row) -> str:
    return f"/admin/content/shared/{kind}/{row.pk}/review/"


def live(kind: str, row: Row) -> str:
    shared = find_kind(kind)
    found = shared.find(row.pk)
    assert found is not None
    return str(shared.document_of(found))


def proposed(menu: Menu, name: str, actor: Any = None, seen: int | None = None) -> SharedProposal:
    kind = find_kind(MENU)
    document: JsonObject = {**kind.document_of(menu), "name": name}
    return propose_change(
        kind=kind,
        row_id=menu.pk,
        document=document,
        actor=actor or make.actor(),
        expected_version=menu.version,
        expected_proposal=seen,
    )


def test_without_the_setting_an_editor_changes_what_is_live(signed_in: SignedIn) -> None:
    for kind, row in rows().items():
        assert send(signed_in(), kind, row).status_code == 302
        assert WORDS[kind] in live(kind, row)
    assert not SharedProposal.objects.exists()


def test_an_editor_sends_a_change_and_an_admin_brings_it_live(signed_in: SignedIn) -> None:
    all_rows = rows()
    post = make.post(taxonomyTermIds=[str(all_rows[TERM].pk)])
    module = all_rows[GLOBAL_MODULE]
    assert isinstance(module, ModuleInstance)
    make.placed(post, module)
    require_approval()
    editor, admin = signed_in("editor"), signed_in("admin")

    for kind, row in all_rows.items():
        assert "Send for approval" in text(editor.get(CHANGE[kind].format(row.pk)))
        assert send(editor, kind, row).status_code == 302
        assert WORDS[kind] not in live(kind, row)
        page = text(admin.get(review_url(kind, row)))
        assert WORDS[kind].split()[0] in page
        assert "Approve and publish" in page
        assert review_url(kind, row) in text(admin.get("/admin/inbox/"))
        preview = review_url(kind, row).replace("review/", "preview/")
        assert f"{preview}?post={post.pk}" in page
        assert WORDS[kind] in text(admin.get(f"{preview}?post={post.pk}"))
        admin.post(review_url(kind, row), {"do": "approve", "version": "1"})
        assert WORDS[kind] in live(kind, row)
        newest = list_revisions(kind, row.pk)[0]
        assert (newest.reason, newest.by_name, newest.approved_by_name) == (
            "approved",
            "editor",
            "admin",
        )
        assert find_waiting_proposal(kind, row.pk) is None
    names = Event.objects.filter(name__startswith="shared.").values_list("name", flat=True)
    assert (
        sorted(names)
        == ["shared.approved"] * 3 + ["shared.proposed"] * 3 + ["shared.rule-changed"] * 3
    )


def test_an_editor_goes_on_with_what_waits(signed_in: SignedIn) -> None:
    row = rows()[MENU]
    require_approval()
    client = signed_in("editor")
    send(client, MENU, row)

    again = text(client.get(CHANGE[MENU].format(row.pk)))
    sent: Any = fields(client.get(CHANGE[MENU].format(row.pk)))
    second = client.post(CHANGE[MENU].format(row.pk), {**sent, "name": "Top"})

    assert "You are editing that change." in again
    assert 'value="Filter coffee"' in again
    assert second.status_code == 302
    waiting = find_waiting_proposal(MENU, row.pk)
    assert waiting is not None
    assert (waiting.version, waiting.document["name"]) == (2, "Top")
    assert waiting.document["items"][0]["label"] == "Filter coffee"
    late: Any = client.post(CHANGE[MENU].format(row.pk), {**sent, "name": "Late"})
    assert late.status_code == 422
    assert "Another change was sent for approval" in text(late)


def test_a_change_is_rejected_with_a_reason_or_withdrawn(signed_in: SignedIn) -> None:
    row = rows()[MENU]
    require_approval()
    send(signed_in("editor"), MENU, row)
    admin, address = signed_in("admin"), review_url(MENU, row)

    admin.post(address, {"do": "reject", "version": "1", "note": " "})
    assert find_waiting_proposal(MENU, row.pk) is not None
    admin.post(address, {"do": "reject", "version": "1", "note": "Too long"})
    assert find_waiting_proposal(MENU, row.pk) is None
    rejected = SharedProposal.objects.get()
    assert (rejected.state, rejected.note, rejected.decided_by_name) == (
        "rejected",
        "Too long",
        "admin",
    )
    send(signed_in("editor"), MENU, row)
    # A page with the first change does not match the second one.
    signed_in("editor").post(address, {"do": "withdraw", "version": "1"})
    signed_in("editor").post(address, {"do": "approve", "version": "2"})
    assert find_waiting_proposal(MENU, row.pk) is not None
    signed_in("editor").post(address, {"do": "withdraw", "version": "2"})
    assert find_waiting_proposal(MENU, row.pk) is None
    assert WORDS[MENU] not in live(MENU, row)


def test_what_changed_meanwhile_is_not_approved(signed_in: SignedIn) -> None:
    row = rows()[MENU]
    assert isinstance(row, Menu)
    require_approval()
    waiting = proposed(row, "Top")
    change_menu(menu_id=row.pk, actor=make.actor("admin"), name="Other")

    assert "The live version has changed" in text(signed_in("admin").get(review_url(MENU, row)))
    with pytest.raises(Conflict) as stale:
        approve_proposal(proposal_id=waiting.pk, version=1, actor=make.actor("admin"))
    assert stale.value.code == "stale_version"
    row.refresh_from_db()
    assert row.name == "Other"
    renewed = proposed(row, "Top", seen=1)
    with pytest.raises(Conflict):
        approve_proposal(proposal_id=waiting.pk, version=1, actor=make.actor("admin"))
    approve_proposal(proposal_id=waiting.pk, version=renewed.version, actor=make.actor("admin"))
    row.refresh_from_db()
    assert row.name == "Top"
    with pytest.raises(Conflict):
        reject_proposal(proposal_id=waiting.pk, version=2, actor=make.actor("admin"), note="x")


def test_nobody_approves_what_they_wrote_and_everyone_needs_a_second_person() -> None:
    row = rows()[MENU]
    assert isinstance(row, Menu)
    require_approval("everyone")
    admin = make.actor("admin")
    with pytest.raises(NotAllowed) as refused:
        change_menu(menu_id=row.pk, actor=admin, name="Top")
    assert refused.value.code == "approval_required"

    waiting = proposed(row, "Top", admin)

    with pytest.raises(NotAllowed) as own:
        approve_proposal(proposal_id=waiting.pk, version=1, actor=admin)
    assert own.value.code == "own_change"
    approve_proposal(
        proposal_id=waiting.pk,
        version=1,
        actor=Actor(user=make.user("admin", "second"), via="admin"),
    )
    row.refresh_from_db()
    assert row.name == "Top"


def test_every_way_to_what_is_live_is_refused_to_an_editor() -> None:
    module, menu, term = rows().values()
    assert isinstance(module, ModuleInstance)
    first = list_revisions(MENU, menu.pk).get()
    require_approval()
    actor, client = make.actor(), ApiClient("editor")
    before = make.live_hash()
    ways: list[Callable[[], object]] = [
        lambda: edit_global(actor=actor, slug="letter", label="x"),
        lambda: delete_global(actor=actor, slug="letter"),
        lambda: change_menu(menu_id=menu.pk, actor=actor, name="x"),
        lambda: delete_menu(menu_id=menu.pk, actor=actor),
        lambda: create_menu(actor=actor, name="x", slug="footer", locale="en"),
        lambda: change_term(term_id=term.pk, actor=actor, name="x"),
        lambda: move_term(term_id=term.pk, actor=actor, parent_id=None),
        lambda: delete_term(term_id=term.pk, actor=actor),
        lambda: restore_revision(
            kind=find_kind(MENU), row_id=menu.pk, revision_id=first.pk, actor=actor
        ),
    ]

    for way in ways:
        with pytest.raises(NotAllowed) as refused:
            way()
        assert refused.value.code == "approval_required"
    for method, address, body in (
        ("PUT", "/api/modules/global/letter", {"label": "x"}),
        ("PUT", f"/api/menus/{menu.pk}", {"name": "x"}),
        ("PATCH", f"/api/taxonomy-terms/{term.pk}", {"name": "x"}),
    ):
        answer = client.write(method, address, body, expect=403)
        assert answer["code"] == "approval_required"
    assert make.live_hash() == before


@pytest.mark.parametrize("who", ["translator", "agent", "mcp"])
def test_agents_and_translators_neither_propose_nor_decide(who: str) -> None:
    row = rows()[MENU]
    assert isinstance(row, Menu)
    require_approval()
    actor = {
        "translator": lambda: make.actor("translator"),
        "agent": make.agent_actor,
        "mcp": lambda: make.mcp_actor("admin"),
    }[who]()
    waiting = proposed(row, "Top")

    for way in (
        lambda: proposed(row, "Other", actor, seen=1),
        lambda: approve_proposal(proposal_id=waiting.pk, version=1, actor=actor),
        lambda: reject_proposal(proposal_id=waiting.pk, version=1, actor=actor, note="x"),
        lambda: withdraw_proposal(proposal_id=waiting.pk, version=1, actor=actor),
    ):
        with pytest.raises(CmsError) as refused:
            way()
        assert refused.value.status == 403
    waiting.refresh_from_db()
    assert (waiting.state, waiting.version) == ("waiting", 1)


def test_find_and_replace_does_not_pass_by(signed_in: SignedIn) -> None:
    rows()
    require_approval("everyone")
    body = {"find": "Coffee", "replace": "Tea", "tables": ["menus"], "dryRun": False}

    refused = ApiClient("admin").write("POST", "/api/database/find-replace", body, expect=403)

    assert refused["code"] == "approval_required"
    assert (
        ApiClient("admin").write("POST", "/api/database/find-replace", {**body, "dryRun": True})[
            "total"
        ]
        == 1
    )


def test_only_admins_set_what_needs_approval(signed_in: SignedIn) -> None:
    admin = signed_in("admin")
    sent = {GLOBAL_MODULE: "off", MENU: "editors", TERM: "everyone"}

    assert signed_in("editor").post("/admin/approval/", sent).status_code == 403
    assert admin.post("/admin/approval/", {**sent, MENU: "never"}).status_code == 422
    assert admin.post("/admin/approval/", sent).status_code == 302

    page = text(admin.get("/admin/approval/"))
    assert '<option value="editors" selected>' in page
    assert '<option value="everyone" selected>' in page


def test_what_waits_goes_with_its_row() -> None:
    row = rows()[MENU]
    assert isinstance(row, Menu)
    require_approval()
    proposed(row, "Top")

    delete_menu(menu_id=row.pk, actor=make.actor("admin"))

    assert not SharedProposal.objects.exists()
