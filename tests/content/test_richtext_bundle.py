from __future__ import annotations

import hashlib
import json
from pathlib import Path

SOURCE = Path("frontend/richtext")
BUNDLE = Path("static/cms/vendor/richtext.js")


def test_the_bundle_belongs_to_its_source_and_its_lock_file() -> None:
    files = [
        SOURCE / "build.mjs",
        SOURCE / "package-lock.json",
        *sorted(SOURCE.glob("src/*")),
        BUNDLE,
    ]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files))

    assert digest.hexdigest() == (SOURCE / "bundle.sha256").read_text().strip()


def test_versions_are_exact_and_the_lock_file_names_no_registry() -> None:
    package = json.loads((SOURCE / "package.json").read_text())
    lock = json.loads((SOURCE / "package-lock.json").read_text())

    wanted = {**package["dependencies"], **package["devDependencies"]}
    assert {name: lock["packages"][f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert not any("resolved" in entry for entry in lock["packages"].values())
    assert all("integrity" in entry for path, entry in lock["packages"].items() if path)


def test_every_package_in_the_bundle_has_its_licence_beside_it() -> None:
    texts = Path("static/cms/vendor/richtext.LICENSES.txt").read_text()

    assert {"@tiptap/core", "prosemirror-model", "prosemirror-tables", "linkifyjs"} <= {
        line.split()[0] for line in texts.splitlines() if line.endswith("(MIT)")
    }
