"""Tools that look into the site that runs, for AI clients that look for a fault."""

from proofroom.accounts.tools import activity, running_site

__all__ = ["activity", "running_site"]
