"""Node's tools on small projects: broken ones give exactly their faults; healthy builds and servers give nothing."""

import os
import re
import runpy
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

_tools = runpy.run_path(str(Path(__file__).parent / "tools.py"))
Says, project, printed, check, quiet, served, load, watch, without, until = (
    _tools[name] for name in ("Says", "project", "printed", "check", "quiet", "served", "load", "watch", "without", "until")
)
SERVERS = {"vite": ("vite", "--port", "0"), "preview": ("vite", "preview", "--port", "0"), "node": ("node", "server.mjs")}


class Installed(NamedTuple):
    """The packages, once for all tests here: where they are, and what npm said."""

    modules: Path
    said: bytes

    def project(self, place: Path, name: str) -> Path:
        """A copy of a project that finds the packages, as it does within a repository that has them at its root."""
        (place / "node_modules").symlink_to(self.modules)
        return project(place, name)

    @property
    def path(self) -> str:
        """As ``npx`` sets it."""
        return f"{self.modules / '.bin'}:{os.environ['PATH']}"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place = project(tmp_path_factory.mktemp("npm"), "npm")
    said = printed(place, "npm", "ci", "--no-audit", "--no-fund", "--fetch-retries=1")
    if b"npm error code E" in said or b"npm ERR! code E" in said:
        without(f"the package registry is out of reach: {said.decode()[-300:]}")
    return Installed(place / "node_modules", said)


def test_node_that_throws(tmp_path: Path) -> None:
    check(
        printed(project(tmp_path, "node/broken"), "node", "runtime.cjs", code=1),
        Says(
            "error runtime",
            "TypeError: Cannot read properties of undefined (reading 'length')",
            "runtime.cjs in total",
            shows=("runtime.cjs:2\n  return cart.items.length;", "runtime.cjs:2:21)"),
        ),
    )


def test_node_that_finds_no_module(tmp_path: Path) -> None:
    place = project(tmp_path, "node/broken")
    said = "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'no-such-package' imported from"
    check(printed(place, "node", "missing.mjs", code=1), Says("error build", f"{said} {place}/missing.mjs"))
    check(
        printed(place, "node", "required.cjs", code=1),
        Says("error build", "Error: Cannot find module './no-such-file.cjs'", "required.cjs", shows=("required.cjs:1:1)",)),
    )


def test_node_with_a_rejection_that_nobody_handles(tmp_path: Path) -> None:
    check(
        printed(project(tmp_path, "node/broken"), "node", "rejected.mjs", code=1),
        Says(
            "error runtime",
            "CartError: no money (caused by RangeError: balance is -3)",
            "rejected.mjs in pay",
            shows=("rejected.mjs:4:9)", "rejected.mjs:4:44)"),
        ),
    )


def test_node_that_is_watched(tmp_path: Path) -> None:
    watched = watch(project(tmp_path, "node/broken"), "node", "rejected.mjs")
    assert (watched.code, watched.fed) == (1, 2)
    assert watched.shown.endswith("tocsin: 2 findings sent to dev\n")
    assert watched.told.count("  | CartError: no money (caused by RangeError: balance is -3)") == 1
    assert watched.told.count("  | node exited with code 1") == 1
    assert any(re.match(r"- error process_output at rejected\.mjs in pay \(id \S+\)$", line) for line in watched.told)


@pytest.mark.parametrize("reporter", ["tap", "spec"])
def test_node_test(tmp_path: Path, reporter: str) -> None:
    output = printed(project(tmp_path, "node_test/broken"), "node", "--test", f"--test-reporter={reporter}", code=1)
    adds, pays = _tools["events"](output)
    assert (adds.key, adds.category, pays.key, pays.category) == ("FAIL adds", "test", "FAIL pays", "test")
    assert adds.text.endswith("Expected values to be strictly equal:")
    assert pays.text.endswith("no money")
    assert all(shown in adds.detail for shown in ("2 !== 3", "cart.test.mjs:6:12"))
    assert "cart.test.mjs:14:9" in pays.detail


TYPES = (
    Says("error build", "src/cart.ts: error TS2322: Type 'string' is not assignable to type 'number'."),
    Says("error build", "src/cart.ts: error TS2551: Property 'prize' does not exist on type 'Item'. Did you mean 'price'?"),
    Says("error build", "src/error_handler.ts: error TS2322: Type 'number' is not assignable to type 'string'."),
    Says("error build", "src/error_handler.ts: error TS2554: Expected 1 arguments, but got 2."),
)
PLACES = (("src/cart.ts", 7, 3), ("src/cart.ts", 7, 35), ("src/error_handler.ts", 3, 14), ("src/error_handler.ts", 3, 42))


def test_tsc(tmp_path: Path, installed: Installed) -> None:
    output = printed(installed.project(tmp_path, "tsc/broken"), "tsc", code=2, PATH=installed.path)
    check(output, *TYPES)
    assert all(f"{file}({line},{column}): error TS" in output.decode() for file, line, column in PLACES)


def test_tsc_that_is_watched_in_a_terminal_where_it_prints_differently(tmp_path: Path, installed: Installed) -> None:
    watched = watch(installed.project(tmp_path, "tsc/broken"), "npx", "tsc", PATH=installed.path)
    assert (watched.code, watched.fed) == (2, 5)
    assert "Found 4 errors in 2 files." in watched.shown
    for each, (file, line, column) in zip(TYPES, PLACES, strict=True):
        assert watched.told.count(f"  | {each.text}") == 1
        assert f"  | {file}:{line}:{column} - {each.text.removeprefix(f'{file}: ')}" in watched.told


@pytest.mark.parametrize("colour", ["--no-color", "--color"])
def test_eslint(tmp_path: Path, installed: Installed, colour: str) -> None:
    place = installed.project(tmp_path, "eslint/broken")
    cart, handler, typo = (f"{place}/src/{name}.js" for name in ("cart", "error_handler", "typo"))
    check(
        printed(place, "eslint", colour, ".", code=1, PATH=installed.path),
        Says("error lint", "eslint: 'count' is assigned a value but never used (no-unused-vars)", cart, ("  2:9   error ",)),
        Says("error lint", "eslint: 'prices' is not defined (no-undef)", cart, ("  4:10  error ",)),
        Says("error lint", "eslint: 'taxes' is not defined (no-undef)", cart, ("  4:53  error ",)),
        Says("error lint", "eslint: Duplicate key 'error' (no-dupe-keys)", handler, ("  1:34  error ",)),
        Says("error lint", "eslint: Parsing error: Unexpected token ;", typo, ("  1:23  error ",)),
    )


def unit_tests(place: Path) -> tuple[Says, ...]:
    missing = f"Failed to load url ./no-such-coupon.js (resolved id: ./no-such-coupon.js) in {place}/coupon.test.js."
    return (
        Says("error test", f"FAIL coupon.test.js [ coupon.test.js ]: Error: {missing} Does the file exist?"),
        Says(
            "error test",
            "FAIL cart.test.js > cart > adds: AssertionError: expected 2 to be 3 // Object.is equality",
            shows=("❯ cart.test.js:6:19",),
        ),
        Says(
            "error test",
            "FAIL cart.test.js > cart > knows the price: TypeError: Cannot read properties of undefined (reading 'price')",
            shows=("❯ Module.price cart.js:2:21", "❯ cart.test.js:9:12"),
        ),
    )


def test_vitest(tmp_path: Path, installed: Installed) -> None:
    place = installed.project(tmp_path, "vitest/broken")
    check(printed(place, "vitest", "run", code=1, PATH=installed.path), *unit_tests(place))


@pytest.mark.parametrize("reporter", ["tap", "tap-flat"])
def test_vitest_that_prints_tap(tmp_path: Path, installed: Installed, reporter: str) -> None:
    place = installed.project(tmp_path, "vitest/broken")
    suite = "cart.test.js > cart > " if reporter == "tap-flat" else ""
    found = _tools["events"](printed(place, "vitest", "run", f"--reporter={reporter}", code=1, PATH=installed.path))
    assert {(each.key, each.text.removeprefix(each.key)[:50]) for each in found} == {
        (f"FAIL {suite}adds", ": AssertionError: expected 2 to be 3 // Object.is "),
        (f"FAIL {suite}knows the price", ": TypeError: Cannot read properties of undefined ("),
        ("FAIL coupon.test.js", ": Error: Failed to load url ./no-such-coupon.js (r"),
    }


def test_vitest_that_is_watched_in_a_terminal_where_it_redraws_its_progress(tmp_path: Path, installed: Installed) -> None:
    place = installed.project(tmp_path, "vitest/broken")
    watched = watch(place, "vitest", "run", PATH=installed.path)
    assert (watched.code, watched.fed) == (1, 4)
    assert [watched.told.count(f"  | {each.text}") for each in unit_tests(place)] == [1, 1, 1]


def test_a_vite_build(tmp_path: Path, installed: Installed) -> None:
    place = installed.project(tmp_path, "vite/broken")
    said = 'Could not resolve "./no-such-file.js" from "src/main.js"'
    check(printed(place, "vite", "build", code=1, PATH=installed.path), Says("error build", said, f"{place}/src/main.js"))
    (place / "src" / "no-such-file.js").write_text("export const left = (;\n")
    (found,) = _tools["events"](printed(place, "vite", "build", code=1, PATH=installed.path, FORCE_COLOR="1"))
    assert found.text.startswith("[vite:build-import-analysis] ")
    assert "src/no-such-file.js: Failed to parse source for import analysis" in found.text
    assert "file: " in found.detail
    assert f"{place}/src/no-such-file.js:1:" in found.detail


def test_a_vite_build_that_is_watched(tmp_path: Path, installed: Installed) -> None:
    place = installed.project(tmp_path, "vite/broken")
    watched = watch(place, "vite", "build", PATH=installed.path)
    assert (watched.code, watched.fed) == (1, 2)
    assert watched.told.count('  | Could not resolve "./no-such-file.js" from "src/main.js"') >= 1
    assert any(line.startswith(f"- error process_output at {place}/src/main.js (id ") for line in watched.told)
    assert "  | vite exited with code 1" in watched.told


HEALTHY = [
    ("node_test/healthy", ("node", "--test", "--test-reporter=tap"), 300, "ok 2 - TypeError: failed 1 is handled"),
    ("node_test/healthy", ("node", "--test", "--test-reporter=spec"), 100, "✔ TypeError: failed 99 is handled"),
    ("tsc/healthy", ("tsc", "--noEmit", "--pretty", "--extendedDiagnostics", "--listFiles"), 30, "src/error_handler.ts"),
    ("eslint/healthy", ("eslint", "."), 3, "(0 errors, 1 warning)"),
    ("vitest/healthy", ("vitest", "run", "--reporter=verbose"), 300, "error_handler > Error: failure 99 is handled"),
    ("vite/healthy", ("vite", "build"), 5, "[vite-plugin-error-overlay] 0 errors shown"),
    ("vite/healthy", ("vite", "build", "--debug"), 30, "vite-plugin-error-overlay"),
]


@pytest.mark.parametrize(("name", "command", "lines", "says"), HEALTHY)
def test_a_tool_that_does_well_gives_nothing(
    tmp_path: Path, installed: Installed, name: str, command: tuple[str, ...], lines: int, says: str
) -> None:
    place = installed.project(tmp_path, name)
    quiet(printed(place, *command, code=0, PATH=installed.path), lines=lines, says=(says,))


def test_npm_that_installs_gives_nothing(tmp_path: Path, installed: Installed) -> None:
    quiet(installed.said, lines=2, says=("added ", " packages in "))
    (tmp_path / "package.json").write_text('{"name": "shop", "dependencies": {"http-errors": "2.0.1"}}')
    offline = ("--prefer-offline", "--no-audit", "--no-fund")
    quiet(printed(tmp_path, "npm", "install", "--loglevel=verbose", *offline, code=0), lines=10, says=("http-errors",))
    quiet(printed(tmp_path, "npm", "ls", "--all", code=0), lines=5, says=("http-errors@2.0.1",))
    listed = printed(installed.modules.parent, "npm", "ls", "--all", code=0)
    quiet(listed, lines=100, says=("vite-plugin-error-overlay@", "http-errors@"))


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_under_load_gives_nothing(tmp_path: Path, installed: Installed, server: str) -> None:
    place = installed.project(tmp_path, "node/healthy" if server == "node" else "vite/healthy")
    if server == "preview":
        printed(place, "vite", "build", code=0, PATH=installed.path)
    output = served(place, *SERVERS[server], during=load(), PATH=installed.path)
    quiet(output, lines=300 if server == "node" else 1, says=("http://127.0.0.1:",))


def test_a_dev_server_that_is_watched_under_load_and_edits_sends_nothing(tmp_path: Path, installed: Installed) -> None:
    place = installed.project(tmp_path, "vite/healthy")

    def work(shown) -> None:
        load("src/error_handler.js")(shown)
        load("src/main.js", 8)(shown)
        for name in ("error_handler", "main"):
            (place / "src" / f"{name}.js").write_text('console.error("error");\nexport const handleError = console.error;\n')
            reloaded = re.compile(rf"(page reload|hmr update) \S*src/{name}\.js")
            until(partial(lambda seen: seen.search(shown()), reloaded), lambda: f"a reload in {shown()}")

    watched = watch(place, "vite", "--port", "0", during=work, PATH=installed.path)
    assert (watched.told, watched.fed, watched.code in (0, 130)) == ([], 0, True)
