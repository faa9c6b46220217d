"""One value of `task=` taken apart.

    name                  a task, a group, a tag, a prefix, a glob, or a file
    name|5                with five shots
    name@k=4@n=16|0       with metric parameters, their values Python literals
    suite|name|5          lighteval's old form, also suite|name|5|0: the suite and the last part count for nothing

Hydra reads `=` and brackets, blanks and letters beyond ASCII only within quotes, inside those of the shell:
"task='aime24@k=4@n=16|0'" or "task=['aime24@k=4','gsm8k|5']".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hydra_eval.errors import UserError

PARAMETER = re.compile(r"@(?=[A-Za-z_]\w*=)")
"""Where a parameter begins; an `@` in a folder's name is none."""
FORMS = "write name, name|shots or name@parameter=value|shots"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A SPEC: what to run, with how many shots, and what its metrics are told."""

    text: str
    """As typed."""
    name: str
    shots: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    suite: str | None = None
    """The part before the name that lighteval's old form has; ignored."""

    @property
    def rewritten(self) -> str:
        """The same without its suite."""
        shots = "" if self.shots is None else f"|{self.shots}"
        return f"{self.name}{shown_parameters(self.parameters)}{shots}"


def parse_spec(text: str) -> Spec:
    """Raises UserError naming the part that is wrong."""
    if "${" in text:
        raise UserError(f"task={text}: '${{' has no place in a name; {FORMS}.")
    parts = text.split("|")
    if len(parts) > 4 or (len(parts) == 4 and parts[3] not in ("0", "1")):
        raise UserError(f"task={text}: {FORMS}; there are more bars than that.")
    suite = parts.pop(0) if len(parts) > 2 else None
    if len(parts) > 1 and not re.fullmatch("[0-9]+", parts[1]):
        raise UserError(f"task={text}: '{parts[1]}' after the bar must be a number of shots, 0 or more; {FORMS}.")
    name, *tokens = PARAMETER.split(parts[0])
    if not name or ("@" in name and "/" not in name):
        token = name.partition("@")[2] if name else text
        raise UserError(f"task={text}: '{token}' cannot be read; {FORMS}, as in \"task='aime24@k=4|0'\".")
    shots = int(parts[1]) if len(parts) > 1 else None
    return Spec(text=text, name=name, shots=shots, parameters=_parameters(tokens, text), suite=suite)


def shown_parameters(parameters: Mapping[str, Any]) -> str:
    """`@k=4@n=16`, by name; the same for the same parameters."""
    return "".join(f"@{name}={value!r}" for name, value in sorted(parameters.items()))


def _parameters(tokens: list[str], text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for token in tokens:
        name, _, value = token.partition("=")
        if name in found:
            raise UserError(f"task={text}: the parameter '{name}' is given twice.")
        try:
            found[name] = _plain(ast.literal_eval(value))
        except (ValueError, SyntaxError) as error:
            raise UserError(
                f"task={text}: '{token}' must be a name and a Python literal: a number, text in quotes "
                "(k='x'), True, None, or a list of those."
            ) from error
    return found


def _plain(value: Any) -> Any:
    """The literal in the types that a config file has. Raises ValueError for others, such as bytes and sets."""
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise ValueError(f"{value!r} has no place in a config")
