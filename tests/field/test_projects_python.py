"""Python's tools on small projects: broken ones give exactly their faults, healthy ones give nothing, however much they say."""

import runpy
import sys
from pathlib import Path

import pytest

_tools = runpy.run_path(str(Path(__file__).parent / "tools.py"))
Says, project, printed, check, quiet, load, watch, without = (
    _tools[name] for name in ("Says", "project", "printed", "check", "quiet", "load", "watch", "without")
)
PYTHON = sys.executable
FAILED = (
    Says("error test", "FAILED test_cart.py::test_total - assert 2 == 3", shows=("test_cart.py:13: AssertionError",)),
    Says("error test", "FAILED test_cart.py::test_price[tea] - KeyError: 'tea'", shows=("cart.py:9: KeyError",)),
    Says(
        "error test",
        "FAILED test_cart.py::TestCheckout::test_refuses_an_empty_cart"
        " - Failed: an empty cart was let through, though it has nothing in it to pay for",
        shows=("test_cart.py:27: Failed",),
    ),
    Says(
        "error test",
        "ERROR test_cart.py::TestCheckout::test_pays - ConnectionError: no database on port 5432",
        shows=("test_cart.py:9: ConnectionError",),
    ),
)


def test_pytest(tmp_path: Path) -> None:
    check(printed(project(tmp_path, "pytest/broken"), PYTHON, "-m", "pytest", code=1), *FAILED)


def test_pytest_that_also_shows_what_passed_tests_printed(tmp_path: Path) -> None:
    output = printed(project(tmp_path, "pytest/broken"), PYTHON, "-m", "pytest", "-v", "-rA", "--tb=short", code=1)
    places = ("test_cart.py:13: in test_total", "cart.py:9: in price", "test_cart.py:27: in test_ref", "test_cart.py:9: in ")
    short = [each._replace(shows=(place,)) for each, place in zip(FAILED, places, strict=True)]
    check(output, short[3], *short[:3])


def test_pytest_that_can_not_import_a_test(tmp_path: Path) -> None:
    output = printed(project(tmp_path, "pytest/broken_import"), PYTHON, "-m", "pytest", code=2)
    said = "ModuleNotFoundError: No module named 'no_such_coupons'"
    check(output, Says("error test", f"ERROR test_coupon.py - {said}", shows=("test_coupon.py:3: in <module>", f"E   {said}")))


def test_a_pytest_run_that_is_watched_tells_an_agent_each_failure_once(tmp_path: Path) -> None:
    watched = watch(project(tmp_path, "pytest/broken"), PYTHON, "-m", "pytest")
    assert watched.code == 1
    assert "4 failed" not in watched.shown
    assert "3 failed, 2 passed, 1 error in " in watched.shown
    assert watched.shown.endswith("tocsin: 5 findings sent to dev\n")
    assert watched.fed == 5
    for each in FAILED:
        assert watched.told.count(f"  | {each.text}") == 1
        assert f"  | {each.shows[0]}" in watched.told or "[tea]" in each.text  # its detail is longer than what is shown of it
    assert f"  | {Path(PYTHON).name} exited with code 1" in watched.told


def test_unittest(tmp_path: Path) -> None:
    output = printed(project(tmp_path, "unittest/broken"), PYTHON, "-m", "unittest", code=1)
    check(
        output,
        Says(
            "error test",
            "ERROR: test_price (test_cart.CartTest.test_price) - LookupError: no price for tea",
            shows=("cart.py\", line 5, in price",),
        ),
        Says(
            "error test",
            "FAIL: test_counts (test_cart.CartTest.test_counts) - AssertionError: 3 != 4",
            shows=("test_cart.py\", line 10, in test_counts",),
        ),
        Says(
            "error test",
            "FAIL: test_each (test_cart.CartTest.test_each) (item='milk') - AssertionError: 't' not found in 'milk'",
            shows=("test_cart.py\", line 22, in test_each",),
        ),
    )  # fmt: skip


def test_python_with_a_chain_of_causes(tmp_path: Path) -> None:
    output = printed(project(tmp_path, "python/broken"), PYTHON, "cart.py", code=1)
    check(
        output,
        Says(
            "error runtime",
            "RuntimeError: no total (caused by KeyError: 'price')",
            "cart.py in load",
            shows=('cart.py", line 5, in load', 'cart.py", line 12, in total', 'cart.py", line 15, in <module>'),
        ),
    )


def test_ruff(tmp_path: Path) -> None:
    place = project(tmp_path, "ruff/broken")
    ruff = (PYTHON, "-m", "ruff", "--isolated")
    check(
        printed(place, *ruff, "check", "--no-cache", ".", code=1),
        Says("warning lint", "error_handler.py: F401 `os` imported but unused", shows=("--> error_handler.py:3:8",)),
        Says("warning lint", "error_handler.py: F821 Undefined name `errors`", shows=("--> error_handler.py:7:12",)),
    )
    quiet(printed(place, *ruff, "format", "--no-cache", "--diff", ".", code=1), lines=10, says=("-    return errors",))


def test_a_missing_command(tmp_path: Path) -> None:
    check(
        printed(tmp_path, "bash", "-c", "no-such-command", code=127),
        Says("error process", "bash: line 1: no-such-command: command not found"),
    )


@pytest.mark.parametrize(("options", "lines"), [("-vs", 1_200), ("-vrA", 2_400), ("-rxXs", 12), ("--collect-only", 400)])
def test_pytest_that_passes_gives_nothing(tmp_path: Path, options: str, lines: int) -> None:
    output = printed(project(tmp_path, "pytest/healthy"), PYTHON, "-m", "pytest", options, code=0)
    quiet(output, lines=lines)


def test_unittest_that_passes_gives_nothing(tmp_path: Path) -> None:
    output = printed(
        project(tmp_path, "pytest/healthy"), PYTHON, "-m", "unittest", "-v", "test_error_handler.ErrorHandlerTest", code=0
    )
    quiet(output, lines=6, says=("test_error_is_raised", "... ok"))


def test_pip_that_installs_gives_nothing(tmp_path: Path) -> None:
    for options in (("--target", "here"), ("--dry-run", "--ignore-installed", "-v")):
        output = printed(tmp_path, PYTHON, "-m", "pip", "install", "--retries", "1", *options, "exceptiongroup==1.3.0")
        if b"No matching distribution" in output or b"Could not" in output:
            without(f"the package registry is out of reach: {output.decode()[-200:]}")
        quiet(output, lines=3, says=("exceptiongroup",))
    quiet(printed(tmp_path, PYTHON, "-m", "pip", "list", code=0), lines=10, says=("anyio",))


def test_a_long_listing_of_names_that_say_error_gives_nothing(tmp_path: Path) -> None:
    quiet(printed(tmp_path, PYTHON, "-c", "help('modules')", code=0), lines=50, says=("errno", "faulthandler"))
    quiet(printed(Path(runpy.__file__).parent, "ls", "-laR", "asyncio", "unittest", "email", "urllib", code=0), lines=50)


def test_a_file_server_that_is_watched_under_load_and_ended_with_ctrl_c_sends_nothing(tmp_path: Path) -> None:
    server = (PYTHON, "-m", "http.server", "0", "--bind", "127.0.0.1")
    watched = watch(project(tmp_path, "pytest/healthy"), *server, during=load("error_handler.py"))
    assert '"GET /error_handler.py?error=299 HTTP/1.1" 200 -' in watched.shown
    assert (watched.code, watched.told, watched.fed) == (0, [], 0)
