"""The sdist and the wheel: their content and metadata, and an environment with the core only."""

from __future__ import annotations

import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from proofroom.version import RELEASE
from tests.deployment import clean
from tests.deployment.conftest import Built, registry_variables, uv
from tests.deployment.written import ROOT

pytestmark = pytest.mark.deployment
MAX_PACKAGES: Final = 86
MAX_MEGABYTES: Final = 200
"""Of the files as installed, without the bytecode that Python compiles from them."""
SDKS: Final = {"openai", "anthropic", "google-genai", "pydantic-ai-slim", "granian", "uvloop"}
_SECRET: Final = re.compile(r"(^|/)(\.env|.*\.(pem|key|sqlite3|dump))$")
_NEVER: Final = re.compile(r"(^|/)(tests|benchmarks|node_modules|var|\.venv|__pycache__)/")


def files(folder: str, *, but: Iterable[str] = ()) -> set[str]:
    """Return the committed files of a folder."""
    words = ["git", "-C", str(ROOT), "ls-files", "-z", folder]
    listed = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("\0")
    return {name for name in listed if name and not name.startswith(tuple(but))}


def test_the_wheel_has_what_the_product_reads_at_work(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())

    left_out = ("docs/images/screens/", "docs/reference/screens.md", "docs/conf.py")
    for kept in ("templates", "static", "locale", "docs"):
        assert {f"cms_project/product/{name}" for name in files(kept, but=left_out)} <= names
    assert not {name for name in names if name.endswith(("/screens.md", "/docs/conf.py"))}
    assert "agents_app/agents/general-assistant.md" in names
    assert "cms_project/product/locale/de/LC_MESSAGES/django.mo" in names
    template = "proofroom_apps/starter/project/"
    assert {f"{template}requirements.lock", f"{template}run"} <= names
    code = files("proofroom_apps") | files("content") | files("agents_app")
    assert {name for name in code if name.endswith(".py")} <= names


def test_packages_contain_no_tests_and_no_secrets(built: Built) -> None:
    wheel = zipfile.ZipFile(built.wheel).namelist()
    with tarfile.open(built.sdist) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
    sdist = [member.name.partition("/")[2] for member in members]
    # Nothing that git ignores, such as .env.
    others = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    words = ["git", "-C", str(ROOT), *others]
    known = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("\0")
    assert set(sdist) <= {*known, "PKG-INFO"}

    template = re.compile(r"^proofroom_apps/starter/project/tests/")
    for name in (*wheel, *sdist):
        assert not _SECRET.search(name), name
        assert template.match(name) or not _NEVER.search(name), name
    assert {"pyproject.toml", "build_version.py", "LICENSE", "PKG-INFO", "run"} <= set(sdist)


def test_both_have_the_version_of_this_commit(built: Built) -> None:
    version = built.wheel.name.split("-")[1]
    assert built.sdist.name == f"proofroom-{version}.tar.gz"
    assert version == RELEASE or version.startswith(f"{RELEASE}+g")


def test_the_metadata_is_accepted_by_an_index(built: Built) -> None:
    words = [uv(), "tool", "run", "--quiet", "twine>=6", "check", "--strict"]
    done = subprocess.run(
        [*words, str(built.wheel), str(built.sdist)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.count("PASSED")) == (0, 2), done.stdout + done.stderr


@pytest.fixture(scope="module")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install only the wheel into an empty environment."""
    folder = tmp_path_factory.mktemp("core")
    clean.make(folder / "env")
    run(folder, "pip", "install", "--quiet", "--no-compile", str(wheel))
    return folder


def run(folder: Path, *words: str, code: int = 0, **variables: str) -> str:
    """Return the output of a program of the environment."""
    done = subprocess.run(
        [str(folder / "env/bin" / words[0]), *words[1:]],
        cwd=folder,
        env={
            **registry_variables(),
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "LANG": "C.UTF-8",
            "CMS_DATA_DIR": str(folder / "data"),
            "DJANGO_SETTINGS_MODULE": "cms_project.settings",
            "DEBUG": "1",
            **variables,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == code, f"{words}\n{done.stdout}"
    return done.stdout


def test_the_core_is_small(core: Path) -> None:
    (packages,) = core.glob("env/lib/python3*/site-packages")
    names = {path.name.split("-")[0].replace("_", "-") for path in packages.glob("*.dist-info")}
    names -= {"pip", "setuptools", "wheel"}
    size = sum(
        file.stat().st_size
        for file in packages.rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    )
    assert len(names) <= MAX_PACKAGES, sorted(names)
    assert names & SDKS == set()
    assert size / 1_000_000 < MAX_MEGABYTES


AGENT_RUN: Final = """
from agents_app.models import AgentRun
from agents_app.runs.creation import create_run
from agents_app.runs.execution import execute_run
from content.models import Post
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
user = User.objects.get(email="editor@example.com")
post = Post.objects.filter(type="blog", locale="en").first()
run = create_run(agent_id="seo-specialist", scope="dropdown", actor=Actor(user, "admin"), post_id=post.pk)
execute_run(run.pk)
run.refresh_from_db()
print("RUN", run.status, run.error)
"""


def test_the_core_serves_agents_with_the_demo_and_names_what_a_provider_lacks(core: Path) -> None:
    manage = ("django-admin",)
    run(core, *manage, "migrate", "--verbosity=0")
    run(core, *manage, "seed")
    assert "RUN succeeded" in run(core, *manage, "shell", "-c", AGENT_RUN)

    sentence = 'Google needs a package that is not installed. Run: pip install "proofroom[google]"'
    with_key = {"AI_PROVIDER_GOOGLE_API_KEY": "a-key"}
    assert f"RUN failed {sentence}" in run(core, *manage, "shell", "-c", AGENT_RUN, **with_key)
    assert sentence in run(core, *manage, "doctor", code=1, **with_key)


def test_the_command_of_the_sentence_works(core: Path) -> None:
    run(core, "pip", "install", "--quiet", "proofroom[google]")

    found = run(core, "django-admin", "doctor", AI_PROVIDER_GOOGLE_API_KEY="a-key")
    assert "configured: google" in found
    assert "needs a package" not in found
    assert f"Proofroom {RELEASE}" in found
    assert run(core, "proofroom", "--version").startswith(RELEASE)
