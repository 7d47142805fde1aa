"""`/api/menus`: shown to everybody by slug, edited by id."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Literal

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle

from content import queries
from content.api.delivered import DeliveredViewSet
from content.api.schema import menus as schema
from content.models import Menu
from content.presenters import menus as presenters
from content.rules.menus import DEEPEST, ITEM_URL_MAX, LABEL_MAX, MOST_ITEMS
from content.services.menus import NAME_MAX, SLUG_MAX, change_menu, create_menu, delete_menu
from content.site.menus import shown_links
from core.api.body import Body, Words, body_object, check
from core.api.pagination import page_of
from core.api.permissions import PUBLIC, Declared
from core.api.schema import LOCATION
from core.api.views import ApiViewSet, expected_version
from core.errors import NotFound, invalid

READS: Final = ("GET", "HEAD")
_READ_ONLY: Final = ("id", "updatedAt")
_ITEMS: Final = f"A tree, at most {DEEPEST} levels deep."


class MenuEntry(Body):
    """A link of a menu: `custom` leads to its url, `post` follows the post's address and translation."""

    id: Words | None = Field(None, min_length=1, max_length=64, description="Made without it.")
    label: Words = Field("", max_length=LABEL_MAX, description="Empty: the title of the post.")
    type: Literal["custom", "post"] = "custom"
    url: Words = Field("", max_length=ITEM_URL_MAX, description="Of a post, it is ignored.")
    post_id: Words | None = Field(None, max_length=80)
    children: list[MenuEntry] = Field([], max_length=MOST_ITEMS)


class NewMenu(Body):
    """A menu. Other keys that a GET answers are ignored."""

    name: Words = Field(min_length=1, max_length=NAME_MAX)
    slug: Words = Field(min_length=1, max_length=SLUG_MAX)
    locale: Words | None = Field(None, max_length=12, description="The default locale without it.")
    items: list[MenuEntry] = Field([], max_length=MOST_ITEMS, description=_ITEMS)
    version: int | None = Field(None, ge=0, description="Ignored here.")


class MenuChanges(Body):
    """What to change of a menu; what is absent stays. Other keys that a GET answers are ignored."""

    name: Words | None = Field(None, min_length=1, max_length=NAME_MAX)
    slug: Words | None = Field(None, min_length=1, max_length=SLUG_MAX)
    locale: Words | None = Field(None, max_length=12)
    items: list[MenuEntry] | None = Field(None, max_length=MOST_ITEMS, description=_ITEMS)
    version: int | None = Field(None, ge=0, description="Of the last read.")


class MenusViewSet(ApiViewSet):
    """Menus as they are edited: list, create."""

    permissions: ClassVar[dict[str, Declared]] = {"list": "menus.edit", "create": "menus.edit"}
    conditional = frozenset({"list"})

    @extend_schema(parameters=schema.MENU_PARAMETERS, responses=schema.MenuListSchema)
    def list(self, request: Request) -> Response:
        """Menus as they were written, by slug and locale."""
        page = page_of(request)
        rows = Menu.objects.order_by("slug", "locale")
        slug = request.query_params.get("slug")
        if slug is not None:
            rows = rows.filter(slug=slug) if "\x00" not in slug else rows.none()
        if "locale" in request.query_params:
            rows = rows.filter(locale=locale_asked(request))
        found = [presenters.menu(row) for row in rows[page.slice]]
        return Response(page.envelope(found, rows.count()))

    @extend_schema(request=NewMenu, responses={201: schema.MenuSchema}, parameters=[LOCATION])
    def create(self, request: Request) -> Response:
        """Make a menu; there is one of a slug in each locale."""
        body = check(_written(request), NewMenu)
        menu = create_menu(
            actor=self.actor,
            name=body.name,
            slug=body.slug,
            locale=settings.CMS_ENV.default_locale if body.locale is None else body.locale,
            items=_plain(body.items),
        )
        address = f"/api/menus/{menu.pk}"
        return Response(presenters.menu(menu), status=201, headers={"Location": address})


class MenuViewSet(DeliveredViewSet):
    """A menu: shown by its slug, changed and deleted by its id. Both are the last part of one address."""

    permissions: ClassVar[dict[str, Declared]] = {
        "retrieve": PUBLIC,
        "update": "menus.edit",
        "destroy": "menus.edit",
    }

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """What is shown is kept and counted as the delivery API's answers are; what is written is neither."""
        if request.method in READS:
            return super().dispatch(request, *args, **kwargs)
        response = ApiViewSet.dispatch(self, request, *args, **kwargs)
        response["Cache-Control"] = ApiViewSet.cache_control
        return response

    def get_authenticators(self) -> list[BaseAuthentication]:
        return (
            [] if self._reads else [found() for found in _classes("DEFAULT_AUTHENTICATION_CLASSES")]
        )

    def get_throttles(self) -> list[BaseThrottle]:
        return [] if self._reads else [found() for found in _classes("DEFAULT_THROTTLE_CLASSES")]

    @property
    def _reads(self) -> bool:
        request: HttpRequest | None = self.request  # none while the address is only described
        return request is not None and request.method in READS

    @extend_schema(parameters=schema.SHOWN_PARAMETERS, responses=schema.ShownMenuSchema)
    def retrieve(self, request: Request, menu: str) -> Response:
        """The menu of a slug in a locale, else in the default one. Links to what is not published are left out."""
        default = settings.CMS_ENV.default_locale
        locale = locale_asked(request)
        found = queries.menu(menu, locale, default) if "\x00" not in menu else None
        if found is None:
            raise NotFound("There is no menu of that slug.")
        return Response(presenters.shown_menu(found, shown_links(found.items, locale)))

    @extend_schema(request=MenuChanges, responses=schema.MenuSchema)
    def update(self, request: Request, menu: str) -> Response:
        """Change the menu of an id; what is absent stays, `items` are given whole."""
        body = check(_written(request), MenuChanges)
        row = change_menu(
            menu_id=menu,
            actor=self.actor,
            name=body.name,
            slug=body.slug,
            locale=body.locale,
            items=None if body.items is None else _plain(body.items),
            expected_version=expected_version(request, body.version),
        )
        return Response(presenters.menu(row))

    @extend_schema(responses={200: schema.MenuGoneSchema})
    def destroy(self, request: Request, menu: str) -> Response:
        """Delete the menu of an id."""
        return Response({"id": delete_menu(menu_id=menu, actor=self.actor)})


def _classes(setting: str) -> tuple[type[Any], ...]:
    """The classes that every endpoint has, which delivered ones go without."""
    found: tuple[type[Any], ...] = tuple(getattr(api_settings, setting))
    return found


def locale_asked(request: Request) -> str:
    """The query's `locale`, else the default one; 422 on one that the site does not have."""
    locale: str = request.query_params.get("locale", settings.CMS_ENV.default_locale)
    if locale not in settings.CMS_ENV.locales:
        raise invalid("locale", f"locale must be one of: {', '.join(settings.CMS_ENV.locales)}.")
    return locale


def _plain(items: list[MenuEntry]) -> list[dict[str, Any]]:
    """As the service reads them, which has the last word."""
    return [item.model_dump(by_alias=True, exclude_none=True) for item in items]


def _written(request: Request) -> dict[str, Any]:
    return {name: value for name, value in body_object(request).items() if name not in _READ_ONLY}
