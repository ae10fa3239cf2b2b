"""`python -m app.commands` is `jurado`, also where the command itself is not on the path."""

from app.commands.main import main

if __name__ == "__main__":
    main()
