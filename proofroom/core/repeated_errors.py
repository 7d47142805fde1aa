"""Rate limiting of logged errors that repeat with every request."""

from __future__ import annotations

import hashlib
import logging
import re
from typing import Final

from django.core.cache import cache

LOGGED_AGAIN_SECONDS: Final = 600


def log_once(logger: logging.Logger, text: str, error: Exception) -> None:
    """Log an error with its traceback, unless the same one was logged in the last ten minutes."""
    # Memory addresses in messages differ each time.
    identity = re.sub(
        r"0x[0-9a-f]+", "", f"{logger.name}|{text}|{type(error).__qualname__}|{error}"
    )
    key = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()
    # `add` is atomic, so only one process logs the error.
    if cache.add(f"logged-error:{key}", True, LOGGED_AGAIN_SECONDS):
        logger.error("%s The same error is not logged again for ten minutes.", text, exc_info=error)
