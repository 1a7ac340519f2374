"""`/v1/datasets`: sets of recorded runs, their labels, their rows for `assay eval`, and experiments on them.

Creating and labelling datasets needs the permission for feedback; an experiment checks outputs again, and needs the
permission for checks.
"""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from assay.errors import DatasetError
from assay.schema import Permission
from assay.server.caller import Caller
from assay.server.datasets.comparison import compare
from assay.server.datasets.experiments import policy_by_name
from assay.server.datasets.rows import export_rows
from assay.server.http.problems import ProblemError, documented, unknown
from assay.server.services import Services, allowed
from assay.store.datasets import (
    LONGEST_NAME,
    MOST_ROWS,
    Dataset,
    DatasetRow,
    Experiment,
    ExperimentState,
    Label,
    add_rows,
    drop_dataset,
    drop_rows,
    end_experiment,
    label_rows,
    list_datasets,
    list_experiments,
    make_dataset,
    read_dataset,
    read_experiment,
    read_outcomes,
    read_rows,
    start_experiment,
)
from assay.store.records import NoRow

ID: Final = "^[0-9a-f]{32}$"
STATUS_OF_REFUSAL: Final = {"missing": 404, "taken": 409, "refused": 422}
"""The HTTP status of each code of a `DatasetError`."""
_LINES: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "JSON Lines.", "content": {"application/x-ndjson": {"schema": {"type": "string"}}}}
}
SetId = Annotated[str, Path(alias="id", description="The id of the dataset.", pattern=ID)]
ExperimentId = Annotated[str, Path(alias="id", description="The id of the experiment.", pattern=ID)]
Against = Annotated[str, Query(pattern="^(recorded|[0-9a-f]{32})$")]
RunId = Annotated[str, Field(pattern=ID)]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class _Out(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)


class DatasetBody(_In):
    """A dataset that is to be made."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)


class RunsBody(_In):
    """Runs that are to be added or taken out."""

    runs: list[RunId] = Field(min_length=1, max_length=MOST_ROWS)


class LabelBody(_In):
    """What a person says of one run."""

    run: RunId
    label: Label | None
    """None takes the label away."""
    wrong_claims: list[int] = Field(default_factory=list, max_length=1_000)
    """The positions of the claims that are wrong, from 0 on."""


class LabelsBody(_In):
    """Labels of several runs."""

    labels: list[LabelBody] = Field(min_length=1, max_length=MOST_ROWS)


class ExperimentBody(_In):
    """An experiment that is to be begun."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    policy: str = Field(min_length=1, max_length=100)
    """The name of a preset, or the digest of a policy that decided here."""
    judge: Literal["policy", "all"] = "policy"
    """Which claims the server's judge is asked of, where it has one: those that the policy says, or all."""


class DatasetOut(_Out):
    """A dataset."""

    id: str
    name: str
    created: datetime
    maker: str | None
    rows: int
    labelled: int
    """How many of the rows have a label."""

    @classmethod
    def of(cls, one: Dataset) -> "DatasetOut":
        """A dataset as it is answered."""
        return cls.model_validate({name: getattr(one, name) for name in cls.model_fields})


class DatasetsOut(_Out):
    """All datasets, by name."""

    items: list[DatasetOut]


class DatasetRowOut(_Out):
    """One run of a dataset."""

    run: str
    added: datetime
    adder: str | None
    label: Label | None
    wrong_claims: list[int]
    labelled: datetime | None
    labeller: str | None
    action: str | None
    """The action when it was recorded."""
    score: float | None
    erased: bool
    no_row: NoRow | None
    """Why the export has no row of it, as far as that is known without reading it."""

    @classmethod
    def of(cls, one: DatasetRow) -> "DatasetRowOut":
        """A row as it is answered."""
        return cls.model_validate({name: getattr(one, name) for name in cls.model_fields})


class DatasetRowsOut(_Out):
    """The rows of a dataset, in the order in which they were added."""

    items: list[DatasetRowOut]


class AddedOut(_Out):
    """How many runs are new, or were taken out."""

    count: int


class MadeOut(_Out):
    """What was made."""

    id: str


class ExperimentOut(_Out):
    """An experiment."""

    id: str
    dataset: str
    name: str
    created: datetime
    maker: str | None
    state: ExperimentState
    policy: str
    policy_name: str
    judge: str
    verifier: str | None
    count: int
    """Runs that it is of."""
    done: int
    """Runs that were checked, or could not be."""
    finished: datetime | None

    @classmethod
    def of(cls, one: Experiment) -> "ExperimentOut":
        """An experiment as it is answered."""
        return cls.model_validate({name: getattr(one, name) for name in cls.model_fields})


class ExperimentsOut(_Out):
    """The experiments on a dataset, the newest first."""

    items: list[ExperimentOut]


class RateOut(_Out):
    """A share with its 95 % interval (Wilson); without a share where nothing was counted."""

    count: int
    of: int
    rate: float | None
    low: float | None
    high: float | None


class SideOut(_Out):
    """The two rates of one side, over the labelled runs that both sides decided on."""

    honest_emitted: RateOut
    wrong_stopped: RateOut


class FlippedOut(_Out):
    """A run whose action differs."""

    run: str
    label: Label | None
    before: str
    after: str
    regression: bool | None
    """Whether the label says that it was decided rightly before; none without a label."""


class ComparisonOut(_Out):
    """Two sides of a comparison: what was recorded, or another experiment, and this experiment."""

    experiment: ExperimentOut
    against: str
    """`recorded`, or the id of the other experiment."""
    compared: int
    """Runs that both sides decided on."""
    left_out: int
    """Runs that could not be checked again."""
    before: SideOut
    after: SideOut
    flipped: list[FlippedOut]
    """Regressions first."""


def make_datasets_router(services: Services) -> APIRouter:
    """The routes over the store of a server."""
    router, routes = APIRouter(prefix="/v1", tags=["datasets"]), _Routes(services)
    listed, found = documented(401, 403, 429, 503), documented(401, 403, 404, 422, 429, 503)
    changed = documented(401, 403, 404, 409, 413, 422, 429, 503)
    router.get("/datasets", responses=listed)(routes.datasets)
    router.post("/datasets", status_code=201, responses=changed)(routes.make)
    router.get("/datasets/{id}", responses=found)(routes.dataset)
    router.delete("/datasets/{id}", status_code=204, responses=found)(routes.drop)
    router.get("/datasets/{id}/rows", responses=found)(routes.rows)
    router.post("/datasets/{id}/rows", responses=changed)(routes.add)
    router.post("/datasets/{id}/rows/remove", responses=changed)(routes.remove)
    router.post("/datasets/{id}/labels", status_code=204, responses=changed)(routes.label)
    router.get("/datasets/{id}/export", responses={**_LINES, **found})(routes.export)
    router.get("/datasets/{id}/experiments", responses=found)(routes.experiments)
    router.post("/datasets/{id}/experiments", status_code=202, responses=changed)(routes.begin)
    router.get("/experiments/{id}", responses=found)(routes.experiment)
    router.post("/experiments/{id}/stop", status_code=204, responses=changed)(routes.stop)
    return router


class _Routes:
    def __init__(self, services: Services) -> None:
        self._store = services.store

    def datasets(self, request: Request) -> DatasetsOut:
        """All datasets."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            return DatasetsOut(items=[DatasetOut.of(one) for one in list_datasets(connection, caller.tenant)])

    def make(self, request: Request, body: DatasetBody) -> MadeOut:
        """Make a dataset without rows."""
        caller = allowed(request.scope, Permission.FEEDBACK)
        with _refusals_as_problems():
            id_ = make_dataset(self._store, caller.tenant, body.name, maker=caller.name, actor=caller.actor)
        return MadeOut(id=id_)

    def dataset(self, request: Request, id_: SetId) -> DatasetOut:
        """One dataset."""
        caller = allowed(request.scope, Permission.READ)
        return DatasetOut.of(self._require_dataset(caller, id_))

    def drop(self, request: Request, id_: SetId) -> Response:
        """Drop a dataset with its labels and experiments; its runs stay on record."""
        caller = allowed(request.scope, Permission.FEEDBACK)
        with _refusals_as_problems():
            drop_dataset(self._store, caller.tenant, id_, actor=caller.actor)
        return Response(status_code=204)

    def rows(self, request: Request, id_: SetId) -> DatasetRowsOut:
        """The rows of a dataset."""
        caller = allowed(request.scope, Permission.READ)
        self._require_dataset(caller, id_)
        with self._store.reading(caller.tenant) as connection:
            return DatasetRowsOut(items=[DatasetRowOut.of(one) for one in read_rows(connection, caller.tenant, id_)])

    def add(self, request: Request, id_: SetId, body: RunsBody) -> AddedOut:
        """Add runs; those that are in it already are left as they are. One whose content or evidence was erased is
        refused: nothing of it can be labelled or checked again."""
        caller = allowed(request.scope, Permission.FEEDBACK)
        with _refusals_as_problems():
            count = add_rows(self._store, caller.tenant, id_, body.runs, adder=caller.name, actor=caller.actor)
        return AddedOut(count=count)

    def remove(self, request: Request, id_: SetId, body: RunsBody) -> AddedOut:
        """Take runs out, with their labels."""
        caller = allowed(request.scope, Permission.FEEDBACK)
        with _refusals_as_problems():
            return AddedOut(count=drop_rows(self._store, caller.tenant, id_, body.runs, actor=caller.actor))

    def label(self, request: Request, id_: SetId, body: LabelsBody) -> Response:
        """Say of runs that they are right or wrong, and which claims are."""
        caller = allowed(request.scope, Permission.FEEDBACK)
        labels = {one.run: (one.label, one.wrong_claims) for one in body.labels}
        with _refusals_as_problems():
            label_rows(self._store, caller.tenant, id_, labels, labeller=caller.name, actor=caller.actor)
        return Response(status_code=204)

    def export(self, request: Request, id_: SetId, labelled: Annotated[bool, Query()] = False) -> Response:
        """The dataset as rows of `assay eval` and `assay calibrate`; `x-assay-left-out` counts runs that no row can be
        made of, `x-assay-left-out-why` by why: `erased`, `evidence_erased`, `agent_run`, `calls`, `no_evidence`,
        `no_text`."""
        caller = allowed(request.scope, Permission.READ)
        found = self._require_dataset(caller, id_)
        with self._store.reading(caller.tenant) as connection:
            rows = read_rows(connection, caller.tenant, id_)
            made = export_rows(connection, caller.tenant, found.name, rows, labelled=labelled)
        return Response(made.text, media_type="application/x-ndjson", headers=made.headers)

    def experiments(self, request: Request, id_: SetId) -> ExperimentsOut:
        """The experiments on a dataset."""
        caller = allowed(request.scope, Permission.READ)
        self._require_dataset(caller, id_)
        with self._store.reading(caller.tenant) as connection:
            found = list_experiments(connection, caller.tenant, id_)
        return ExperimentsOut(items=[ExperimentOut.of(one) for one in found])

    def begin(self, request: Request, id_: SetId, body: ExperimentBody) -> MadeOut:
        """Check the runs of a dataset again under a policy, beside the server's requests."""
        caller = allowed(request.scope, Permission.CHECK)
        self._require_dataset(caller, id_)
        policy = policy_by_name(self._store, caller.tenant, body.policy)
        if policy is None:
            raise ProblemError(
                422,
                "expected a preset, or the digest of a policy that decided here",
                code="dataset.policy",
                todo="The page of policies in the console lists those that there are.",
            )
        with _refusals_as_problems():
            made = start_experiment(
                self._store,
                caller.tenant,
                id_,
                body.name,
                policy=body.policy,
                policy_name=policy.name,
                judge=body.judge,
                maker=caller.name,
                actor=caller.actor,
            )
        return MadeOut(id=made)

    def experiment(self, request: Request, id_: ExperimentId, against: Against = "recorded") -> ComparisonOut:
        """An experiment beside what was recorded, or beside another experiment on the same dataset."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            found = read_experiment(connection, caller.tenant, id_)
            if found is None:
                raise unknown("experiment")
            rows = read_rows(connection, caller.tenant, found.dataset)
            after = read_outcomes(connection, caller.tenant, id_)
            before = None
            if against != "recorded":
                other = read_experiment(connection, caller.tenant, against)
                if other is None or other.dataset != found.dataset:
                    raise unknown("experiment on this dataset")
                before = read_outcomes(connection, caller.tenant, against)
        made = compare(rows, after, before)
        return ComparisonOut.model_validate(
            {"experiment": ExperimentOut.of(found), "against": against, **made.as_json()}
        )

    def stop(self, request: Request, id_: ExperimentId) -> Response:
        """End an experiment that is running."""
        caller = allowed(request.scope, Permission.CHECK)
        with _refusals_as_problems():
            end_experiment(self._store, caller.tenant, id_, ExperimentState.STOPPED, actor=caller.actor)
        return Response(status_code=204)

    def _require_dataset(self, caller: Caller, id_: str) -> Dataset:
        with self._store.reading(caller.tenant) as connection:
            found = read_dataset(connection, caller.tenant, id_)
        if found is None:
            raise unknown("dataset")
        return found


class _refusals_as_problems:  # noqa: N801 it reads as a statement
    """A block in which a `DatasetError` becomes a problem document."""

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, DatasetError):
            raise ProblemError(
                STATUS_OF_REFUSAL.get(error.code, 422), str(error), code=f"dataset.{error.code}"
            ) from error
