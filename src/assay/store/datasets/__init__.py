"""Datasets of recorded runs with labels, experiments on them, and saved views of lists."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.datasets.experiments import end_experiment as end_experiment
    from assay.store.datasets.experiments import keep_outcomes as keep_outcomes
    from assay.store.datasets.experiments import list_experiments as list_experiments
    from assay.store.datasets.experiments import read_experiment as read_experiment
    from assay.store.datasets.experiments import read_outcomes as read_outcomes
    from assay.store.datasets.experiments import running_experiments as running_experiments
    from assay.store.datasets.experiments import runs_to_check as runs_to_check
    from assay.store.datasets.experiments import start_experiment as start_experiment
    from assay.store.datasets.sets import DATASETS as DATASETS
    from assay.store.datasets.sets import add_rows as add_rows
    from assay.store.datasets.sets import drop_dataset as drop_dataset
    from assay.store.datasets.sets import drop_rows as drop_rows
    from assay.store.datasets.sets import label_rows as label_rows
    from assay.store.datasets.sets import list_datasets as list_datasets
    from assay.store.datasets.sets import make_dataset as make_dataset
    from assay.store.datasets.sets import read_dataset as read_dataset
    from assay.store.datasets.sets import read_rows as read_rows
    from assay.store.datasets.values import LONGEST_NAME as LONGEST_NAME
    from assay.store.datasets.values import MOST_ROWS as MOST_ROWS
    from assay.store.datasets.values import Dataset as Dataset
    from assay.store.datasets.values import DatasetRow as DatasetRow
    from assay.store.datasets.values import Experiment as Experiment
    from assay.store.datasets.values import ExperimentState as ExperimentState
    from assay.store.datasets.values import Fault as Fault
    from assay.store.datasets.values import Label as Label
    from assay.store.datasets.values import Outcome as Outcome
    from assay.store.datasets.values import Rates as Rates
    from assay.store.datasets.values import rates_of as rates_of
    from assay.store.datasets.views import SavedView as SavedView
    from assay.store.datasets.views import drop_view as drop_view
    from assay.store.datasets.views import list_views as list_views
    from assay.store.datasets.views import save_view as save_view
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".experiments": (
                "end_experiment",
                "keep_outcomes",
                "list_experiments",
                "read_experiment",
                "read_outcomes",
                "running_experiments",
                "runs_to_check",
                "start_experiment",
            ),
            ".sets": (
                "DATASETS",
                "add_rows",
                "drop_dataset",
                "drop_rows",
                "label_rows",
                "list_datasets",
                "make_dataset",
                "read_dataset",
                "read_rows",
            ),
            ".values": (
                "Dataset",
                "DatasetRow",
                "Experiment",
                "ExperimentState",
                "Fault",
                "LONGEST_NAME",
                "Label",
                "MOST_ROWS",
                "Outcome",
                "Rates",
                "rates_of",
            ),
            ".views": (
                "SavedView",
                "drop_view",
                "list_views",
                "save_view",
            ),
        },
    )
