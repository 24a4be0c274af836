"""``tocsin hook`` as a command among the others: its help, and calls that are spelt in another way than agents do."""

import click

from .hook import pass_on


@click.command()
@click.option("--agent", default="", metavar="AGENT", help="Whose words these are: claude, codex, gemini, qwen or kimi.")
@click.option("--as", "name", default="", metavar="NAME", help="Whom to tell if `tocsin run` did not start the agent.")
def hook(agent: str, name: str) -> None:
    """Pass on what an agent's own hook says (JSON on stdin), and answer with what the agent shall know.

    `tocsin hooks install` puts it into an agent's settings. The line then knows from the agent itself when it works, when
    a dialog may be open and when it waits, and types at no other time; and what is due is handed over as context where
    this hook can carry any. It always exits with 0; TOCSIN_DEBUG=1 tells on stderr what went wrong.
    """
    pass_on(agent, name)
