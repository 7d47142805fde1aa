"""The AI settings: which provider and model serve where an agent's file names none."""

from __future__ import annotations

from typing import Final, get_args

from django.db import transaction
from django.utils.translation import gettext as _

from agents_app.definitions.schema import MediaProvider, TextProvider
from agents_app.models import AiSettings
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, invalid
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import refuse_unstorable

TEXT_PROVIDERS: Final[tuple[str, ...]] = get_args(TextProvider)
MEDIA_PROVIDERS: Final[tuple[str, ...]] = get_args(MediaProvider)
MODEL_MAX: Final = AiSettings._meta.get_field("text_model").max_length or 0


def ai_settings() -> AiSettings:
    """The settings as they stand; those of a fresh site where nobody set any."""
    return AiSettings.objects.filter(pk=1).first() or AiSettings()


@transaction.atomic
def update_ai_settings(
    *,
    actor: Actor,
    expected_version: int | None = None,
    text_provider: str | None = None,
    text_model: str | None = None,
    media_provider: str | None = None,
    media_model: str | None = None,
) -> AiSettings:
    """Change what is given; None leaves a value, an empty text takes it away.

    Another provider without a model takes its own usual one. Raises `NotAllowed`, `Conflict` (`stale_version`), or
    `RuleViolation` by the field's name on the wire.
    """
    actor.require_person("change AI settings")
    actor.require("agents.edit")
    AiSettings.objects.bulk_create([AiSettings()], ignore_conflicts=True)
    row = AiSettings.objects.select_for_update().get(pk=1)
    if expected_version is not None and expected_version != row.version:
        raise Conflict(
            _("The AI settings changed since you read them."),
            code="stale_version",
            current=row.version,
        )
    before = settings_payload(row)
    row.text_provider, row.text_model = check_provider_and_model(
        "text", (row.text_provider, row.text_model), text_provider, text_model
    )
    row.media_provider, row.media_model = check_provider_and_model(
        "media", (row.media_provider, row.media_model), media_provider, media_model
    )
    if settings_payload(row) == before:
        return row
    row.version += 1
    row.updated_by_id = actor.user.pk
    row.save()
    payload: JsonObject = {**settings_payload(row), "version": row.version}
    outbox.record("ai.settings.changed", actor=actor, payload=payload)
    return row


def check_provider_and_model(
    kind: str, present: tuple[str, str], provider: str | None, model: str | None
) -> tuple[str, str]:
    """The provider and the model from now on."""
    known = TEXT_PROVIDERS if kind == "text" else MEDIA_PROVIDERS
    name = present[0] if provider is None else provider
    if name and name not in known:
        shown = name[:40].encode("utf-8", "replace").decode()
        raise invalid(
            f"{kind}Provider",
            _("There is no %(kind)s provider %(shown)r; known: %(known)s.")
            % {"kind": kind, "shown": shown, "known": ", ".join(known)},
        )
    if model is None:
        return name, present[1] if name == present[0] else ""
    field = f"{kind}Model"
    refuse_unstorable(model, field)
    model = model.strip()
    if len(model) > MODEL_MAX or not model.isprintable():
        raise invalid(
            field,
            _("%(field)s is one line of at most %(model_max)s characters.")
            % {"field": field, "model_max": MODEL_MAX},
        )
    if model and not name:
        raise invalid(field, _("A model needs its provider: choose that, too."))
    return name, model


def settings_payload(row: AiSettings) -> JsonObject:
    return {
        "textProvider": row.text_provider,
        "textModel": row.text_model,
        "mediaProvider": row.media_provider,
        "mediaModel": row.media_model,
    }
