"""The visits that count, and their rate limits."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.test import RequestFactory

from analytics.ingest.visitor_filter import counts
from analytics.models import AnalyticsEvent
from proofroom.core.bots import is_program
from tests.api_client import ApiClient

TRACK = "/api/public/analytics/track"
VIEW: dict[str, Any] = {"eventType": "view"}
NOW = 1_800_000_050
PEOPLE = [
    "",
    "Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/156.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Linux; Android 9; CUBOT X18 Plus) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 20_0 like Mac OS X) AppleWebKit/605.1.15 [FBAN/FBIOS;FBAV/540]",
    "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0",
    "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/156.0 YaBrowser/26.9 Yowser/2.5 Safari/537.36",
    "Mozilla/5.0 (Macintosh) AppleWebKit/537.36 Claude/1.2 Chrome/156.0 Electron/40.0 Safari/537.36",
    "Opera/9.80 (J2ME/MIDP; Opera Mini/9) Presto/2.12",
    "okhttp/5.1.0",
    "Shop/7 CFNetwork/3000 Darwin/26.0",
    "x" * 100_000,
    "\x00ä\r\n",
]
PROGRAMS = [
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "Mozilla/5.0 (compatible; YandexImages/3.0; +http://yandex.com/bots)",
    "Mozilla/5.0 (compatible; Baiduspider/2.0)",
    "Mozilla/5.0 AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15 (Applebot/0.1)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; OAI-SearchBot/1.0)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0)",
    "Mozilla/5.0 (compatible; Claude-User/1.0)",
    "Mozilla/5.0 (compatible; PerplexityBot/1.0)",
    "Mozilla/5.0 (compatible; Perplexity-User/1.0)",
    "Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (compatible; Bytespider)",
    "CCBot/2.0",
    "meta-externalagent/1.1",
    "facebookexternalhit/1.1",
    "WhatsApp/2.23.20.0",
    "Slackbot-LinkExpanding 1.0",
    "TelegramBot (like TwitterBot)",
    "Mozilla/5.0 (Windows NT 6.1) SkypeUriPreview Preview/0.5",
    "http.rb/5.1 (Mastodon/4.3; +https://social.example/)",
    "Feedly/1.0 (poller)",
    "Mozilla/5.0 (compatible; Miniflux/2.2)",
    "Tiny Tiny RSS/23.04",
    "Mozilla/5.0 (Macintosh) Chrome/156.0 Safari/537.36 Chrome-Lighthouse",
    "Pingdom.com_bot_version_1.4",
    "Mozilla/5.0 (compatible; UptimeRobot/2.0)",
    "W3C_Validator/1.3",
    "curl/8.5.0",
    "Wget/1.21",
    "python-requests/2.32",
    "Python-urllib/3.11",
    "Go-http-client/2.0",
    "Java/17.0.2",
    "node",
    "axios/1.7.2",
]


@pytest.mark.parametrize("name", PEOPLE, ids=lambda name: ascii(name)[:40])
def test_people_are_no_programs(name: str) -> None:
    assert not is_program(name)


@pytest.mark.parametrize("name", PROGRAMS, ids=lambda name: name[-40:])
def test_programs_that_say_so_are(name: str) -> None:
    assert is_program(name)


@pytest.mark.parametrize(
    ("headers", "is_counted"),
    [
        ({}, True),
        ({"DNT": "0", "Sec-GPC": "0"}, True),
        ({"Sec-Purpose": ""}, True),
        ({"Cookie": "cms_staff=0; other=1"}, True),
        ({"Referer": "https://prefetch.example/"}, True),
        ({"DNT": "1"}, False),
        ({"Sec-GPC": "1"}, False),
        ({"Cookie": "other=2; cms_staff=1"}, False),
        ({"Sec-Purpose": "prefetch"}, False),
        ({"Sec-Purpose": "prefetch;prerender"}, False),
        ({"Sec-Purpose": "Prefetch;anonymous-client-ip"}, False),
        ({"Purpose": "prefetch"}, False),
        ({"X-Moz": "prefetch"}, False),
        ({"User-Agent": "Googlebot/2.1"}, False),
    ],
    ids=str,
)
def test_staff_refusals_programs_and_pages_fetched_ahead_are_not_counted(
    headers: dict[str, str], is_counted: bool
) -> None:
    assert counts(RequestFactory().post(TRACK, headers=headers)) is is_counted


def report(number: int, **extra: Any) -> Any:
    return ApiClient().send("POST", TRACK, [VIEW] * number, **extra)


@pytest.fixture
def rates(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that sets rates, at a time in the middle of a window."""
    monkeypatch.setattr("proofroom.core.caching.rate_limits.time.time", lambda: NOW)

    def set_(**given: str) -> None:
        settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, **given}
        cache.clear()

    return set_


@pytest.mark.django_db
def test_it_has_the_rate_of_what_is_public(rates: Any) -> None:
    rates(public="2/minute")

    assert [report(1).status_code for _ in range(3)] == [200, 200, 429]
    assert AnalyticsEvent.objects.count() == 2


@pytest.mark.django_db
def test_events_have_a_rate_of_their_own_whatever_they_come_in(rates: Any) -> None:
    rates(events="10/minute")

    answers = [report(number) for number in (4, 6, 1)]
    elsewhere = report(10, REMOTE_ADDR="10.0.0.1")

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[1]["X-RateLimit-Limit"] == "600"
    refused = answers[2]
    assert refused.json()["code"] == "too_many_requests"
    assert refused["Retry-After"] == str(60 - NOW % 60)
    assert (refused["X-RateLimit-Limit"], refused["X-RateLimit-Remaining"]) == ("10", "0")
    assert refused["X-RateLimit-Reset"] == str(NOW - NOW % 60 + 60)
    assert elsewhere.json() == {"accepted": 10}
    assert AnalyticsEvent.objects.count() == 20


@pytest.mark.django_db
def test_an_oversized_call_stores_nothing(rates: Any) -> None:
    rates(events="10/minute")

    assert report(11).status_code == 429
    assert AnalyticsEvent.objects.count() == 0


@pytest.mark.django_db
def test_what_is_not_counted_takes_none_of_it(rates: Any, settings: Any) -> None:
    rates(events="2/minute")
    bad = [VIEW, {"eventType": "scroll"}]

    before = [
        report(100, HTTP_DNT="1").json(),
        report(0).json(),
        ApiClient().send("POST", TRACK, bad).status_code,
    ]

    assert before == [{"accepted": 0}, {"accepted": 0}, 422]
    # Posts that do not exist cost as much as existing ones, and answer the same.
    hidden = [{**VIEW, "postId": str(uuid4())}] * 2
    assert ApiClient().write("POST", TRACK, hidden) == {"accepted": 0}
    assert report(1).status_code == 429


@pytest.mark.django_db
def test_addresses_that_are_free_and_no_rate_at_all(rates: Any, settings: Any) -> None:
    rates(events="1/minute")
    settings.CMS_ENV = settings.CMS_ENV.model_copy(
        update={"throttle_allow_ips": ("10.1.0.0/16",), "trusted_proxies": 0}
    )

    assert report(100, REMOTE_ADDR="10.1.2.3").status_code == 200
    # A forged address is ignored.
    assert report(2, REMOTE_ADDR="10.2.2.3", HTTP_X_FORWARDED_FOR="10.1.2.3").status_code == 429
    rates(events="off")
    assert [report(100).status_code for _ in range(3)] == [200] * 3
    assert AnalyticsEvent.objects.count() == 400
