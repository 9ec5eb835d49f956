"""Handles: what is kept of a job that was started, as metadata of a bounded size."""

from typing import Any

import msgspec

from interlock.adapters.http.platform_error import PlatformError
from interlock.domain.budgets import Category

#: Leaves room for the run id under the 16 KiB that metadata may have.
LARGEST_HANDLE = 15 * 1024


def metadata_of(handle: msgspec.Struct) -> dict[str, Any]:
    """Raises PlatformError for more than can be kept: ask before anything is started."""
    if len(msgspec.json.encode(handle)) > LARGEST_HANDLE:
        message = f"headers and addresses are more than {LARGEST_HANDLE} bytes together"
        raise PlatformError(Category.PERMANENT, message)
    kept: dict[str, Any] = msgspec.to_builtins(handle)
    return kept
