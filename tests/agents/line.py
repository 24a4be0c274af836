"""Line: a wrapped terminal with a whole line before it, as ``tocsin run`` has it. Usage: line.py LOG CONTROL -- PROGRAM WORD…

Each line of the pipe CONTROL is fed as an error; ``?`` asks what the lane waits for. LOG gets JSON lines of that, of
facts, and of what was told.
"""

import os
import sys
from functools import partial

import anyio
import anyio.to_thread
from anyio.from_thread import BlockingPortal
from composing import Log

from tocsin import Tocsin
from tocsin.edges.portal import Portal
from tocsin.edges.settings import load
from tocsin.edges.sinks.pty import PtySink
from tocsin.edges.terminal.wrapped import WrappedTerminal

log_path, control, _, *argv = sys.argv[1:]
log = Log(log_path)
FLAGS = {
    "defer.timing.idle_after": "200",
    "throttle.error_window": "0",
    "throttle.window": "0",
    "fanout.look_again": "50",
    "throttle.batches_per_minute": "0",
}


class Told(PtySink):
    """Logs what was typed."""

    async def deliver(self, delivery):
        receipt = await super().deliver(delivery)
        log.write(told=delivery.text, proof=str(receipt.proof))
        return receipt


def note(line, fact) -> None:
    log.write(fact=type(fact).__struct_config__.tag)
    line.signal(fact)


async def feed(line) -> None:
    pipe, rest = os.open(control, os.O_RDWR | os.O_NONBLOCK), b""
    while True:
        await anyio.wait_readable(pipe)
        *lines, rest = (rest + os.read(pipe, 65_536)).split(b"\n")
        for text in lines:
            if text == b"?":
                log.write(waits=[str(lane.waits_for) for lane in line.status().lanes])
                continue
            await anyio.to_thread.run_sync(partial(line.feed, text.decode(), severity="error", to="a"))


async def main() -> int:
    settings = load(flags=FLAGS).settings
    async with BlockingPortal() as lent:
        line = Tocsin(settings, portal=Portal(lent)).start()
        terminal = WrappedTerminal(argv, lane="a", env=dict(os.environ), signal=partial(note, line), clock=line.clock)
        line.open_lane("a", Told(terminal), typing=True)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(feed, line)
            ended = await terminal.run()
            tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(line.stop, 2.0)
    return ended.code


sys.exit(anyio.run(main))
