"""The tools that are on this machine, run for real: what they print today is still understood.

A tool that is missing skips its test and says so; where CI is set it fails.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tocsin.contracts.base import Instant
from tocsin.contracts.events import Event
from tocsin.edges.sources.reader import Reader
from tocsin.edges.sources.rules import Catalogue

CATALOGUE = Catalogue.load()
Told = tuple[str, str, str]


def told(cwd: Path, *argv: str) -> list[Told]:
    """What the tool's output means: severity and category, text, frame."""
    if shutil.which(argv[0]) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{argv[0]} is not installed")
        pytest.skip(f"{argv[0]} is not installed")
    environment = {**os.environ, "RUST_BACKTRACE": "0", "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(argv, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    reader = Reader(CATALOGUE, scope="app", to=None)
    found = reader.read("stdout", done.stdout, Instant(0)) + reader.close(Instant(0))
    return [(f"{one.severity} {one.category}", one.text, one.frame) for one in found if isinstance(one, Event)]


def test_python_with_a_chain_of_causes(tmp_path: Path) -> None:
    (tmp_path / "cart.py").write_text(
        'def load():\n    {}["price"]\ndef total():\n    try:\n        load()\n    except KeyError as error:\n'
        '        raise RuntimeError("no total") from error\ntotal()\n'
    )
    assert told(tmp_path, sys.executable, "cart.py") == [
        ("error runtime", "RuntimeError: no total (caused by KeyError: 'price')", "cart.py in load")
    ]


def test_unittest(tmp_path: Path) -> None:
    (tmp_path / "test_cart.py").write_text(
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(1, 2)\n"
        "    def test_b(self): pass\n"
    )
    [(kind, text, _)] = told(tmp_path, sys.executable, "-m", "unittest")
    assert kind == "error test"
    assert text == "FAIL: test_a (test_cart.T.test_a) - AssertionError: 1 != 2"


def test_node(tmp_path: Path) -> None:
    (tmp_path / "cart.cjs").write_text("function total() { throw new TypeError('no price') }\ntotal()\n")
    assert told(tmp_path, "node", "cart.cjs") == [("error runtime", "TypeError: no price", "cart.cjs in total")]


def test_node_that_finds_no_module(tmp_path: Path) -> None:
    (tmp_path / "cart.mjs").write_text("import 'nosuch'\n")
    [(kind, text, _)] = told(tmp_path, "node", "cart.mjs")
    assert kind == "error build"
    assert text.startswith("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'nosuch' imported from ")


def test_gcc(tmp_path: Path) -> None:
    (tmp_path / "cart.c").write_text("int total(void) {\n  return price;\n}\n")
    [(kind, text, _)] = told(tmp_path, "gcc", "-c", "cart.c")
    assert kind == "error build"
    assert text.startswith("cart.c: error: 'price' undeclared")


def test_the_linker(tmp_path: Path) -> None:
    (tmp_path / "cart.c").write_text("int total(void);\nint main(void) { return total(); }\n")
    [(kind, text, _)] = told(tmp_path, "gcc", "cart.c")
    assert (kind, text) == ("error build", "cart.c: undefined reference to `total'")


def test_rustc(tmp_path: Path) -> None:
    (tmp_path / "cart.rs").write_text('fn main() { let total: i32 = "a"; }\n')
    assert told(tmp_path, "rustc", "cart.rs") == [("error build", "error[E0308]: mismatched types", "cart.rs")]


def test_a_rust_panic(tmp_path: Path) -> None:
    (tmp_path / "cart.rs").write_text('fn main() { let none: Option<i32> = None; none.expect("no price"); }\n')
    assert told(tmp_path, "rustc", "cart.rs") == []
    assert told(tmp_path, str(tmp_path / "cart")) == [("error runtime", "panicked: no price", "cart.rs")]


def test_javac(tmp_path: Path) -> None:
    (tmp_path / "Cart.java").write_text("class Cart { void a() { price(); total(); } }\n")
    assert told(tmp_path, "javac", "Cart.java") == [
        ("error build", "Cart.java: error: cannot find symbol: method price()", ""),
        ("error build", "Cart.java: error: cannot find symbol: method total()", ""),
    ]


def test_java(tmp_path: Path) -> None:
    (tmp_path / "Cart.java").write_text(
        "class Cart { static int total(String s) { return Integer.parseInt(s); }\n"
        'public static void main(String[] a) { total("x"); } }\n'
    )
    assert told(tmp_path, "java", "Cart.java") == [
        ("error runtime", 'java.lang.NumberFormatException: For input string: "x"', "Cart.java in Cart.total")
    ]


def test_a_missing_command(tmp_path: Path) -> None:
    [(kind, text, _)] = told(tmp_path, "sh", "-c", "nosuch-command")
    assert kind == "error process"
    assert "nosuch-command" in text


def test_a_long_healthy_listing_gives_nothing(tmp_path: Path) -> None:
    """Names of files say error, failed and exception in every way; none of them is news."""
    assert told(tmp_path, sys.executable, "-c", "help('modules')") == []
    assert told(tmp_path, sys.executable, "-m", "pip", "list") == []
    library = Path(os.__file__).parent
    assert told(library, "ls", "-laR", "asyncio", "unittest", "email", "urllib") == []
