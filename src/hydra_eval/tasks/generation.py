"""`generation_kwargs` of a task and `generation.*` of the run become one set of options, key by key.

Defaults and aliases: lm-eval 0.4.13.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hydra_eval.config.schema import GenerationOverrides
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError
from hydra_eval.records import Generation

LENGTH_KEYS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
"""Names for the longest reply in tokens; the first one given counts."""
DEFAULT_LENGTH = 256
CONSTRAINTS = ("grammar", "generation_grammar", "response_format")
"""Keys that other backends take as a shape which the reply must have; refused, because nothing here would heed them."""
OWN_KEYS = {*LENGTH_KEYS, "until", "do_sample", "temperature", "top_p", "top_k"}


def merged_kwargs(task: TaskConfig, overrides: GenerationOverrides) -> dict[str, Any]:
    """The task's `generation_kwargs` with lm-eval's defaults, and the run's values over them, in lm-eval's names."""
    if task.generation_kwargs is None:
        kwargs: dict[str, Any] = {"temperature": 0.0, "do_sample": False, "max_gen_toks": DEFAULT_LENGTH}
    else:
        kwargs = dict(task.generation_kwargs)
    kwargs.setdefault("until", [task.fewshot_delimiter])
    _refuse_constraints(kwargs, f"{task.file}: generation_kwargs")
    _refuse_constraints(overrides.extra, "generation.extra")
    if "temperature" in kwargs:
        kwargs["temperature"] = _temperature(kwargs["temperature"], task.file)
    return kwargs | _given(overrides, kwargs)


def is_sampled(kwargs: Mapping[str, Any]) -> bool:
    """Sampling follows `do_sample`; without it, a temperature above 0."""
    do_sample = kwargs.get("do_sample")
    return float(kwargs.get("temperature") or 0.0) > 0 if do_sample is None else bool(do_sample)


def _given(overrides: GenerationOverrides, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    names = ("do_sample", "temperature", "top_p", "top_k")
    given = {name: getattr(overrides, name) for name in names if getattr(overrides, name) is not None}
    if overrides.max_new_tokens is not None:
        key = next((name for name in LENGTH_KEYS if name in kwargs), LENGTH_KEYS[0])
        given[key] = overrides.max_new_tokens
    if overrides.stop is not None:
        given["until"] = stop_strings(overrides.stop, where="generation.stop")
    return given | overrides.extra


def generation(kwargs: Mapping[str, Any], *, seed: int, where: str) -> Generation:
    """Resolved options of one task."""
    length = next((kwargs[name] for name in LENGTH_KEYS if kwargs.get(name) is not None), DEFAULT_LENGTH)
    temperature = float(kwargs.get("temperature") or 0.0)
    sampled = is_sampled(kwargs)
    if not isinstance(kwargs.get("do_sample"), bool | None):
        raise UserError(f"{where}: do_sample={kwargs['do_sample']!r} must be true or false.")
    if sampled and "temperature" in kwargs and temperature == 0:
        raise UserError(f"{where}: do_sample=true with temperature=0: raise the temperature, or sample not.")
    _check_cuts(kwargs.get("top_p"), kwargs.get("top_k"), where)
    return Generation(
        max_new_tokens=_length(length, where),
        stop=tuple(stop for stop in stop_strings(kwargs["until"], where=where) if stop),
        do_sample=sampled,
        temperature=(temperature or None) if sampled else 0.0,
        top_p=kwargs.get("top_p"),
        top_k=kwargs.get("top_k"),
        seed=seed,
        extra={key: value for key, value in kwargs.items() if key not in OWN_KEYS},
    )


def _refuse_constraints(kwargs: Mapping[str, Any], where: str) -> None:
    for key in CONSTRAINTS:
        if kwargs.get(key) is not None:
            raise UserError(
                f"{where}.{key}: generation constrained by a grammar or a format is not supported; leave it out."
            )


def stop_strings(value: Any, *, where: str) -> list[str]:
    """One string is one stop, never a list of its letters."""
    stops = value if isinstance(value, list) else [] if value is None else [value]
    for stop in stops:
        if not isinstance(stop, str):
            raise UserError(f"{where}: a stop must be a string, but one is {stop!r}.")
    return list(stops)


def _temperature(value: Any, where: str) -> float:
    try:
        temperature = float(value)
    except (TypeError, ValueError):
        temperature = -1.0
    if not temperature >= 0:
        raise UserError(f"{where}: temperature={value!r} must be a number from 0.")
    return temperature


def _check_cuts(top_p: Any, top_k: Any, where: str) -> None:
    is_number = isinstance(top_p, int | float) and not isinstance(top_p, bool)
    if top_p is not None and not (is_number and 0 < top_p <= 1):
        raise UserError(f"{where}: top_p={top_p!r} must be a number above 0 and at most 1.")
    if top_k is not None and not (isinstance(top_k, int) and not isinstance(top_k, bool) and top_k >= 0):
        raise UserError(f"{where}: top_k={top_k!r} must be a whole number from 0.")


def _length(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UserError(f"{where}: the longest reply is {value!r} tokens; it must be a whole number from 1.")
    return value
