"""A typed client generated from the committed document without a warning works with a live server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings

from tests import make

pytestmark = pytest.mark.django_db(transaction=True)

Module = Callable[[str], Any]


@pytest.fixture(scope="module")
def client_module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Modules of the generated package, by name."""
    folder = tmp_path_factory.mktemp("client")
    done = subprocess.run(
        [
            Path(sys.executable).with_name("openapi-python-client"),
            *("generate", "--path", Path(settings.BASE_DIR, "docs", "openapi.yaml")),
            *("--config", Path(__file__).with_name("client.yaml")),
            *("--output-path", folder, "--overwrite", "--fail-on-warning"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(folder)
    yield lambda name: import_module(f"cms_client.{name}")
    patch.undo()


@pytest.fixture
def editor(client_module: Module, live_server: Any) -> Any:
    """Return a logged-in client, created as documented."""
    client = client_module("client").Client(base_url=live_server.url)
    account = make.user("editor")
    answer = client_module("api.auth.auth_login").sync(
        client=client,
        body=client_module("models").Credentials(email=account.email, password=make.PASSWORD),
    )
    assert answer.role == "editor"
    token = client.get_httpx_client().cookies["csrftoken"]
    client.get_httpx_client().headers["X-CSRFToken"] = token
    return client


def test_a_post_is_made_read_and_listed_with_types(client_module: Module, editor: Any) -> None:
    models = client_module("models")

    made = client_module("api.posts.posts_create").sync(
        client=editor,
        body=models.NewPost(type_="blog", title="Typed", status=models.NewPostStatus.PUBLISHED),
    )
    read = client_module("api.posts.posts_retrieve").sync(made.id, client=editor)
    listed = client_module("api.posts.posts_list").sync(client=editor, type_="blog")

    assert isinstance(made, models.CreatedPost)
    assert isinstance(made.id, UUID)
    assert isinstance(read.created_at, datetime)
    assert (read.title, read.status, read.layers.review.exists) == (
        "Typed",
        models.PostStatus.PUBLISHED,
        False,
    )
    assert [module.type_ for module in read.modules] == ["hero", "prose", "faq"]
    assert isinstance(listed, models.PostList)
    assert [(row.title, row.version) for row in listed.data] == [("Typed", read.version)]
    assert (listed.meta.total, listed.meta.last_page) == (1, 1)


def test_refusals_are_typed_too(client_module: Module, editor: Any) -> None:
    models = client_module("models")

    absent = client_module("api.posts.posts_retrieve").sync_detailed(uuid4(), client=editor)
    invalid = client_module("api.posts.posts_create").sync_detailed(
        client=editor, body=models.NewPost(type_="no-such-type", title="Typed")
    )

    assert absent.status_code == 404
    assert isinstance(absent.parsed, models.Error)
    assert absent.parsed.code == "not_found"
    assert invalid.status_code == 422
    assert list(invalid.parsed.details.additional_properties) == ["type"]


def test_a_frontend_needs_no_account(client_module: Module, live_server: Any) -> None:
    make.post("For everybody")
    client = client_module("client").Client(base_url=live_server.url)

    listed = client_module("api.public.public_posts_list").sync(client=client)
    found = client_module("api.public.public_resolve").sync(client=client, path=listed.data[0].url)

    assert [row.title for row in listed.data] == ["For everybody"]
    assert found.post.title == "For everybody"
