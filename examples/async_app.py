"""An asyncio program with the line inside: two workers report trouble, one coroutine is told, once and in blocks."""

import asyncio

from tocsin import Delivery, Settings, Tocsin
from tocsin.contracts.signals import TurnEnded, TurnStarted


async def worker(line: Tocsin, name: str) -> None:
    """Fails the same way again and again, as workers do."""
    for attempt in range(1, 21):
        line.feed(f"job failed after {attempt * 7} ms: connection reset by peer", scope=name, severity="error")
        await asyncio.sleep(0.01)


async def main() -> None:
    """Feed while the recipient is in the middle of a turn; what is told comes when the turn has ended."""
    told: asyncio.Queue[Delivery] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def tell(delivery: Delivery) -> None:
        loop.call_soon_threadsafe(told.put_nowait, delivery)

    async with Tocsin(Settings()) as line:
        line.open_lane("planner", tell)
        line.signal(TurnStarted(lane="planner"))
        await asyncio.gather(worker(line, "mailer"), worker(line, "indexer"))
        await asyncio.sleep(0.5)
        print(f"while the turn runs: {told.qsize()} blocks")
        line.signal(TurnEnded(lane="planner"))
        print((await told.get()).text)


if __name__ == "__main__":
    asyncio.run(main())
