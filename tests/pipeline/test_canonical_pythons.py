"""Every Python gives the same canonical form, whatever its Unicode knows."""

import os
import re
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from tocsin.pipeline import canonical_addresses, canonical_counts, canonical_ids, canonical_places, canonical_strict, volatile
from tocsin.pipeline.canonical import canonical
from tocsin.pipeline.canonical_loose import LOOSE
from tocsin.pipeline.canonical_strict import composed
from tocsin.pipeline.volatile import STANDARD

MODULES = (canonical_addresses, canonical_counts, canonical_ids, canonical_places, canonical_strict, volatile)
# The rules alone, without the package around them, which other Pythons may lack the libraries for.
PROGRAM = """
import hashlib, sys, types
root = sys.argv[1]
for name, path in (("tocsin", root), ("tocsin.pipeline", root + "/pipeline")):
    module = types.ModuleType(name)
    module.__path__ = [path]
    sys.modules[name] = module
from tocsin.pipeline.canonical_loose import loosen
from tocsin.pipeline.canonical_strict import collapse, core
from tocsin.pipeline.volatile import mask_standard

digest = hashlib.sha256()
codes = [*range(0x80, 0x20000, 71), *range(0x300, 0x370), *range(0x10EFC, 0x10F00), 0x897, 0x16D68, *range(0x1DF25, 0x1DF2B)]
for letter in map(chr, codes):
    text = f"10:00:01{letter} id {letter}12 {letter}pid 7 12ms{letter} a\\u0301{letter}\\u0323e\\u0301 x[3s] {letter} 12 errors"
    parts = core(text)
    form = mask_standard(parts)
    digest.update("\\0".join((collapse(parts), form, loosen(form))).encode("utf-8", "surrogatepass"))
print(digest.hexdigest())
"""


def pythons():
    """Other Pythons of this machine that the package supports: on the path, or kept by pyenv."""
    found = {f"3.{minor}": shutil.which(f"python3.{minor}") for minor in range(11, 16)}
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for path in sorted(kept.glob("3.1[1-9].*/bin/python")):
        version = path.parent.parent.name.rpartition(".")[0]
        if not found.get(version) or "shims" in str(found[version]):
            found[version] = str(path)
    own = f"3.{sys.version_info.minor}"
    return {version: path for version, path in found.items() if path and "shims" not in path and version != own}


def forms(python):
    root = str(Path(volatile.__file__).parent.parent)
    done = subprocess.run([python, "-B", "-c", PROGRAM, root], capture_output=True, text=True, check=True)
    return done.stdout


def test_every_python_gives_the_same_forms():
    others = pythons()
    if not others:
        pytest.skip("no other Python is installed here")
    own = forms(sys.executable)
    assert {version: forms(path) for version, path in others.items()} == dict.fromkeys(others, own)


def test_no_pattern_asks_unicode_what_a_word_or_a_digit_is():
    kept = [value for module in MODULES for value in vars(module).values() if isinstance(value, re.Pattern)]
    rules = [each.pattern for each in (*STANDARD.table, *LOOSE.table)]
    asking = [
        pattern.pattern
        for pattern in kept + rules
        if not pattern.flags & re.ASCII and re.search(r"\\[wWdDbB]", pattern.pattern)
    ]
    assert asking == []


def test_letters_compose_as_far_as_every_python_knows_them():
    assert composed("cafe\u0301 a\u0323\u0302") == unicodedata.normalize("NFC", "cafe\u0301 a\u0323\u0302")
    assert composed("각".join(("\u1100\u1161", "x"))) == "가각x"


def test_a_letter_that_is_younger_than_unicode_3_2_stays_between_its_neighbours():
    younger = "\U00010efd"  # a mark since Unicode 15, nothing before
    assert composed(f"e{younger}\u0301\u0323") == f"e{younger}\u0323\u0301"
    assert canonical(f"e\u0301{younger}") == f"é{younger}"


def test_a_younger_letter_beside_a_number_is_no_part_of_it():
    assert canonical("id \U0001df2a12") == "id \U0001df2a12"
    assert canonical("id a12") == "id <id>"
