"""Compilers of Rust, Go, C and Java on small projects: broken ones give exactly their faults, healthy ones give nothing."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest

_tools = runpy.run_path(str(Path(__file__).parent / "tools.py"))
Says, project, printed, check, quiet, events, watch = (
    _tools[name] for name in ("Says", "project", "printed", "check", "quiet", "events", "watch")
)

CARGO = (
    Says("error build", "error[E0308]: mismatched types", "src/cart.rs", ("--> src/cart.rs:3:20", '"three"')),
    Says("error build", "error[E0600]: cannot apply unary operator `!` to type `String`", "src/error_handler.rs", (":2:5",)),
)
CARGO_TESTS = (
    Says("error test", "FAILED tests::adds: the total is wrong", shows=("src/lib.rs:15:9",)),
    Says("error test", "FAILED tests::parses: Error: ParseIntError { kind: InvalidDigit }"),
    Says(
        "error test",
        "FAILED tests::takes_the_first: index out of bounds: the len is 0 but the index is 0",
        shows=("src/lib.rs:6:5",),
    ),
)


def test_cargo_build(tmp_path: Path) -> None:
    output = printed(project(tmp_path, "cargo/broken_build"), "cargo", "build", "--offline", code=101)
    assert sorted(each.frame for each in events(output)) == [each.frame for each in CARGO]
    check(output, *(CARGO if events(output)[0].frame == CARGO[0].frame else CARGO[::-1]))  # rustc checks files in any order


def test_cargo_test_of_what_does_not_compile(tmp_path: Path) -> None:
    """It compiles the library twice at a time, and says that it waits for the other when one has failed."""
    output = printed(project(tmp_path, "cargo/broken_build"), "cargo", "test", "--offline", code=101)
    assert {(each.text, each.frame) for each in events(output)} == {(each.text, each.frame) for each in CARGO}


def test_cargo_that_says_each_error_in_one_line(tmp_path: Path) -> None:
    short = ("--offline", "--message-format", "short")
    output = printed(project(tmp_path, "cargo/broken_build"), "cargo", "build", *short, code=101)
    for each, place in zip(CARGO, ("src/cart.rs:3:20: ", "src/error_handler.rs:2:5: "), strict=True):
        (found,) = (one for one in events(output) if one.text.startswith(f"{each.frame}: {each.text}"))
        assert (found.severity, found.category) == ("error", "build")
        assert place in output.decode()
    assert len(events(output)) == 2


def test_a_cargo_build_that_is_watched(tmp_path: Path) -> None:
    watched = watch(project(tmp_path, "cargo/broken_build"), "cargo", "build", "--offline")
    assert (watched.code, watched.fed) == (101, 3)
    for each in CARGO:
        assert watched.told.count(f"  | {each.text}") == 1
        assert any(line.startswith(f"- error process_output at {each.frame} (id ") for line in watched.told)


def test_cargo_test(tmp_path: Path) -> None:
    one_by_one = ("--offline", "--", "--test-threads=1")  # else their order is left to chance
    check(printed(project(tmp_path, "cargo/broken_test"), "cargo", "test", *one_by_one, code=101), *CARGO_TESTS)


def test_rustc_and_a_panic(tmp_path: Path) -> None:
    place = project(tmp_path, "rustc/broken")
    check(
        printed(place, "rustc", "cart.rs", code=1),
        Says("error build", "error[E0308]: mismatched types", "cart.rs", ("--> cart.rs:2:22",)),
    )
    check(printed(place, "rustc", "panic.rs", code=0))
    panic = Says("error runtime", "panicked: no price", "panic.rs", ("panic.rs:3:26",))
    check(printed(place, str(place / "panic"), code=101), panic)


def test_go_build_and_vet(tmp_path: Path) -> None:
    as_int = 'cannot use "three" (untyped string constant) as int value in variable declaration'
    check(
        printed(project(tmp_path, "go/broken_build"), "go", "build", "./...", code=None),
        Says("error build", "./error_handler.go: undefined: isFatal", shows=("./error_handler.go:4:9: ",)),
        Says("error build", f"./main.go: {as_int}", shows=("./main.go:4:18: ",)),
        Says("error build", "./main.go: undefined: taxes", shows=("./main.go:5:10: ",)),
    )
    (found,) = events(printed(project(tmp_path, "go/broken_vet"), "go", "vet", "./..."))
    assert found.text.endswith('./main.go: fmt.Printf format %d has arg "three" of wrong type string')
    assert "./main.go:6:" in found.detail


GO_TESTS = (
    Says("error test", "FAIL TestTotal/tea: cart_test.go: total is 2, not 3", shows=("cart_test.go:9: total is 2, not 3",)),
    Says(
        "error test",
        "FAIL TestFirst: panic: runtime error: index out of range [0] with length 0",
        "cart.go in shop.First",
        ("cart.go:8", "cart_test.go:20"),
    ),
)


@pytest.mark.parametrize("verbose", [(), ("-v",)])
def test_go_test_with_a_panic(tmp_path: Path, verbose: tuple[str, ...]) -> None:
    check(printed(project(tmp_path, "go/broken_test"), "go", "test", *verbose, "./...", code=1), *GO_TESTS)


def test_a_go_test_that_is_watched(tmp_path: Path) -> None:
    watched = watch(project(tmp_path, "go/broken_test"), "go", "test", "./...")
    assert (watched.code, watched.fed) == (1, 3)
    assert [watched.told.count(f"  | {each.text}") for each in GO_TESTS] == [1, 1]
    assert "  |         cart_test.go:9: total is 2, not 3" in watched.told


def test_a_go_program_that_panics(tmp_path: Path) -> None:
    check(
        printed(project(tmp_path, "go/panic"), "go", "run", ".", code=1),
        Says("error runtime", "panic: assignment to entry in nil map", "main.go in main.(*cart).add", ("main.go:8",)),
    )


@pytest.fixture
def gcc() -> None:
    """Where ``gcc`` is another compiler, its messages are others too."""
    if "clang" in subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=False).stdout:
        pytest.skip("gcc is clang here")


C = (
    Says("error build", "shop.h: error: unknown type name 'unknown_type'", shows=("shop.h:1:9: error:",)),
    Says("error build", "cart.c: error: 'price' undeclared (first use in this function)", shows=("cart.c:5:10: error:",)),
    Says(
        "error build",
        "cart.c: error: request for member 'first' in something not a structure or union",
        shows=("cart.c:9:21: error:",),
    ),
)


@pytest.mark.usefixtures("gcc")
def test_gcc_and_the_linker(tmp_path: Path) -> None:
    place = project(tmp_path, "gcc/broken")
    check(printed(place, "gcc", "-c", "cart.c", code=1, LC_ALL="C"), *C)
    check(
        printed(place, "gcc", "-c", "missing.c", code=1),
        Says("error build", "missing.c: fatal error: no_such_header.h: No such file or directory", shows=("missing.c:1:10: ",)),
    )
    check(
        printed(place, "gcc", "linked.c", code=1),
        Says("error build", "linked.c: undefined reference to `total'"),
        Says("error build", "linked.c: undefined reference to `taxes'"),
    )
    with_lines = printed(place, "gcc", "-g", "linked.c", code=1)
    check(
        with_lines,
        Says("error build", f"{place}/linked.c: undefined reference to `total'", shows=("linked.c:5: undefined",)),
        Says("error build", f"{place}/linked.c: undefined reference to `taxes'", shows=("linked.c:5: undefined",)),
    )


@pytest.mark.usefixtures("gcc")
def test_make_that_is_watched(tmp_path: Path) -> None:
    watched = watch(project(tmp_path, "make/broken"), "make", "-k")
    assert (watched.code, watched.fed) == (2, 4)
    assert "  | cart.c: error: 'price' undeclared (first use in this function)" in watched.told
    assert "  | cart.c:2:10: error: 'price' undeclared (first use in this function)" in watched.told
    assert any(re.fullmatch(r"  \| make: \*\*\* \[(?:Makefile:4: )?cart\.o\] Error 1", line) for line in watched.told)
    assert any("No rule to make target" in line and "missing.txt" in line for line in watched.told)
    assert "  | make exited with code 2" in watched.told


JAVAC = (
    Says(
        "error build",
        "Cart.java: error: incompatible types: String cannot be converted to int",
        shows=("Cart.java:3: error:", 'int price = "three";'),
    ),
    Says("error build", "Cart.java: error: cannot find symbol: method price()", shows=("Cart.java:4: error:",)),
    Says("error build", "Cart.java: error: cannot find symbol: variable taxes", shows=("Cart.java:4: error:",)),
    Says("error build", "ErrorHandler.java: error: cannot find symbol: class CartError", shows=("ErrorHandler.java:3: ",)),
)


def test_javac(tmp_path: Path) -> None:
    check(printed(project(tmp_path, "java/broken"), "javac", "Cart.java", "ErrorHandler.java", code=1), *JAVAC)


def test_javac_that_is_watched(tmp_path: Path) -> None:
    watched = watch(project(tmp_path, "java/broken"), "javac", "Cart.java", "ErrorHandler.java")
    assert (watched.code, watched.fed) == (1, 5)
    assert [watched.told.count(f"  | {each.text}") for each in JAVAC] == [1, 1, 1, 1]
    assert all(any(each.shows[0] in line for line in watched.told) for each in JAVAC)


def test_java_with_a_cause(tmp_path: Path) -> None:
    place = project(tmp_path, "java/caused")
    check(printed(place, "javac", "-d", ".", "Shop.java", code=0))
    check(
        printed(place, "java", "shop.Shop", code=1),
        Says(
            "error runtime",
            "java.lang.IllegalStateException: no total"
            ' (caused by java.lang.NumberFormatException: For input string: "tea")',
            "Shop.java in Shop.price",
            ("Shop.java:12)", "Shop.java:17)", "Shop.java:5)"),
        ),
    )  # fmt: skip


def test_java_without_the_class_that_it_is_to_run(tmp_path: Path) -> None:
    said = "Error: Could not find or load main class NoSuch (caused by java.lang.ClassNotFoundException: NoSuch)"
    check(printed(tmp_path, "java", "NoSuch", code=1), Says("error runtime", said))


HEALTHY = [
    ("cargo/healthy", ("cargo", "build", "-v", "--offline"), 3, "Finished"),
    ("cargo/healthy", ("cargo", "test", "-v", "--offline"), 15, "panics_with_an_error - should panic ... ok"),
    ("rustc/healthy", ("sh", "-c", "rustc -v error_handler.rs && ./error_handler"), 2, "error_handler: 0 errors"),
    ("go/healthy", ("go", "test", "./..."), 2, "example.test/shop/error_handler"),
    ("go/healthy", ("go", "test", "-v", "./..."), 300, "--- PASS: TestErrorIsRaised/panic:_failed_99"),
    ("go/healthy", ("go", "build", "-x", "-v", "./..."), 10, "error_handler"),
    ("go/healthy", ("sh", "-c", "go vet ./... && go run ."), 1, "0 errors"),
    ("gcc/healthy", ("gcc", "-v", "-Wall", "main.c", "error_handler.c"), 30, "error_handler"),
    ("make/healthy", ("make",), 6, "handled error: fatal error"),
    ("java/healthy", ("javac", "-verbose", "ErrorHandler.java"), 30, "ErrorHandler"),
    ("java/healthy", ("sh", "-c", "javac -Xlint:all ErrorHandler.java && java -verbose:class ErrorHandler"), 300, "errors: 0"),
]


@pytest.mark.parametrize(("name", "command", "lines", "says"), HEALTHY)
def test_a_tool_that_does_well_gives_nothing(
    tmp_path: Path, name: str, command: tuple[str, ...], lines: int, says: str
) -> None:
    _tools["needs"](name.split("/", maxsplit=1)[0].replace("java", "javac"), _tools["environment"]()["PATH"])
    quiet(printed(project(tmp_path, name), *command, code=0), lines=lines, says=(says,))
