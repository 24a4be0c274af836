"""Wrap: a wrapped terminal for tests. Usage: wrap.py LOG CONTROL OPTIONS -- PROGRAM ARGUMENTS…

Reads JSON lines from the pipe CONTROL: ``{"id": 1, "text": "…"}`` is delivered; with ``"after": FILE`` nothing else is done
until that is there. Facts and answers are JSON lines in LOG.
OPTIONS is a comma list of ``screen`` (type into a full-screen program), ``status`` (a status row), ``thread`` (run in a
thread), ``fail`` (raise at the first output), ``spill`` (keep what is cut beside LOG), or ``-``. The line
``{"cancel": true}`` cancels the run.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

import anyio
import msgspec
from composing import Log

from tocsin.contracts.deliveries import Delivery
from tocsin.contracts.errors import TocsinError
from tocsin.contracts.signals import Output
from tocsin.edges.sinks.pty import PtySink
from tocsin.edges.terminal.status import StatusRow
from tocsin.edges.terminal.wrapped import WrappedTerminal

log_path, control, options, _, *argv = sys.argv[1:]
log, options = Log(log_path), options.split(",")
spill_dir = Path(log_path).parent / "spill" if "spill" in options else None
scope = None


class Clock:
    def now(self) -> int:
        return int(time.time() * 1000)


def signal(fact) -> None:
    log.write(fact=type(fact).__struct_config__.tag, at=fact.at, size=getattr(fact, "size", None))
    if "fail" in options and isinstance(fact, Output):
        raise RuntimeError("injected")


async def submit(terminal, order) -> None:
    with anyio.move_on_after(order.get("within", 600)) as limit:
        try:
            delivery = Delivery(id=str(order["id"]), lane="a", at=Clock().now(), text=order["text"], entries=())
            while "after" in order and not Path(order["after"]).exists():
                time.sleep(0.01)
            receipt = await PtySink(terminal, spill_dir).deliver(delivery)
            log.write(id=order["id"], proof=str(receipt.proof), note=receipt.note)
        except TocsinError as error:
            log.write(id=order["id"], error=error.code, text=str(error))
    if limit.cancelled_caught:
        log.write(id=order["id"], error="cancelled")


async def obey(tasks, terminal) -> None:
    pipe, rest = os.open(control, os.O_RDWR | os.O_NONBLOCK), b""
    while True:
        await anyio.wait_readable(pipe)
        *lines, rest = (rest + os.read(pipe, 65_536)).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "cancel" in order:
                scope.cancel()
            else:
                tasks.start_soon(submit, terminal, order)


async def main() -> int:
    global scope
    count = 0

    def text() -> str:
        nonlocal count
        count += 1
        return f"tocsin: {count} pending"

    terminal = WrappedTerminal(
        argv,
        lane="a",
        env=dict(os.environ),
        signal=signal,
        clock=Clock(),
        status=StatusRow(text) if "status" in options else None,
        type_into_screen="screen" in options,
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(obey, tasks, terminal)
        with anyio.CancelScope() as scope:
            ended = await terminal.run()
        if scope.cancelled_caught:
            log.write(cancelled=True)
            tasks.cancel_scope.cancel()
            return 99
        log.write(exit=msgspec.to_builtins(ended))
        tasks.cancel_scope.cancel()
    return ended.code


if "thread" in options:
    codes = []
    thread = threading.Thread(target=lambda: codes.append(anyio.run(main)))
    thread.start()
    thread.join()
    sys.exit(codes[0])
sys.exit(anyio.run(main))
