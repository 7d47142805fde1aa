"""The protocol over the tool registry, independent of the transport."""
