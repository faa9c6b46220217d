"""What the typed configuration refuses, in one form: the field, what was given, what would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from hydra_eval.errors import UserError, known_names


def refuse(field_name: str, given: object, wanted: str) -> NoReturn:
    raise UserError(f"{field_name}={given!r}: {wanted}.")


def is_count(value: object, *, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def check_amount(field_name: str, value: object) -> None:
    """A count of documents, or a share of them; 1.0 and above are counts, as in lm-eval."""
    is_share = isinstance(value, float) and (0 < value < 1 or (value >= 1 and value.is_integer()))
    if value is not None and not is_share and not is_count(value, least=1):
        refuse(field_name, value, "must be a whole number of documents from 1, or a share between 0 and 1")


def check_word(field_name: str, value: object, words: Sequence[str]) -> None:
    """Raises UserError for a value that is none of `words`."""
    if value not in words:
        refuse(field_name, value, f"must be one of {known_names(words)}")


def check_counts(field_name: str, value: object, *, least: int) -> None:
    """Raises UserError for anything but a list of different whole numbers from `least` on."""
    is_list = isinstance(value, list) and bool(value) and all(is_count(item, least=least) for item in value)
    if not is_list or len(set(value)) < len(value):  # type: ignore[call-overload,arg-type]
        refuse(field_name, value, f"must be a list of different whole numbers from {least} on, such as [1,2,3]")


def check_names(field_name: str, value: object) -> None:
    """Raises UserError for anything but a name, or a list of different names."""
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        refuse(field_name, value, "must be a name, or a list of different names, such as [train,validation]")
