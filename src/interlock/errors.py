"""Errors: everything Interlock raises on purpose.

    InterlockError
    ├── ConfigError         a file or setting is wrong; says where and what is allowed
    │   └── ConflictError   what is there already, or its state, forbids it
    ├── NotFoundError       something named does not exist
    ├── TransitionError     a run was asked to make an illegal transition
    ├── LaunchError         a job could not be started (category PERMANENT or TRANSIENT)
    ├── UnreadableError     a stored row can't be read; says which, and what to do
    ├── UnavailableError    a backend can't be reached; nothing was done
    └── TransientError      a retry may succeed; the lifecycle matches this exact name

Expected outcomes (a lost race, rules that do not hold, nothing to do) are return values, not errors.
"""


class InterlockError(Exception):
    """The root: catch this to catch all of ours and nothing else."""


class ConfigError(InterlockError):
    """A file or setting is wrong."""


class ConflictError(ConfigError):
    """What is there already, or its state, forbids it."""


class NotFoundError(InterlockError):
    """Something named does not exist."""


class TransitionError(InterlockError):
    """A run was asked to make an illegal transition."""


class LaunchError(InterlockError):
    """A job could not be started; `maybe_started` when the outcome is unknown."""

    def __init__(self, category: str, message: str, *, maybe_started: bool = False) -> None:
        super().__init__(message)
        self.category = category
        self.maybe_started = maybe_started


class UnreadableError(InterlockError):
    """A stored row can't be read. It stays as it is until an operator corrects or deletes it."""


class UnavailableError(InterlockError):
    """A backend can't be reached."""


class TransientError(InterlockError):
    """A retry may succeed. Raise this class itself: the lifecycle matches it by name."""


#: Their messages are complete: what can't be reached or stored, and what to do. Logs omit the traceback.
SAY_ALL = (UnavailableError, TransientError)
