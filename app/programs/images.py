"""Images that checkers leave as feedback: those that are kept, and for judges a remark on each other one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from app.core.images import measure
from app.programs.model import LONGEST_JUDGE_MESSAGE, Decision, plain
from app.programs.runner import IMAGE_NAMES, LARGEST_IMAGE, MOST_IMAGES

NAME = re.compile(r"(?:team|judge)image(?:-[A-Za-z0-9_-]{1,60})?\.(png|jpg|jpeg|svg)")
LONGEST_NAME = 100
MOST_PIXELS = 2**26
"""Pixels of an image in points: a few bytes that name more would fill the memory of whoever looks at them."""
DRAWN = "image/svg+xml"
TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "svg": DRAWN}


def image_names(names: Iterable[str]) -> list[str]:
    """The names of images among those of feedback files, in the order in which they are shown."""
    return sorted(name for name in names if name.startswith(IMAGE_NAMES))


def with_images(decision: Decision, files: Mapping[str, bytes], most: int) -> Decision:
    """A decision with the images among the files of feedback, of at most so many bytes in all.

    Judges read why one is not kept. A file that is larger than LARGEST_IMAGE may end there, with a byte too many.
    """
    images: dict[str, bytes] = {}
    remarks = []
    for name in image_names(files):
        fault = _fault(name, files[name], len(images))
        if not fault and sum(map(len, images.values())) + len(files[name]) > most:
            fault = f"expected at most {most} bytes of images of an answer, found more"
        if fault:
            remarks.append(f"{plain(name)[:LONGEST_NAME]} is not kept: {fault}")
        else:
            images[name] = files[name]
    judges = "\n".join(filter(None, (*remarks, decision.judges)))[:LONGEST_JUDGE_MESSAGE]
    return replace(decision, judges=judges, images=images)


def _fault(name: str, data: bytes, count: int) -> str:
    match = NAME.fullmatch(name)
    if match is None:
        return "expected teamimage or judgeimage, perhaps -ID, and .png, .jpg, .jpeg or .svg"
    if count == MOST_IMAGES:
        return f"expected at most {MOST_IMAGES} images of an answer, found more"
    if len(data) > LARGEST_IMAGE:
        return f"expected at most {LARGEST_IMAGE} bytes, found more"
    expected, image = TYPES[match[1]], measure(data)
    if image is None or image.mime != expected:
        return f"expected {expected}, found {'something else' if image is None else image.mime}"
    if image.mime != DRAWN and image.width * image.height > MOST_PIXELS:
        return f"expected at most {MOST_PIXELS} pixels, found {image.width} x {image.height}"
    return ""
