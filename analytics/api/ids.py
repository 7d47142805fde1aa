"""Ids of posts as callers write them: UUIDs with hyphens, and no other form that Python reads."""

from __future__ import annotations

import re
from typing import Annotated, Final
from uuid import UUID

from pydantic import BeforeValidator

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)


def _uuid(text: object) -> UUID:
    if isinstance(text, str) and _ID.fullmatch(text):
        return UUID(text)
    raise ValueError("must be a UUID")


Id = Annotated[UUID, BeforeValidator(_uuid)]
