"""Takes a picture of a page in Chromium: always the same address, time, fonts and size."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

from django.conf import settings
from django.test import Client
from PIL import Image

from tests import make
from tests.browser.conftest import CHROMIUM, FLAGS, TIMEOUT
from tests.browser.pictures.comparison import Shot, difference
from tests.browser.pictures.declared import Ids, Picture
from tests.browser.pictures.repeatable import Clock

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserType, Frame, Page

SITE: Final = "http://www.example.com"
_FONTS: Final = Path(__file__).parent / "fonts.conf"
_FONT_FOLDERS: Final = {
    "fonts-liberation": "/usr/share/fonts/truetype/liberation",
    "fonts-dejavu-core": "/usr/share/fonts/truetype/dejavu",
}
_TRIES: Final = 12
_PAUSE: Final = 250
"""Milliseconds between two tries."""
_IS_LOADED: Final = """async () => {
  await document.fonts.ready;
  const seen = [...document.images].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight && box.width > 0;
  });
  await Promise.all(seen.map((one) => one.decode().catch(() => {})));
}"""
_FORGET: Final = "() => { localStorage.clear(); sessionStorage.clear(); }"
"""Opened panels and closed modules are remembered: a picture must not depend on those before it."""
_ADDRESS: Final = re.compile(r"^\s*- /url: .*\n", re.MULTILINE)
Look = tuple[str, bool, str]
"""The account, whether the theme is dark, and the language."""


@contextmanager
def browser_for(chromium: BrowserType, url: str) -> Iterator[Browser]:
    """Start a Chromium that finds the test's server at `SITE`, with the same fonts on every machine."""
    missing = [name for name, folder in _FONT_FOLDERS.items() if not Path(folder).is_dir()]
    if missing:
        raise FileNotFoundError(f"Pictures need fonts: apt-get install {' '.join(missing)}")
    flags = [
        f"--host-resolver-rules=MAP www.example.com 127.0.0.1:{urlsplit(url).port}",
        f"--unsafely-treat-insecure-origin-as-secure={SITE}",
        "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LocalNetworkAccessChecks",
        "--disable-lcd-text",
        "--font-render-hinting=none",
        "--enable-font-subpixel-positioning",
        "--force-color-profile=srgb",
        "--hide-scrollbars",
    ]
    environment = {**os.environ, "FONTCONFIG_FILE": str(_FONTS)}
    browser = chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, *flags], env=environment)
    yield browser
    browser.close()


class Camera:
    """One page for each account, theme and language, in which the pictures are taken one after another."""

    def __init__(self, browser: Browser, clock: Clock) -> None:
        self._browser = browser
        self._clock = clock
        self._pages: dict[Look, Page] = {}

    def take(self, picture: Picture, ids: Ids) -> Shot:
        page = self._page_of(picture)
        width, height = picture.size
        page.set_viewport_size({"width": width, "height": height})
        if page.url.startswith(SITE):
            page.evaluate(_FORGET)
        page.goto(SITE + picture.url.format(**ids))
        picture.steps(page)
        page.mouse.move(0, 0)  # nothing is shown as hovered
        return self._settled(page, picture)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        for page in self._pages.values():
            page.context.close()

    def _page_of(self, picture: Picture) -> Page:
        look = (picture.user, picture.dark, picture.language)
        if look not in self._pages:
            self._pages[look] = self._open(picture)
        return self._pages[look]

    def _open(self, picture: Picture) -> Page:
        context = self._browser.new_context(
            color_scheme="dark" if picture.dark else "light",
            reduced_motion="reduce",
            locale=picture.language,
            timezone_id="UTC",
        )
        context.set_default_timeout(TIMEOUT)
        context.set_default_navigation_timeout(4 * TIMEOUT)  # on a busy machine
        if picture.user:
            client = Client()
            client.force_login(make.user(picture.user))
            name = settings.SESSION_COOKIE_NAME
            context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": SITE}])
        page = context.new_page()
        # A page with unsaved changes asks before it is left.
        page.on("dialog", lambda dialog: dialog.accept())
        page.clock.set_fixed_time(self._clock.time)
        return page

    def _settled(self, page: Page, picture: Picture) -> Shot:
        """Return the page as committed, or as it looks twice in a row."""
        before: Shot | None = None
        for _ in range(_TRIES):
            shot = _shot(page, picture)
            if shot == before or not difference(picture, shot):
                return shot
            before = shot
            page.wait_for_timeout(_PAUSE)
        raise AssertionError(f"{picture.name} never stands still.")


def _shot(page: Page, picture: Picture) -> Shot:
    frames = [frame for frame in page.frames if frame.url.startswith(SITE)]
    for frame in frames:
        frame.evaluate(_IS_LOADED)
    words = "\n".join(_words(frame) for frame in frames) + "\n"
    png = page.screenshot(animations="disabled", caret="hide")
    return Shot(words, Image.open(io.BytesIO(png)).convert("RGB"))


def _words(frame: Frame) -> str:
    return _ADDRESS.sub("", frame.locator("body").aria_snapshot() + "\n").rstrip()
