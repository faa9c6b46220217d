from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from hydra_eval.data.retry import Exhausted, may_pass, retried, waits


class Answered(Exception):
    """A server's refusal, as HTTP libraries raise it."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.response = SimpleNamespace(status_code=status)


def failing(*errors: Exception) -> Callable[[], str]:
    """Raises each error once, then gives a value."""
    left = list(errors)

    def call() -> str:
        if left:
            raise left.pop(0)
        return "rows"

    return call


def wrapped(error: Exception, inner: Exception) -> Exception:
    error.__cause__ = inner
    return error


def behind(error: Exception, context: Exception) -> Exception:
    error.__context__ = context
    return error


def attempt(call: Callable[[], Any], retries: int, slept: list[float]) -> Any:
    return retried(call, retries=retries, title="org/name", sleep=slept.append, jitter=random.Random(0))


def test_a_loader_that_fails_twice_then_works_passes() -> None:
    slept: list[float] = []
    assert attempt(failing(ConnectionError("reset"), Answered(503)), 5, slept) == "rows"
    assert len(slept) == 2


def test_after_the_last_try_the_tries_are_counted_and_the_cause_is_kept() -> None:
    slept: list[float] = []
    with pytest.raises(Exhausted) as caught:
        attempt(failing(*(Answered(503) for _ in range(9))), 2, slept)
    assert (caught.value.tries, str(caught.value.__cause__), len(slept)) == (3, "status 503", 2)


@pytest.mark.parametrize("error", [Answered(404), Answered(401), FileNotFoundError("x"), ValueError("x")], ids=repr)
def test_what_is_not_there_is_not_tried_again(error: Exception) -> None:
    slept: list[float] = []
    with pytest.raises(type(error)) as caught:
        attempt(failing(error), 5, slept)
    assert (caught.value, slept) == (error, [])


def test_an_error_that_stays_ends_the_tries_it_comes_after() -> None:
    slept: list[float] = []
    with pytest.raises(FileNotFoundError):
        attempt(failing(Answered(503), FileNotFoundError("x"), Answered(503)), 5, slept)
    assert len(slept) == 1


def test_without_retries_the_error_itself_is_raised() -> None:
    with pytest.raises(ConnectionError, match="reset"):
        attempt(failing(ConnectionError("reset")), 0, [])


def test_each_try_is_told(caplog: pytest.LogCaptureFixture) -> None:
    attempt(failing(Answered(429)), 1, [])
    assert [message[:45] for message in caplog.messages] == ["org/name: try 1 of 2 failed (status 429); nex"]


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (TimeoutError("x"), True),
        (ConnectionResetError("x"), True),
        (Answered(429), True),
        (Answered(500), True),
        (Answered(403), False),
        (wrapped(ValueError("x"), ConnectionError("y")), True),
        (wrapped(ConnectionError("x"), Answered(404)), False),
        (behind(Answered(503), Answered(404)), True),
        (KeyError("x"), False),
    ],
    ids=["timeout", "reset", "429", "500", "403", "connection within", "404 within", "404 before a 503", "key"],
)
def test_which_errors_may_pass(error: Exception, passes: bool) -> None:
    assert may_pass(error) is passes


@pytest.mark.parametrize(("module", "passes"), [("httpx", True), ("httpx2._errors", True), ("json", False)])
def test_errors_of_libraries_that_connect_may_pass(module: str, passes: bool) -> None:
    assert may_pass(type("TransportError", (Exception,), {"__module__": module})()) is passes


def test_waits_double_and_differ_between_processes() -> None:
    one, other = (list(waits(8, random.Random(seed))) for seed in (0, 1))
    assert one != other
    assert all(2**n * 0.5 <= pause <= 2**n * 1.5 for n, pause in enumerate(one[:6]))
    assert max(one) <= 90
