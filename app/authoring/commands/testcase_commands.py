"""All commands of `jurado admin testcase`: importing this module adds those of the other modules to the group."""

from app.authoring.commands import test_data
from app.authoring.commands.testcases import testcase

__all__ = ["test_data", "testcase"]
