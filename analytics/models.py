"""Views and clicks of visitors, and the figures added up from them. Visitors are not identified."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, Final

import orjson
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement
from django.utils import timezone

from proofroom.core.validation.limits import LOCALE_MAX

GOAL_MAX: Final = 105
"""Length of `form:` and the longest slug of a form."""
VALUE_MAX: Final = 253
"""Maximum length of a host name."""


class EventType(models.TextChoices):
    VIEW = "view"
    CLICK = "click"


class TimeIndex(models.Index):
    """Index for rows written in order of time: BRIN on PostgreSQL, which stores only the bounds of page ranges."""

    def create_sql(
        self,
        model: type[models.Model],
        schema_editor: BaseDatabaseSchemaEditor,
        using: str = "",
        **kwargs: Any,
    ) -> Statement:
        is_on_postgresql = schema_editor.connection.vendor == "postgresql"
        method = " USING brin" if is_on_postgresql else using
        return super().create_sql(model, schema_editor, using=method, **kwargs)


class AnalyticsEvent(models.Model):
    """A view or a click. `post_id` is empty on pages without a post; `x` and `y` are pixels of the
    document.

    The server adds the language and the shown `version`, the original of a running experiment
    (`variation_of`), and the reached goal. A `goal` starting with `form:` is a submitted form, and
    is not a click.

    No foreign key, because a row is written for each click and outlives its post. PostgreSQL stores
    a partition for each month. Reports do not read these rows: they are added up to
    `RollUp.counted_to` (`analytics/rollups/`).
    """

    event_type = models.CharField(max_length=5, choices=EventType.choices)
    post_id = models.UUIDField(null=True)
    x = models.FloatField(null=True)
    y = models.FloatField(null=True)
    viewport_width = models.PositiveIntegerField(null=True)
    metadata = models.JSONField(default=dict)
    locale = models.CharField(max_length=LOCALE_MAX, default="")
    version = models.PositiveIntegerField(null=True)
    variation_of = models.UUIDField(null=True)
    goal = models.CharField(max_length=GOAL_MAX, default="")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=models.Q(event_type__in=EventType.values), name="analytics_type_known"
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            TimeIndex(fields=["created_at"], name="analytics_when")
        ]

    def __str__(self) -> str:
        return f"{self.event_type} of {self.post_id or 'a page'}"


class Dimension(models.TextChoices):
    """The dimensions of figures. `value` of a count belongs to one of them."""

    TOTAL = "total"
    LOCALE = "locale", "Language"
    DEVICE = "device"
    REFERRER = "referrer"
    MODULE = "module"
    GOAL = "goal"
    ARM = "arm"
    """For the original of a test: `value` is the id of the shown post, or `<id> <goal>`."""


class Grain(models.TextChoices):
    """The span of a count: the day `day`, or the month it begins."""

    DAY = "day"
    MONTH = "month"


class TrafficCount(models.Model):
    """Views, clicks and reached goals of a day or a month (UTC)."""

    dimension = models.CharField(max_length=8, choices=Dimension.choices)
    grain = models.CharField(max_length=5, choices=Grain.choices)
    day = models.DateField()
    value = models.CharField(max_length=VALUE_MAX, default="")
    views = models.BigIntegerField(default=0)
    clicks = models.BigIntegerField(default=0)
    conversions = models.BigIntegerField(default=0)

    class Meta:
        abstract = True


class SiteCount(TrafficCount):
    """Counts of the whole site, including pages without a post."""

    class Meta:
        verbose_name: ClassVar[str] = "analytics"
        verbose_name_plural: ClassVar[str] = "analytics"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["dimension", "grain", "day", "value"], name="analytics_site_count_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dimension} {self.value} of {self.day}"


class PostCount(TrafficCount):
    """Counts of one post. Views of its variations are also counted for the original."""

    post_id = models.UUIDField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["post_id", "dimension", "grain", "day", "value"],
                name="analytics_post_count_once",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["grain", "day"],
                include=["post_id", "views", "clicks", "conversions"],
                condition=models.Q(dimension=Dimension.TOTAL),
                name="analytics_top_posts",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dimension} {self.value} of {self.post_id} on {self.day}"


class Device(models.TextChoices):
    """Device class by width of the viewport: mobile below 768 pixels, tablet below 1,100."""

    MOBILE = "mobile"
    TABLET = "tablet"
    DESKTOP = "desktop"
    UNKNOWN = "unknown"


class HeatSheet(models.Model):
    """The shared keys of hits of one heatmap: post, version of the live content, device.

    An empty `module_id` or `~` means cells of the page; `~` if the events also have a cell of their
    module. Otherwise the cells are of the module with that id.
    """

    id = models.AutoField(primary_key=True)  # 32 bits, because it is stored in every batch
    post_id = models.UUIDField()
    event_type = models.CharField(max_length=5, choices=EventType.choices)
    module_id = models.CharField(max_length=36, default="")
    device = models.CharField(max_length=7, choices=Device.choices)
    version = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["post_id", "event_type", "module_id", "device", "version"],
                name="analytics_heat_sheet_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} of {self.post_id}, {self.device}"


if TYPE_CHECKING:
    _NumberField = models.Field[list[int], list[int]]
else:
    _NumberField = models.Field


class NumberList(_NumberField):
    """A list of 64-bit integers: an array on PostgreSQL, JSON elsewhere."""

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "bigint[]" if connection.vendor == "postgresql" else "text"

    def from_db_value(
        self, value: list[int] | str, expression: object, connection: BaseDatabaseWrapper
    ) -> list[int]:
        numbers: list[int] = orjson.loads(value) if isinstance(value, str) else value
        return numbers

    def get_db_prep_value(
        self, value: list[int], connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> list[int] | str:
        return value if connection.vendor == "postgresql" else orjson.dumps(value).decode()


class HeatBatch(models.Model):
    """The hits of one sheet on one day that were added up together.

    Each number in `cells` packs hits of one cell, see `rollups/heat_batches.py`: a row for each
    cell would take several times as long to write. When a day is over, its batches are merged.
    """

    pk = models.CompositePrimaryKey("sheet_id", "day", "last_event")
    # No constraint, to save the check: only the holder of the roll-up lock writes batches or
    # deletes sheets.
    sheet = models.ForeignKey(
        HeatSheet, models.DO_NOTHING, related_name="batches", db_constraint=False, db_index=False
    )
    day = models.DateField()
    last_event = models.BigIntegerField()
    """Id of the last event that was added up with them."""
    cells = NumberList()

    def __str__(self) -> str:
        return f"hits of {self.day}, up to event {self.last_event}"


class RollUp(models.Model):
    """A single row: the event up to which figures are added up, and the first day without a monthly count."""

    counted_to = models.BigIntegerField(default=0)
    counted_at = models.DateTimeField(null=True)
    months_to = models.DateField(default=date.min)

    def __str__(self) -> str:
        return f"counted to {self.counted_to}"
