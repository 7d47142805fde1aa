"""A content migration during concurrent writes. Real threads."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from django.db import connections, transaction

from content.migration_operations import ChangeModule, Convert
from content.models import ModuleInstance
from content.modules.global_modules import create_global, edit_global
from proofroom.core.json import Json
from proofroom.shared_content.models import SharedRevision
from tests import make
from tests.content.at_once import is_lock_awaited
from tests.content.migrating import carry_over

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services]


def test_a_concurrent_edit_of_a_global_module_survives() -> None:
    admin = make.actor("admin")
    module = create_global(actor=admin, slug="news", type="callout", props={"title": "Old"})
    edits: list[Future[ModuleInstance]] = []

    def edit() -> ModuleInstance:
        try:
            return edit_global(actor=admin, slug="news", props={"title": "Edited"})
        finally:
            connections.close_all()

    def convert(value: Json) -> Json:
        if not edits:
            edits.append(pool.submit(edit))
            while not is_lock_awaited() and not edits[0].done():
                pass
        return f"{value}!"

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            carry_over(ChangeModule("callout", Convert("title", convert)))
        edits[0].result(timeout=60)

    module.refresh_from_db()
    assert module.props["title"] == "Edited"
    revisions = SharedRevision.objects.filter(row_id=module.pk).order_by("version")
    titles = [revision.document["props"]["title"] for revision in revisions]
    assert titles == ["Old!", "Edited"]
