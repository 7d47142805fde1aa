"""The check that every app declares its personal data."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Warning

from proofroom.core.privacy.declarations import undeclared_models


def check_declarations(**kwargs: Any) -> list[CheckMessage]:
    """Warn of columns about people that an export and an erasure would miss."""
    return [
        Warning(
            f"{label} has columns about people that no kind of personal data covers: {', '.join(columns)}.",
            hint="Declare them in personal_data.py of the app, see docs/privacy.md.",
            id="proofroom_privacy.W001",
        )
        for label, columns in undeclared_models().items()
        if columns
    ]
