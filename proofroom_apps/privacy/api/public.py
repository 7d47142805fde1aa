"""`GET /api/public/privacy`: cookies, consent and retention for the privacy page of a frontend."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from django.conf import settings
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.delivery.viewset import DeliveredViewSet
from proofroom.core.api.answer import Answer, one_of
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import query_parameter
from proofroom.core.privacy.browser_storage import Audience, StorageKind
from proofroom.core.privacy.declarations import stored_items
from proofroom_apps.privacy.presenters import lifetime_of
from proofroom_apps.website.consent import consent_texts, counting_text
from proofroom_apps.website.page_frame import use_template_language

_PARAMETERS: Final = [
    query_parameter(
        "locale",
        "Language of the texts; the default locale without it.",
    )
]


class StoredItemAnswer(Answer):
    """A value that the site stores in browsers."""

    name: str
    kind: Annotated[str, one_of([*StorageKind])]
    audience: Annotated[str, one_of([*Audience])]
    purpose: str
    when: str
    seconds: int | None = Field(
        description="How long it stays: 0 until the browser is closed, null until it is deleted."
    )
    lifetime: str = Field(description="The same in words.")


class ConsentAnswer(Answer):
    """The texts of the question for consent."""

    asked: bool = Field(validation_alias="is_asked")
    question: str
    explanation: str
    agree: str
    refuse: str


class PrivacyAnswer(Answer):
    """What the site stores in browsers and counts, generated from its settings."""

    locale: str
    counting: str
    consent: ConsentAnswer
    stored: list[StoredItemAnswer]
    submission_days: int = Field(
        description="Days that submissions of forms are kept; 0 until they are deleted."
    )


class PublicPrivacyViewSet(DeliveredViewSet):
    """Privacy facts of the site, for anyone. They change with the settings, and so with a restart only."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": PUBLIC}
    parameters: ClassVar = {"retrieve": ("locale",)}

    @extend_schema(parameters=_PARAMETERS, responses=PrivacyAnswer)
    def retrieve(self, request: Request) -> Response:
        """Return cookies, consent and counting in the language of the privacy page."""
        env = settings.CMS_ENV
        locale = choice_in(request, "locale", env.locales) or env.default_locale
        with use_template_language(locale):
            answer = PrivacyAnswer(
                locale=locale,
                counting=counting_text(),
                consent=ConsentAnswer.of(consent_texts()),
                stored=[
                    StoredItemAnswer(
                        name=item.title,
                        kind=item.kind,
                        audience=item.audience,
                        purpose=str(item.purpose),
                        when=str(item.when),
                        seconds=item.lifetime,
                        lifetime=lifetime_of(item),
                    )
                    for item in stored_items()
                ],
                submission_days=env.form_retention_days,
            )
        return Response(answer)
