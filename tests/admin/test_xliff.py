"""Texts for translators in the admin: exported for a post or a filter, imported with a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from defusedxml.ElementTree import fromstring
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from content.models import Post
from tests import make
from tests.content.test_xliff import WORDS, review_of, translate, units

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def place(query: str = "") -> str:
    return f"{reverse('admin:content-xliff')}{query}"


def upload(client: Client, content: bytes, **fields: Any) -> Any:
    file = SimpleUploadedFile("texts.xlf", content)
    return client.post(place(), {"do": "import", "file": file, **fields})


def test_a_post_goes_out_and_comes_back(signed_in: SignedIn) -> None:
    post = make.post(
        markdown="Grind **the** beans.\n\n[Pour](https://example.com/water) the water."
    )
    client = signed_in("translator")
    page = client.get(reverse("admin:content_post_translations", args=[post.pk])).content.decode()
    assert f'href="{place(f"?post={post.pk}")}"' in page

    answer = client.post(place(f"?post={post.pk}"), {"do": "export", "locale": "de"})

    assert answer["Content-Type"] == "application/xliff+xml"
    assert answer["Content-Disposition"] == f'attachment; filename="{post.slug}.en-de.xlf"'
    content = translate(fromstring(answer.content), WORDS)
    checked = upload(client, content, dry_run="on").content.decode()
    assert "This is what the import would do" in checked
    assert not Post.objects.filter(locale="de").exists()

    done = upload(client, content).content.decode()
    made = Post.objects.get(locale="de")
    assert "In Review: 2" in done
    assert reverse("admin:content_post_review", args=[made.pk]) in done
    assert review_of(post).fields["title"] == "Filterkaffee"


def test_the_filter_of_the_matrix_chooses_posts(signed_in: SignedIn) -> None:
    wanted, other = make.post("Tea"), make.post("Coffee")
    make.post("Tee", locale="de")
    client = signed_in("editor")
    matrix = client.get(f"{reverse('admin:content-translations')}?q=Tea").content.decode()
    assert f'href="{place("?q=Tea")}"' in matrix

    answer = client.post(place("?q=Tea"), {"do": "export", "source": "en", "locale": "de"})

    text = answer.content.decode()
    assert str(wanted.pk) in text
    assert str(other.pk) not in text
    assert "post.title" in units(fromstring(answer.content))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"source": "en", "locale": "en"}, "Choose another language."),
        ({"source": "de", "locale": "en"}, "No posts match these filters."),
    ],
)
def test_what_cannot_be_exported_is_said(
    signed_in: SignedIn, fields: dict[str, str], words: str
) -> None:
    make.post()
    answer = signed_in("editor").post(place(), {"do": "export", **fields})

    assert answer.status_code == 422
    assert words in answer.content.decode()


def test_a_broken_file_is_refused_at_its_field(signed_in: SignedIn) -> None:
    answer = upload(signed_in("editor"), b"<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>")

    assert answer.status_code == 422
    assert "document type or entities" in answer.content.decode()
