"""Filters of the media library."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from media.models import Asset, AssetStatus
from media.queries import (
    category_counts,
    filter_by_category,
    filter_by_type,
    filter_by_use,
    filter_failed,
    filter_undescribed,
)
from media.scopes import visible_assets
from proofroom.core.admin.bounded_lists import ValueFilter
from proofroom.core.admin.permissions import actor_of
from proofroom.core.i18n.languages import language_name, other_languages

Choices = list[tuple[str, str]]
_MOST: Final = 50
_KINDS: Final = ("jpeg", "png", "webp", "gif", "avif")
_MEGABYTE: Final = 1_000_000


class CategoryFilter(ValueFilter):
    title = gettext_lazy("Category")
    parameter_name = "category"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        found, _total = category_counts(actor_of(request), 0, _MOST)
        return [(name, f"{name} ({number})") for name, number in found]

    def narrowed(self, rows: QuerySet[Asset], value: str) -> QuerySet[Asset]:
        return filter_by_category(rows, value)


class FileTypeFilter(ValueFilter):
    title = gettext_lazy("Type")
    parameter_name = "type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        each = [(f"image/{kind}", kind.upper()) for kind in _KINDS]
        return [
            ("image", _("Images")),
            ("video", _("Videos")),
            ("audio", _("Audio")),
            ("application/pdf", "PDF"),
            *each,
        ]

    def narrowed(self, rows: QuerySet[Asset], value: str) -> QuerySet[Asset]:
        return filter_by_type(rows, value)


class UseFilter(ValueFilter):
    title = gettext_lazy("Usage")
    parameter_name = "used"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("true", _("In use")), ("false", _("Unused"))]

    def narrowed(self, rows: QuerySet[Asset], value: str) -> QuerySet[Asset]:
        return filter_by_use(rows, value == "true") if value in ("true", "false") else rows


class WordsFilter(ValueFilter):
    title = gettext_lazy("Alt text")
    parameter_name = "words"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        default = settings.CMS_ENV.default_locale
        languages = [(default, language_name(default)), *other_languages()]
        missing = [
            (locale, _("Missing in %(language)s") % {"language": name})
            for locale, name in languages
        ]
        return [*missing, ("decoration", _("Decorative"))]

    def narrowed(self, rows: QuerySet[Asset], value: str) -> QuerySet[Asset]:
        if value == "decoration":
            return rows.filter(is_decorative=True)
        return filter_undescribed(rows, value) if value in settings.CMS_ENV.locales else rows.none()


class FileStateFilter(ValueFilter):
    title = gettext_lazy("Status")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("problem", _("With problems")), ("processing", _("Generating sizes"))]

    def narrowed(self, rows: QuerySet[Asset], value: str) -> QuerySet[Asset]:
        if value == "problem":
            return filter_failed(rows)
        return rows.filter(status=AssetStatus.PROCESSING) if value == "processing" else rows.none()


class ShapeFilter(ValueFilter):
    title = gettext_lazy("Orientation")
    parameter_name = "shape"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [
            ("wide", _("Landscape")),
            ("tall", pgettext("orientation", "Portrait")),
            ("square", _("Square")),
        ]

    def narrowed(self, rows: QuerySet[Asset], value: str) -> QuerySet[Asset]:
        shapes: dict[str, dict[str, object]] = {
            "wide": {"width__gt": F("height")},
            "tall": {"width__lt": F("height")},
            "square": {"width": F("height")},
        }
        return rows.filter(**shapes[value]) if value in shapes else rows.none()


class SizeFilter(ValueFilter):
    title = gettext_lazy("Size")
    parameter_name = "size"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [
            ("large", _("More than 5 MB")),
            ("medium", _("1 to 5 MB")),
            ("small", _("Less than 1 MB")),
            ("narrow", _("Narrower than 800 pixels")),
        ]

    def narrowed(self, rows: QuerySet[Asset], value: str) -> QuerySet[Asset]:
        sizes: dict[str, dict[str, int]] = {
            "large": {"size__gt": 5 * _MEGABYTE},
            "medium": {"size__gte": _MEGABYTE, "size__lte": 5 * _MEGABYTE},
            "small": {"size__lt": _MEGABYTE},
            "narrow": {"width__lt": 800},
        }
        return rows.filter(**sizes[value]) if value in sizes else rows.none()


class UploaderFilter(ValueFilter):
    title = gettext_lazy("Uploaded by")
    parameter_name = "by"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        who = (
            visible_assets(Asset.objects.order_by(), actor_of(request))
            .values("uploaded_by")
            .distinct()
        )
        users = get_user_model().objects.filter(pk__in=who).order_by("username")[:_MOST]
        return [(str(user.pk), user.get_username()) for user in users]

    def narrowed(self, rows: QuerySet[Asset], value: str) -> QuerySet[Asset]:
        # A number with more digits doesn't fit into a bigint column, and PostgreSQL refuses it.
        is_number = value.isascii() and value.isdigit() and len(value) < 19
        return rows.filter(uploaded_by=int(value)) if is_number else rows.none()


class DateFilter(ValueFilter):
    title = gettext_lazy("Uploaded")
    parameter_name = "since"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        days = [("1", _("Last 24 hours")), ("7", _("Last 7 days")), ("30", _("Last 30 days"))]
        return [*days, ("365", _("Last year"))]

    def narrowed(self, rows: QuerySet[Asset], value: str) -> QuerySet[Asset]:
        if value not in ("1", "7", "30", "365"):
            return rows.none()
        return rows.filter(created_at__gte=timezone.now() - timedelta(days=int(value)))


FILTERS: Final = (
    FileTypeFilter, CategoryFilter, WordsFilter, UseFilter, FileStateFilter, ShapeFilter, SizeFilter,
    UploaderFilter, DateFilter,
)  # fmt: skip
