"""Watch: of two passes one gets the watchdog's row."""

from collections.abc import Callable, Sequence

from contracts.home import Home
from contracts.samples import NOW
from interlock.domain.watchdog_state import WatchdogState

AtOnce = Callable[[Sequence[Callable[[], bool]]], list[bool]]

CLAIMED = WatchdogState(version=1, pass_until=NOW, lagging={"p": NOW}, suspects={"p/s/d": NOW})


def test_before_the_first_pass_there_is_version_0(home: Home) -> None:
    assert home.watch.load() == WatchdogState()


def test_the_row_comes_back_as_it_was_stored(home: Home) -> None:
    assert home.watch.save(CLAIMED)
    assert home.watch.load() == CLAIMED


def test_of_two_passes_at_once_one_gets_the_row(home: Home, at_once: AtOnce) -> None:
    assert at_once([lambda: home.watch.save(CLAIMED)] * 10).count(True) == 1
    assert not home.watch.save(CLAIMED)
    assert not home.watch.save(WatchdogState(version=3))
    assert home.watch.save(WatchdogState(version=2))
