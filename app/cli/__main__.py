"""`python -m app.cli` is `jurado`, also where the command itself is not on the path."""

from app.cli.main import main

if __name__ == "__main__":
    main()
