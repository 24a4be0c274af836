"""House: who may import whom, what each room never does, and how every file looks. The table of rooms, enforced."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import tocsin

ROOT = Path(tocsin.__file__).parent
REPOSITORY = Path(__file__).parents[1]
"""Where these tests are, also if the package that is tested was installed elsewhere."""
ROOMS = ("contracts", "pipeline", "store", "actors", "edges", "cli")
CHECKOUT = (ROOT / "pyproject.toml").exists()

MAY_IMPORT = {
    "contracts": {"contracts"},
    "pipeline": {"contracts", "pipeline"},
    "store": {"contracts", "store"},
    "actors": {"contracts", "pipeline", "store", "actors"},
    "edges": {"contracts", "pipeline", "store", "actors", "edges"},
    "cli": {*ROOMS, "app", ""},
}
"""Room → rooms. ``""`` is the package itself."""

LIBRARIES = {
    "contracts": {"msgspec"},
    "pipeline": {"msgspec"},
    "store": {"msgspec", "sqlite_utils"},
    "actors": {"msgspec", "pykka"},
}
"""Room → what it may import from outside the standard library. Rooms that are not named may import anything declared."""

CLOCKS = {"time", "sched", "calendar"}
CHANCE = {"random", "secrets", "uuid"}
FILES = {"os", "io", "pathlib", "shutil", "tempfile", "glob", "fileinput", "mmap", "fcntl", "sqlite3"}
THREADS = {"threading", "_thread", "queue", "asyncio", "concurrent", "multiprocessing", "selectors", "signal", "subprocess"}
SOCKETS = {"socket", "socketserver", "ssl", "http", "urllib", "select"}
NEVER = {
    "contracts": CLOCKS | CHANCE | FILES | THREADS | SOCKETS | {"logging", "datetime"},
    "pipeline": CLOCKS | CHANCE | FILES | THREADS | SOCKETS | {"logging"},
    "store": CLOCKS | CHANCE | THREADS | SOCKETS,
    "actors": CLOCKS | SOCKETS | {"datetime", "anyio"},
    "cli": {"sqlite3", "sqlite_utils"},
}

MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
OUTSIDE = [ROOT / "__init__.py", ROOT / "app.py"]
EVERY_FILE = [*MODULES, *OUTSIDE]
if CHECKOUT:
    EVERY_FILE += sorted(path for folder in ("tests", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(path: Path) -> Iterator[tuple[str, str, bool]]:
    """Every import in a file as (module, name, inside): ``("pipeline.dedup", "Dedup", True)``, ``("time", "", False)``."""
    package = list(path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "", False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.module or "", alias.name, False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1]
            module = ".".join([*base, node.module] if node.module else base)
            yield from ((module, alias.name, True) for alias in node.names)


def rooms_imported(path: Path) -> set[str]:
    """The rooms that a file imports from, by either way of naming them."""
    found = {(module or name).split(".")[0] for module, name, inside in imports(path) if inside}
    return {"" if name.startswith("__") else name for name in found}  # ``from .. import __version__``


every_module = pytest.mark.parametrize("path", MODULES, ids=name_of)
every_member = pytest.mark.parametrize("path", [*MODULES, *OUTSIDE], ids=name_of)
every_file = pytest.mark.parametrize("path", EVERY_FILE, ids=name_of)


@every_module
def test_a_room_imports_only_the_rooms_below_it(path: Path) -> None:
    assert rooms_imported(path) <= MAY_IMPORT[room_of(path)]


@every_module
def test_a_room_imports_only_the_libraries_that_it_is_allowed(path: Path) -> None:
    outside = {module.split(".")[0] for module, _, inside in imports(path) if not inside}
    libraries = outside - set(sys.stdlib_module_names)
    assert libraries <= LIBRARIES.get(room_of(path), libraries)
    assert not outside & NEVER.get(room_of(path), set())


@every_member
def test_inside_the_package_imports_are_relative(path: Path) -> None:
    assert "tocsin" not in {module.split(".")[0] for module, _, inside in imports(path) if not inside}


@every_member
def test_no_room_uses_another_rooms_private_names(path: Path) -> None:
    for module, name, inside in imports(path):
        if inside and (module or name).split(".")[0] != room_of(path):
            private = [part for part in (*module.split("."), name) if part.startswith("_") and not part.startswith("__")]
            assert not private, f"from {module} import {name}"


@every_module
def test_contracts_and_pipeline_open_nothing_and_read_no_clock(path: Path) -> None:
    if room_of(path) in ("contracts", "pipeline"):
        calls = {ast.unparse(node.func) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)}
        assert not calls & {"open", "print", "input", "exec", "eval", "__import__"}
        assert not {call for call in calls if call.split(".")[-1] in ("now", "utcnow", "today", "getLogger")}


READS_CLOCK = re.compile(r"time\.time(_ns)?|(datetime\.)?(datetime|date)\.(now|utcnow|today)")
TAKES_CHANCE = re.compile(r"random\.\w+|secrets\.(token_\w+|choice|randbelow|randbits|SystemRandom)|uuid\.uuid[14]|os\.urandom")


@every_member
def test_the_wall_clock_has_one_reader_and_chance_one_source(path: Path) -> None:
    used = {ast.unparse(node) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Attribute)}
    used |= {f"{module}.{name}" for module, name, inside in imports(path) if not inside}
    if name_of(path) != "edges/clock.py":
        assert not {name for name in used if READS_CLOCK.fullmatch(name)}
    if name_of(path) != "edges/ids.py":
        assert not {name for name in used if TAKES_CHANCE.fullmatch(name)}


@every_member
def test_faults_are_caught_wholesale_in_two_places_only(path: Path) -> None:
    if name_of(path) in ("actors/base.py", "cli/main.py"):
        return
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ExceptHandler):
            kinds = ast.walk(node.type) if node.type else [ast.Name("BaseException")]
            caught = {kind.id for kind in kinds if isinstance(kind, ast.Name)}
            cleans_up = isinstance(node.body[-1], ast.Raise)  # gives back what it took, and lets the fault pass
            assert "Exception" not in caught, f"line {node.lineno}"
            assert "BaseException" not in caught or cleans_up, f"line {node.lineno}"
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "suppress":
            assert not {ast.unparse(argument) for argument in node.args} & {"Exception", "BaseException"}, f"line {node.lineno}"


@every_module
def test_the_command_line_speaks_no_sql(path: Path) -> None:
    if room_of(path) == "cli":
        statement = re.compile(r"\b(SELECT .* FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|PRAGMA )", re.DOTALL)
        strings = [node.value for node in ast.walk(tree_of(path)) if isinstance(node, ast.Constant)]
        assert not [text for text in strings if isinstance(text, str) and statement.search(text)]


@every_file
def test_the_first_line_of_every_file_says_what_it_promises(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").split("\n")
    first = lines[1] if lines[0].startswith("#!") else lines[0]
    assert first.startswith('"""')
    assert len(first.strip('" ')) >= 20
    assert ast.get_docstring(tree_of(path))


@every_file
def test_no_file_is_longer_than_400_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@every_member
def test_nothing_is_left_to_do(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text)
    assert "NotImplementedError" not in text


def test_the_public_face_is_small_sorted_and_true() -> None:
    assert tocsin.__all__ == sorted(tocsin.__all__)
    assert len(tocsin.__all__) == len(set(tocsin.__all__)) <= 15
    assert all(hasattr(tocsin, name) for name in tocsin.__all__)


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = "import sys, tocsin; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd="/")
    heavy = {"matplotlib", "numpy", "plotext", "sqlite_utils", "sqlite3", "click", "pyte", "hypothesis", "pytest", "http"}
    assert "tocsin" in run.stdout.split()
    assert not set(run.stdout.split()) & heavy


def test_the_list_of_packages_names_every_folder_of_the_rooms() -> None:
    declared = set(tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"])
    folders = {".".join(("tocsin", *path.parent.relative_to(ROOT).parts)) for path in MODULES}
    assert declared == {"tocsin", *folders}


def test_everything_that_is_imported_is_declared() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["plot"]]
    declared = {re.split(r"[<>=!~ ]", line)[0].replace("-", "_") for line in wanted}
    outside = {module.split(".")[0] for path in (*MODULES, *OUTSIDE) for module, _, inside in imports(path) if not inside}
    assert outside - set(sys.stdlib_module_names) <= declared


# The walker itself: a check that can't fail would be worse than none


def test_the_walk_sees_every_way_to_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    path = tmp_path / "pipeline" / "deep" / "one.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "import time, os.path\nfrom random import choice\nfrom ...edges.clock import SteadyClock\nfrom ... import store\n"
        "from ..step import Step\nfrom . import two\n\ndef late():\n    from ...actors import base\n"
    )
    assert list(imports(path)) == [
        ("time", "", False),
        ("os.path", "", False),
        ("random", "choice", False),
        ("edges.clock", "SteadyClock", True),
        ("", "store", True),
        ("pipeline.step", "Step", True),
        ("pipeline.deep", "two", True),
        ("actors", "base", True),
    ]
    assert rooms_imported(path) == {"edges", "store", "pipeline", "actors"}
