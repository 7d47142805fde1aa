"""The description of the API, as the code makes it. As JSON: YAML takes longer to read than to make."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

from django.core.management import call_command


def api_description(*options: str) -> Any:
    """The OpenAPI document; `options` are those of the command `spectacular`."""
    made = StringIO()
    call_command("spectacular", "--format", "openapi-json", *options, stdout=made)
    return json.loads(made.getvalue())
