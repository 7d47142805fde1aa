"""The generated username of an account."""

from __future__ import annotations

import pytest

from proofroom.accounts.services.authors import ensure_author
from proofroom.accounts.services.users import username_for
from tests import make

pytestmark = pytest.mark.django_db


def test_it_is_what_they_are_called_in_characters_of_usernames() -> None:
    assert username_for("ada@example.com", "Ada Lovelace") == "Ada-Lovelace"
    assert username_for("ada@example.com") == "ada"
    assert username_for("ada@example.com", "!!!") == "ada@example.com"


def test_an_author_whose_name_is_taken_or_holds_others_gets_one_too() -> None:
    make.user("editor", "ada")
    admin = make.actor("admin")

    assert ensure_author(email="ada@example.org", actor=admin).username == "ada@example.org"
    assert ensure_author(email="ada!b@example.org", actor=admin).username == "ada-b"
