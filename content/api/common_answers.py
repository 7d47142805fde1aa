"""Parts of responses shared by several resources."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from content.models import Status
from proofroom.core.api.answer import one_of

StatusText = Annotated[str, one_of(Status.values)]
"""The status of a post."""
LayerText = Annotated[str, one_of(["source", "review", "ai-review"])]
"""A layer of a post, including the live one."""
SCOPES: Final = ["local", "global", "static"]
ScopeText = Annotated[str, one_of(SCOPES)]
"""The scope of a module."""
WRITTEN: Final = (
    "Values by the names of `propsSchema`. Rich text, however deep, is a string of Markdown or a document; what "
    "is answered is the document. What a value refers to must exist."
)
"""Description of props and overrides in requests."""
Props = Annotated[dict[str, Any], Field(description=WRITTEN)]
"""Props and overrides in a request body."""
