"""Makes docs/images/burst.svg and burst.png: the trial of the README, under the simulated clock, with default settings.

The same as `tocsin bench burst --rate 2000 --length 10s --duplicates 0.99 --texts 40 --recipient chatty --picture FILE` where
nothing is configured. Run: python docs/make_burst.py
"""

from pathlib import Path

from tocsin.cli.bench_clocks import simulated
from tocsin.cli.bench_picture import draw
from tocsin.cli.bench_report import balance
from tocsin.cli.bench_trial import Plan
from tocsin.contracts.base import Millis
from tocsin.pipeline.simulate import Burst

IMAGES = Path(__file__).parent / "images"
README = Plan(
    burst=Burst(rate=2_000, length=Millis(10_000), duplicates=0.99, texts=40, severities={"warning": 9_000, "error": 1_000}),
    recipient="chatty",
)


def main() -> None:
    """Run the trial once and draw it twice."""
    outcome = simulated(README, lambda _: None)
    if outcome.faults:
        raise SystemExit(balance(outcome))
    IMAGES.mkdir(exist_ok=True)
    for name in ("burst.svg", "burst.png"):
        draw([("", outcome)], IMAGES / name)
        print(f"wrote docs/images/{name}")


if __name__ == "__main__":
    main()
