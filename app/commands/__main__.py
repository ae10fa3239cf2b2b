"""`python -m app.commands` is `jurado`, also where the command itself is not on the path."""

import sys

from app.sandbox.child import WITH_PARENT

if __name__ == "__main__":
    if sys.argv[1:2] == [WITH_PARENT]:
        # The kernel is asked before anything else is imported: a parent that ends earlier is not noticed.
        from app.sandbox.confinement import die_with_parent

        del sys.argv[1]
        die_with_parent()
    from app.commands.main import main

    main()
