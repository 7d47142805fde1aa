"""The OpenAPI descriptions of content's endpoints, one file per area."""
