"""`python -m tests.words.english`: a stage of `./run check`."""

from __future__ import annotations

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cms_project.settings")
django.setup()

from tests.words.english.grammar import mistakes  # noqa: E402  # after Django is ready
from tests.words.english.phrases import everywhere, in_messages  # noqa: E402
from tests.words.english.sentences import broken_lines  # noqa: E402
from tests.words.english.texts import descriptions, documents, messages, pages, sources  # noqa: E402


def main() -> int:
    read = [*pages(), *messages(), *descriptions()]
    findings = [
        *(finding for text in sources() for finding in everywhere().find(text)),
        *(finding for text in messages() for finding in in_messages().find(text)),
        *(finding for text in descriptions() for finding in everywhere().find(text)),
        *(finding for page in documents() for finding in broken_lines(page)),
        *mistakes(read),
    ]
    for finding in findings:
        print(finding)  # noqa: T201
    print(f"{len(read)} texts, {len(findings)} findings")  # noqa: T201
    return 1 if findings else 0


sys.exit(main())
