"""Requests that are not visits: by programs that crawl pages, and by the site itself."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from django.http import HttpRequest

_WORDS: Final = (
    # Common names of crawlers. Cubot is a maker of phones.
    r"(?<!cu)bots?\b", r"bot/", "crawl", "spider", "slurp", "scrap(?:er|y)", "archiver", "fetcher",
    # Search engines, and crawlers for AI models and assistants.
    "mediapartners", "google-(?:inspectiontool|read-aloud|safety|extended)", "googleother",
    "apis-google", "bingpreview", "yandex(?!search|browser)", "baiduspider", "claude-", "anthropic-ai",
    "chatgpt-user", "oai-searchbot", "perplexity-user", "mistralai-user", "cohere-ai",
    "meta-externalagent",
    # Link previews.
    "facebookexternalhit", "facebookcatalog", "^whatsapp/", "skypeuripreview", "embedly", "iframely",
    "vkshare", r"\bmastodon/", "linkpreview", "link preview",
    # Feed readers.
    r"feedly", r"feedbin", r"feedburner", "feedparser", "newsblur", "inoreader", r"\brss\b",
    "miniflux", "netnewswire",
    # Site checks and monitoring.
    "lighthouse", "pagespeed", "gtmetrix", "pingdom", "uptime", "site24x7", "statuscake", "checkly",
    "datadog", "newrelic", "nagios", "monitoring", "validator", "phantomjs",
    # Tools and libraries that send their own name instead of a browser's.
    r"^(?:curl|wget|httpie|python|aiohttp|libwww-perl|go-http-client|java|apache-httpclient|axios"
    r"|node-fetch|node|undici|got|ruby|php|guzzlehttp|postmanruntime|insomnia)\b",
)  # fmt: skip
_PROGRAM: Final = re.compile("|".join(_WORDS), re.IGNORECASE | re.ASCII)
"""Programs that identify themselves. Others look like people and are not guessed at.

HTTP clients of phone apps (`okhttp`, `CFNetwork`) are not in the list, because people use them; an empty name is not
either.
"""
# Bounds the time of the pattern and the memory of the cache below.
_LONGEST_NAME: Final = 500


def is_program(user_agent: str) -> bool:
    """Return whether a user agent belongs to a program that crawls pages."""
    return _is_program(user_agent[:_LONGEST_NAME])


@lru_cache(maxsize=4_096)
def _is_program(name: str) -> bool:
    return _PROGRAM.search(name) is not None


TRIAL: Final = "cms.trial"
"""Key in `META` of requests that the site makes itself to see what a visitor would get."""


def is_internal_request(request: HttpRequest) -> bool:
    """Return whether the site made this request itself. It then counts neither as a visit nor as a call."""
    return bool(request.META.get(TRIAL))
