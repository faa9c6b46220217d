"""From the composed config to tasks ready to run, whatever they are written in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig, task_config
from hydra_eval.data.choice import Choice, choices
from hydra_eval.data.documents import Documents
from hydra_eval.data.report import data_facts
from hydra_eval.data.resolve import source_of
from hydra_eval.data.selection import choose
from hydra_eval.data.shelf import Shelf, load_all
from hydra_eval.data.source import Source
from hydra_eval.data.stream import heads_of
from hydra_eval.data.task_data import TaskData
from hydra_eval.errors import UserError
from hydra_eval.tables.build import build_table_task, check_table_task
from hydra_eval.tasks.cells import Cell, cells
from hydra_eval.tasks.class_task import build_class_task
from hydra_eval.tasks.code_gate import check_code_gate
from hydra_eval.tasks.custom_data import custom_splits
from hydra_eval.tasks.formulations import check_formulation, say_one_place, say_unconcerned
from hydra_eval.tasks.hooks import with_references
from hydra_eval.tasks.listed_shots import with_samples
from hydra_eval.tasks.measures import Measures, measures_of
from hydra_eval.tasks.shot_plan import check_eval_pools, pool_splits, shot_config_of
from hydra_eval.tasks.task import Task
from hydra_eval.tasks.yaml_task import build_yaml_task


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The tasks that a run asks for: checked, functions resolved, data sets found; nothing is read yet."""

    config: RunConfig
    cells: Sequence[Cell]
    tasks: Mapping[str, TaskConfig]
    """By key of `config.tasks`."""
    choices: Mapping[str, Choice]
    """By cell."""
    sources: Mapping[str, Source]
    """By cell."""
    measures: Mapping[str, Measures]
    """By cell; without Python classes and entries of a table."""

    @property
    def data_sets(self) -> int:
        """How many will be read; a Python class reads its own."""
        return len({source.key for source in self.sources.values() if source.kind != "class"})


def order_tasks(config: RunConfig) -> Order:
    """Raises UserError for whatever is wrong in a task file, before any data is read."""
    if not config.selection:
        raise UserError("No task chosen: write task=NAME; 'hydra-eval run --help' lists the names.")
    check_code_gate(config.tasks, allowed=config.allow_code_execution)
    config = with_samples(config)
    checked = {key: task_config(with_references(content)) for key, content in config.tasks.items()}
    say_unconcerned(checked.values(), config.prompt)
    return order_cells(cells(config, checked), checked, config)


def order_cells(wanted: Sequence[Cell], tasks: Mapping[str, TaskConfig], config: RunConfig) -> Order:
    """The same for some cells alone."""
    chosen = choices({cell.name: (cell.name, tasks[cell.key].task, cell.key) for cell in wanted}, config)
    measures = {
        cell.name: measures_of(cell, tasks[cell.key], config)
        for cell in wanted
        if tasks[cell.key].python_class is None and tasks[cell.key].table is None
    }
    for cell in wanted:
        check_formulation(tasks[cell.key], config.prompt)
        if tasks[cell.key].table is not None:
            check_table_task(cell, tasks[cell.key], config)
    sources = {cell.name: _source(cell, tasks[cell.key], config, chosen[cell.name]) for cell in wanted}
    return Order(config=config, cells=wanted, tasks=tasks, choices=chosen, sources=sources, measures=measures)


def load_data(order: Order, advance: Callable[[], None] = lambda: None) -> Shelf:
    """Read every data set of the run, each once. `advance` is called after each of them."""
    data = order.config.data
    wanted = {cell: source for cell, source in order.sources.items() if source.kind != "class"}
    return load_all(wanted, workers=data.workers, retries=data.retries, advance=advance)


def build_tasks(config: RunConfig) -> list[Task]:
    """Every task of the run, in the order asked for, with its data.

    Raises UserError for whatever is wrong in a task file or its data, before any model is loaded.
    """
    order = order_tasks(config)
    return build_ordered(order, load_data(order))


def build_ordered(order: Order, shelf: Shelf) -> list[Task]:
    """The tasks, from data that has been read."""
    tasks = [_built(cell, order, shelf) for cell in order.cells]
    check_eval_pools(tasks, order.config.fewshot.on_eval_split)
    say_one_place(tasks, order.config.prompt)
    return tasks


def build_task(cell: Cell, task: TaskConfig, config: RunConfig) -> Task:
    """One cell by itself, its data read for it alone."""
    order = order_cells([cell], {cell.key: task}, config)
    return _built(cell, order, load_data(order))


def _built(cell: Cell, order: Order, shelf: Shelf) -> Task:
    task, config, choice = order.tasks[cell.key], order.config, order.choices[cell.name]
    data = TaskData(source=order.sources[cell.name], shelf=shelf, choice=choice, config=config.data)
    if task.python_class is not None:
        return _limited(build_class_task(cell, task, config), data)
    if task.table is not None:
        return _limited(build_table_task(cell, task, config, shelf.loaded[data.source.key]), data)
    return build_yaml_task(cell, task, config, data, measures=order.measures[cell.name])


def _limited(task: Task, data: TaskData) -> Task:
    """The run's choice among the documents of a task that makes them by itself."""
    chosen = choose(task.all_docs, data.choice, dict)
    found = Documents(docs=task.all_docs, splits=())
    return replace(task, docs=chosen.docs, data=task.data or data_facts(data, found, chosen))


def _source(cell: Cell, task: TaskConfig, config: RunConfig, choice: Choice) -> Source:
    if task.python_class is not None:
        if config.data.shuffle_seed is not None:
            raise UserError(f"{task.file}: a Python class orders its documents itself; leave data.shuffle_seed out.")
        return Source(kind="class", title=task.task, where=task.file, path=task.dataset_path, name=task.dataset_name)
    if task.custom_dataset is not None:
        return Source(
            kind="function",
            title="custom_dataset",
            where=task.file,
            make=partial(custom_splits, task, config),
            owner=cell.key,
        )
    if task.table is not None:
        return source_of(task, config.data)
    pool = pool_splits(task, config, shot_config_of(task)) if cell.shots else ()
    return replace(source_of(task, config.data), heads=heads_of(task, config.data, choice, pool=pool))
