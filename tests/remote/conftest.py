"""Tests of remote seats use the servers of the web's tests."""

from tests.web.conftest import db, house, postgres, pytest_pyfunc_call

__all__ = ["db", "house", "postgres", "pytest_pyfunc_call"]
