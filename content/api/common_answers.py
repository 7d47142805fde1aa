"""Parts of answers that several resources share."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from content.models import Status
from proofroom.core.api.answer import one_of

StatusText = Annotated[str, one_of(Status.values)]
"""The status of a post."""
LayerText = Annotated[str, one_of(["source", "review", "ai-review"])]
"""A layer of a post, the live one among them."""
SCOPES: Final = ["local", "global", "static"]
ScopeText = Annotated[str, one_of(SCOPES)]
"""The scope of a module."""
WRITTEN: Final = (
    "Values by the names of `propsSchema`. Rich text, however deep, is a string of Markdown or a document; what "
    "is answered is the document. What a value refers to must exist."
)
"""Of props and overrides that are sent."""
Props = Annotated[dict[str, Any], Field(description=WRITTEN)]
"""Props and overrides in the body of a request."""
