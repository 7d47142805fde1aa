"""Which libraries a process loads at its start. Each takes memory for as long as the process runs."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

import pytest
from django.conf import settings

SDKS: Final = {"pydantic_ai", "openai", "anthropic", "google.genai", "genai_prices", "boto3"}
OPERATIONS: Final = {"sentry_sdk", "opentelemetry.sdk", "prometheus_client"}
"""Libraries that a variable switches on."""
WEB: Final = {"PIL", "nh3", "mcp", "celery.worker.consumer", "celery.bin", "pytest"}
STARTS: Final = {
    "web": ("import cms_project.wsgi", {*WEB, *SDKS, *OPERATIONS, "redis", "uvicorn", "channels"}),
    "sockets": ("import cms_project.asgi", {*WEB, *SDKS, *OPERATIONS, "redis"}),
    "worker": (
        "from cms_project import celery_app; celery_app.loader.import_default_modules()",
        {*SDKS, *OPERATIONS, "redis", "mcp", "channels"},
    ),
    "mcp": (
        "import django; django.setup(); import mcp_bridge.management.commands.run_mcp",
        {*SDKS, *OPERATIONS, "redis", "PIL", "nh3", "channels", "celery.worker.consumer"},
    ),
}


def answer(code: str, **environ: str) -> str:
    """What a process prints that runs this code with the settings of the embedded default."""
    others = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=settings.BASE_DIR,
        env={**others, "DJANGO_SETTINGS_MODULE": "cms_project.settings", **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("process", STARTS)
def test_a_process_loads_no_library_that_it_may_never_use(process: str):
    load, unwanted = STARTS[process]

    found = answer(f"{load}; import sys; print(*sorted({unwanted} & set(sys.modules)))")

    assert found == ""


def test_the_library_of_redis_is_loaded_where_it_is_used():
    code = (
        "import cms_project.wsgi, sys; from django.core.cache import cache; "
        "from proofroom.core.caching.redis_cache import redis_error, count_hit; "
        "print(cache.get('key'), count_hit('key', 60), redis_error().__module__)"
    )

    printed = answer(code, REDIS_URL="redis://127.0.0.1:1/0")

    assert printed.splitlines()[-1] == "None 1 redis.exceptions"


@pytest.mark.parametrize("entry", ["cms_project.wsgi", "cms_project.asgi"])
def test_the_collector_passes_over_what_a_web_process_has_loaded(entry: str):
    code = f"import gc, {entry}; print(gc.isenabled(), gc.get_freeze_count() > 100_000)"

    assert answer(code) == "True True"
