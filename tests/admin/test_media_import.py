"""Images of other sites, fetched into the library when text is pasted. Real sockets of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from media.models import Asset, StoredFile
from media.services import web_files, web_import
from media.services.web_files import FetchFailed
from media.services.web_import import import_image
from proofroom.core.errors import CmsError, NotAllowed, RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.media.pictures import picture
from tests.receiver import Receiver, Reply, Trick, reach, serving

pytestmark = pytest.mark.django_db
IMPORT = "/admin/media/asset/import/"
SignedIn = Callable[..., Client]


@pytest.fixture
def other_site(settings: Any) -> Iterator[Receiver]:
    reach(settings)
    with serving() as running:
        yield running


def image_of(size: tuple[int, int] = (60, 30)) -> Reply:
    return Reply(headers={"Content-Type": "image/png"}, body=picture("PNG", size))


def bring(url: str, **more: Any) -> tuple[Asset, bool]:
    return import_image(url=url, actor=make.actor("editor"), **more)


def test_an_image_is_fetched_and_described_once(other_site: Receiver) -> None:
    other_site.say("/a/green%20beans.png", image_of())
    other_site.say("/again.png", image_of())

    first, is_new = bring(other_site.url("/a/green%20beans.png"), alt_text=" Green\nbeans ")
    second, is_new_too = bring(other_site.url("/again.png"), alt_text="Other words")

    assert (is_new, is_new_too) == (True, False)
    assert first == second == Asset.objects.get()
    assert (first.filename, first.alt_text, first.mime) == (
        "green beans.png",
        "Green beans",
        "image/png",
    )
    assert first.uploaded_by == make.user("editor")
    assert [event.payload["id"] for event in Event.objects.filter(name="media.uploaded")] == [
        str(first.pk)
    ]
    assert {seen.headers["accept"] for seen in other_site.requests} == {"image/*, */*;q=0.5"}
    assert not any("cookie" in seen.headers for seen in other_site.requests)


def test_few_are_fetched_at_once(other_site: Receiver) -> None:
    other_site.say("/a.png", image_of())
    with web_import._FETCHES, web_import._FETCHES, pytest.raises(FetchFailed, match="Try again"):
        bring(other_site.url("/a.png"))
    assert other_site.requests == []
    assert bring(other_site.url("/a.png"))[1]


def test_the_alternative_text_is_that_of_the_language(other_site: Receiver) -> None:
    other_site.say("/a.png", image_of())

    made, _new = bring(other_site.url("/a.png"), alt_text="Bohnen", locale="de")

    assert (made.alt_text, made.alt_texts) == ("", {"de": "Bohnen"})


def test_an_image_larger_than_other_answers_is_read_whole(other_site: Receiver) -> None:
    large = picture("PNG", (1200, 900)) + b"\0" * 600_000
    other_site.say("/large.png", Reply(body=large))

    made, _new = bring(other_site.url("/large.png"))

    assert (made.width, made.height) == (1200, 900)


def test_an_address_of_this_site_is_the_file_itself(other_site: Receiver) -> None:
    made = make.image("scales.png")

    own, is_new = bring(f"{settings.SITE_URL}{made.file.storage.url(made.file.name)}")

    assert (own, is_new) == (made, False)
    assert other_site.requests == []


def test_each_redirect_is_judged_like_the_first_address(other_site: Receiver) -> None:
    other_site.say("/moved", Reply(302, {"Location": "/there.png"}))
    other_site.say("/there.png", image_of())
    other_site.say("/inside", Reply(302, {"Location": "http://169.254.169.254/latest"}))
    other_site.say("/file", Reply(302, {"Location": "file:///etc/passwd"}))
    other_site.say("/round", Reply(302, {"Location": "/round"}))

    assert bring(other_site.url("/moved"))[0].filename == "there.png"
    for path in ("/inside", "/file"):
        with pytest.raises(RuleViolation, match="is not allowed to fetch"):
            bring(other_site.url(path))
    with pytest.raises(FetchFailed, match="redirects too often"):
        bring(other_site.url("/round"))
    assert len(other_site.at("/round")) == 1 + web_files.MAX_REDIRECTS
    assert Asset.objects.count() == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/a.png",
        "http://[::ffff:127.0.0.1]:8000/a.png",
        "http://2130706433:8000/a.png",
        "http://169.254.169.254/a.png",
        "http://10.0.0.1/a.png",
        "https://user:secret@example.com/a.png",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "gopher://example.com/",
        "//example.com/a.png",
        "",
        "https://example.com/" + "a" * 2000,
    ],
)
def test_what_may_not_be_called_is_not_called(url: str) -> None:
    with pytest.raises(RuleViolation):
        bring(url)

    assert not Asset.objects.exists()


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(404), "responded with status 404"),
        (Reply(200, body=b"<html>log in</html>"), "not a valid JPEG"),
        (Reply(200, body=b"<svg xmlns='http://www.w3.org/2000/svg'/>"), "not a valid JPEG"),
        (Reply(200, body=b"%PDF-1.7\n%%EOF"), "not an image"),
        (Reply(200, body=b""), "The file is empty"),
        (Reply(200, body=picture("PNG", (60, 30))[:-40]), "damaged"),
        (Reply(200, body=picture("PNG", (900, 900))), "at most 0.5 megapixels"),
        (Reply(trick=Trick.ENDLESS), "larger than 0.25 MB"),
        (Reply(trick=Trick.GZIP_BOMB), "not a valid JPEG"),
        (Reply(body=picture("PNG", (60, 30)), trick=Trick.BREAK_OFF), "the whole file"),
        (Reply(trick=Trick.DROP), "could not be reached"),
        (Reply(trick=Trick.GARBAGE), "could not be reached"),
        (Reply(trick=Trick.HANG_BODY), "the whole file"),
        (Reply(trick=Trick.DRIP_HEAD), "could not be reached"),
    ],
)
def test_what_another_site_may_do_instead_leaves_nothing(
    other_site: Receiver, settings: Any, monkeypatch: pytest.MonkeyPatch, reply: Reply, said: str
) -> None:
    limits = {"media_max_bytes": 256 * 1024, "media_max_pixels": 500_000}
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=limits)
    if reply.trick in (Trick.HANG_BODY, Trick.DRIP_HEAD):
        monkeypatch.setattr(web_files, "FETCH_SECONDS", 1.0)
    other_site.say("/a.png", reply)

    with pytest.raises(CmsError, match=said):
        bring(other_site.url("/a.png"))
    other_site.release()

    assert not Asset.objects.exists()
    assert not StoredFile.objects.exists()


def test_only_people_who_may_upload_import(other_site: Receiver) -> None:
    other_site.say("/a.png", image_of())

    for actor in (make.actor("translator"), replace(make.actor("editor"), agent_id="seo")):
        with pytest.raises(NotAllowed):
            import_image(url=other_site.url("/a.png"), actor=actor)

    assert other_site.requests == []
    assert not Asset.objects.exists()


def test_the_endpoint_takes_an_address_or_a_file(signed_in: SignedIn, other_site: Receiver) -> None:
    other_site.say("/a.png", image_of())
    client = signed_in()
    pasted = SimpleUploadedFile("image.png", picture("PNG", (60, 30)), "image/png")

    fetched = client.post(IMPORT, {"url": other_site.url("/a.png"), "alt_text": "A"})
    sent = client.post(IMPORT, {"file": pasted, "alt_text": "B"})

    made = Asset.objects.get()
    assert (fetched.status_code, sent.status_code) == (201, 200)
    assert (fetched.json()["id"], fetched.json()["isNew"]) == (str(made.pk), True)
    assert (sent.json()["id"], sent.json()["isNew"]) == (str(made.pk), False)
    assert fetched.json()["url"] == made.file.storage.url(made.file.name)


def test_the_endpoint_says_what_is_wrong(signed_in: SignedIn, other_site: Receiver) -> None:
    client = signed_in()
    other_site.say("/gone.png", Reply(404))

    nothing = client.post(IMPORT, {})
    both = client.post(
        IMPORT, {"url": other_site.url(), "file": SimpleUploadedFile("a.png", b"a", "image/png")}
    )
    gone = client.post(IMPORT, {"url": other_site.url("/gone.png")})
    inside = client.post(IMPORT, {"url": "http://169.254.169.254/"})
    long = client.post(
        IMPORT,
        {
            "file": SimpleUploadedFile("a.png", picture("PNG", (60, 30)), "image/png"),
            "alt_text": "a" * 501,
        },
    )

    answers = (nothing, both, gone, inside, long)
    assert [answer.status_code for answer in answers] == [422] * 5
    assert gone.json() == {"message": "The other site responded with status 404."}
    assert not Asset.objects.exists()
    assert client.get(IMPORT).status_code == 405
    assert signed_in("translator").post(IMPORT, {"url": other_site.url()}).status_code == 403


def test_what_is_there_costs_three_statements(
    signed_in: SignedIn, other_site: Receiver, django_assert_num_queries: Any
) -> None:
    other_site.say("/a.png", image_of())
    bring(other_site.url("/a.png"))
    client = signed_in()
    client.post(IMPORT, {"url": other_site.url("/a.png")})

    with django_assert_num_queries(3):
        client.post(IMPORT, {"url": other_site.url("/a.png")})
