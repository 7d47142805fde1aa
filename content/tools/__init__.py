"""Tools of content for agents and AI clients: thin functions over the services. They stage in AI Review only."""

from content.tools import context, creating, listing, previews, reading, staging, submitting

__all__ = ["context", "creating", "listing", "previews", "reading", "staging", "submitting"]
