"""Makes a command of a function that takes one value: the fields of the value are its options.

An option that several verbs have is declared once, in a class that their values inherit from (`shared`). So adding an
option is adding a field.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from functools import update_wrapper
from inspect import Parameter, Signature, get_annotations
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints

from typer.core import TyperCommand

Options = TypeVar("Options")


def takes(kind: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """A decorator: the function becomes a command with an option for each field of the dataclass.

    Each field is annotated with its Typer option or argument; those that a class declares itself come before those that
    it inherits. A field of the type `tuple[X, ...]` is an option that may be repeated.
    """
    parameters = list(_parameters(kind))
    many = {one.name for one in parameters if _is_list(one.annotation)}

    def decorate(function: Callable[[Options], None]) -> Callable[..., None]:
        def command(**given: Any) -> None:
            function(kind(**{name: tuple(value or ()) if name in many else value for name, value in given.items()}))

        update_wrapper(command, function)
        del command.__wrapped__  # type: ignore[attr-defined]
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return decorate


def _parameters(kind: type[Any]) -> Iterator[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    own = get_annotations(kind)
    for one in sorted(fields(kind), key=lambda field: field.name not in own):
        annotation, default = _for_typer(hints[one.name], one)
        yield Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _for_typer(annotation: Any, field: "Field[Any]") -> tuple[Any, Any]:
    """The annotation as Typer reads it, and the default; lists where the value has tuples of any length."""
    kind, *metadata = get_args(annotation)
    if not (get_origin(kind) is tuple and get_args(kind)[1:] == (...,)):
        return annotation, Parameter.empty if field.default is MISSING else field.default
    items: Any = list.__class_getitem__(get_args(kind)[0])
    if field.default is MISSING:
        return Annotated[items, *metadata], Parameter.empty
    return Annotated[items | None, *metadata], None


def _is_list(annotation: Any) -> bool:
    kind = get_args(annotation)[0]
    return list in {get_origin(one) for one in (kind, *get_args(kind))}


class RenamingCommand(TyperCommand):
    """A command that still takes old spellings of its options, with a warning; `--help` does not name them."""

    renamed: ClassVar[Mapping[str, str]] = {}
    """The present spelling by the old one."""

    def make_parser(self, ctx: Any) -> Any:
        """The parser of the command, which knows the old spellings too."""
        parser: Any = super().make_parser(ctx)
        for old, now in self.renamed.items():
            for parameter in self.get_params(ctx):
                if now in parameter.opts:
                    parser.add_option(obj=parameter, opts=[old], dest=parameter.name, nargs=parameter.nargs)
        return parser

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses, after a warning for each old spelling."""
        named = args[: args.index("--")] if "--" in args else args
        for old, now in self.renamed.items():
            if any(one == old or one.startswith(f"{old}=") for one in named):
                sys.stderr.write(f"assay: warning: {old} is called {now} now; the next release will not know {old}\n")
        return super().parse_args(ctx, args)


class VerifierCommand(RenamingCommand):
    """A verb whose network was named by `--model`."""

    renamed: ClassVar[Mapping[str, str]] = {"--model": "--verifier"}


class ChatCommand(RenamingCommand):
    """A verb whose chat model was named by `--model`."""

    renamed: ClassVar[Mapping[str, str]] = {"--model": "--llm"}
