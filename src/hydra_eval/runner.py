"""One job on every rank: build, plan, ask, score, gather, write. Whatever can fail, fails before the model loads."""

from __future__ import annotations

import logging
import pickle
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from hydra_eval.asking import ask
from hydra_eval.config.no_effect import Situation, without_effect
from hydra_eval.config.schema import ModelConfig, RunConfig
from hydra_eval.data.shelf import Shelf
from hydra_eval.dry_run.report import content_of, dry_run
from hydra_eval.errors import UserError
from hydra_eval.fewshot.facts import shot_facts
from hydra_eval.fleet import Fleet
from hydra_eval.models import batch_tokens, check_generations, is_exact, load_encoder, load_model, load_tokenizer
from hydra_eval.models.base import Model
from hydra_eval.models.chat import style_of, template_of
from hydra_eval.models.efficiency import Efficiency, added_up, fresh_counters
from hydra_eval.numerics.check import Rechecked, numerics_content, recheck
from hydra_eval.numerics.sample import Sample, choose_documents, wanted_of
from hydra_eval.pipeline import Scored, Work, prepare, score
from hydra_eval.plan import merge, share_out
from hydra_eval.prompts.fitting import limits_of
from hydra_eval.prompts.overflow import overflow_facts
from hydra_eval.records import Instance, Response, SampleRow
from hydra_eval.results.aggregate import aggregate, merge_rows
from hydra_eval.results.file import RunRecord, results_dict
from hydra_eval.results.group_plans import GroupPlan, plan_groups
from hydra_eval.results.groups import aggregate_groups
from hydra_eval.results.report import Results, report
from hydra_eval.results.thinking import thinking_facts
from hydra_eval.run_files import write_dry_run, write_ids, write_results, write_samples
from hydra_eval.screen import Screen
from hydra_eval.tasks.build import build_ordered, load_data, order_tasks
from hydra_eval.tasks.task import Task, chosen_ids, rows_digest
from hydra_eval.trackers.base import RunFacts, Tracker

log = logging.getLogger(__name__)

SAME_ROWS = "Its process_docs or custom_dataset must give the same rows each time: seed what it draws."
SAME_PROMPTS = (
    "A strategy, hook or list of examples of yours gives something else each time: seed what it draws, and sort what "
    "it takes out of a set."
)


class ModelShelf:
    """Keeps the last model and tokenizer: a sweep loads them once for as long as the model's config stays the same."""

    def __init__(self) -> None:
        self._config: ModelConfig | None = None
        self._tokenizer: Any = None
        self._model: Model | None = None

    def tokenizer(self, config: ModelConfig) -> Any:
        if self._config != config:
            # The old weights go before the new ones come.
            self._config, self._tokenizer, self._model = None, None, None
            self._tokenizer = load_tokenizer(config)
            self._config = config
        return self._tokenizer

    def model(self, config: ModelConfig, device: str) -> Model:
        tokenizer = self.tokenizer(config)
        if self._model is None:
            self._model = load_model(config, device=device, tokenizer=tokenizer)
        return self._model


@dataclass(kw_only=True)
class Job:
    """What one run of the program knows; a sweep makes several."""

    config: RunConfig
    fleet: Fleet
    folder: Path
    tracker: Tracker
    facts: RunFacts
    models: ModelShelf
    screen: Screen
    overrides: Sequence[str] = ()
    """As typed."""
    started: float = field(default_factory=time.time)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """A stage that all ranks pass together, timed."""
        begin = time.perf_counter()
        with self.fleet.stage(name):
            yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin
        log.debug("%s: %.1f s", name, self.seconds[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one rank brings to the end of a run."""

    scored: Scored
    spent: dict[str, Efficiency]
    rechecked: Rechecked


def run_job(job: Job) -> Results:
    """Evaluate, on this rank's share. Returns the results on the main process, empty ones elsewhere and of a dry run.

    Raises JobFailed on every rank where any rank fails.
    """
    config, fleet = job.config, job.fleet
    tasks = read_tasks(job)
    with job.phase("data"):
        groups = plan_groups(config.groups, config.selection, tasks)
    work = write_prompts(job, tasks)
    if config.dry_run:
        tell_only(job, work)
        return Results()
    with job.phase("tracker"):
        if fleet.is_main:
            job.tracker.start(job.facts)
    with job.phase("model"):
        model = job.models.model(config.model, fleet.device)
        # A sweep keeps its model; the counters are of one job.
        model.efficiency = fresh_counters()
    # Slices of one model answer every request together, and the main process speaks for all.
    together = config.model.tp_plan is not None
    mine = share_out(work.packets, 1)[0] if together else share_out(work.packets, fleet.world)[fleet.rank]
    if not is_exact(config.model, fleet.device):
        mine = merge(mine, batch_tokens=work.batch_tokens)
    progress = job.screen.progress(
        mine,
        is_share=fleet.world > 1 and not together,
        compiles=bool(config.model.compile),
        tokens=lambda: sum(spent.forward_tokens for spent in model.efficiency.values()),
    )
    with job.phase("requests"), progress as advance:
        responses = ask(model, mine, advance, keeps_ids=config.log_token_ids)
    rechecked = check_numerics(
        job, work, model, zip(chain.from_iterable(packet.instances for packet in mine), responses, strict=True)
    )
    counts = fleet.is_main or not together
    with job.phase("scores"):
        scored = score(work, responses if counts else [])
    spent = model.efficiency if counts else fresh_counters()
    share = Share(scored=scored, spent=spent, rechecked=rechecked if counts else Rechecked())
    per_rank: list[Share] = fleet.exchange("rows", share)
    results = Results()
    with job.phase("results"):
        if fleet.is_main:
            results = _finish(job, work, groups, model, per_rank)
    return results


def read_tasks(job: Job) -> list[Task]:
    """Every task with its documents. On each machine the first process reads the data; the others take it from there.

    What is handed on are places in files that are mapped into memory, so nothing is fetched or prepared twice.
    Raises JobFailed where the processes do not end with the same rows.
    """
    fleet = job.fleet
    with job.phase("data"):
        order = order_tasks(job.config)
        with job.screen.counting("data sets", order.data_sets) as advance:
            shelf = load_data(order, advance) if fleet.node_leader == fleet.rank else None
        parcel = pickle.dumps(shelf.loaded) if shelf is not None and fleet.world > 1 else b""
    parcels = fleet.exchange("data sets", parcel, to_all=True)
    with job.phase("data"):
        tasks = build_ordered(order, shelf or Shelf(pickle.loads(parcels[fleet.node_leader])))
        digests = {task.name: rows_digest(task) for task in tasks} if fleet.world > 1 else {}
    per_rank = fleet.exchange("rows read", digests, to_all=True)
    with job.phase("data"):
        check_agreement(tasks, per_rank, "rows", SAME_ROWS)
    return tasks


def write_prompts(job: Job, tasks: Sequence[Task]) -> Work:
    """All that the model will be asked, and what a person is told of it."""
    config = job.config
    with job.phase("prompts"):
        tokenizer = job.models.tokenizer(config.model)
        tokens = batch_tokens(config.model, job.fleet.device)
    # GPUs of several kinds would each cut the requests in their own way.
    tokens = min(job.fleet.exchange("tokens of a forward pass", tokens, to_all=True))
    with job.phase("prompts"):
        check_generations(config.model, tokenizer, {task.name: task.generation for task in tasks if task.generation})
        work = prepare(
            tasks,
            style_of(config.prompt, tokenizer),
            batch_tokens=tokens,
            limits=limits_of(config.prompt.overflow, load_encoder(config.model, tokenizer)),
        )
        job.screen.say_plan(work, job.fleet.world)
        for line in () if config.dry_run else unused_options(job, work):
            job.screen.say(f"No effect: {line}")
        digests = work.digests if job.fleet.world > 1 else {}
    per_rank = job.fleet.exchange("requests", digests, to_all=True)
    with job.phase("prompts"):
        check_agreement(tasks, per_rank, "prompts", SAME_PROMPTS)
    return work


def unused_options(job: Job, work: Work) -> list[str]:
    """One line for each that was typed and changes nothing."""
    chat = template_of(job.config.prompt, job.models.tokenizer(job.config.model)) is not None
    run = Situation(config=job.config, tasks=work.tasks, chat=chat, sampled=work.sampled)
    return without_effect(run, job.overrides)


def tell_only(job: Job, work: Work) -> None:
    """A dry run's end: the main process counts, shows and writes; nothing is loaded or started."""
    with job.phase("dry run"):
        if job.fleet.is_main:
            model = job.config.model
            encoder = load_encoder(model, job.models.tokenizer(model))
            found = dry_run(work, encoder, model, unused_options(job, work))
            write_dry_run(job.folder, content_of(found))
            job.screen.show_dry_run(found, job.folder)


def check_agreement(tasks: Sequence[Task], digests: Sequence[Mapping[str, str]], what: str, remedy: str) -> None:
    """Raises UserError for a task of which the processes do not all have the same; `what` says in what they differ."""
    for task in tasks:
        if len({of_rank.get(task.name) for of_rank in digests}) > 1:
            raise UserError(f"{task.source}: '{task.name}' has other {what} in each process. {remedy}")


def check_numerics(job: Job, work: Work, model: Model, answered: Iterable[tuple[Instance, Response]]) -> Rechecked:
    """A sample of this rank's requests again, where that is asked for."""
    if not job.config.check.numerics:
        return Rechecked()
    with job.phase("numerics"):
        tokenizer = job.models.tokenizer(job.config.model)
        encoder = load_encoder(job.config.model, tokenizer)
        return recheck(
            _sample(job, work),
            model,
            answered,
            tokenize=lambda text: encoder.encode_bare([text])[text],
            counting=job.screen.counting,
        )


def _sample(job: Job, work: Work) -> Sample:
    return choose_documents(work.scored_tasks, count=job.config.check.documents, seed=job.config.seed)


def _numerics(job: Job, work: Work, per_rank: Sequence[Rechecked]) -> dict[str, Any]:
    """Nothing where it was not asked for."""
    if not job.config.check.numerics:
        return {}
    sample = _sample(job, work)
    wanted = wanted_of(sample, [instance for key in sample.docs for instance in work.asked[key].requests])
    return numerics_content(per_rank, wanted, check=job.config.check, seed=job.config.seed)


def _finish(
    job: Job,
    work: Work,
    groups: Sequence[GroupPlan],
    model: Model,
    per_rank: Sequence[Share],
) -> Results:
    """On the main process: merge, aggregate, write, and only then tell the tracker."""
    rest = score(work, [response for share in per_rank for response in share.scored.loose])
    tasks = work.scored_tasks
    rows = merge_rows([*(share.scored.rows for share in per_rank), rest.rows], tasks)
    by_task: dict[str, list[SampleRow]] = defaultdict(list)
    for row in rows:
        by_task[row.task].append(row)
    paths = [write_samples(job.folder, name, of_task) for name, of_task in by_task.items()]
    if job.config.subset.n is not None:
        paths.append(write_ids(job.folder, chosen_ids(work.tasks)))
    scores = [aggregate(task, by_task[task.name], bootstrap=job.config.stats.bootstrap) for task in tasks]
    results = report(scores, aggregate_groups(groups, scores), seed=job.config.seed)
    record = RunRecord(
        config=job.config,
        facts=model.facts,
        world=job.fleet.world,
        started=job.started,
        seconds=job.seconds,
        efficiency=added_up([share.spent for share in per_rank]),
        shots={task.name: shot_facts(task, work.picks[task.name], work.shown(task.name)) for task in tasks},
        overflow={name: overflow_facts(work.overflow[name], of_task) for name, of_task in by_task.items()},
        thinking=_thinking(job.config.model, work, by_task),
        numerics=_numerics(job, work, [share.rechecked for share in per_rank]),
        chat_template=template_of(job.config.prompt, job.models.tokenizer(job.config.model)),
    )
    job.screen.say_cuts(record.overflow, by_task)
    job.screen.say_unclosed(record.thinking)
    job.screen.say_numerics(record.numerics)
    content = results_dict(record, results)
    paths.append(write_results(job.folder, content))
    for name, of_task in by_task.items():
        job.tracker.samples(name, of_task)
    job.tracker.results(content)
    job.tracker.files(paths)
    return results


def _thinking(model: ModelConfig, work: Work, rows: Mapping[str, Sequence[SampleRow]]) -> dict[str, dict[str, int]]:
    """Of each task that generates, where something marks the end of reasoning."""
    marked = model.think_end_token is not None and model.kind != "dummy"
    return {name: thinking_facts(rows[name]) for name in work.sampled} if marked else {}
