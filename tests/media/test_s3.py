"""Media in an S3-compatible bucket, over its protocol."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest

from cms_project.env import Environment
from cms_project.media_storage import media_storage
from media import file_store, integrity
from media.models import StoredFile
from media.presenters import present_asset
from media.services.files import delete_asset, replace_file, store_image
from tests import make
from tests.media.pictures import picture

pytestmark = pytest.mark.django_db


@pytest.fixture
def bucket(settings: Any) -> Iterator[Any]:
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    keys = {"aws_access_key_id": "id", "aws_secret_access_key": "key"}
    made = boto3.resource("s3", endpoint_url=address, region_name="us-east-1", **keys).Bucket(
        "pictures"
    )
    made.create()
    env = Environment(
        media_storage="s3",
        media_s3_bucket="pictures",
        media_s3_endpoint=address,
        media_s3_region="us-east-1",
        media_s3_access_key_id="id",
        media_s3_secret_access_key="key",
        media_s3_public_url="https://cdn.example/files",
    )
    settings.CMS_ENV = env
    settings.STORAGES = {**settings.STORAGES, "default": media_storage(env)}
    yield made
    server.stop()


def names(bucket: Any) -> list[str]:
    return sorted(item.key for item in bucket.objects.all())


def test_a_file_lives_in_the_bucket_from_upload_to_deletion(bucket: Any, client: Any) -> None:
    editor = make.actor("editor")
    asset = store_image(file=BytesIO(picture("PNG", (900, 10))), filename="a.png", actor=editor)
    asset.refresh_from_db()

    first = sorted([str(asset.file.name), *asset.variants.values()])
    assert (asset.status, names(bucket)) == ("ready", first)
    item = bucket.Object(asset.variants["small"]).get()
    assert item["ContentType"] == "image/webp"
    assert item["CacheControl"] == "public, max-age=86400"
    assert present_asset(asset)["url"] == f"https://cdn.example/files/{asset.file.name}"
    assert (integrity.check().checked, integrity.check().is_whole) == (4, True)
    answer = client.get(f"/media/{asset.file.name}")  # from when files were kept here
    assert answer["Location"] == f"https://cdn.example/files/{asset.file.name}"

    made = replace_file(
        asset_id=asset.pk, file=BytesIO(picture("PNG", (20, 20))), filename="b.png", actor=editor
    )
    made.refresh_from_db()
    assert len(names(bucket)) == 8
    StoredFile.objects.filter(due_at__isnull=False).update(due_at="2026-01-01T00:00:00Z")
    assert file_store.delete_due_files() == 4
    assert names(bucket) == sorted([str(made.file.name), *made.variants.values()])
    answer = client.get(f"/media/{asset.file.name}")
    assert answer["Location"] == f"https://cdn.example/files/{made.file.name}"

    delete_asset(asset_id=asset.pk, actor=editor)
    assert file_store.delete_due_files() == 4
    assert names(bucket) == []


def test_missing_and_unknown_files_of_the_bucket_are_found(bucket: Any) -> None:
    asset = store_image(
        file=BytesIO(picture("PNG", (9, 9))), filename="a.png", actor=make.actor("editor")
    )
    bucket.Object(asset.variants["small"]).delete()
    for name in ("loose.jpg", "a/b/c.txt"):
        bucket.Object(name).put(Body=b"x")

    found = integrity.check()

    assert found.missing == [(str(asset.pk), asset.variants["small"])]
    assert sorted(found.orphaned) == ["a/b/c.txt", "loose.jpg"]


def test_a_bucket_that_refuses_leaves_no_row(bucket: Any, settings: Any) -> None:
    options = settings.STORAGES["default"]["OPTIONS"]
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {**settings.STORAGES["default"], "OPTIONS": {**options, "bucket_name": "gone"}},
    }

    with pytest.raises(file_store.StorageFailed) as caught:
        store_image(
            file=BytesIO(picture("PNG", (9, 9))), filename="a.png", actor=make.actor("editor")
        )

    assert (caught.value.status, caught.value.code) == (503, "storage_failed")
    assert not StoredFile.objects.filter(due_at=None).exists()
