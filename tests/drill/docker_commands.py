"""Runs as `docker`: executes what `docker compose` would execute in a container, on this machine.

`/data` is the data folder, and the server's programs find PostgreSQL by their own variables. It starts and stops
nothing, and says so in the file `COMPOSE_CALLS`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import yaml

_FLAGS = {"exec": {"-T"}, "run": {"-T", "--rm", "--no-deps"}, "up": {"--detach", "--wait"}}


def main() -> None:
    compose, verb, *words = sys.argv[1:]
    assert compose == "compose"
    services = yaml.safe_load(Path(os.environ["COMPOSE_FILE"]).read_text())["services"]
    while words and words[0].startswith("-"):
        assert words.pop(0) in _FLAGS[verb]
    if verb in ("up", "stop"):
        assert set(words) <= set(services)
        with Path(os.environ["COMPOSE_CALLS"]).open("a") as calls:
            calls.write(f"{verb} {' '.join(words)}".strip() + "\n")
        return
    assert verb in ("exec", "run")
    service, *command = words
    assert service in services
    if service == "redis":
        command[1:1] = ["-u", os.environ["REDIS_URL"]]
    if service == "web":
        command = [os.environ["CMS_DATA_DIR"] if word == "/data" else word for word in command]
    os.execvp(command[0], command)  # noqa: S606


if __name__ == "__main__":
    main()
