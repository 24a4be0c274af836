"""Keeper: leads the session of one program, stops and goes on with it, and ends as it ended. It is run as a script.

Usage: ``keeper.py REPORT WILL LOCALE PROGRAM WORD…``, as the leader of a new session, with the terminal on its three streams.
REPORT is a descriptor: on it goes the program's process id and then, if it can't be run, the number of the error. WILL, empty
or three descriptors, is what the wrapper leaves to be done on its own terminal should it be killed: see ``will.py``.

The kernel lets nobody stop a program whose parent lives in another session, for nobody could bring it back; Ctrl-Z is then
discarded. So the parent has to be in the same session, as a shell is, and has to hand on what it sees.
"""

import errno
import fcntl
import os
import signal
import sys
import termios
from contextlib import suppress

# Nothing of tocsin is imported: the program waits until all this is loaded.

_RESET = ("SIGPIPE", "SIGXFSZ", "SIGXFZ")
"""Python ignores these for itself; a program must find them as they usually are."""
_PASSED_ON = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
"""What somebody sends to the keeper is meant for the program. From the keyboard they don't come here: it is not in front."""


_FLAGS = 6
"""What comes before the control characters in the attributes of a terminal."""
_PATIENCE = 1
"""Seconds that a terminal which takes no output may hold us up."""


def main(report: int, will: list[int], locale: str, program: str, words: list[str]) -> None:
    """Start ``program`` in front of the terminal, and be with it to its end."""
    # On macOS nothing but the leader itself can take the terminal; on Linux it may have it already.
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # Whoever started us may ignore hang-ups, as under nohup: those of another terminal. The end of its own it must hear.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # In the background it must still be able to say who is in front.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU, *_PASSED_ON})
    pid = os.fork()
    if not pid:
        _become([report, *will], locale, program, words)
    with suppress(OSError):
        os.setpgid(pid, pid)
    _let_go(will)
    for number in _PASSED_ON:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, _: _pass_on(pid, number, will))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
    code = _watched(pid)
    _execute(will)
    _end_as(code)


def _become(ours: list[int], locale: str, program: str, words: list[str]) -> None:
    """In the new process: be a group of its own, in front of the terminal, and turn into the program without what is ours."""
    report = ours[0]
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    for fd in ours:
        with suppress(OSError):
            os.set_inheritable(fd, False)
    os.write(report, b"%d\n" % os.getpid())
    environ = dict(os.environb)
    # Python may have set it for itself when it started.
    environ.pop(b"LC_CTYPE", None)
    if locale:
        environ[b"LC_CTYPE"] = os.fsencode(locale[1:])
    for name in _RESET:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    try:
        _turn_into(program, words, environ)
    except OSError as error:
        os.write(report, b"%d\n" % (error.errno or 0))
    finally:
        os._exit(127)


def _turn_into(program: str, words: list[str], environ: dict[bytes, bytes]) -> None:
    try:
        os.execve(program, words, environ)
    except OSError as error:
        if error.errno != errno.ENOEXEC or not _is_text(program):
            raise
        # A script that does not say whose it is: as shells do, and the C library.
        os.execve("/bin/sh", ["/bin/sh", program, *words[1:]], environ)


def _is_text(program: str) -> bool:
    """As shells tell it from a program for another machine: there is no zero byte in its first line."""
    with open(program, "rb") as file:  # noqa: PTH123 - pathlib takes its time to load
        return b"\0" not in file.read(128).split(b"\n")[0]


def _let_go(will: list[int]) -> None:
    """Hold nothing but terminals: what was handed down is the program's, and who waits for its end must not wait for us."""
    with suppress(OSError):
        for name in os.listdir("/dev/fd"):  # noqa: PTH208 - pathlib takes its time to load
            if int(name) > 2 and int(name) not in will:
                with suppress(OSError):
                    os.close(int(name))


def _watched(pid: int) -> int:
    """Stop whenever the program stops, bring it back when brought back, and give its exit code (the signal, negative)."""
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status)
        os.kill(os.getpid(), signal.SIGSTOP)
        # A terminal that was hung up meanwhile has nobody in front.
        with suppress(OSError):
            _settle_front(pid, asked=os.WSTOPSIG(status) in (signal.SIGTTIN, signal.SIGTTOU))
        _send(pid, signal.SIGCONT)


def _settle_front(pid: int, *, asked: bool) -> None:
    """Leave who is in front of the terminal there, and bring it back; the program is put there if it asked for it."""
    front = os.tcgetpgrp(0)
    if asked or not _send(front, 0):
        os.tcsetpgrp(0, pid)
    elif front != pid:
        # A shell's job goes on before the shell, which would else see that it stopped.
        _send(front, signal.SIGCONT)


def _pass_on(pid: int, number: int, will: list[int]) -> None:
    if number == signal.SIGHUP:
        # Before the shell that waits for the wrapper shows its prompt.
        _execute(will)
    _send(pid, number)
    _send(pid, signal.SIGCONT)
    if number == signal.SIGHUP:
        # The kernel tells whoever is in front once its session has no leader.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def _execute(will: list[int]) -> None:
    """Carry out the will, if the wrapper is gone: our terminal is hung up when nobody has its other end any more.

    A wrapper that ends by itself has ended us before that. A change of our parent would tell the same, but later, and by then
    the shell that waits for the wrapper may have shown its prompt on the wrong screen.
    """
    if not will or os.isatty(0):
        return
    file, keys, screen = will
    with suppress(OSError, ValueError, termios.error):
        sequences, found, made, *_ = os.pread(file, 65_536, 0).split(b"\n")
        *flags, characters = termios.tcgetattr(keys) if made else ([],)
        # A shell that was quicker, or has had the terminal since a stop, knows better.
        if made and _as_text(flags, characters) == made:
            numbers = [int(number) for number in found.split()]
            attributes: list[int | list[int]] = [*numbers[:_FLAGS], numbers[_FLAGS:]]
            termios.tcsetattr(keys, termios.TCSANOW, attributes)
        if sequences and screen >= 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(_PATIENCE)
            os.write(screen, bytes.fromhex(sequences.decode()))
            signal.alarm(0)
    will.clear()


def _send(group: int, number: int) -> bool:
    """Send to a group; false if there is nobody left in it."""
    with suppress(ProcessLookupError):
        # macOS says so of a group of which only dead ones are left.
        with suppress(PermissionError):
            os.killpg(group, number)
        return True
    return False


def _as_text(flags: list[int], characters: list[bytes | int]) -> bytes:
    return b" ".join(b"%d" % (one if isinstance(one, int) else ord(one)) for one in (*flags, *characters))


def _end_as(code: int) -> None:
    if code >= 0:
        os._exit(code)
    import resource

    # The program has left its core; one of the keeper's would write over it.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    os._exit(128 - code)


if __name__ == "__main__":
    main(int(sys.argv[1]), [int(fd) for fd in sys.argv[2].split(",") if fd], sys.argv[3], sys.argv[4], sys.argv[5:])
