"""Lane: one recipient's part of the pending table: what may share a block, what is under way, what was suppressed."""

from collections.abc import Iterable, Iterator

from ..contracts.base import Instant, Millis
from ..contracts.notices import Fold, Notice, Proposal
from ..contracts.severity import NAMES, Severity
from ..contracts.status import LaneStatus
from ..contracts.verdicts import Stage
from .bucket import Bucket
from .notice_kinds import rest_of, signature_of, slot_of
from .pending import Bands, Group, Pending
from .stage import NEVER


class Lane:
    """Entries stand in one of three groups: those that share a block, mail (one each) and returns (one each)."""

    __slots__ = (
        "alarm_at", "bands", "block", "bucket", "by_print", "counts", "flying", "mail", "name", "notices",
        "number", "returns", "suppressed", "told_suppressed", "woken",
    )  # fmt: skip

    def __init__(self, name: str, burst: int, per_batch: Millis) -> None:
        self.name = name
        self.block, self.mail, self.returns = Group(), Group(), Group()
        self.bands = Bands()
        self.bucket = Bucket(burst, per_batch)
        self.by_print: dict[str, Pending] = {}
        self.notices: dict[int, Pending] = {}
        """Harness notices, oldest first: they have a cap of their own, and are found by their serials."""
        self.flying: dict[int, Pending] = {}
        """The proposal under way. Its entries are not evicted: a passed gate is never taken back."""
        self.counts: dict[int, int] = {}
        self.number = 0
        self.suppressed = [0] * len(Severity)
        self.told_suppressed = [0] * len(Severity)
        self.alarm_at: Instant = NEVER
        self.woken = False

    def groups(self) -> tuple[Group, Group, Group]:
        """In the order in which they go when several are ready."""
        return self.returns, self.mail, self.block

    def group_of(self, entry: Pending) -> Group:
        """Where an entry of its class stands."""
        traffic = entry.notice.event.traffic
        return self.returns if traffic == "return" else self.mail if traffic == "mail" else self.block

    def entries(self) -> Iterator[Pending]:
        """All that is pending, under way or not."""
        yield from self.flying.values()
        for group in self.groups():
            yield from group.entries.values()

    def depth(self) -> int:
        """How many entries are pending, without the harness's notices, which have a cap of their own."""
        standing = len(self.block.entries) + len(self.mail.entries) + len(self.returns.entries) - len(self.notices)
        return standing + sum(entry.notice.event.traffic != "notice" for entry in self.flying.values())

    def less_severe_under_way(self, severity: Severity) -> int:
        """Events under way that would be evicted before one of this severity, if a passed gate could be taken back."""
        return sum(entry.severity < severity and entry.notice.event.traffic == "event" for entry in self.flying.values())

    def add(self, entry: Pending) -> Group:
        """A newcomer; the group that it stands in."""
        notice, group = entry.notice, self.group_of(entry)
        group.entries[notice.serial] = entry
        traffic = notice.event.traffic
        if traffic == "event":
            self.bands.add(entry)
        elif traffic == "notice":
            self.notices[notice.serial] = entry
        if traffic not in ("user", "notice"):
            self.by_print[notice.fingerprint] = entry
        return group

    def fold(self, fold: Fold, seen: int) -> bool | None:
        """Count repeats onto the pending entry, also one under way. True if its severity rose; None if there is no entry."""
        entry = self.notice(fold.serial) if fold.serial else self.by_print.get(fold.fingerprint)
        if entry is None:
            return None
        before = entry.severity
        entry.fold(fold, seen)
        if entry.severity > before:
            entry.outgrown = entry.notice.serial in self.flying
            self.bands.rise(entry, before)
        return entry.severity > before

    def remove(self, entry: Pending) -> None:
        """It leaves the table."""
        serial = entry.notice.serial
        self.group_of(entry).entries.pop(serial, None)
        self.flying.pop(serial, None)
        self.notices.pop(serial, None)
        self.bands.take_out(entry)
        self._forget(entry)

    def _forget(self, entry: Pending) -> None:
        if self.by_print.get(entry.notice.fingerprint) is entry:
            del self.by_print[entry.notice.fingerprint]

    def ready_at(self) -> Instant:
        """When the first of its groups is ready."""
        return min(group.ready_at for group in self.groups())

    def ready_group(self, now: Instant) -> Group | None:
        """The group to propose now, if there is one."""
        return next((group for group in self.groups() if group.entries and group.ready_at <= now), None)

    def drop_empty_groups(self) -> None:
        """An empty group is never ready."""
        for group in self.groups():
            if not group.entries:
                group.ready_at = NEVER

    def propose(self, group: Group) -> Proposal:
        """All of a block, or the oldest mail or return, is under way from now on."""
        entries = list(group.entries.values()) if group is self.block else [next(iter(group.entries.values()))]
        for entry in entries:
            del group.entries[entry.notice.serial]
            self.flying[entry.notice.serial] = entry
            self.bands.take_out(entry)
            self.notices.pop(entry.notice.serial, None)
            entry.outgrown = False
        if not group.entries:
            group.ready_at = NEVER
        self.number += 1
        self.woken = False
        self.counts = {entry.notice.serial: entry.count for entry in entries}
        self.told_suppressed = list(self.suppressed)
        info, warning, error, critical = self.suppressed
        proposed = tuple(entry.proposed() for entry in entries)
        return Proposal(self.name, self.number, proposed, (info, warning, error, critical))

    def land(self, serials: Iterable[int]) -> list[Pending]:
        """These are no longer under way."""
        landed = [entry for serial in serials if (entry := self.flying.pop(serial, None))]
        for entry in landed:
            self._forget(entry)
        return landed

    def restore(self, entries: list[Pending]) -> None:
        """They stand in the table again, where their age puts them."""
        for entry in entries:
            group = self.group_of(entry)
            group.entries = dict(sorted({**group.entries, entry.notice.serial: entry}.items()))
            if entry.notice.event.traffic == "notice":
                self.notices = dict(sorted({**self.notices, entry.notice.serial: entry}.items()))
            elif entry.notice.event.traffic != "user":
                self.by_print.setdefault(entry.notice.fingerprint, entry)
        self.bands.put_back(entry for entry in entries if entry.notice.event.traffic == "event")

    def notice(self, serial: int) -> Pending | None:
        """A harness notice that is pending, under way or not."""
        return self.notices.get(serial) or self.flying.get(serial)

    def stands(self, entry: Pending) -> bool:
        """It is pending and not under way."""
        return entry.notice.serial in self.group_of(entry).entries

    def give_way(self) -> list[Pending]:
        """Harness notices leave for newer ones that stand for the same; what is under way is asked when it comes back."""
        newest: dict[str, Pending] = {}
        older: list[Pending] = []
        for entry in list(self.notices.values()):
            slot = slot_of(entry.notice)
            if before := newest.get(slot):
                if signature_of(before.notice) == signature_of(entry.notice):
                    entry.inherit(before)
                self.remove(before)
                older.append(before)
            newest[slot] = entry
        return older

    def narrow(self, told: Iterable[Notice]) -> list[Pending]:
        """Newer notices would have replaced these, had they not been under way: the rest is left, those without any leave."""
        nothing_left: list[Pending] = []
        for notice in told:
            for entry in list(self.notices.values()):
                if slot_of(entry.notice) == slot_of(notice):
                    if rest := rest_of(entry.notice, notice):
                        entry.notice = rest
                    else:
                        self.remove(entry)
                        nothing_left.append(entry)
        return nothing_left

    def expires_at(self, ttl: Millis) -> Instant:
        """When the first notice has waited too long. One whose end is declared goes by that, never by the time."""
        if not (ttl and self.notices):
            return NEVER
        since = (entry.notice.at for entry in self.notices.values() if not entry.notice.event.cleared_when)
        return Instant(min(since, default=NEVER) + ttl)

    def expire(self, ttl: Millis, now: Instant) -> list[Pending]:
        """Those that have waited too long leave."""
        if self.expires_at(ttl) > now:
            return []
        old = [e for e in self.notices.values() if not e.notice.event.cleared_when and e.notice.at + ttl <= now]
        for entry in old:
            self.remove(entry)
        return old

    def retry_at(self, entries: list[Pending], at: Instant) -> None:
        """Propose the kept entries again then. Mail and returns go one by one, so a kept one keeps those behind it."""
        for entry in entries:
            group = self.group_of(entry)
            if group is self.block:
                group.pull(at)
            else:
                group.ready_at = at

    def mere_events(self) -> bool:
        """True if the block holds nothing but events below critical: only then the budget counts."""
        return all(_mere(entry) for entry in self.block.entries.values())

    def told(self, entries: list[Pending], now: Instant) -> None:
        """The sink has them, and the suppressed counts that went with them."""
        self.suppressed = [left - told for left, told in zip(self.suppressed, self.told_suppressed, strict=True)]
        if self.bucket.period and all(map(_mere, entries)):
            self.bucket.take(now)

    def view(self) -> LaneStatus:
        """It as a person sees it."""
        entries = sorted(self.entries(), key=lambda entry: entry.notice.serial)
        waits = ["sink" if entry.notice.serial in self.flying else entry.reason for entry in entries]
        kept = [entry for entry in entries if entry.kept_by and entry.notice.serial not in self.flying]
        held = [entry.reason for entry in kept if entry.kept_by is Stage.HOLD]
        deferred = [entry.reason for entry in kept if entry.kept_by is not Stage.HOLD]
        at = self.ready_at()
        return LaneStatus(
            name=self.name,
            depth=len(entries),
            waits_for=_first(waits),
            held=len(held),
            held_for=_first(held),
            deferred=len(deferred),
            deferred_for=_first(deferred),
            until=None if self.flying or at >= NEVER else at,
            suppressed={name: count for name, count in zip(NAMES, self.suppressed, strict=True) if count},
        )

    def idle(self, now: Instant) -> bool:
        """Nothing pending, nothing to say, budget full: it need not be remembered."""
        no_entries = not (self.flying or self.block.entries or self.mail.entries or self.returns.entries)
        return no_entries and not any(self.suppressed) and self.bucket.filled_at <= now


def _mere(entry: Pending) -> bool:
    return entry.notice.event.traffic == "event" and entry.severity < Severity.CRITICAL


def _first(reasons: list[str]) -> str:
    return reasons[0] if reasons else ""
