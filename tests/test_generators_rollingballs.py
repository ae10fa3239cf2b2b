"""The official RollingBalls generator repeats the match's test cases byte for byte."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "problems/rollingballs"
FIRST_BYTES = "96cb4cedc6d78a4666351950dd1d06af55611874210658966039dee8335b88fddbe32e69e815b79bbb18ccd41e"
SHA256_OF_SEED = {
    1: "42d90f36c135af7fcd5276dbd71d5df18774d3ed787305f53c5cbbecbbd556e0",
    2: "4fb410f25cf79a86798d3090fde92256d7a7f171d0cbef31beab8c2fa622ef2a",
    3: "70d9f21b023f77d80e4f58b0feb1b499c96eb31963023a32b43675dc6e54724f",
    4: "f94abc27a8432f952d068ca6bc3cd65395b3f6dd2c5e3367aefa3994a00ea2aa",
    5: "aba1425f72e18e9c9896ee2154838179b9c4f36c48f1eb47de244ce22cfbf4bf",
    6: "195495ef528f598a2fe1407b165bf316124e7f56e813c6d977595d27b8bdddce",
    7: "7c1c9bd13c0b9cc6327b745be4f4e9b8a77825885a6fdbc08e10dde91da03364",
    8: "f40f1aa4bb68a183eb1c337d5a2cb1ed20f3cc24936f4abcceb57f26168eb875",
    9: "3791bf8be1dc0c72628d3381fe643cd3da22e1e27d43fe56fc441e44a2597152",
    10: "357f774fdab4cfd19205298b9568be25c2feeb7a9e0988e0faa5dea82bf4700d",
}


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """The package's generator, loaded as a module."""
    spec = importlib.util.spec_from_file_location("rollingballs_generate", PACKAGE / "generators/generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", SHA256_OF_SEED)
def test_an_official_seed_gives_the_bytes_of_the_match(generator: ModuleType, seed: int):
    assert hashlib.sha256(generator.generate(seed).encode()).hexdigest() == SHA256_OF_SEED[seed]


def test_the_random_source_is_javas_sha1prng(generator: ModuleType):
    """Expected bytes and numbers were printed by OpenJDK 17 after `setSeed(seed)`."""
    assert generator.Sha1Prng(1).next_bytes(45).hex() == FIRST_BYTES
    random = generator.Sha1Prng(12345678901)
    bounds = (100, 64, 7, 1, 2_000_000_000, 1_500_000_000, 10)
    assert [random.next_int(bound) for bound in bounds] == [98, 36, 3, 0, 1830547867, 269690737, 6]


def test_what_is_left_of_a_block_is_not_lost(generator: ModuleType):
    whole, parts = generator.Sha1Prng(7), generator.Sha1Prng(7)
    assert whole.next_bytes(60) == b"".join(parts.next_bytes(count) for count in (1, 4, 15, 20, 19, 1))


def test_the_command_line_refuses_a_seed_below_one():
    command = [sys.executable, str(PACKAGE / "generators/generate.py"), "--seed", "0"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"expected 1 or more, found 0" in done.stderr


@pytest.mark.parametrize("path", sorted((PACKAGE / "data/invalid_input").glob("*.in")), ids=lambda path: path.stem)
def test_the_input_validator_refuses_an_invalid_input_in_one_line(path: Path):
    command = [sys.executable, str(PACKAGE / "input_validators/validate.py")]
    done = subprocess.run(command, input=path.read_bytes(), capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (43, 1)
    assert b"expected" in done.stderr
