"""Accounts that are read at every request."""

from __future__ import annotations

from typing import Final

from proofroom.accounts.models import User
from proofroom.core.database.statements import Statement, columns_of, first_instance

_USER: Final = Statement(lambda user_id: User.objects.filter(pk=user_id).values(*columns_of(User)))


def find_user(user_id: int) -> User | None:
    """The account with that id, whatever its state. One query."""
    return first_instance(User, _USER.rows(user_id))
