"""Collect: change fragments become a section of the changelog, in the order of Keep a Changelog."""

import argparse
import datetime
import sys
from pathlib import Path

HERE = Path(__file__).parent
KINDS = ("added", "changed", "fixed", "removed")


def fragments() -> dict[str, list[Path]]:
    """The fragments by kind; a file that is none of a known kind is an error that names it."""
    found: dict[str, list[Path]] = {kind: [] for kind in KINDS}
    for path in sorted(HERE.glob("*.md")):
        if path.name == "README.md":
            continue
        kind = path.stem.rpartition(".")[2]
        if kind not in found or not path.read_text(encoding="utf-8").strip():
            sys.exit(f"{path.name}: name it <what>.<{'|'.join(KINDS)}>.md and say in it what changed")
        found[kind].append(path)
    return found


def section(version: str, day: datetime.date, found: dict[str, list[Path]]) -> str:
    """The section's text."""
    lines = [f"## {version} ({day.isoformat()})", ""]
    for kind, paths in found.items():
        if paths:
            lines += [f"### {kind.capitalize()}", ""]
            lines += ["- " + " ".join(path.read_text(encoding="utf-8").split()) for path in paths]
            lines += [""]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the section under the changelog's head, and remove the fragments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", nargs="?", help="the version that these changes make")
    parser.add_argument("--check", action="store_true", help="only say whether the fragments are well-formed")
    arguments = parser.parse_args()
    found = fragments()
    if arguments.check:
        return
    if not arguments.version:
        parser.error("which version? (or --check)")
    changelog = HERE.parent / "CHANGELOG.md"
    head, mark, rest = changelog.read_text(encoding="utf-8").partition("\n## ")
    today = datetime.datetime.now(tz=datetime.UTC).date()
    changelog.write_text(
        f"{head.rstrip()}\n\n{section(arguments.version, today, found)}{mark.lstrip()}{rest}", encoding="utf-8"
    )
    for paths in found.values():
        for path in paths:
            path.unlink()


if __name__ == "__main__":
    main()
