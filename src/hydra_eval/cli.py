"""The console script `hydra-eval`. What a verb needs is imported when it is used: `--help` answers at once."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Evaluate language models.", rich_markup_mode=None)

PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Settings of a verb that takes overrides of the run's config."""


@app.callback()
def _root() -> None:
    """Evaluate language models."""


@app.command(
    context_settings={**PASSED_ON, "help_option_names": []},
    help="Run an evaluation on this process: hydra-eval run task=gsm8k model=llama3 (run --help lists the options).",
)
def run(context: typer.Context) -> None:
    """The same as `python -m hydra_eval`; for several processes use `accelerate launch -m hydra_eval`."""
    from hydra_eval.app import main as run_main

    sys.argv = ["hydra-eval run", *context.args]
    run_main()


@app.command(context_settings={"allow_extra_args": True})
def show(
    context: typer.Context,
    doc: Annotated[int, typer.Option(help="Number of the document.")] = 0,
    answer: Annotated[
        str | None,
        typer.Option(help="A reply, or the number of a choice: shows what every filter and metric makes of it."),
    ] = None,
) -> None:
    """Show one document as the model would see it: hydra-eval show task=gsm8k fewshot.n=2 --answer "#### 5"."""
    from hydra_eval.commands.show import show as sections

    for title, text in sections(context.args, number=doc, answer=answer):
        typer.secho(title, bold=True)
        typer.echo(text + "\n")


def main() -> None:
    """Entry point of the console script."""
    from hydra_eval.app import complain, print_anything, quiet_libraries
    from hydra_eval.errors import UserError

    quiet_libraries()
    print_anything()
    try:
        app()
    except UserError as error:
        complain(str(error))
        sys.exit(1)
