"""AI settings shared by all agents: defaults, usable providers, and connection tests."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Literal, get_args

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agents_app.models import AiSettings, ProviderCheck
from agents_app.providers.interface import DEMO_PROVIDER, ProviderChoice
from agents_app.providers.llm_config import FallbackProvider, MediaProvider, TextProvider
from agents_app.providers.selection import DEFAULT_MEDIA_MODELS, DEFAULT_MODELS, default_provider
from agents_app.providers.vendors import all_vendors
from forms.masking import PERSONAL_DATA_KINDS
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotFound, invalid
from proofroom.core.json import JsonObject
from proofroom.core.task_queue import queue_task, send_after_commit
from proofroom.core.validation.input_validation import reject_unstorable

TEXT_PROVIDERS: Final[tuple[str, ...]] = get_args(TextProvider)
MEDIA_PROVIDERS: Final[tuple[str, ...]] = get_args(MediaProvider)
FALLBACK_PROVIDERS: Final[tuple[str, ...]] = get_args(FallbackProvider)
MODEL_MAX: Final = AiSettings._meta.get_field("text_model").max_length or 0


def ai_settings() -> AiSettings:
    """Return the settings, or an unsaved instance with the defaults."""
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
    fallback_provider: str | None = None,
    fallback_model: str | None = None,
    masked_personal_data: Collection[str] | None = None,
) -> AiSettings:
    """Change the given settings. None leaves a value unchanged, an empty string removes it.

    A new provider without a model resets the model to the provider's default. Raises `NotAllowed`,
    `Conflict` (`stale_version`), or `RuleViolation` keyed by the field's wire name.
    """
    actor.require_person("change AI settings")
    actor.require("agents.edit")
    # The row must exist before it can be locked; a concurrent insert is harmless.
    AiSettings.objects.bulk_create([AiSettings()], ignore_conflicts=True)
    row = AiSettings.objects.select_for_update().get(pk=1)
    if expected_version is not None and expected_version != row.version:
        raise Conflict(
            _("The AI settings have changed since you opened them."),
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
    row.fallback_provider, row.fallback_model = check_provider_and_model(
        "fallback", (row.fallback_provider, row.fallback_model), fallback_provider, fallback_model
    )
    if masked_personal_data is not None:
        row.unmasked = [kind for kind in PERSONAL_DATA_KINDS if kind not in masked_personal_data]
    if settings_payload(row) == before:
        return row
    row.version += 1
    row.updated_by_id = actor.user.pk
    row.save()
    payload: JsonObject = {**settings_payload(row), "version": row.version}
    outbox.record("ai.settings.changed", actor=actor, payload=payload)
    return row


_KNOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "text": TEXT_PROVIDERS,
    "media": MEDIA_PROVIDERS,
    "fallback": FALLBACK_PROVIDERS,
}


def masked_kinds(row: AiSettings) -> list[str]:
    """Return the kinds of personal data that are masked: all except the kinds that an admin has allowed."""
    return [kind for kind in PERSONAL_DATA_KINDS if kind not in (row.unmasked or ())]


def check_provider_and_model(
    kind: str, present: tuple[str, str], provider: str | None, model: str | None
) -> tuple[str, str]:
    """Return the validated provider and model. Raises `RuleViolation`."""
    known = _KNOWN[kind]
    name = present[0] if provider is None else provider
    if name and name not in known:
        # A lone surrogate from JSON would break the encoding of the error message.
        printable_name = name[:40].encode("utf-8", "replace").decode()
        raise invalid(
            f"{kind}Provider",
            _("There is no %(kind)s provider %(shown)r. Available: %(known)s.")
            % {"kind": kind, "shown": printable_name, "known": ", ".join(known)},
        )
    if model is None:
        # The stored model belongs to the previous provider.
        return name, present[1] if name == present[0] else ""
    field = f"{kind}Model"
    reject_unstorable(model, field)
    model = model.strip()
    if len(model) > MODEL_MAX or not model.isprintable():
        raise invalid(
            field,
            _("%(field)s must be one line of at most %(model_max)s characters.")
            % {"field": field, "model_max": MODEL_MAX},
        )
    if model and not name:
        raise invalid(field, _("Choose a provider for the model."))
    return name, model


def settings_payload(row: AiSettings) -> JsonObject:
    return {
        "textProvider": row.text_provider,
        "textModel": row.text_model,
        "mediaProvider": row.media_provider,
        "mediaModel": row.media_model,
        "fallbackProvider": row.fallback_provider,
        "fallbackModel": row.fallback_model,
        "maskedPersonalData": [*masked_kinds(row)],
    }


Kind = Literal["text", "media"]


def provider_label(provider: str) -> str:
    """Return the provider's name in the active language; for an unknown provider its id."""
    if provider == DEMO_PROVIDER:
        return _("Demo (no AI)")
    vendor = all_vendors().get(provider)
    return str(vendor.label or vendor.name) if vendor else provider


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of text or media. `source`: the environment variable that configures it. `missing`: the
    sentence about its package, if it is not installed.
    """

    id: str
    kind: Kind
    is_configured: bool
    is_default: bool
    default_model: str
    source: str
    missing: str = ""

    @property
    def name(self) -> str:
        return provider_label(self.id)


def providers(row: AiSettings) -> list[Provider]:
    """Return all providers, text before media. `is_default` marks the one used by agents that name none."""
    texts = [_provider("text", id_, model) for id_, model in DEFAULT_MODELS.items()]
    media = [_provider("media", id_, model) for id_, model in DEFAULT_MEDIA_MODELS.items()]
    first_media = next((item.id for item in media if item.is_configured), DEMO_PROVIDER)
    texts.append(Provider(DEMO_PROVIDER, "text", True, False, DEMO_PROVIDER, ""))
    media.append(Provider(DEMO_PROVIDER, "media", True, False, DEMO_PROVIDER, ""))
    default_text = row.text_provider or default_provider() or DEMO_PROVIDER
    default_media = row.media_provider or first_media
    return [
        *(replace(item, is_default=item.id == default_text) for item in texts),
        *(replace(item, is_default=item.id == default_media) for item in media),
    ]


def _provider(kind: Kind, id_: str, model: str) -> Provider:
    env, vendor = settings.CMS_ENV, all_vendors()[id_]
    by_address = env.base_url(id_) and not env.api_key(id_)
    source = vendor.address_variable if by_address else vendor.main_variable
    return Provider(id_, kind, env.has_provider(id_), False, model, source, vendor.missing_package)


CHECK_PAUSE: Final = timedelta(seconds=10)
CHECK_TIMEOUT: Final = timedelta(seconds=30)
"""After this time a test without a result counts as lost: the worker died or none is running."""


@transaction.atomic
def request_connection_test(*, provider: str, actor: Actor) -> ProviderCheck:
    """Queue a request for the provider's list of models, which costs nothing.

    Raises `NotFound`, `RuleViolation` if the provider has neither a key nor an address, `Conflict`
    (`too_soon`).
    """
    actor.require_person("test the connection to a provider")
    actor.require("agents.edit")
    found = next(
        (item for item in providers(ai_settings()) if item.id == provider and item.source), None
    )
    if found is None:
        raise NotFound(
            _("There is no provider %(name)r.") % {"name": provider[:40]},
            code="unknown_provider",
        )
    if not found.is_configured:
        raise invalid(
            "provider",
            _("Set %(variable)s before you test %(name)s.")
            % {"name": found.name, "variable": found.source},
        )
    ProviderCheck.objects.bulk_create([ProviderCheck(provider=provider)], ignore_conflicts=True)
    row = ProviderCheck.objects.select_for_update(of=("self",)).get(pk=provider)
    now = timezone.now()
    if row.asked_at is not None and row.asked_at > now - CHECK_PAUSE:
        raise Conflict(
            _("%(name)s was tested just now. Wait a few seconds and try again.")
            % {"name": found.name},
            code="too_soon",
        )
    row.asked_at, row.asked_by_id = now, actor.user.pk
    row.checked_at, row.outcome, row.status, row.lacks = None, "", None, []
    row.save()
    outbox.record("ai.provider.tested", actor=actor, payload={"name": provider})
    send_after_commit(
        lambda: queue_task("agents_app.tasks.test_provider", provider), f"test of {provider}"
    )
    return row


def run_connection_test(provider: str) -> None:
    """Run a requested connection test. Idempotent."""
    # Imported here, because only a worker runs tests and the HTTP client is slow to load.
    from agents_app.providers.model_list import list_models

    row = ProviderCheck.objects.filter(pk=provider, checked_at=None).first()
    if row is None or provider not in all_vendors():
        return
    env = settings.CMS_ENV
    choice = ProviderChoice(provider, "", env.api_key(provider), env.base_url(provider))
    found = list_models(choice)
    # With an incomplete list, a model that is not on it may still exist.
    wanted = models_in_use(provider, ai_settings()) if found.is_whole else []
    # Provider lists name models with a date or tag: `claude-x-20300101`, `llama3.2:latest`.
    lacks = [
        name
        for name in wanted
        # Lists may name only dated or tagged versions of a model.
        if not any(one == name or one.startswith((f"{name}-", f"{name}:")) for one in found.models)
    ]
    # If the test was requested again meanwhile, this result is discarded; the newer request gets
    # its own.
    ProviderCheck.objects.filter(pk=provider, asked_at=row.asked_at).update(
        checked_at=timezone.now(),
        outcome=found.outcome,
        status=found.status,
        models_listed=len(found.models),
        lacks=lacks,
    )


def is_lost(row: ProviderCheck) -> bool:
    """Return True if the test will not get a result any more."""
    is_late = row.asked_at is not None and row.asked_at < timezone.now() - CHECK_TIMEOUT
    return row.checked_at is None and is_late


def models_in_use(provider: str, row: AiSettings) -> list[str]:
    """Return the provider's models that agents without a model would use."""
    pairs = (
        (row.text_provider, row.text_model, DEFAULT_MODELS),
        (
            row.fallback_provider,
            row.fallback_model,
            DEFAULT_MODELS if row.fallback_provider == provider else {},
        ),
        (row.media_provider, row.media_model, DEFAULT_MEDIA_MODELS),
    )
    names = (
        (chosen if chosen and by == provider else usual.get(provider))
        for by, chosen, usual in pairs
    )
    return list(dict.fromkeys(name for name in names if name))
