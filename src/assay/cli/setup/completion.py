"""`assay completion`: a script that completes commands, options and values in bash, zsh or fish."""

import sys
from enum import StrEnum
from typing import Annotated

import typer


class Shell(StrEnum):
    """The shells that are supported."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


VARIABLE = "_ASSAY_COMPLETE"
"""The environment variable by which a shell asks for completions."""


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print a script that completes `assay` in your shell.

    bash: eval "$(assay completion bash)" in ~/.bashrc. zsh: the same in ~/.zshrc, behind compinit. fish: assay
    completion fish > ~/.config/fish/completions/assay.fish
    """
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name="assay", complete_var=VARIABLE, shell=shell.value)
    sys.stdout.write(script.rstrip() + "\n")
