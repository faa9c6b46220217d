"""Try again what may pass: no connection, a busy or failing server. What is not there stays not there."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

log = logging.getLogger(__name__)

FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP statuses that another try may not meet."""
TRANSPORTS = ("aiohttp", "httpcore", "httpx", "requests", "urllib3")
"""Libraries whose errors, where no server answered, are those of a connection."""


class Exhausted(Exception):
    """Every try failed; the last error is the cause."""

    def __init__(self, tries: int) -> None:
        super().__init__(f"{tries} tries")
        self.tries = tries


def retried(
    call: Callable[[], T],
    *,
    retries: int,
    title: str,
    sleep: Callable[[float], None] = time.sleep,
    jitter: random.Random | None = None,
) -> T:
    """`call()`, again after an error that may pass, at growing intervals.

    Raises Exhausted after the last try, and any other error at once.
    """
    for tried, pause in enumerate(waits(retries, jitter or random.Random()), start=1):
        try:
            return call()
        except Exception as error:
            if not may_pass(error):
                raise
            log.warning("%s: try %d of %d failed (%s); next in %.1f s.", title, tried, retries + 1, error, pause)
            sleep(pause)
    try:
        return call()
    except Exception as error:
        if retries == 0 or not may_pass(error):
            raise
        raise Exhausted(retries + 1) from error


def waits(retries: int, jitter: random.Random) -> Iterator[float]:
    """Seconds before each further try: doubled each time, times 0.5 to 1.5, so that many processes spread out."""
    for number in range(retries):
        yield min(FIRST_WAIT_SECONDS * 2**number, LONGEST_WAIT_SECONDS) * jitter.uniform(0.5, 1.5)


def may_pass(error: BaseException) -> bool:
    """Whether the error, or what led to it, is of a connection or a server rather than of what was asked."""
    chain = list(_chain(error))
    # The nearest status: what lies further back (a look for a file that need not be there) was got over.
    statuses = [status for cause in chain if (status := _status(cause)) is not None]
    if statuses:
        return statuses[0] in PASSING_STATUS
    return any(_is_of_connection(cause) for cause in chain)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it came from, down to the first."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _status(error: BaseException) -> int | None:
    """The HTTP status that a server answered with, if it did."""
    status = getattr(getattr(error, "response", None), "status_code", getattr(error, "status", None))
    return status if isinstance(status, int) else None


def _is_of_connection(error: BaseException) -> bool:
    library = type(error).__module__.partition(".")[0].rstrip("0123456789")
    return isinstance(error, ConnectionError | TimeoutError) or library in TRANSPORTS
