"""Makes a command from a function of one dataclass, whose fields are the options.

An option of several verbs is declared once, in a base class of their dataclasses (`shared`). Adding an option means
adding a field.
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

    Each field is annotated with its Typer option or argument; the fields of a class itself come before inherited ones.
    A field of the type `tuple[X, ...]` is an option that may be repeated.
    """
    parameters = list(_parameters(kind))
    repeatable = {parameter.name for parameter in parameters if _is_list(parameter.annotation)}

    def decorate(function: Callable[[Options], None]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            function(
                kind(**{name: tuple(value or ()) if name in repeatable else value for name, value in values.items()})
            )

        update_wrapper(command, function)
        del command.__wrapped__  # type: ignore[attr-defined]
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return decorate


def _parameters(kind: type[Any]) -> Iterator[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    own_fields = get_annotations(kind)
    for field in sorted(fields(kind), key=lambda field: field.name not in own_fields):
        annotation, default = _typer_annotation(hints[field.name], field)
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _typer_annotation(annotation: Any, field: "Field[Any]") -> tuple[Any, Any]:
    """The annotation and the default for Typer, which takes lists where the dataclass has tuples of any length."""
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
    """A command that still accepts old spellings of its options, with a warning; `--help` does not show them."""

    renamed: ClassVar[Mapping[str, str]] = {}
    """The present spelling by the old one."""

    def make_parser(self, ctx: Any) -> Any:
        """The parser of the command, which knows the old spellings too."""
        parser: Any = super().make_parser(ctx)
        for old, present in self.renamed.items():
            for parameter in self.get_params(ctx):
                if present in parameter.opts:
                    parser.add_option(obj=parameter, opts=[old], dest=parameter.name, nargs=parameter.nargs)
        return parser

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses, after a warning for each old spelling."""
        options_part = args[: args.index("--")] if "--" in args else args
        for old, present in self.renamed.items():
            if any(argument == old or argument.startswith(f"{old}=") for argument in options_part):
                sys.stderr.write(
                    f"assay: warning: {old} is called {present} now; the next release will not know {old}\n"
                )
        return super().parse_args(ctx, args)


class VerifierCommand(RenamingCommand):
    """A verb whose network was named by `--model`."""

    renamed: ClassVar[Mapping[str, str]] = {"--model": "--verifier"}


class ChatCommand(RenamingCommand):
    """A verb whose chat model was named by `--model`."""

    renamed: ClassVar[Mapping[str, str]] = {"--model": "--llm"}
