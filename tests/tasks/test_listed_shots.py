from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.config.prompting import FewshotConfig
from hydra_eval.config.schema import RunConfig
from hydra_eval.errors import UserError
from hydra_eval.tasks.listed_shots import listed, with_samples


def two_rows() -> tuple[dict[str, str], ...]:
    return ({"q": "a"}, {"q": "b"})


def broken() -> list[Any]:
    raise KeyError("x")


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"strategy": "fixed", "indices": [3, 1]}, [3, 1]),
        ({"strategy": "samples", "samples": [{"q": "a"}]}, [{"q": "a"}]),
        ({"strategy": "samples", "samples": f"{__name__}:two_rows"}, [{"q": "a"}, {"q": "b"}]),
        ({"strategy": "random", "samples": [{"q": "a"}]}, None),
    ],
    ids=["fixed", "samples", "a function's tuple", "another strategy"],
)
def test_what_the_run_lists(options: dict[str, Any], found: Any) -> None:
    assert listed(FewshotConfig(**options)) == found


@pytest.mark.parametrize("samples", [None, [], {"q": "a"}, [1, 2], "", ()], ids=repr)
def test_samples_that_cannot_be_shown_are_refused(samples: Any) -> None:
    with pytest.raises(UserError, match=r"fewshot\.samples"):
        listed(FewshotConfig(strategy="samples", samples=samples))


def test_fixed_without_rows_is_refused() -> None:
    with pytest.raises(UserError, match=r"needs the rows to show, such as fewshot.indices=\[3,1,7\]"):
        listed(FewshotConfig(strategy="fixed"))


def test_a_function_that_fails_is_named() -> None:
    with pytest.raises(KeyError) as caught:
        listed(FewshotConfig(strategy="samples", samples=f"{__name__}:broken"))
    assert caught.value.__notes__ == [f"in fewshot.samples={__name__}:broken"]


def test_samples_are_written_out_once() -> None:
    config = with_samples(RunConfig(fewshot=FewshotConfig(strategy="samples", samples=f"{__name__}:two_rows")))
    assert config.fewshot.samples == [{"q": "a"}, {"q": "b"}]


def test_samples_that_nothing_shows_stay_as_they_are() -> None:
    config = RunConfig(fewshot=FewshotConfig(samples=f"{__name__}:broken"))
    assert with_samples(config) is config
