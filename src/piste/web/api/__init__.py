"""The API for programs, at /api/v1 of the same server."""
