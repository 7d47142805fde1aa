"""Alt texts that agents and AI clients propose: waiting, decided in the admin and by API, and never live before."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from media.models import AltTextProposal, AltTextState, Asset
from media.services.alt_text_proposals import accept_alt_text, propose_alt_text, reject_alt_text
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import Conflict, NotAllowed, RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient
from tests.mcp.calling import by, done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]

TOOL = "propose_alt_text"


def proposed(asset: Asset, text: str = "A cup of coffee", **values: Any) -> AltTextProposal:
    return propose_alt_text(asset_id=asset.pk, text=text, actor=make.mcp_actor(), **values)


def state_of(proposal: AltTextProposal) -> str:
    return AltTextProposal.objects.get(pk=proposal.pk).state


def alt_of(asset: Asset) -> tuple[str, dict[str, str]]:
    stored = Asset.objects.get(pk=asset.pk)
    return stored.alt_text, stored.alt_texts


def test_a_client_proposes_and_the_file_stays() -> None:
    asset = make.image(alt_text="Old")

    answer = done(TOOL, mediaId=str(asset.pk), alt=" A cup\nof coffee ", note="Says what it shows")

    proposal = AltTextProposal.objects.get()
    assert answer == {
        "proposalId": str(proposal.pk),
        "mediaId": str(asset.pk),
        "locale": "en",
        "alt": "A cup of coffee",
        "before": "Old",
        "state": "waiting",
    }
    assert (proposal.reason, proposal.principal) == ("Says what it shows", "client:ai_agent")
    assert alt_of(asset) == ("Old", {})
    event = Event.objects.get(name="media.alt-text.proposed")
    assert event.payload["proposalId"] == str(proposal.pk)
    assert not Event.objects.filter(name="media.updated").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"alt": " "}, "invalid", "Write what the image shows."),
        ({"alt": "x" * 501}, "invalid_arguments", "`alt`"),
        ({"alt": "x", "locale": "fr"}, "invalid", "There is no locale 'fr'. Available: en, de."),
        ({"alt": "Same"}, "unchanged", "this alt text already"),
        ({"alt": "x", "mediaId": str(uuid4())}, "unknown_media", "No file has the ID"),
        ({"alt": "x", "mediaId": "7"}, "invalid_arguments", "`mediaId`"),
    ],
)
def test_a_wrong_proposal_is_refused(arguments: dict[str, Any], code: str, words: str) -> None:
    asset = make.image(alt_text="Same")

    found, text = refused(TOOL, **{"mediaId": str(asset.pk), **arguments})

    assert found == code
    assert words in text
    assert not AltTextProposal.objects.exists()


def test_a_newer_proposal_replaces_a_waiting_one_of_the_same_language() -> None:
    asset = make.image()
    first, german = proposed(asset), proposed(asset, "Eine Tasse", locale="de")

    second = proposed(asset, "A mug of coffee")

    assert [state_of(one) for one in (first, german, second)] == ["replaced", "waiting", "waiting"]
    with pytest.raises(Conflict) as raised:
        accept_alt_text(proposal_id=first.pk, actor=make.actor("editor"))
    assert raised.value.code == "already_decided"


@pytest.mark.parametrize(("locale", "alt"), [("en", ("New", {})), ("de", ("", {"de": "New"}))])
def test_accepting_stores_the_text_of_its_language(
    locale: str, alt: tuple[str, dict[str, str]]
) -> None:
    asset = make.image()
    proposal = proposed(asset, "New", locale=locale)

    accept_alt_text(proposal_id=proposal.pk, actor=make.actor("editor"))

    assert alt_of(asset) == alt
    assert state_of(proposal) == AltTextState.ACCEPTED
    assert AltTextProposal.objects.get().decided_by_name == "editor"
    names = set(Event.objects.values_list("name", flat=True))
    assert {"media.updated", "media.alt-text.accepted"} <= names


def test_accepting_makes_a_decorative_image_described() -> None:
    asset = make.image()
    Asset.objects.filter(pk=asset.pk).update(is_decorative=True)
    proposal = proposed(asset)

    accept_alt_text(proposal_id=proposal.pk, actor=make.actor("editor"))

    assert Asset.objects.get(pk=asset.pk).is_decorative is False


def test_a_text_that_changed_meanwhile_is_not_overwritten_unseen() -> None:
    asset = make.image(alt_text="Old")
    proposal = proposed(asset)
    Asset.objects.filter(pk=asset.pk).update(alt_text="A person's")

    with pytest.raises(Conflict) as raised:
        accept_alt_text(proposal_id=proposal.pk, actor=make.actor("editor"))

    assert raised.value.code == "stale_alt_text"
    assert alt_of(asset)[0] == "A person's"
    accept_alt_text(proposal_id=proposal.pk, actor=make.actor("editor"), present="A person's")
    assert alt_of(asset)[0] == "A cup of coffee"


def test_rejecting_keeps_the_file_and_the_note() -> None:
    asset = make.image(alt_text="Old")
    proposal = proposed(asset)

    reject_alt_text(proposal_id=proposal.pk, actor=make.actor("editor"), note="Too vague")

    assert alt_of(asset)[0] == "Old"
    row = AltTextProposal.objects.get()
    assert (row.state, row.note) == ("rejected", "Too vague")
    assert Event.objects.get(name="media.alt-text.rejected").payload["note"] == "Too vague"


@pytest.mark.parametrize("decide", [accept_alt_text, reject_alt_text])
def test_only_people_who_may_edit_files_decide(decide: Any) -> None:
    proposal = proposed(make.image())

    for actor in (make.mcp_actor("editor"), make.agent_actor(), make.actor("translator")):
        with pytest.raises(NotAllowed):
            decide(proposal_id=proposal.pk, actor=actor)

    assert state_of(proposal) == AltTextState.WAITING


def test_a_run_proposes_only_for_images_of_its_post() -> None:
    used, other = make.image("used.png"), make.image("other.png")
    post = make.post(featuredMediaId=str(used.pk))
    account = make.agent_actor().user
    run = Actor(
        user=account, via="agent", agent_id="seo-specialist", confined_to=post.translation_group
    )

    propose_alt_text(asset_id=used.pk, text="x", actor=run)
    with pytest.raises(NotAllowed) as raised:
        propose_alt_text(asset_id=other.pk, text="x", actor=run)

    assert raised.value.code == "outside_of_run"


def test_a_file_that_cannot_be_seen_has_no_proposals() -> None:
    asset = make.image()
    make.post(featuredMediaId=str(asset.pk))
    proposed(asset)
    scope = ContentScope(types=frozenset({"page"}))
    make.site_role("pages", "posts.view", "media.view", "media.edit", "posts.edit", scope=scope)

    assert refused(TOOL, by("pages"), mediaId=str(asset.pk), alt="x")[0] == "unknown_media"
    client = ApiClient("pages")
    assert client.get("/api/media/alt-text-proposals").json()["data"] == []
    assert client.get(f"/api/media/{asset.pk}/alt-text-proposals").status_code == 404


def test_a_file_on_pages_outside_of_the_scope_gets_no_proposal() -> None:
    asset = make.image(alt_text="Old")
    make.post(featuredMediaId=str(asset.pk))
    make.post("Page", slug="page", type="page", featuredMediaId=str(asset.pk))
    before = proposed(asset)
    scope = ContentScope(types=frozenset({"page"}))
    make.site_role("pages", "posts.view", "media.view", "media.edit", "posts.edit", scope=scope)

    assert refused(TOOL, by("pages"), mediaId=str(asset.pk), alt="x")[0] == "outside_of_scope"
    assert state_of(before) == AltTextState.WAITING


def test_proposals_by_api() -> None:
    asset = make.image(alt_text="Old")
    proposal, client = proposed(asset, reason="Better"), ApiClient("editor")

    waiting = client.get("/api/media/alt-text-proposals").json()["data"]
    done_ = client.send("POST", f"/api/media/alt-text-proposals/{proposal.pk}/accept")
    again = client.send("POST", f"/api/media/alt-text-proposals/{proposal.pk}/accept")

    assert [
        (one["mediaId"], one["alt"], one["before"], one["state"], one["reason"]) for one in waiting
    ] == [(str(asset.pk), "A cup of coffee", "Old", "waiting", "Better")]
    assert done_.json()["state"] == "accepted"
    assert (again.status_code, again.json()["code"]) == (409, "already_decided")
    assert client.get("/api/media/alt-text-proposals").json()["data"] == []
    listed = client.get(f"/api/media/{asset.pk}/alt-text-proposals").json()["data"]
    assert [one["state"] for one in listed] == ["accepted"]


def test_the_inbox_lists_it_and_the_file_page_decides() -> None:
    asset = make.image("cup.png")
    proposal, client = proposed(asset, "A <b>cup</b>"), ApiClient("editor")
    page = f"/admin/media/asset/{asset.pk}/change/"

    inbox = client.get("/admin/inbox/").content.decode()
    shown = client.get(page).content.decode()

    assert "Proposed alt texts" in inbox
    assert f'href="{page}#alt-proposals"' in inbox
    assert "A &lt;b&gt;cup&lt;/b&gt;" in shown
    assert "No changes waiting" not in inbox
    assert "Proposed alt texts" not in client.get("/admin/inbox/?layer=review").content.decode()
    address = f"/admin/media/asset/{asset.pk}/alt-text/{proposal.pk}/"
    assert client.get(address).status_code == 405
    answer = client.send_form("POST", address, {"do": "accept", "present": ""})
    assert answer.status_code == 302
    assert alt_of(asset)[0] == "A <b>cup</b>"
    assert "Proposed alt texts" not in client.get(page).content.decode()


def test_the_file_page_rejects_with_a_note() -> None:
    asset = make.image(alt_text="Old")
    proposal, client = proposed(asset), ApiClient("editor")

    address = f"/admin/media/asset/{asset.pk}/alt-text/{proposal.pk}/"
    client.send_form("POST", address, {"do": "reject", "note": "No"})

    row = AltTextProposal.objects.get()
    assert (row.state, row.note, alt_of(asset)[0]) == ("rejected", "No", "Old")


def test_who_may_only_view_files_sees_no_buttons() -> None:
    asset = make.image()
    proposal, client = proposed(asset), ApiClient("translator")

    shown = client.get(f"/admin/media/asset/{asset.pk}/change/").content.decode()
    address = f"/admin/media/asset/{asset.pk}/alt-text/{proposal.pk}/"
    answer = client.send_form("POST", address, {"do": "accept"})

    assert "A cup of coffee" in shown
    assert 'value="accept"' not in shown
    assert answer.status_code == 403
    assert "Proposed alt texts" not in client.get("/admin/inbox/").content.decode()


def test_texts_are_cut_and_cleaned() -> None:
    with pytest.raises(RuleViolation):
        proposed(make.image(), "x" * 501)
    proposal = proposed(make.image("other.png"), "a\x00b", reason="y " * 600)

    assert "\x00" not in proposal.text
    assert len(proposal.reason) <= 500
