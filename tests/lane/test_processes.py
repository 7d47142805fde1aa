"""Which processes connect under the role of agents."""

from __future__ import annotations

import os
import sys

import pytest

from cms_project.database import database_settings, lane_settings
from cms_project.folders import BASE_DIR
from cms_project.lane import is_lane_process
from tests.commands import run_command

_URL = "postgresql://proofroom_lane:secret@db:5432/cms"
_CELERY = ["/srv/.venv/bin/celery", "--quiet", "-A", "cms_project"]


@pytest.mark.parametrize(
    ("argv", "is_lane"),
    [
        (["manage.py", "run_mcp"], True),
        (["manage.py", "run_mcp", "--transport", "stdio"], True),
        ([*_CELERY, "worker", "--queues", "agents", "--hostname", "agents@%h"], True),
        ([*_CELERY, "worker", "--queues=agents"], True),
        ([*_CELERY, "worker", "-Q", "agents"], True),
        ([*_CELERY, "worker", "-Qagents"], True),
        (
            ["/srv/.venv/lib/celery/__main__.py", "-A", "cms_project", "worker", "-Q", "agents"],
            True,
        ),
        ([*_CELERY, "worker", "--queues", "agents,celery"], False),
        ([*_CELERY, "worker", "--queues", "celery,deliveries"], False),
        ([*_CELERY, "worker", "-Q", "agents", "-Q", "celery"], False),
        ([*_CELERY, "worker"], False),
        ([*_CELERY, "beat"], False),
        (["manage.py", "migrate"], False),
        (["manage.py", "shell", "-c", "run_mcp"], False),
        (["gunicorn", "cms_project.wsgi", "--queues", "agents"], False),
        ([""], False),
        ([], False),
    ],
)
def test_the_mcp_server_and_workers_of_agents_only_use_it(argv: list[str], is_lane: bool) -> None:
    assert is_lane_process(argv) == is_lane


def test_its_address_names_the_role_and_a_postgresql(tmp_path) -> None:
    database = database_settings("postgresql://cms:other@db:5432/cms", tmp_path)

    settings = lane_settings(_URL, database, has_pool=False)

    assert (settings["USER"], settings["PASSWORD"], settings["HOST"]) == (
        "proofroom_lane",
        "secret",
        "db",
    )
    assert settings["OPTIONS"]["prepare_threshold"] is None
    with pytest.raises(ValueError, match="its user must be proofroom_lane"):
        lane_settings("postgresql://cms:secret@db/cms", database)
    with pytest.raises(ValueError, match="must look like"):
        lane_settings("mysql://proofroom_lane@db/cms", database)
    with pytest.raises(ValueError, match="SQLite has no roles"):
        lane_settings(_URL, database_settings(None, tmp_path))


@pytest.mark.parametrize(
    ("argv", "user"),
    [
        (["manage.py", "run_mcp"], "proofroom_lane"),
        (["manage.py", "check"], "cms"),
    ],
)
def test_the_settings_choose_by_the_command_line(argv: list[str], user: str, tmp_path) -> None:
    code = (
        f"import sys; sys.argv = {argv!r}\n"
        "from cms_project import settings\n"
        "print(settings.DATABASES['default']['USER'])"
    )
    environment = {
        **os.environ,
        "CMS_DATA_DIR": str(tmp_path),
        "DATABASE_URL": "postgresql://cms:secret@127.0.0.1:1/cms",
        "LANE_DATABASE_URL": "postgresql://proofroom_lane:secret@127.0.0.1:1/cms",
    }

    done = run_command([sys.executable, "-c", code], env=environment, cwd=BASE_DIR, timeout=60)

    assert done.stdout.strip() == user, done.stderr
