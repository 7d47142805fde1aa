"""The HTTP face: one application with every HTTP transport, from the first byte to the end of a stream."""
