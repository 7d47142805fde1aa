"""The deployment page, the Procfile and the image agree."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from tests.deployment.written import ROOT, first_start, procfile, table_of_processes


def test_the_table_has_each_process_of_the_procfile() -> None:
    full = {name: shlex.split(command) for name, command in procfile().items()}
    short = {name: shlex.split(command) for name, command in table_of_processes().items()}
    assert list(short) == list(full)
    for name, words in short.items():
        rest = iter(full[name])
        left_out = [word for word in words if word not in ("…", "manage.py") and word not in rest]
        assert left_out == [], f"{name}: not in the Procfile, or in another order"


def test_the_image_runs_the_web_process() -> None:
    image = (ROOT / "deploy" / "Containerfile").read_text()
    (command,) = re.findall(r"(?m)^CMD (\[.*\])$", image)
    web = re.sub(r"\$\{PORT:-(\d+)\}", r"\1", procfile()["web"])
    assert json.loads(command) == shlex.split(web)
    ports = re.findall(r"--port (?:\$\{\w+:-)?(\d+)", " ".join(procfile().values()))
    assert re.findall(r"(?m)^EXPOSE (.*)$", image) == [" ".join(ports)]


@pytest.mark.parametrize("command", first_start())
def test_each_command_of_the_first_start_is_one_that_is_there(command: str) -> None:
    program, *words = shlex.split(command)
    if program == "pip":
        assert (ROOT / words[-1]).is_file()
    else:
        assert (program, words[0]) == ("python", "manage.py")
