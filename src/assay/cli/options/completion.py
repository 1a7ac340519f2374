"""What a shell offers for the values of options that are no closed choice: presets, files of settings, other tools."""

from pathlib import Path

_SETTINGS = (".yaml", ".yml")


def complete_preset(incomplete: str) -> list[str]:
    """The presets of policies that begin so."""
    from assay.policy import PRESETS

    return [name for name in PRESETS if name.startswith(incomplete)]


def complete_policy(incomplete: str) -> list[str]:
    """The presets that begin so, and the files of settings and the folders whose path does."""
    typed = Path(incomplete)
    folder = typed if not incomplete or incomplete.endswith("/") else typed.parent
    try:
        found = sorted(folder.iterdir())
    except OSError:
        found = []
    paths = [f"{path}/" if path.is_dir() else str(path) for path in found if path.is_dir() or path.suffix in _SETTINGS]
    return [*complete_preset(incomplete), *(path for path in paths if path.startswith(incomplete))]


def complete_tool(incomplete: str) -> list[str]:
    """The tools whose rows `assay eval --from` reads that begin so."""
    from assay.evaluation.rows.elsewhere import PRESETS

    return [name for name in PRESETS if name.startswith(incomplete)]
