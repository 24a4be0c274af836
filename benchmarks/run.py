"""Run: every benchmark one after the other, each in a process of its own; one table, one JSON file, the plots.

``make bench`` calls it. ``results/latest.json`` holds the rows, the machine and the time; ``results/*.svg`` the plots; the
README beside this file gets the table between its two marks.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from figures import Row, from_json, table

HERE: Final = Path(__file__).parent
RESULTS: Final = HERE / "results"
README: Final = HERE / "README.md"
BEGIN: Final = "<!-- figures: make bench writes what stands here -->\n"
END: Final = "<!-- end of figures -->\n"


def benchmarks(only: Sequence[str]) -> list[Path]:
    """The files to run: all, or those whose name has one of the words in it."""
    found = sorted(HERE.glob("bench_*.py"))
    return [path for path in found if not only or any(word in path.stem for word in only)]


def run(path: Path, arguments: Sequence[str]) -> list[Row]:
    """Run one; its rows, or one that says why there are none."""
    done = subprocess.run([sys.executable, str(path), "--json", *arguments], capture_output=True, check=False)
    try:
        if done.returncode == 0:
            return from_json(done.stdout)
        why = f"it ended with code {done.returncode}: {_last_line(done.stderr)}"
    except msgspec.MsgspecError as error:
        why = f"what it printed is no JSON with rows: {error}"
    print(done.stderr.decode(errors="replace"), file=sys.stderr)
    return [broken(path.stem, why)]


def broken(name: str, why: str) -> Row:
    """A benchmark that did not run to its end: a row that was not reached, so that nobody overlooks it."""
    return Row(name=name, figure="failed", reached=False, method=why)


def _last_line(text: bytes) -> str:
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def machine() -> dict[str, Any]:
    """What the figures were taken on. The load says whether it was shared at that moment."""
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_average": [round(load, 2) for load in os.getloadavg()],
    }


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", metavar="WORD", help="only benchmarks with one of these words in their names")
    parser.add_argument("--full", action="store_true", help="also what takes minutes: 10,000,000 events")
    given = parser.parse_args()
    before, rows = machine(), list[Row]()
    for path in benchmarks(given.only):
        print(f"{path.stem} …", end=" ", flush=True, file=sys.stderr)
        began = time.perf_counter()
        rows += run(path, ["--full"] if given.full and "flat" in path.stem else [])
        print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)
    print(table(rows))
    if not given.only:  # a part of the figures must not stand where all of them are looked for
        write(rows, before)
    if any(row.figure == "failed" for row in rows):
        raise SystemExit(1)


def write(rows: Sequence[Row], where: dict[str, Any]) -> None:
    """``results/latest.json``, the README's table and the plots."""
    RESULTS.mkdir(exist_ok=True)
    taken = datetime.now(UTC).isoformat(timespec="seconds")
    content = {"taken_at": taken, "machine": where, "rows": msgspec.to_builtins(rows)}
    (RESULTS / "latest.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    readme = README.read_text(encoding="utf-8")
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(f"{before}{BEGIN}{in_markdown(rows, where, taken)}{END}{after}", encoding="utf-8")
    draw_plots(rows)


def in_markdown(rows: Sequence[Row], where: dict[str, Any], taken: str) -> str:
    """The table as Markdown, with what it was taken on."""
    words = {True: "yes", False: "**no**", None: ""}
    lines = [
        f"Taken {taken[:16].replace('T', ' ')} UTC on {where['cores']} cores, Python {where['python']}, {where['system']};"
        f" load average at the start {where['load_average'][0]} (above 0: other programs had their share of the machine).\n",
        "| what | figure | goal | reached |",
        "|---|---|---|---|",
        *(f"| {row.name} | {row.figure} | {row.goal} | {words[row.reached]} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def draw_plots(rows: Sequence[Row]) -> None:
    """The plots, where what draws them is installed."""
    try:
        from plots import draw
    except ImportError as error:
        print(f"no plots: {error}; pip install 'tocsin[plot]'", file=sys.stderr)
        return
    for path in draw(rows, RESULTS):
        print(f"wrote {path.relative_to(HERE)}", file=sys.stderr)


if __name__ == "__main__":
    main()
