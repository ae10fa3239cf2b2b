"""Write the wrong submission `rolls-missing`: the reference's answers without their last roll.

`python make_examples.py`, run from anywhere after the reference's answers were made, writes the same bytes every time.
The greedy answers are made with the test data itself (`submissions` in cases.yaml).
"""

from __future__ import annotations

from pathlib import Path

SUBMISSIONS = Path(__file__).resolve().parent.parent / "submissions"


def main() -> None:
    """Write one file a case; the count in the first line stays, so that no file is as long as it says."""
    folder = SUBMISSIONS / "wrong_answer/rolls-missing"
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((SUBMISSIONS / "accepted/reference").glob("*.out")):
        lines = path.read_text(encoding="ascii").splitlines()
        (folder / path.name).write_text("".join(f"{line}\n" for line in lines[:-1]), encoding="ascii")


if __name__ == "__main__":
    main()
