"""Shell completion of option values that are not a closed choice: presets, files of settings, tools."""

from pathlib import Path

_SETTINGS = (".yaml", ".yml")


def complete_preset(incomplete: str) -> list[str]:
    """The policy presets that begin with a text."""
    from assay.policy import PRESETS

    return [name for name in PRESETS if name.startswith(incomplete)]


def complete_policy(incomplete: str) -> list[str]:
    """The presets, files of settings and folders that begin with a text."""
    typed = Path(incomplete)
    folder = typed if not incomplete or incomplete.endswith("/") else typed.parent
    try:
        found = sorted(folder.iterdir())
    except OSError:
        found = []
    paths = [f"{path}/" if path.is_dir() else str(path) for path in found if path.is_dir() or path.suffix in _SETTINGS]
    return [*complete_preset(incomplete), *(path for path in paths if path.startswith(incomplete))]


def complete_tool(incomplete: str) -> list[str]:
    """The tools of `assay eval --from` that begin with a text."""
    from assay.evaluation.rows.elsewhere import PRESETS

    return [name for name in PRESETS if name.startswith(incomplete)]
