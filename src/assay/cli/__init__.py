"""The command `assay`: one thin module for each verb; this one only starts it."""


def main() -> None:
    """Runs the command with the process's arguments and ends the process with its exit status.

    0: clean. 1: findings. 2: misuse, unreadable input or settings, a broken model. 3: a defect in
    assay itself. 130: interrupted.
    """
    from assay.cli.app import run

    run()
