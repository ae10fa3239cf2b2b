"""`python -m app.cli.demo.with_parent WORDS`: `jurado WORDS`, which the kernel ends with the thread that started it."""

from app.grading.confinement import die_with_parent


def main() -> None:
    """Ask the kernel before anything else is imported: a parent that ends earlier is not noticed."""
    die_with_parent()
    from app.cli.main import main

    main()


if __name__ == "__main__":
    main()
