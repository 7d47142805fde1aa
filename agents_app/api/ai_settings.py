"""`/api/ai-settings`: the provider and model of agents that name none."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app.ai_settings import (
    FALLBACK_PROVIDERS,
    MEDIA_PROVIDERS,
    MODEL_MAX,
    TEXT_PROVIDERS,
    ai_settings,
    masked_kinds,
    providers,
    update_ai_settings,
)
from agents_app.models import AiSettings
from agents_app.providers.llm_config import (
    FallbackProviderOrNone,
    MediaProviderOrNone,
    TextProviderOrNone,
)
from agents_app.providers.prices import price_list
from forms.masking import PERSONAL_DATA_KINDS, PersonalDataKind
from proofroom.core.api.answer import Answer, TextOrNull, one_of
from proofroom.core.api.body import Body, Whole, Words, read_body
from proofroom.core.api.permissions import Declared
from proofroom.core.api.views import ApiViewSet, expected_version

Model = Annotated[Words, Field(max_length=MODEL_MAX)]
TextProviderName = Annotated[str, one_of(TEXT_PROVIDERS)]
MediaProviderName = Annotated[str, one_of(MEDIA_PROVIDERS)]
FallbackProviderName = Annotated[str, one_of(FALLBACK_PROVIDERS)]
PersonalDataKindName = Annotated[str, one_of(PERSONAL_DATA_KINDS)]


class ProviderAnswer(Answer):
    """A provider. Its key is never shown; `variable` names the environment variable that configures it."""

    id: TextProviderName
    name: str
    kind: Literal["text", "media"]
    configured: bool = Field(validation_alias="is_configured")
    default: bool = Field(
        description="Whether it is the default for agents without a provider.",
        validation_alias="is_default",
    )
    default_model: str
    variable: TextOrNull = Field(validation_alias="source")
    missing: TextOrNull = Field(
        description="How to install the provider's package, if it is not installed. Runs fail without it."
    )


class AiSettingsAnswer(Answer):
    """The defaults of agents without provider or model; null: the first usable provider."""

    text_provider: TextProviderName | None
    text_model: str | None
    media_provider: MediaProviderName | None
    media_model: str | None
    fallback_provider: Annotated[
        FallbackProviderName | None,
        Field(description="Answers in place of the text provider during an outage."),
    ]
    fallback_model: str | None
    masked_personal_data: list[PersonalDataKindName] = Field(
        description="Kinds of personal data in submissions that are masked for AI providers."
    )
    version: int = Field(ge=1)
    updated_at: datetime | None
    prices_date: date = Field(description="The date of the prices used to compute costs.")
    providers: list[ProviderAnswer]


class AiSettingsChanges(Body, answered_by=AiSettingsAnswer):
    text_provider: TextProviderOrNone | None = None
    text_model: Model | None = None
    media_provider: MediaProviderOrNone | None = None
    media_model: Model | None = None
    fallback_provider: FallbackProviderOrNone | None = None
    fallback_model: Model | None = None
    masked_personal_data: list[PersonalDataKind] | None = None
    version: Whole | None = Field(
        None, description="The version you last read. An outdated version is refused with 409."
    )


def answer_settings(row: AiSettings) -> Response:
    answer = AiSettingsAnswer(
        text_provider=row.text_provider or None,
        text_model=row.text_model or None,
        media_provider=row.media_provider or None,
        media_model=row.media_model or None,
        fallback_provider=row.fallback_provider or None,
        fallback_model=row.fallback_model or None,
        masked_personal_data=masked_kinds(row),
        version=row.version,
        updated_at=row.updated_at,
        prices_date=price_list().date,
        providers=[ProviderAnswer.model_validate(provider) for provider in providers(row)],
    )
    return Response(answer)


class AiSettingsViewSet(ApiViewSet):
    """The defaults of all agents."""

    permissions: ClassVar[dict[str, Declared]] = {
        "retrieve": "agents.edit",
        "update": "agents.edit",
    }

    @extend_schema(responses=AiSettingsAnswer)
    def retrieve(self, request: Request) -> Response:
        """The AI settings and the usable providers. Never a key."""
        return answer_settings(ai_settings())

    @extend_schema(request=AiSettingsChanges, responses=AiSettingsAnswer)
    def update(self, request: Request) -> Response:
        """Change the AI settings. Absent keys stay unchanged, null removes a default.

        A new provider without a model takes its default. A stale `version` is 409.
        """
        body = read_body(request, AiSettingsChanges)
        changes = body.model_dump(exclude_unset=True)
        version = expected_version(request, changes.pop("version", None))
        masked = changes.pop("masked_personal_data", None)
        given = {name: value or "" for name, value in changes.items()}
        row = update_ai_settings(
            actor=self.actor, expected_version=version, masked_personal_data=masked, **given
        )
        return answer_settings(row)
