"""Every URL × a site role: permissions are checked, never the name of a role."""

from __future__ import annotations

from typing import Final

import pytest

from proofroom.accounts.roles import GRANTS
from tests import make
from tests.api.refusals import stored
from tests.api_client import ApiClient
from tests.contract.endpoint import Area, areas
from tests.contract.test_admin_walk import ADDRESSES, filled, who
from tests.contract.test_api_walk import succeed

pytestmark = pytest.mark.django_db
COPIES: Final = {"editor": "desk", "translator": "linguist"}


@pytest.mark.parametrize("area", areas(), ids=lambda area: area.name)
@pytest.mark.parametrize(("role", "copy"), COPIES.items(), ids=COPIES)
def test_a_copy_of_a_role_may_do_what_the_role_may(area: Area, role: str, copy: str) -> None:
    make.site_role(copy, *GRANTS[role])
    names = area.scene()
    make.user(copy)
    before = stored()

    for endpoint in area.endpoints:
        if role not in endpoint.who:
            response = succeed(endpoint, names, copy)
            assert response.status_code in (401, 403), endpoint.address
    assert stored() == before
    for endpoint in area.endpoints:
        passes = role in endpoint.who and role not in endpoint.refused
        if passes and endpoint.method == "GET" and endpoint.answers is not None:
            response = succeed(endpoint, names, copy)
            assert response.status_code == endpoint.answers, (endpoint.address, response.content)


def test_a_copy_of_a_role_opens_the_pages_that_the_role_opens() -> None:
    for role, copy in COPIES.items():
        make.site_role(copy, *GRANTS[role])
    post = make.post()
    make.user("editor")
    clients = {role: (ApiClient(role), ApiClient(copy)) for role, copy in COPIES.items()}
    for address in ADDRESSES:
        if who(address) is None:
            continue
        path = filled(address, post)
        for role, (of_role, of_copy) in clients.items():
            expected, found = of_role.get(path), of_copy.get(path)
            assert found.status_code == expected.status_code, (address, role)
