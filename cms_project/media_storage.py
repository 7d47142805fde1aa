"""The storage of uploaded files, as Django and the browsers' policy need it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from cms_project.env_media import MediaEnvironment


def media_storage(env: MediaEnvironment) -> dict[str, Any]:
    """The storage of files. Names are made to be the only ones; a file that is made again keeps its name."""
    if env.media_storage == "local":
        return {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"allow_overwrite": True},
        }
    if find_spec("storages") is None or find_spec("boto3") is None:
        raise SystemExit(
            "MEDIA_STORAGE is s3, but django-storages and boto3 are not installed; "
            "install the extra s3 (see docs/deployment.md)."
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
            "default_acl": None,  # the bucket says who may read
            "file_overwrite": True,
            "signature_version": "s3v4",
            "object_parameters": {"CacheControl": "public, max-age=86400"},
        },
    }


def media_origins(env: MediaEnvironment) -> list[str]:
    """From where, beside this site, browsers may load pictures."""
    if env.media_s3_public_url is None:
        return []
    public = urlsplit(env.media_s3_public_url)
    return [f"{public.scheme}://{public.netloc}"]
