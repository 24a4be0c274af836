"""Test2json: ``go test -json`` wraps each line of output into an object; unwrapped, it is read as any other output."""

from typing import Final

import msgspec

_BEGINNING: Final = 400
"""Characters within which such an object says what it is: only the name of a package stands before."""
_BEHIND: Final = ("| ", "] ")
"""What it may stand behind: the name of a service."""
_OUTPUT: Final = ("output", "build-output")
_OTHER: Final = ("start", "run", "pause", "cont", "pass", "bench", "fail", "skip", "build-fail")
"""What else such an object says was said in the output, too."""


class _TestEvent(msgspec.Struct, rename="pascal"):
    action: str
    package: str = ""
    import_path: str = ""
    output: str = ""


def unwrapped(line: str) -> str | None:
    """The line of output that such an object carries; None if it carries none; any other line as it is."""
    place = line.find('{"')
    if place < 0 or '"Action":"' not in line[:_BEGINNING] or not (place == 0 or line[:place].endswith(_BEHIND)):
        return line
    try:
        event = msgspec.json.decode(line[place:], type=_TestEvent)
    except (msgspec.DecodeError, RecursionError):
        return line
    if not (event.package or event.import_path):
        return line
    if event.action in _OUTPUT:
        return line[:place] + event.output.rstrip("\r\n")
    return None if event.action in _OTHER else line
