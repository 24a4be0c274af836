"""The command ``tocsin``: finds the subcommand, and says every failure in words with an exit code. No heavy import here."""

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, NoReturn

import click

from ..contracts.errors import TocsinError
from .lazy import LazyGroup

EXIT_CODES: Final[dict[str, int]] = {
    "bad_input": 2,
    "too_long": 2,
    "invalid": 2,
    "not_yours": 3,
    "no_recipient": 4,
    "not_found": 4,
    "unknown_item": 4,
    "unknown_human": 4,
    "unknown_command": 4,
    "unknown_source": 4,
    "recipient_dead": 4,
    "store_too_new": 4,
    "name_taken": 5,
    "no_route": 5,
    "same_id": 5,
    "not_owner": 5,
    "not_running": 6,
    "stopped": 6,
    "lost": 6,
    "backpressure": 6,
    "busy": 6,
    "sink_busy": 6,
    "not_now": 6,
    "sink_gone": 6,
    "store_unusable": 6,
    "store_busy": 6,
    "store_full": 6,
    "unsupported": 6,
    "store_corrupt": 7,
    "forked": 7,
    "time_limit": 124,
}
"""The one mapping from what a ``TocsinError`` is called to how a command ends; what is not here is 7, a fault of ours."""

_UNWRITABLE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
"""What a full or broken place for standard output answers; files of ours say their name."""
INTERNAL: Final = 7
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141
"""As a shell says it of a program that SIGPIPE ended."""

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "run": ("run:run", "Run an agent in a wrapped terminal and type notices into it."),
    "watch": ("watch:watch", "Run a program, pass its output through, and tell a recipient what matters."),
    "feed": ("feed:feed", "Tell a recipient what a pipe, a file or you have to say."),
    "notice": ("notice:notice", "Send a harness's notices, re-arm them, list what was told."),
    "mail": ("mail:mail", "Send a message to a recipient, and see what became of it."),
    "attention": ("attention.command:attention", "Take what agents ask of you, one thing at a time."),
    "inbox": ("inbox:inbox", "Fetch what is for a recipient that no terminal types into."),
    "status": ("status:status", "Show what is pending, and what it waits for."),
    "recipients": ("recipients:recipients", "List, register, archive and show recipients."),
    "deliveries": ("deliveries:deliveries", "Show what was handed over, and what is proved of it."),
    "ledger": ("ledger:ledger", "Show, save and load the record of harness notices."),
    "explain": ("explain:explain", "Tell a notice's whole story."),
    "decisions": ("explain:decisions", "List what the line decided, and why."),
    "letters": ("lanes:letters", "List what could not be told to anybody."),
    "retry": ("lanes:retry", "Feed a dead letter again."),
    "pause": ("lanes:pause", "Keep notices back from a recipient."),
    "resume": ("lanes:resume", "Let notices through again."),
    "hook": ("hook_command:hook", "Pass on what an agent's own hook says (JSON on stdin)."),
    "hooks": ("hooks:hooks", "Put that into an agent's settings, take it out, or show where it is."),
    "fingerprint": ("fingerprint:fingerprint", "Show which messages are the same, and why."),
    "rules": ("rules:rules", "Show and test the rules that find news in output."),
    "config": ("config:config", "Show and check the settings."),
    "doctor": ("doctor:doctor", "Show whether all is well here, and what to do if not."),
    "completion": ("config:completion", "Print the completion script for a shell."),
    "demo": ("demo.command:demo", "See the whole thing in a minute, no agent needed."),
    "bench": ("bench:bench", "Measure this machine."),
}
"""Every subcommand: where it is, and what it is for; it is imported when it is called."""


ANYWHERE: Final = frozenset({"hook", "hooks", "fingerprint", "rules", "config", "completion", "bench"})
"""The commands that need neither a pseudo-terminal nor a socket nor the store, and so work on Windows."""


class Unsupported(TocsinError):
    """This system has not what the command needs."""

    code = "unsupported"


class Manner:
    """How the command in hand speaks; its options set it."""

    json = False


class Commands(LazyGroup):
    """The subcommands, in the order of a first day."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the arguments; help is shown here."""
        with _quiet_pipe():
            return super().make_context(info_name, args, parent, **extra)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was called, if there can be one here: what it imports might not even be there."""
        if sys.platform == "win32" and args[0] in set(COMMANDS) - ANYWHERE and not ctx.resilient_parsing:
            raise Unsupported(f"tocsin {args[0]} needs Linux or macOS; on Windows run it inside WSL")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run one."""
        with _quiet_pipe():
            return super().invoke(ctx)


@contextmanager
def _quiet_pipe() -> Iterator[None]:
    """A reader that went away ends a command as SIGPIPE would; click would call that a failure."""
    try:
        yield
    except BrokenPipeError as error:
        raise click.exceptions.Exit(PIPE_CLOSED) from error


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        click.echo(f"tocsin {version('tocsin')}")
        ctx.exit()


@click.group(cls=Commands, table=COMMANDS, package=__package__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
def tocsin() -> None:
    """The one ordered line between everything that wants an agent's attention and the agent.

    Start an agent with `tocsin run -- CMD`, a dev server or a build with `tocsin watch -- CMD`.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and end the process with its exit code."""
    manner = Manner()
    try:
        code = _run(arguments, manner)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        code = PIPE_CLOSED
    except OSError as error:
        code = _say(error, manner) if code == 0 else code
        _forget_stdout()
    if code == PIPE_CLOSED:
        _forget_stdout()
    sys.exit(code)


def _run(arguments: Sequence[str] | None, manner: Manner) -> int:
    try:
        answer: Any = tocsin.main(
            args=None if arguments is None else list(arguments), prog_name="tocsin", standalone_mode=False, obj=manner
        )
        return answer if isinstance(answer, int) else 0
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        return PIPE_CLOSED
    except click.UsageError as error:
        with suppress(OSError):
            error.show()
        return error.exit_code
    except Exception as error:
        if os.environ.get("TOCSIN_DEBUG"):
            raise
        return _say(error, manner)


def _say(error: Exception, manner: Manner) -> int:
    """Say in words what went wrong, on stderr or, where one JSON object is due, as that."""
    inner = _only(error)
    if isinstance(inner, BrokenPipeError):
        return PIPE_CLOSED
    if isinstance(inner, TocsinError):
        code, text, exit_code = inner.code, str(inner), EXIT_CODES.get(inner.code, INTERNAL)
    elif isinstance(inner, click.ClickException):
        code, text, exit_code = "bad_input", inner.format_message(), 2
    elif isinstance(inner, ModuleNotFoundError) and not (inner.name or "").startswith("tocsin"):
        code, text, exit_code = "not_installed", _missing((inner.name or "").partition(".")[0]), 6
    elif isinstance(inner, OSError) and inner.filename is not None:
        code, text, exit_code = "bad_input", f"{inner.filename}: {inner.strerror}", 2
    elif isinstance(inner, OSError) and inner.errno in _UNWRITABLE:
        code, text, exit_code = "output_lost", f"what is printed can't be written: {inner.strerror}", 6
    else:
        words = f"{type(inner).__name__}: {inner}".rstrip(": ")
        code, text, exit_code = "internal", f"this is a fault of tocsin ({words}); TOCSIN_DEBUG=1 shows where", INTERNAL
    _tell(code, text, bool(getattr(inner, "retryable", False)), as_json=manner.json)
    return exit_code


def _missing(module: str) -> str:
    if module in sys.stdlib_module_names:
        return f"this Python has no module {module}, which is a part of it on Linux and macOS: run tocsin with another Python"
    return f"this needs the package {module}: pip install {module}"


def _tell(code: str, text: str, retryable: bool, *, as_json: bool) -> None:
    """On the channel that is right, and else on the one that is left."""
    from .words import complain, print_json

    if as_json:
        try:
            print_json({"error": {"code": code, "text": text, "retryable": retryable}})
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError:
            _forget_stdout()
        else:
            return
    with suppress(OSError):
        complain(text)


def _only(error: BaseException) -> BaseException:
    """What is inside a group of one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _forget_stdout() -> None:
    """Nobody reads any more: the interpreter must not try again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
