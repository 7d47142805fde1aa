"""Embeds of other sites: a frame after a click for allowed hosts, otherwise a card."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from cms_project.security import content_security_policy
from proofroom.core.middleware import build_policy
from proofroom_apps.embeds.providers import frame_address
from proofroom_apps.starter.modules.embed import Embed
from proofroom_apps.website.rendering import render_modules
from tests.content.test_definitions import UUID_
from tests.content.test_rendering import ATTACK, PICTURE, Page, module

HOSTS = ("www.youtube-nocookie.com", "player.vimeo.com", "maps.example")
PLAYERS = (
    "open.spotify.com",
    "w.soundcloud.com",
    "codepen.io",
    "geo.dailymotion.com",
    "embed.ted.com",
)
VIDEO = "https://www.youtube.com/watch?v=abcDEF12345&t=3"
FRAME = "https://www.youtube-nocookie.com/embed/abcDEF12345?autoplay=1"


@pytest.mark.parametrize(
    ("address", "frame"),
    [
        (VIDEO, FRAME),
        ("https://youtu.be/abcDEF12345?si=x", FRAME),
        ("https://www.youtube.com/shorts/abcDEF12345", FRAME),
        ("https://m.youtube.com/live/abcDEF12345", FRAME),
        ("HTTPS://YouTube.com/embed/abcDEF12345", FRAME),
        ("https://www.youtube.com/watch?v=%22%3E%3Cscript%3E", ""),
        ("https://www.youtube.com/watch", ""),
        ("https://youtu.be/", ""),
        ("https://www.youtube.com/embed/../../x", ""),
        ("https://vimeo.com/123456789", "https://player.vimeo.com/video/123456789?dnt=1&autoplay=1"),
        (
            "https://vimeo.com/123456789/a1b2c3d4e5",
            "https://player.vimeo.com/video/123456789?dnt=1&autoplay=1&h=a1b2c3d4e5",
        ),
        ("https://vimeo.com/about", ""),
        (
            "https://open.spotify.com/intl-de/track/4uLU6hMCjMI75M1A2tKUQC?si=x",
            "https://open.spotify.com/embed/track/4uLU6hMCjMI75M1A2tKUQC",
        ),
        ("https://open.spotify.com/user/x", ""),
        (
            "https://soundcloud.com/ada/first-crack",
            "https://w.soundcloud.com/player/?url=https%3A%2F%2Fsoundcloud.com%2Fada%2Ffirst-crack",
        ),
        ("https://soundcloud.com/%22%3E", ""),
        (
            "https://codepen.io/ada/pen/abcDEF",
            "https://codepen.io/ada/embed/abcDEF?default-tab=result",
        ),
        ("https://codepen.io/ada/pen/a%22b", ""),
        ("https://dai.ly/x8abc12", "https://geo.dailymotion.com/player.html?video=x8abc12"),
        ("https://www.ted.com/talks/first_crack", "https://embed.ted.com/talks/first_crack"),
        ("https://www.flickr.com/photos/ada/123", ""),
        ("https://maps.example/embed?x=1", "https://maps.example/embed?x=1"),
        ("http://maps.example/embed", ""),
        ("https://maps.example:444/embed", ""),
        ("https://user:pass@maps.example/embed", ""),
        ("https://maps.example.evil.example/", ""),
        ("https://evil.example/?maps.example", ""),
        ("https://[maps.example", ""),
        ("https://maps.example:x/", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_a_frame_loads_from_allowed_hosts_only(address, frame):
    assert frame_address(address, (*HOSTS, *PLAYERS)) == frame
    assert frame_address(address, ()) == ""


@pytest.fixture
def allowed(settings):
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"embed_hosts": HOSTS})


class Frame(HTMLParser):
    source = ""

    def handle_starttag(self, tag, attrs):
        if tag == "iframe":
            self.attributes = dict(attrs)
            self.source = self.attributes["srcdoc"]


def framed(html: str) -> Frame:
    parser = Frame()
    parser.feed(html)
    return parser


def test_nothing_of_the_other_site_is_in_the_page_before_a_click(allowed):
    props = {"url": VIDEO, "title": "First crack", "description": "Hear it.", "imageId": UUID_}

    html = render_modules(
        [module("embed", {**props, "shape": "tall"})], {"media": {UUID_: PICTURE}}
    )

    frame = framed(html)
    assert '<section class="embed embed-tall">' in html
    assert frame.attributes["title"] == "First crack"
    assert "src" not in frame.attributes
    assert frame.attributes["sandbox"] == (
        "allow-scripts allow-same-origin allow-popups allow-forms allow-presentation"
    )
    inside = Page(frame.source)
    assert inside.count("iframe") == inside.count("script") == 0
    assert inside.first("a") == {
        "href": FRAME,
        "referrerpolicy": "strict-origin-when-cross-origin",
    }
    assert inside.first("img")["src"] == "/media/a.webp"
    assert "Load video from YouTube" in frame.source
    assert f'<a href="{VIDEO.replace("&", "&amp;")}" rel="noopener noreferrer">Open at ' in html
    assert "Nothing is loaded from www.youtube-nocookie.com until you choose to." in html


def test_a_host_that_is_not_allowed_gets_a_card_that_links():
    props = {"url": VIDEO, "title": "First crack", "description": "Hear it.", "imageId": UUID_}

    html = render_modules([module("embed", props)], {"media": {UUID_: PICTURE}})

    page = Page(html)
    assert page.count("iframe") == 0
    assert page.first("a")["href"] == VIDEO
    assert ">First crack</a>" in html
    assert '<p class="link-host">www.youtube.com</p>' in html
    assert page.first("img")["alt"] == "A kettle"


def test_a_card_without_a_title_names_its_host_once():
    html = render_modules([module("embed", {"url": VIDEO})], {})

    assert ">www.youtube.com</a>" in html
    assert html.count(">www.youtube.com<") == 1


def test_the_editor_says_which_host_would_have_to_be_allowed(settings):
    problem = Embed.address_problem
    refused = (
        "This site does not allow embedding from www.youtube-nocookie.com. Visitors see a card"
    )
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"embed_hosts": ()})
    assert problem(VIDEO).startswith(refused)
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"embed_hosts": HOSTS})
    assert problem(VIDEO) == problem("javascript:alert(1)") == ""
    assert problem("https://www.youtube.com/@channel").startswith("This address cannot be embedded")


def test_no_text_breaks_out_of_the_frame_s_document(allowed):
    props = {
        "url": VIDEO,
        "title": ATTACK,
        "description": ATTACK,
        "imageId": UUID_,
        "shape": ATTACK,
    }
    media = {UUID_: {**PICTURE, "alt": ATTACK}}

    html = render_modules([module("embed", props)], {"media": media, "locale": ATTACK})

    outer, inner = Page(html), Page(framed(html).source)
    for tag, attributes in (*outer.elements, *inner.elements):
        assert tag != "script"
        assert not [name for name in attributes if name.startswith("on")], tag
    assert (outer.count("iframe"), outer.count("a")) == (1, 1)
    assert (inner.count("a"), inner.count("img"), inner.count("link")) == (1, 1, 2)
    assert outer.open == []


def test_the_policy_lets_frames_of_these_hosts_in_and_no_others():
    assert "frame-src" not in content_security_policy(frame_hosts=())
    policy = build_policy(content_security_policy(frame_hosts=HOSTS))
    assert (
        "frame-src 'self' https://www.youtube-nocookie.com https://player.vimeo.com "
        "https://maps.example" in policy
    )
    assert "default-src 'self'" in policy
