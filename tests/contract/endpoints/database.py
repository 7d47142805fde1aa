"""Find and replace."""

from __future__ import annotations

from content.find_replace.services import find_and_replace
from content.models import Replacement
from tests import make
from tests.contract.endpoint import ADMIN, Endpoint, Names

URL = "/api/database/find-replace"


def scene() -> Names:
    make.post("Coffee")
    done = find_and_replace(
        actor=make.actor("admin"), find="Coffee", replace="Cocoa", tables=["posts"]
    )
    assert done.row is not None
    return {"replacement_id": str(done.row.pk)}


def grow(number: int) -> None:
    make.copies(Replacement.objects.earliest("created_at"), number)


ENDPOINTS = [
    Endpoint(f"GET {URL}", ADMIN, invalid=("?page=x", "page"), grow=grow),
    Endpoint(
        f"POST {URL}",
        ADMIN,
        body={"find": "Cocoa", "replace": "Tea", "tables": ["posts", "modules"]},
        invalid=({"find": "Cocoa", "replace": "Tea", "tables": ["users"]}, "tables"),
    ),
    Endpoint(f"POST {URL}/<replacement_id>/undo", ADMIN, body={}),
]
