"""`./run bench`: CPU time per request and requests per second, beside a bare endpoint in the same run."""
