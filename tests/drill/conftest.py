"""A site with sample content on its own PostgreSQL and Redis, which the tests share: making it takes longest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.drill.server import Server, filled_server
from tests.receiver import Receiver, serving


@pytest.fixture(scope="session")
def receiver() -> Iterator[Receiver]:
    """Yield the receiver of the site's webhook."""
    with serving() as found:
        yield found


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[Server]:
    with filled_server(tmp_path_factory.mktemp("server"), receiver) as found:
        yield found


@pytest.fixture
def server(shared_server: Server) -> Server:
    """Return the site with all its processes, and a new change in Review."""
    shared_server.start()
    shared_server.sample.propose()
    shared_server.sample.list_paths()
    return shared_server
