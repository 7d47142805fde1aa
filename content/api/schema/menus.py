"""The OpenAPI descriptions of menus."""

from __future__ import annotations

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from content.rules.menus import ITEM_TYPES
from core.api.schema import PAGES, MetaSchema, choice, query

SHOWN_PARAMETERS = [
    query(
        "locale",
        "Language code; the default locale without it, and where there is no menu in it.",
        choice(*settings.CMS_ENV.locales),
    )
]
MENU_PARAMETERS = [
    query("slug", "Exact slug."),
    query("locale", "Language code; every locale without it.", choice(*settings.CMS_ENV.locales)),
    *PAGES,
]


class ShownItemSchema(serializers.Serializer[object]):
    """A link. That of a post has the address of the post in the language asked for."""

    id = serializers.CharField(allow_blank=True)
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    type = serializers.ChoiceField(choices=ITEM_TYPES)
    url = serializers.CharField(allow_blank=True)
    children = serializers.SerializerMethodField()

    @extend_schema_field({"type": "array", "items": {"$ref": "#/components/schemas/ShownItem"}})
    def get_children(self, item: object) -> None:
        """Only describes; presenters answer."""


class ShownMenuSchema(serializers.Serializer[object]):
    """A menu as visitors see it: only what is published is named."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    slug = serializers.CharField()
    locale = serializers.CharField()
    items = ShownItemSchema(many=True)


class MenuItemSchema(serializers.Serializer[object]):
    """An item as it was written."""

    id = serializers.CharField(allow_blank=True)
    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]  # likewise
    type = serializers.ChoiceField(choices=ITEM_TYPES)
    url = serializers.CharField(allow_blank=True)
    postId = serializers.UUIDField(required=False)  # names of the wire
    children = serializers.SerializerMethodField()

    @extend_schema_field({"type": "array", "items": {"$ref": "#/components/schemas/MenuItem"}})
    def get_children(self, item: object) -> None:
        """Only describes; presenters answer."""


class MenuSchema(serializers.Serializer[object]):
    """A menu as it is edited."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    slug = serializers.CharField()
    locale = serializers.CharField()
    items = MenuItemSchema(many=True)
    version = serializers.IntegerField(min_value=1)
    updatedAt = serializers.DateTimeField()


class MenuListSchema(serializers.Serializer[object]):
    """Menus, by slug and locale."""

    data = MenuSchema(many=True)  # type: ignore[assignment]  # likewise
    meta = MetaSchema()


class MenuGoneSchema(serializers.Serializer[object]):
    """The menu that was deleted."""

    id = serializers.UUIDField()
