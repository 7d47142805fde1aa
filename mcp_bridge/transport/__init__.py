"""HTTP transports: one application, from the first byte of a request to the end of a stream."""
