"""The storage setting; an invalid one stops the start with a message."""

from __future__ import annotations

import os

import pytest

from cms_project import media_storage
from cms_project.env import Environment, load

S3 = {
    "MEDIA_STORAGE": "s3",
    "MEDIA_S3_BUCKET": "pictures",
    "MEDIA_S3_PUBLIC_URL": "https://cdn.example/files/",
}


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    values: dict[str, str] = {}
    monkeypatch.setattr(os, "environ", values)
    monkeypatch.setitem(Environment.model_config, "env_file", None)
    return values


def refusal() -> str:
    with pytest.raises(SystemExit) as refused:
        load()
    return str(refused.value)


def test_files_are_kept_here_where_nothing_is_said(environ):
    found = media_storage.media_storage(load())

    assert found["BACKEND"] == "media.local_storage.LocalStorage"
    assert media_storage.media_origins(load()) == []


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"MEDIA_STORAGE": "s3"}, "MEDIA_STORAGE is s3, which needs MEDIA_S3_BUCKET."),
        (
            {"MEDIA_STORAGE": "s3", "MEDIA_S3_BUCKET": "pictures"},
            "MEDIA_STORAGE is s3, which needs MEDIA_S3_PUBLIC_URL.",
        ),
        (
            {"MEDIA_S3_BUCKET": "pictures"},
            "MEDIA_S3_BUCKET is set, but MEDIA_STORAGE is local; set MEDIA_STORAGE=s3, or unset it.",
        ),
        (
            {**S3, "MEDIA_S3_ACCESS_KEY_ID": "id"},
            "set both MEDIA_S3_ACCESS_KEY_ID and MEDIA_S3_SECRET_ACCESS_KEY, or neither.",
        ),
        (
            {**S3, "MEDIA_S3_ENDPOINT": "minio:9000"},
            "MEDIA_S3_ENDPOINT is 'minio:9000': it must be a URL that begins with http:// or https://.",
        ),
        ({"MEDIA_STORAGE": "ftp"}, "MEDIA_STORAGE is 'ftp': should be 'local' or 's3'."),
    ],
    ids=range(6),
)
def test_what_does_not_fit_stops_the_start(environ, values, sentence):
    environ |= values

    assert refusal() == sentence


def test_a_bucket_has_its_options_and_its_origin(environ, monkeypatch, tmp_path):
    (tmp_path / "key").write_text("canary-key\n")
    monkeypatch.setattr(media_storage, "find_spec", lambda name: object())
    environ |= {
        **S3,
        "MEDIA_S3_ENDPOINT": "http://127.0.0.1:9000",
        "MEDIA_S3_REGION": "eu-central-1",
        "MEDIA_S3_ACCESS_KEY_ID": "id",
        "MEDIA_S3_SECRET_ACCESS_KEY_FILE": str(tmp_path / "key"),
    }
    env = load()

    options = media_storage.media_storage(env)["OPTIONS"]

    assert options["secret_key"] == "canary-key"
    assert (options["bucket_name"], options["region_name"]) == ("pictures", "eu-central-1")
    assert (options["custom_domain"], options["url_protocol"]) == ("cdn.example/files", "https:")
    assert options["querystring_auth"] is False
    assert media_storage.media_origins(env) == ["https://cdn.example"]
    assert "canary" not in repr(env)


def test_a_bucket_without_its_packages_stops_the_start(environ, monkeypatch):
    environ |= S3
    monkeypatch.setattr(media_storage, "find_spec", lambda name: None)

    with pytest.raises(SystemExit) as refused:
        media_storage.media_storage(load())

    assert str(refused.value) == (
        "MEDIA_STORAGE is s3, but django-storages and boto3 are not installed; "
        "install the extra s3 (see docs/how-to/store-media-in-a-bucket.md)."
    )
