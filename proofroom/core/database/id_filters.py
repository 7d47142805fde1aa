"""Lookups of rows by ids from clients."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Manager, Model, QuerySet

from proofroom.core.validation.input_validation import parse_uuid

M = TypeVar("M", bound=Model)


def find_by_id(rows: QuerySet[M] | Manager[M], id_: object) -> M | None:
    """Return the row with this id; None if there is none. Runs no query if the id is not a UUID."""
    key = parse_uuid(id_)
    return None if key is None else rows.filter(pk=key).first()
