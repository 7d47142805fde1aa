"""`manage.py` with the sample tools: `python -m tests.mcp.serve prepare | person | run_mcp …`.

Transports are tested with a separate process on a separate SQLite file in `CMS_DATA_DIR`: a server
thread inside the test process could not see an open transaction, and an in-memory database exists
once per connection.
"""

from __future__ import annotations

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cms_project.settings")


def prepare() -> None:
    """Create users beside the agents' accounts, which exist already. AI clients write as `agent@example.com`."""
    from proofroom.accounts.models import User

    User.objects.filter(agent_id="general-assistant").update(email="agent@example.com")
    User.objects.create(email="editor@example.com", username="editor", role="editor")


def main() -> None:
    django.setup()
    if sys.argv[1] == "prepare":
        prepare()
        return
    if sys.argv[1] == "person":
        from tests.mcp import person

        person.obey()
        return

    from django.core.management import execute_from_command_line

    from mcp_bridge.transport import http_server, request_checks, sessions, sse
    from tests.mcp import sample_tools, suite_samples

    # Limits small enough to reach in a test.
    request_checks.BODY_SECONDS = float(
        os.environ.get("MCP_TEST_BODY_SECONDS", request_checks.BODY_SECONDS)
    )
    http_server.HEAD_SECONDS = float(
        os.environ.get("MCP_TEST_HEAD_SECONDS", http_server.HEAD_SECONDS)
    )
    sse.UNREAD_SECONDS = float(os.environ.get("MCP_TEST_UNREAD_SECONDS", sse.UNREAD_SECONDS))
    most = os.environ.get("MCP_TEST_MAX_SESSIONS", sessions.MAX_SESSIONS)
    sessions.MAX_SESSIONS = int(most)
    with sample_tools.registered(), suite_samples.registered():
        execute_from_command_line(["manage.py", *sys.argv[1:]])


if __name__ == "__main__":
    main()
