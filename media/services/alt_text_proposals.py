"""Alt texts proposed by agents and AI clients. A person accepts or rejects them; until then pages stay unchanged."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from media.metadata import clean_alt_text
from media.models import AltTextProposal, AltTextState, Asset, MediaReference
from media.scopes import require_changeable, visible_assets
from media.services.update import find_asset, update_asset
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.content_scope import find_post
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import Conflict, NotFound, RuleViolation, invalid
from proofroom.core.json import JsonObject

REASON_MAX = 500
_MAX_USES = 50
"""Maximum number of uses examined for a run that is confined to a post."""


def waiting_alt_texts(actor: Actor) -> QuerySet[AltTextProposal]:
    """Return the proposals that wait for a decision, of files visible to the actor, oldest first."""
    rows = AltTextProposal.objects.filter(state=AltTextState.WAITING).select_related("asset")
    seen = visible_assets(Asset.objects.all(), actor)
    return rows.filter(asset__in=seen.values("pk")).order_by("created_at", "pk")


def proposals_of(asset: Asset) -> QuerySet[AltTextProposal]:
    """Return the proposals for a file, the newest first."""
    return asset.alt_text_proposals.order_by("-created_at", "pk")


def present_alt_text(asset: Asset, locale: str) -> str:
    """Return the stored alt text of exactly this language, also for decorative images."""
    if locale == settings.CMS_ENV.default_locale:
        return str(asset.alt_text)
    return str(asset.alt_texts.get(locale, ""))


@transaction.atomic
def propose_alt_text(
    *, asset_id: UUID | str, text: str, actor: Actor, locale: str = "", reason: str = ""
) -> AltTextProposal:
    """Propose an alt text for a language, by default the site's default language. Replaces a waiting proposal.

    Raises `NotFound`, `NotAllowed`, or `RuleViolation` on `alt` and `locale`.
    """
    # An AI client acts for a person, so the person's permission to edit files is enough for a proposal.
    if not actor.can("posts.ai-review.save"):
        actor.require("media.edit")
    locale = locale or settings.CMS_ENV.default_locale
    if locale not in settings.CMS_ENV.locales:
        known = ", ".join(settings.CMS_ENV.locales)
        message = _("There is no locale %(locale)r. Available: %(known)s.")
        raise invalid("locale", message % {"locale": locale[:20], "known": known})
    try:
        text = clean_alt_text(text)
    except RuleViolation as error:
        raise invalid("alt", error.message) from None
    if not text:
        raise invalid("alt", _("Write what the image shows."))
    asset = find_asset(asset_id, actor)
    if not asset.mime.startswith("image/"):
        raise invalid("mediaId", _("Only images have an alt text."))
    _require_inside(asset, actor)
    # Pages outside of the actor's scope would show the text, too.
    require_changeable(asset, actor)
    before = present_alt_text(asset, locale)
    if text == before and not asset.is_decorative:
        message = _("The image has this alt text already.")
        raise RuleViolation(message, code="unchanged", details={"alt": [message]})
    waiting = AltTextProposal.objects.filter(asset=asset, locale=locale, state=AltTextState.WAITING)
    # Two concurrent proposals may both wait; each is decided on its own.
    waiting.update(state=AltTextState.REPLACED)
    proposal = AltTextProposal.objects.create(
        asset=asset,
        locale=locale,
        text=text,
        before=before,
        reason=" ".join(reason.split())[:REASON_MAX],
        by_id=actor.user.pk,
        by_name=actor.agent_id or actor.user.username,
        agent_id=actor.agent_id or "",
        run_id=actor.run_id or "",
        principal=actor.principal[:100],
    )
    _record("media.alt-text.proposed", proposal, actor)
    return proposal


@transaction.atomic
def accept_alt_text(
    *, proposal_id: UUID | str, actor: Actor, present: str | None = None
) -> AltTextProposal:
    """Store the proposed text as the alt text. Pages show it immediately.

    `present`: the alt text that the person saw beside the proposal, by default the one at the time of proposing.
    Raises `NotFound`, `NotAllowed`, and `Conflict` if the proposal was decided, or the alt text is another one now.
    """
    actor.require_person("accept proposals")
    actor.require("media.edit")
    proposal = _lock_waiting(proposal_id, actor)
    # The file as the service will lock it: a concurrent change makes the comparison fail.
    asset = Asset.objects.select_for_update().get(pk=proposal.asset_id)
    if present_alt_text(asset, proposal.locale) != (
        proposal.before if present is None else present
    ):
        raise Conflict(
            _(
                "The alt text was changed since this one was proposed. Compare both, and decide again."
            ),
            code="stale_alt_text",
        )
    is_default = proposal.locale == settings.CMS_ENV.default_locale
    update_asset(
        asset_id=asset.pk,
        actor=actor,
        alt_text=proposal.text if is_default else None,
        alt_texts=None if is_default else {proposal.locale: proposal.text},
        is_decorative=False,
    )
    return _decide(proposal, AltTextState.ACCEPTED, "media.alt-text.accepted", actor)


@transaction.atomic
def reject_alt_text(*, proposal_id: UUID | str, actor: Actor, note: str = "") -> AltTextProposal:
    """Reject a proposal with a note for its author. The file stays unchanged."""
    actor.require_person("reject proposals")
    actor.require("media.edit")
    proposal = _lock_waiting(proposal_id, actor)
    proposal.note = " ".join(note.split())[:REASON_MAX]
    return _decide(proposal, AltTextState.REJECTED, "media.alt-text.rejected", actor)


def _lock_waiting(proposal_id: UUID | str, actor: Actor) -> AltTextProposal:
    proposal = find_by_id(AltTextProposal.objects.select_for_update(), proposal_id)
    if proposal is None:
        message = _("No proposed alt text has the ID %(id)s.") % {"id": str(proposal_id)[:40]}
        raise NotFound(message)
    find_asset(proposal.asset_id, actor)
    if proposal.state != AltTextState.WAITING:
        raise Conflict(_("This proposal was decided or replaced already."), code="already_decided")
    return proposal


def _decide(
    proposal: AltTextProposal, state: AltTextState, event: str, actor: Actor
) -> AltTextProposal:
    proposal.state = state
    proposal.decided_by_id = actor.user.pk
    proposal.decided_by_name = actor.user.username
    proposal.decided_at = timezone.now()
    proposal.save()
    _record(event, proposal, actor)
    return proposal


def _require_inside(asset: Asset, actor: Actor) -> None:
    """Raise `NotAllowed` if the actor is a run that is confined to a post which does not use the file."""
    if actor.confined_to is None:
        return
    uses = MediaReference.objects.filter(asset=asset, holder_kind="post").order_by("pk")
    groups = {
        getattr(find_post(id_), "translation_group", None)
        for id_ in set(uses.values_list("holder_id", flat=True)[:_MAX_USES])
    }
    actor.require_inside(actor.confined_to if actor.confined_to in groups else None)


def _record(event: str, proposal: AltTextProposal, actor: Actor) -> None:
    payload: JsonObject = {
        "id": str(proposal.asset_id),
        "filename": proposal.asset.filename,
        "proposalId": str(proposal.pk),
        "locale": proposal.locale,
    }
    if proposal.note:
        payload["note"] = proposal.note
    outbox.record(event, actor=actor, payload=payload)
