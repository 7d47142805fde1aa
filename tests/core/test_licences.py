"""No package of the product forces its licence on a site."""

from __future__ import annotations

import re

import pytest

from mcp_bridge.licences import licence_rows

ALLOWED = re.compile(
    r"(MIT|ISC|(New |3-Clause )?BSD|Apache|MPL-2\.0|Mozilla Public License 2\.0|PSF|"
    r"Python Software Foundation|CNRI-Python|LGPL-3\.0)"
)


def refused(licence: str) -> list[str]:
    """Return the parts of a licence that a package must not have."""
    parts = re.split(r" AND | OR |, (?!Version)", licence.replace("(", "").replace(")", ""))
    return [part for part in parts if not ALLOWED.match(part)]


def test_every_package_has_a_licence_that_sites_can_live_with() -> None:
    found = {name: refused(licence) for name, licence, _ in licence_rows()}

    assert len(found) > 100
    assert {name: parts for name, parts in found.items() if parts} == {}


@pytest.mark.parametrize(
    "licence",
    ["GPL-3.0-only", "AGPL-3.0-or-later", "MIT AND GPL-2.0-only", "", "Other/Proprietary License"],
)
def test_others_are_refused(licence: str) -> None:
    assert refused(licence)
