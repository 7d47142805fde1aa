"""A small machine with media in a bucket: requirements-extras.lock only, SQLite, a queue in files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.deployment.clean import CleanEnvironment
from tests.deployment.site import (
    STARTS_WITHIN,
    Person,
    answers,
    require_well,
    run_first_start,
    running,
    until,
)
from tests.deployment.written import procfile
from tests.media.pictures import picture
from tests.ports import free_port

pytestmark = pytest.mark.deployment


@contextmanager
def bucket() -> Iterator[tuple[str, Any]]:
    """Yield the URL of an S3 server in this process, with a bucket."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        keys = {"aws_access_key_id": "id", "aws_secret_access_key": "key"}
        resource = boto3.resource("s3", endpoint_url=address, region_name="us-east-1", **keys)
        made = resource.Bucket("pictures")
        made.create()
        yield address, made
    finally:
        server.stop()


def test_pictures_and_their_sizes_go_to_the_bucket(tmp_path: Path) -> None:
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    programs = procfile()
    with bucket() as (address, made):
        variables = {
            "CMS_DATA_DIR": str(tmp_path / "data"),
            "SITE_URL": origin,
            "PORT": str(port),
            "MEDIA_STORAGE": "s3",
            "MEDIA_S3_BUCKET": "pictures",
            "MEDIA_S3_PUBLIC_URL": f"{address}/pictures",
            "MEDIA_S3_ENDPOINT": address,
            "MEDIA_S3_REGION": "us-east-1",
            "MEDIA_S3_ACCESS_KEY_ID": "id",
            "MEDIA_S3_SECRET_ACCESS_KEY": "key",
        }
        environment = CleanEnvironment(tmp_path / "environment", variables)
        # Files that were not collected are served too.
        run_first_start(environment, "requirements-extras.lock", left_out="collectstatic")
        commands: dict[str, tuple[str, dict[str, str]]] = {
            name: (programs[name], {}) for name in ("web", "worker")
        }
        with running(environment, tmp_path, commands) as processes:
            until("an answer", lambda: answers(f"{origin}/health"), STARTS_WITHIN)
            person = Person(origin, {"Origin": origin})
            person.log_in()
            file = ("a.png", picture("PNG", (900, 10)), "image/png")
            asset = person.send("POST", "/api/media/upload", files={"file": file})

            def ready() -> Any:
                found = person.send("GET", f"/api/media/{asset['id']}")
                return found if found["status"] == "ready" else None

            found = until("a picture of its own size", ready)
            require_well(tmp_path, processes)

        names = sorted(item.key for item in made.objects.all())
        small = found["variants"]["small"].removeprefix(f"{address}/pictures/")
        assert small in names
        assert made.Object(small).get()["ContentType"] == "image/webp"
        environment.run("python manage.py check_media")
