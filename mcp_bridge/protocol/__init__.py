"""The protocol over the tool registry, whatever the transport."""
