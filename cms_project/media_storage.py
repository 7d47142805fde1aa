"""The storage of uploaded files, for Django's settings and the Content-Security-Policy."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings

from cms_project.env_values import Url, secret

_S3 = ("bucket", "endpoint", "region", "access_key_id", "secret_access_key", "public_url")


class MediaEnvironment(BaseSettings):
    """The environment variables of media."""

    media_max_bytes: int = Field(20 * 1024 * 1024, ge=1, description="Largest upload, in bytes.")
    media_max_recording_bytes: int = Field(
        100 * 1024 * 1024, ge=1, description="Largest upload of a video or an audio file, in bytes."
    )
    media_max_pixels: int = Field(50_000_000, ge=1, description="Largest image, in pixels.")
    media_storage: Literal["local", "s3"] = Field(
        "local",
        description="Where files are stored: local (CMS_DATA_DIR/media), or s3, which needs the extra s3.",
    )
    media_s3_bucket: str | None = Field(
        None, pattern=r"^[a-zA-Z0-9._-]{3,255}$", description="Name of the bucket."
    )
    media_s3_endpoint: Url | None = Field(
        None, description="Address of an S3-compatible service. Unset: AWS."
    )
    media_s3_region: str | None = Field(
        None, pattern=r"^[a-zA-Z0-9-]{1,60}$", description="Region of the bucket."
    )
    media_s3_access_key_id: str | None = secret(
        "Key ID. Unset, with the secret key: the credentials of the machine."
    )
    media_s3_secret_access_key: str | None = secret("Secret key that belongs to the key ID.")
    media_s3_public_url: Url | None = Field(
        None, description="Address where browsers find the files of the bucket."
    )

    @model_validator(mode="after")
    def _storage_fits_together(self) -> MediaEnvironment:
        given = [f"media_s3_{name}" for name in _S3 if getattr(self, f"media_s3_{name}")]
        if self.media_storage == "local":
            if given:
                raise ValueError(
                    f"{given[0].upper()} is set, but MEDIA_STORAGE is local; set MEDIA_STORAGE=s3, or unset it"
                )
            return self
        for name in ("media_s3_bucket", "media_s3_public_url"):
            if name not in given:
                raise ValueError(f"MEDIA_STORAGE is s3, which needs {name.upper()}")
        if (self.media_s3_access_key_id is None) != (self.media_s3_secret_access_key is None):
            raise ValueError(
                "set both MEDIA_S3_ACCESS_KEY_ID and MEDIA_S3_SECRET_ACCESS_KEY, or neither"
            )
        return self


def media_storage(env: MediaEnvironment) -> dict[str, Any]:
    """Return the storage of uploaded files."""
    if env.media_storage == "local":
        return {
            "BACKEND": "media.local_storage.LocalStorage",
            # Names are unique, so only a file that is made again overwrites its earlier version.
            "OPTIONS": {"allow_overwrite": True},
        }
    if find_spec("storages") is None or find_spec("boto3") is None:
        raise SystemExit(
            "MEDIA_STORAGE is s3, but django-storages and boto3 are not installed; "
            "install the extra s3 (see docs/how-to/store-media-in-a-bucket.md)."
        )
    public = urlsplit(env.media_s3_public_url or "")
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": env.media_s3_bucket,
            "endpoint_url": env.media_s3_endpoint,
            "region_name": env.media_s3_region,
            "access_key": env.media_s3_access_key_id,
            "secret_key": env.media_s3_secret_access_key,
            "custom_domain": f"{public.netloc}{public.path}",
            "url_protocol": f"{public.scheme}:",
            "querystring_auth": False,
            "default_acl": None,  # the bucket's policy decides who may read
            "file_overwrite": True,
            "signature_version": "s3v4",
            "object_parameters": {"CacheControl": "public, max-age=86400"},
        },
    }


def media_origins(env: MediaEnvironment) -> list[str]:
    """Return the other origins from which browsers may load images."""
    if env.media_s3_public_url is None:
        return []
    public = urlsplit(env.media_s3_public_url)
    return [f"{public.scheme}://{public.netloc}"]
