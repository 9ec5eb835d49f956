"""Virtual clock: it stands still until the world moves it."""

from datetime import datetime


class VirtualClock:
    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now
