"""`./run bench`: CPU time per request and requests per second, next to a bare endpoint in the same run."""
