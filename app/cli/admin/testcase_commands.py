"""All commands of `jurado admin testcase`: importing this module adds those of the other modules to the group."""

from app.cli.admin import test_data
from app.cli.admin.testcases import testcase

__all__ = ["test_data", "testcase"]
