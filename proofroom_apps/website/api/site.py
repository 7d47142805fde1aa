"""`GET /api/public/site`: what every page of a frontend needs and no post has."""

from __future__ import annotations

from typing import ClassVar, Final

from django.conf import settings
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.delivery.viewset import DeliveredViewSet
from content.store.linked_posts import Linked
from media.presenters import url_of
from proofroom.core.api.answer import Answer
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import parameter_names, query_parameter
from proofroom.core.site_urls import PageLocation, home_path, search_path
from proofroom.definitions import post_types
from proofroom.definitions.listings import feed_path, list_path, list_title
from proofroom_apps.website.consent import consent_texts, counting_text
from proofroom_apps.website.navigation import is_right_to_left, language_label
from proofroom_apps.website.page_frame import PageChrome, load_frame, use_template_language
from proofroom_apps.website.page_words import page_words

_PARAMETERS: Final = [
    query_parameter(
        "locale",
        "Language of names and words; the default locale without it.",
    )
]
_TRACK: Final = "/api/public/analytics/track"


class SiteLocaleAnswer(Answer):
    """A language of the site. `label` is its name in the language itself."""

    code: str
    label: str
    default: bool
    home_url: str = Field(description="The path of its home page.")
    direction: str = Field(json_schema_extra={"enum": ["ltr", "rtl"]})


class SiteTypeAnswer(Answer):
    """A post type. The paths are null for a type without a list of its posts."""

    type: str
    label: str
    list_url: str | None
    feed_url: str | None


class SiteConsentAnswer(Answer):
    """The question for consent. `asked` says whether the settings require it."""

    asked: bool = Field(validation_alias="is_asked")
    question: str
    explanation: str
    agree: str
    refuse: str


class SiteAnalyticsAnswer(Answer):
    """The counting of visits."""

    enabled: bool
    consent_required: bool
    track_url: str = Field(description="The path to which views and clicks are posted.")
    counting: str = Field(description="What is counted, in a sentence for visitors.")


class PublicSiteAnswer(Answer):
    """The site in a language."""

    name: str
    locale: str
    url: str = Field(description="The absolute address of the site, without a slash at its end.")
    home_url: str
    search_url: str
    media_base: str = Field(description="The absolute address below which files are.")
    locales: list[SiteLocaleAnswer]
    types: list[SiteTypeAnswer]
    words: dict[str, str] = Field(description="The words of the built-in pages, by name.")
    analytics: SiteAnalyticsAnswer
    consent: SiteConsentAnswer


class PublicSiteViewSet(DeliveredViewSet):
    """The site: its name, languages, types, words and settings."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": PUBLIC}
    tagged = frozenset(permissions)
    parameters: ClassVar[dict[str, frozenset[str]]] = {"retrieve": parameter_names(_PARAMETERS)}

    @extend_schema(parameters=_PARAMETERS, responses=PublicSiteAnswer)
    def retrieve(self, request: Request) -> Response:
        """Return the site in a language."""
        env = settings.CMS_ENV
        locale = choice_in(request, "locale", env.locales) or env.default_locale
        frame = load_frame(locale, self.live_state)
        place = PageLocation(home_path(locale), locale)
        around = PageChrome(place, frame.menus, Linked(), frame.neighbours)
        with use_template_language(locale):
            answer = PublicSiteAnswer(
                name=around.site_name,
                locale=locale,
                url=settings.SITE_URL,
                home_url=home_path(locale),
                search_url=search_path(locale),
                media_base=media_base(),
                locales=[
                    SiteLocaleAnswer(
                        code=code,
                        label=language_label(code),
                        default=code == env.default_locale,
                        home_url=home_path(code),
                        direction="rtl" if is_right_to_left(code) else "ltr",
                    )
                    for code in env.locales
                ],
                types=[
                    SiteTypeAnswer(
                        type=name,
                        label=list_title(name),
                        list_url=list_path(name, locale) or None,
                        feed_url=feed_path(name, locale) or None,
                    )
                    for name in post_types.names()
                ],
                words=page_words(),
                analytics=SiteAnalyticsAnswer(
                    enabled=bool(env.analytics_tracking),
                    consent_required=bool(env.analytics_tracking and env.analytics_consent),
                    track_url=_TRACK,
                    counting=counting_text(),
                ),
                consent=SiteConsentAnswer.of(consent_texts()),
            )
        return Response(answer)


def media_base() -> str:
    """Return the absolute address below which files are: of the site, or of its storage."""
    base = url_of("-").removesuffix("-")
    # A storage that signs its addresses has no common beginning. The site itself answers for it.
    base = base if base.endswith("/") else str(settings.MEDIA_URL)
    return f"{settings.SITE_URL}{base}" if base.startswith("/") else base
