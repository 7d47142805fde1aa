"""Background work with reports: a dry run of an import, an export, and bulk steps."""

from __future__ import annotations

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from content.models import JobKind, Post, PostJob
from content.posts.jobs import start_job
from proofroom_apps.imports.models import ImportRun
from tests import make
from tests.imports.test_wordpress import HEAD, TAIL, item


def tried_import() -> ImportRun:
    """Create a dry run with entries in its report."""
    items = item(1, "Kettles", "Text [odd]") + item(2, "Grinders", "Text")
    file = SimpleUploadedFile("old-site.xml", (HEAD + items + TAIL).encode())
    client = Client()
    client.force_login(make.user("admin"))
    values = {"source": "wordpress", "file": file, "locale": "en"}
    client.post(reverse("admin:proofroom_imports_importrun_add"), values)
    return ImportRun.objects.get(is_export=False)


def export() -> ImportRun:
    client = Client()
    client.force_login(make.user("admin"))
    client.post(reverse("admin:proofroom_imports_exportrun_add"), {})
    return ImportRun.objects.get(is_export=True)


def archived(*posts: Post) -> PostJob:
    ids = [post.pk for post in posts]
    return start_job(kind=JobKind.ARCHIVE, post_ids=ids, actor=make.actor("admin"))
