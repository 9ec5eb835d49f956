"""Ages: a job that is older than its run was not started for it, whatever its token says."""

from datetime import datetime, timedelta

from interlock.adapters.http.platform_error import PlatformError
from interlock.domain.budgets import Category

#: A job of our token that began so long before its run was opened is not ours: state was wiped or copied.
OLDEST = timedelta(minutes=5)
ALREADY_USED = "token already used, set INTERLOCK_INSTANCE"


def earliest(opened_at: datetime) -> datetime:
    """Before this no job of the run can have begun."""
    return opened_at - OLDEST


def is_before(moment: datetime | None, since: datetime) -> bool:
    """What has no moment yet is not before anything."""
    return moment is not None and moment < since


def is_too_old(began: datetime | None, opened_at: datetime) -> bool:
    return is_before(began, earliest(opened_at))


def check_age(began: datetime | None, opened_at: datetime) -> None:
    """Raises PlatformError for a job that can't be this run's."""
    if is_too_old(began, opened_at):
        raise PlatformError(Category.PERMANENT, ALREADY_USED)
