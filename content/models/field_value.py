"""The values of filterable custom fields as rows, with the indexes that JSON cannot have for a site's own fields."""

from __future__ import annotations

from typing import ClassVar, Final

from django.db import models

from content.models.post import Post

TEXT_MAX: Final = 300


class FieldValue(models.Model):
    """One live value of a filterable custom field, written in the transaction of the change.

    A list has a row for each item, an empty field none. `number` is null unless the field is a number, which has an
    empty `text`. Dates are ISO texts, booleans `true` or `false`.
    """

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="field_values")
    name = models.CharField(max_length=100)
    text = models.CharField(max_length=TEXT_MAX, blank=True, default="")
    number = models.FloatField(null=True, blank=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["name", "text", "post"], name="field_value_text"),
            models.Index(fields=["name", "number", "post"], name="field_value_number"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.post_id}"
