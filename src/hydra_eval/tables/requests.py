"""What one document asks of the model, and which reply belongs to which question."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.prompts.choice_space import choice_request
from hydra_eval.prompts.style import Style
from hydra_eval.records import Doc, Generation, Request, RequestKind
from hydra_eval.tables.kinds import GENERATIVE, LOGPROBS, PERPLEXITY, WITH_UNCONDITIONED
from hydra_eval.tables.prompts import table_prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The requests of a task: each kind that a metric needs, once."""

    kinds: frozenset[str]
    unconditioned: bool
    """Also ask for the choices after the unconditioned query."""
    generation: Generation | None
    generation_kwargs: Mapping[str, Any] | None
    repeats: int

    def requests(self, doc: Doc, shots: Sequence[Doc], style: Style) -> list[Request]:
        """In this order: choices, choices unconditioned, replies, the query's own likelihood."""
        made = _made(doc)
        prompt = table_prompt(made, [_made(shot) for shot in shots], style)
        spoken, space = style.chat is not None, style.choice_space
        asked = [choice_request(prompt, choice, space=space, header=spoken) for choice in self._choices(made)]
        if self.unconditioned:
            query = made.unconditioned_query or ""
            asked += [choice_request(query, choice, space=space) for choice in self._choices(made)]
        asked = [replace(request, repeats=1) for request in asked]
        if GENERATIVE in self.kinds:
            arguments = (prompt, dict(self.generation_kwargs or {}))
            asked.append(
                Request(
                    kind=RequestKind.GENERATE, arguments=arguments, generation=self.generation, repeats=self.repeats
                )
            )
        if PERPLEXITY in self.kinds:
            asked.append(Request(kind=RequestKind.ROLLING, arguments=(made.query,), repeats=1))
        return asked

    def responses(self, made: Any, outputs: Sequence[Any]) -> dict[str, Any]:
        """Kind → lighteval's ModelResponse; WITH_UNCONDITIONED has both likelihoods of each choice."""
        model_response = importlib.import_module("lighteval.models.model_output").ModelResponse
        count = len(self._choices(made))
        both = count * (2 if self.unconditioned else 1)
        rest = list(outputs[both:])
        found: dict[str, Any] = {}
        for kind, scored in ((LOGPROBS, outputs[:count]), (WITH_UNCONDITIONED, outputs[:both])):
            found[kind] = model_response(
                logprobs=[logprob for logprob, _ in scored],
                argmax_logits_eq_gold=[is_greedy for _, is_greedy in scored],
                output_tokens=[[None] * one.tokens for one in scored],
            )
        if GENERATIVE in self.kinds:
            replies = rest.pop(0)
            found[GENERATIVE] = model_response(text=list(replies) if isinstance(replies, list | tuple) else [replies])
        if PERPLEXITY in self.kinds:
            found[PERPLEXITY] = model_response(logprobs=[rest.pop(0)])
        return found

    def _choices(self, made: Any) -> list[str]:
        if LOGPROBS not in self.kinds:
            return []
        if not made.choices or not all(isinstance(choice, str) for choice in made.choices):
            raise UserError(f"the prompt function must give choices, a list of texts, but gave {made.choices!r}.")
        return list(made.choices)


def _made(doc: Doc) -> Any:
    """lighteval's document behind ours."""
    return doc.row.doc  # type: ignore[attr-defined]
