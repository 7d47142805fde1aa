"""`/api/menus`: public by slug, edited by id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle
from typing_extensions import TypedDict

from content.api.delivery.viewset import DeliveredViewSet
from proofroom.core.api.answer import Answer, described, list_of
from proofroom.core.api.body import read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import (
    LOCATION,
    PAGES,
    parameter_names,
    query_parameter,
)
from proofroom.core.api.views import ApiViewSet, expected_version
from proofroom.core.caching.cache_tags import add_cache_tags, menu_tag, post_tag
from proofroom.core.errors import NotFound
from proofroom.core.validation.slugs import is_ascii_slug
from proofroom_apps.menus.links import MenuLink, menu_post_ids, visible_links
from proofroom_apps.menus.menu_fields import (
    ItemType,
    MenuAnswer,
    MenuChanges,
    MenuEntry,
    NewMenu,
    UuidText,
)
from proofroom_apps.menus.models import SLUG_MAX, Menu
from proofroom_apps.menus.services import change_menu, create_menu, delete_menu, find_menu

READS: Final = ("GET", "HEAD")
SHOWN_PARAMETERS: Final = [
    query_parameter(
        "locale",
        "Language code; the default locale without it, and where there is no menu in it.",
    )
]
MENU_PARAMETERS: Final = [
    query_parameter("slug", "Exact slug."),
    query_parameter(
        "locale",
        "Language code; every locale without it.",
    ),
    *PAGES,
]


class ShownItemAnswer(TypedDict):
    """A link. A post's link has its address in the requested language."""

    id: str
    label: str
    type: ItemType
    url: str
    children: list[ShownItemAnswer]


class ShownMenuAnswer(TypedDict):
    """A menu as visitors see it: published content only."""

    id: UuidText
    name: str
    slug: str
    locale: str
    items: list[ShownItemAnswer]


class MenuGoneAnswer(Answer):
    """The id of the deleted menu."""

    id: UUID


class MenusViewSet(ApiViewSet):
    """Menus for editing: list, create."""

    permissions: ClassVar[dict[str, Declared]] = {"list": "menus.edit", "create": "menus.edit"}
    conditional = frozenset({"list"})

    @extend_schema(
        parameters=MENU_PARAMETERS, responses=list_of(MenuAnswer, "Menus, by slug and locale.")
    )
    def list(self, request: Request) -> Response:
        """List menus as stored, by slug and locale."""
        page = page_of(request)
        rows = Menu.objects.order_by("slug", "locale")
        slug = request.query_params.get("slug")
        if slug is not None:
            # PostgreSQL raises an error for NUL in a parameter.
            rows = rows.filter(slug=slug) if "\x00" not in slug else rows.none()
        if "locale" in request.query_params:
            rows = rows.filter(locale=requested_locale(request))
        found = [MenuAnswer.of(row) for row in rows[page.slice]]
        return Response(page.envelope(found, rows.count()))

    @extend_schema(request=NewMenu, responses={201: MenuAnswer}, parameters=[LOCATION])
    def create(self, request: Request) -> Response:
        """Create a menu; slugs are unique in each locale."""
        body = read_body(request, NewMenu)
        menu = create_menu(
            actor=self.actor,
            name=body.name,
            slug=body.slug,
            locale=settings.CMS_ENV.default_locale if body.locale is None else body.locale,
            items=_dump_entries(body.items),
        )
        return Response(
            MenuAnswer.of(menu),
            status=201,
            headers={"Location": f"/api/menus/{menu.pk}"},
        )


class MenuViewSet(DeliveredViewSet):
    """A menu: read by its slug, changed and deleted by its id. Both are the last part of the same address."""

    permissions: ClassVar[dict[str, Declared]] = {
        "retrieve": PUBLIC,
        "update": "menus.edit",
        "destroy": "menus.edit",
    }
    parameters: ClassVar[dict[str, frozenset[str]]] = {
        "retrieve": parameter_names(SHOWN_PARAMETERS)
    }

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Cache and count reads like the delivery API. Writes are neither cached nor counted."""
        if request.method in READS:
            return super().dispatch(request, *args, **kwargs)
        # Skips the caching and counting of DeliveredViewSet.
        return ApiViewSet.dispatch(self, request, *args, **kwargs)

    def get_authenticators(self) -> list[BaseAuthentication]:
        # DeliveredViewSet has no authentication and throttle classes; writes need the usual ones.
        return (
            [] if self._reads else [found() for found in _classes("DEFAULT_AUTHENTICATION_CLASSES")]
        )

    def get_throttles(self) -> list[BaseThrottle]:
        return [] if self._reads else [found() for found in _classes("DEFAULT_THROTTLE_CLASSES")]

    @property
    def _reads(self) -> bool:
        request: HttpRequest | None = self.request  # none while the address is only described
        return request is not None and request.method in READS

    @extend_schema(parameters=SHOWN_PARAMETERS, responses=described(ShownMenuAnswer))
    def retrieve(self, request: Request, menu: str) -> Response:
        """Return the menu of a slug in a locale, or in the default one. Links to unpublished posts are left out."""
        default = settings.CMS_ENV.default_locale
        locale = requested_locale(request)
        # PostgreSQL raises an error for NUL in a parameter.
        found = find_menu(menu, locale, default) if "\x00" not in menu else None
        if found is None:
            if is_ascii_slug(menu, SLUG_MAX):
                # Shared caches store the error, too, until there is such a menu.
                add_cache_tags(menu_tag(menu))
            raise NotFound("There is no menu of that slug.")
        add_cache_tags(menu_tag(found.slug), *map(post_tag, menu_post_ids(found.items)))
        shown: ShownMenuAnswer = {
            "id": str(found.pk),
            "name": found.name,
            "slug": found.slug,
            "locale": found.locale,
            "items": _show_items(visible_links(found.items, locale)),
        }
        return Response(shown)

    @extend_schema(request=MenuChanges, responses=MenuAnswer)
    def update(self, request: Request, menu: str) -> Response:
        """Change the menu of an id; absent fields are unchanged, `items` replaces all."""
        body = read_body(request, MenuChanges)
        row = change_menu(
            menu_id=menu,
            actor=self.actor,
            **body.model_dump(include={"name", "slug", "locale"}),
            items=_dump_entries(body.items),
            expected_version=expected_version(request, body.version),
        )
        return Response(MenuAnswer.of(row))

    @extend_schema(responses={200: MenuGoneAnswer})
    def destroy(self, request: Request, menu: str) -> Response:
        """Delete the menu of an id."""
        return Response(MenuGoneAnswer(id=delete_menu(menu_id=menu, actor=self.actor)))


def _classes(setting: str) -> tuple[type[Any], ...]:
    """Return the classes that the API settings give every endpoint. Delivery endpoints don't use them."""
    found: tuple[type[Any], ...] = tuple(getattr(api_settings, setting))
    return found


def requested_locale(request: Request) -> str:
    """Return the query's `locale`, or the default one. Raises a 422 error if the site lacks it."""
    return choice_in(request, "locale", settings.CMS_ENV.locales) or settings.CMS_ENV.default_locale


def _dump_entries(items: list[MenuEntry] | None) -> list[dict[str, Any]] | None:
    """Return the entries as plain dicts. The service validates them."""
    if items is None:
        return None
    return [item.model_dump(by_alias=True, exclude_none=True) for item in items]


def _show_items(links: Iterable[MenuLink]) -> list[ShownItemAnswer]:
    """Return the links without the keys that only the site's pages need."""
    return [
        {
            "id": link["id"],
            "label": link["label"],
            "type": link["type"],
            "url": link["url"],
            "children": _show_items(link["children"]),
        }
        for link in links
    ]
