"""Local programs need no credential while remote connections are not configured."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.mcp.inside import Inside, inside

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("address", "status"),
    [(None, 200), ("http://localhost:8787/mcp", 401), ("https://ai.example/mcp", 401)],
)
def test_with_its_own_address_the_server_asks_local_programs_for_credentials(
    environment: Callable[..., None], address: str | None, status: int
) -> None:
    environment(mcp_url=address, mcp_allowed_hosts=())

    async def scene(server: Inside) -> None:
        answer = await server.ask()
        assert answer.status == status
        assert ("www-authenticate" in answer.headers) == (status == 401)

    inside(scene)
