"""Overview: the whole line at one instant, so that no notice is seen in two places, or in none."""

from typing import Any

from ..contracts.status import LaneStatus, Status, Tally
from ..contracts.verdicts import DROPS, Verdict
from .base import LineActor
from .intake import Door
from .messages import Look


class OverviewActor(LineActor):
    """Looks at the others while nothing is on its way between them. They share its thread, so a call is enough."""

    onlooker = True
    door: Door
    throttle: LineActor
    hold: LineActor
    defer: LineActor
    fanout: LineActor
    records: LineActor

    def on_receive(self, message: Any) -> Status:
        """The status; there is nothing else to ask for."""
        recorded = self.records.on_receive
        balance, counts = recorded(Look("balance")), recorded(Look("counts"))
        broken = self.supervisor.broken
        return Status(
            at=self.now(),
            fed=balance.fed,
            delivered=balance.delivered,
            folded=balance.folded,
            dropped=balance.dropped,
            pending=balance.pending,
            at_the_door=self.door.depth(),
            lanes=self._lanes(),
            scopes=self.hold.on_receive(Look()),
            tallies=tuple(Tally(stage=s, verdict=v, reason=r, count=n) for (s, v, r), n in sorted(counts.items())),
            untold=recorded(Look("untold")),
            dead_letters=len(recorded(Look("dead_letters"))),
            restarts=self.supervisor.restarts,
            broken=f"{broken.stage}: {broken.trace}" if broken else "",
        )

    def _lanes(self) -> tuple[LaneStatus, ...]:
        standing: dict[str, LaneStatus] = self.throttle.on_receive(Look())
        recipients: dict[str, str] = self.defer.on_receive(Look())
        flying: dict[str, str] = self.fanout.on_receive(Look())
        ends: dict[str, dict[Verdict, int]] = self.records.on_receive(Look("lanes"))
        return tuple(
            _merged(standing.get(name), name, recipients[name], flying.get(name, ""), ends.get(name, {}))
            for name in sorted(recipients)
        )


def _merged(standing: LaneStatus | None, name: str, recipient: str, flying: str, ends: dict[Verdict, int]) -> LaneStatus:
    standing = standing or LaneStatus(name=name)
    return LaneStatus(
        name=name,
        depth=standing.depth,
        waits_for=standing.waits_for,
        held=standing.held,
        held_for=standing.held_for,
        deferred=standing.deferred,
        deferred_for=standing.deferred_for,
        until=standing.until,
        suppressed=standing.suppressed,
        under_way=flying,
        recipient=recipient,
        delivered=ends.get(Verdict.DELIVER, 0),
        dropped=sum(count for verdict, count in ends.items() if verdict in DROPS),
    )
