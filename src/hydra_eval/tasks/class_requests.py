"""The requests of a task class: asked of it document by document, because its examples come from one generator."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError
from hydra_eval.prompts.style import Style
from hydra_eval.records import Doc, Generation, Request, RequestKind
from hydra_eval.tasks.cells import Cell
from hydra_eval.tasks.generation import generation, merged_kwargs


@dataclass(kw_only=True)
class ClassRequests:
    """`(doc, its examples, style) -> requests`: the examples are the class's business, and those given are not used.

    The first documents' prompts are made before a later one's, in order and once, so that the examples of a document
    are the same with a limit, with chosen documents and without.
    """

    made: Any
    cell: Cell
    task: TaskConfig
    config: RunConfig
    docs: Sequence[Any]
    """As the class gave them, all of them."""
    repeats: int
    _asked: list[list[Request]] = field(default_factory=list)
    _generations: dict[str, tuple[dict[str, Any], Generation]] = field(default_factory=dict)

    def __call__(self, doc: Doc, shots: Sequence[Doc], style: Style) -> list[Request]:
        if self.cell.shots == 0:
            return self._ask(doc.index, style)
        while len(self._asked) <= doc.index:
            self._asked.append(self._ask(len(self._asked), style))
        return self._asked[doc.index]

    def _ask(self, index: int, style: Style) -> list[Request]:
        doc, made = self.docs[index], self.made
        chat = {"apply_chat_template": style.chat is not None, "chat_template": _chat(style)}
        context = made.fewshot_context(
            doc,
            num_fewshot=self.cell.shots,
            system_instruction=style.system,
            fewshot_as_multiturn=style.multiturn,
            gen_prefix=made.doc_to_prefix(doc),
            **chat,
        )
        metadata = (self.task.task, index, self.repeats)
        asked = made.construct_requests(doc=doc, ctx=context, metadata=metadata, **chat)
        instances = asked if isinstance(asked, list) else [asked]
        return [self._request(instance) for instance in sorted(instances, key=lambda instance: int(instance.idx))]

    def _request(self, instance: Any) -> Request:
        try:
            kind = RequestKind(instance.request_type)
        except ValueError as error:
            known = ", ".join(known.value for known in RequestKind)
            raise UserError(
                f"{self.task.file}: request_type '{instance.request_type}' is not known. Known: {known}."
            ) from error
        arguments = tuple(instance.args)
        if kind is not RequestKind.GENERATE:
            return Request(kind=kind, arguments=arguments)
        if len(arguments) > 2:
            raise UserError(f"{self.task.file}: requests with images or sounds are not supported yet.")
        kwargs, options = self._generation(arguments[1])
        return Request(kind=kind, arguments=(arguments[0], kwargs), generation=options)

    def _generation(self, kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], Generation]:
        """The class's options with the run's over them. Without `until` only the end of sequence stops a reply."""
        key = json.dumps(kwargs, sort_keys=True, default=repr)
        if key not in self._generations:
            given = {"until": [], **kwargs}
            merged = merged_kwargs(replace(self.task, generation_kwargs=given), self.config.generation)
            seed = self.config.seed if self.config.generation.seed is None else self.config.generation.seed
            shown = (
                merged if "until" in kwargs or merged["until"] else {k: v for k, v in merged.items() if k != "until"}
            )
            self._generations[key] = (shown, generation(merged, seed=seed, where=self.task.file))
        return self._generations[key]


def _chat(style: Style) -> Callable[..., str] | None:
    if style.chat is None:
        return None
    render = style.chat
    return lambda messages, add_generation_prompt=True: render(messages, add_generation_prompt)
