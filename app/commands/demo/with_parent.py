"""`python -m app.commands.demo.with_parent WORDS`: `jurado WORDS`, killed when the thread that started it ends."""

from app.sandbox.confinement import die_with_parent


def main() -> None:
    """Ask the kernel before anything else is imported: a parent that ends earlier is not noticed."""
    die_with_parent()
    from app.commands.main import main

    main()


if __name__ == "__main__":
    main()
