"""Imports, exports and bulk steps: their lists, forms and reports are accessible."""

from __future__ import annotations

from typing import Any

import pytest

from tests import make
from tests.browser import jobs_scene
from tests.browser.test_looks import serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_pages_of_background_work_have_no_serious_barrier(open_page: Any) -> None:
    run = jobs_scene.tried_import()
    exported = jobs_scene.export()
    job = jobs_scene.archived(make.post("Closed", slug="closed"))
    page, problems = open_page("admin"), []

    for address in (
        "proofroom_imports/importrun/",
        "proofroom_imports/importrun/add/",
        f"proofroom_imports/importrun/{run.pk}/change/",
        f"proofroom_imports/exportrun/{exported.pk}/change/",
        f"content/postjob/{job.pk}/change/",
    ):
        page.goto(f"/admin/{address}")
        problems += serious_in_any_light(page)

    assert problems == []
