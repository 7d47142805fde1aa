"""Rows by ids that somebody sent."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Manager, Model, QuerySet

from proofroom.core.validation.input_validation import parse_uuid

M = TypeVar("M", bound=Model)


def find_by_id(rows: QuerySet[M] | Manager[M], id_: object) -> M | None:
    """The row of that id; None where none has it, and for what is no UUID, which costs no query."""
    key = parse_uuid(id_)
    return None if key is None else rows.filter(pk=key).first()
