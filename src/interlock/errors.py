"""Errors: everything Interlock raises on purpose.

    InterlockError
    ├── ConfigError         a file or setting is wrong; says where and what is allowed
    │   └── ConflictError   something of that name exists already
    ├── NotFoundError       something named does not exist
    ├── TransitionError     a run was asked to go where its table does not lead
    ├── LaunchError         a job could not be started (category PERMANENT or TRANSIENT)
    ├── UnreadableError     a stored row can't be read; says which, and what to do
    ├── UnavailableError    a backend can't be reached; nothing was done
    └── TransientError      trying again may work; the lifecycle retries it by this very name

Expected outcomes (a lost race, rules that do not hold, nothing to do) are return values, not errors.
"""


class InterlockError(Exception):
    """The root: catch this to catch all of ours and nothing else."""


class ConfigError(InterlockError):
    """A file or setting is wrong."""


class ConflictError(ConfigError):
    """Something of that name exists already."""


class NotFoundError(InterlockError):
    """Something named does not exist."""


class TransitionError(InterlockError):
    """A run was asked to go where its table does not lead."""


class LaunchError(InterlockError):
    """A job could not be started; `maybe_started` when nobody can tell."""

    def __init__(self, category: str, message: str, *, maybe_started: bool = False) -> None:
        super().__init__(message)
        self.category = category
        self.maybe_started = maybe_started


class UnreadableError(InterlockError):
    """A stored row can't be read. It stays as it is until it is corrected or deleted."""


class UnavailableError(InterlockError):
    """A backend can't be reached."""


class TransientError(InterlockError):
    """Trying again may work. Raise this class itself: the lifecycle knows it by name."""


#: Their message says all: what can't be reached or kept, and what to do. Logs need no traceback of them.
SAY_ALL = (UnavailableError, TransientError)
