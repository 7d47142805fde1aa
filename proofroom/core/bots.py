"""Who is no visitor: programs that read pages by themselves, and the site when it asks itself."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from django.http import HttpRequest

_WORDS: Final = (
    # What most call themselves. A maker of phones is called Cubot.
    r"(?<!cu)bots?\b", r"bot/", "crawl", "spider", "slurp", "scrap(?:er|y)", "archiver", "fetcher",
    # Search engines, and those that ask for a model or for somebody who talks to one.
    "mediapartners", "google-(?:inspectiontool|read-aloud|safety|extended)", "googleother",
    "apis-google", "bingpreview", "yandex(?!search|browser)", "baiduspider", "claude-", "anthropic-ai",
    "chatgpt-user", "oai-searchbot", "perplexity-user", "mistralai-user", "cohere-ai",
    "meta-externalagent",
    # Previews of links.
    "facebookexternalhit", "facebookcatalog", "^whatsapp/", "skypeuripreview", "embedly", "iframely",
    "vkshare", r"\bmastodon/", "linkpreview", "link preview",
    # Readers of feeds.
    r"feedly", r"feedbin", r"feedburner", "feedparser", "newsblur", "inoreader", r"\brss\b",
    "miniflux", "netnewswire",
    # Checks of sites.
    "lighthouse", "pagespeed", "gtmetrix", "pingdom", "uptime", "site24x7", "statuscake", "checkly",
    "datadog", "newrelic", "nagios", "monitoring", "validator", "phantomjs",
    # Tools and libraries that give their own name in place of a visitor's browser.
    r"^(?:curl|wget|httpie|python|aiohttp|libwww-perl|go-http-client|java|apache-httpclient|axios"
    r"|node-fetch|node|undici|got|ruby|php|guzzlehttp|postmanruntime|insomnia)\b",
)  # fmt: skip
_PROGRAM: Final = re.compile("|".join(_WORDS), re.IGNORECASE | re.ASCII)
"""Programs that say what they are. Others cannot be told from people, and are not guessed at.

Apps of phones (`okhttp`, `CFNetwork`) have people before them, and so may whoever gives no name at all.
"""
_LONGEST_NAME: Final = 500


def is_program(user_agent: str) -> bool:
    """Return whether a browser's name is that of a program that reads pages by itself."""
    return _is_program(user_agent[:_LONGEST_NAME])


@lru_cache(maxsize=4_096)
def _is_program(name: str) -> bool:
    return _PROGRAM.search(name) is not None


TRIAL: Final = "cms.trial"
"""The key in `META` of requests that nobody makes: the site asks itself what a visitor would get."""


def is_trial(request: HttpRequest) -> bool:
    """Return whether nobody is there: such a request counts as no visit and no call."""
    return bool(request.META.get(TRIAL))
