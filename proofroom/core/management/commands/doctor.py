"""Reports what works, what doesn't, and how to fix it."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management import BaseCommand

from proofroom.core.diagnostics.doctor import examine


class Command(BaseCommand):
    help = "Examine database, queue, cache, folders, AI providers, MCP and secrets."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        styles = {"ok": self.style.SUCCESS, "warn": self.style.WARNING, "fail": self.style.ERROR}
        failed = False
        for finding in examine():
            failed = failed or finding.level == "fail"
            advice = f"\n       -> {finding.advice}" if finding.advice else ""
            label = styles[finding.level](f"{finding.level:<4}")
            self.stdout.write(f"{label}  {finding.subject}: {finding.found}{advice}")
        if failed:
            sys.exit(1)
