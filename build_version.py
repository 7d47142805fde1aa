"""The version of the package that is built. Hatchling calls `version`.

A release is built from a clean tree whose commit has the tag of the release, such as `v0.1.0`. Any other build adds
its commit, so that two packages with different content never have the same version.
"""

from __future__ import annotations

import subprocess
from hashlib import sha256
from pathlib import Path
from runpy import run_path

ROOT = Path(__file__).resolve().parent
_NOT_SOURCE = {"__pycache__", ".git", ".venv", ".uv", "var", "dist", "node_modules"}


def version(root: Path = ROOT) -> str:
    """Return the version of the package. An sdist has it in PKG-INFO, where hatchling reads it."""
    release: str = run_path(str(root / "proofroom/version.py"))["RELEASE"]
    if not (root / ".git").exists():  # a source archive
        return f"{release}+s{_digest(root, _source_files(root))}"
    changed = _git(root, "status", "--porcelain", "--untracked-files=all")
    if not changed and f"v{release}" in _git(root, "tag", "--points-at", "HEAD").split():
        return release
    local = f"g{_git(root, 'rev-parse', '--short=12', 'HEAD').strip()}"
    if changed:
        diff = _git(root, "diff", "HEAD", "--binary")
        added = _git(root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")
        local += f".{_digest(root, sorted(filter(None, added)), diff)}"
    return f"{release}+{local}"


def _git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603


def _source_files(root: Path) -> list[str]:
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if not _NOT_SOURCE & set(path.parts))


def _digest(root: Path, names: list[str], text: str = "") -> str:
    """Return eight digits that change with the text, the names and the files' content."""
    digest = sha256(text.encode())
    for name in names:
        digest.update(f"\0{name}\0".encode())
        digest.update((root / name).read_bytes())
    return digest.hexdigest()[:8]
