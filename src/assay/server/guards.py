"""The guards of a server: one for each policy that is used, all with the same network."""

import os
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from assay.config import Guard, build_guard, read_policy, read_settings
from assay.errors import PolicyError
from assay.models.interface import PairScorer
from assay.policy import PRESETS
from assay.receipt import open_keys


class Guards:
    """Guards by the name of their policy; made when they are first asked for, and kept."""

    def __init__(
        self,
        policy: str | Path | None = None,
        *,
        model: Path | None = None,
        scorer: PairScorer | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Make the default guard, and with it load the network.

        Args:
            policy: a preset or a policy file for requests that name no policy.
            model: the directory of another cross-encoder.
            scorer: a scorer in place of any network, such as one of `assay.testing`.
            environ: the environment; that of the process by default.

        Raises:
            PolicyError: there is no such policy.
            ModelError: the network cannot be loaded.
            ReceiptError: what `ASSAY_RECEIPT_KEYS` names cannot sign.
        """
        environ = os.environ if environ is None else environ
        keys = read_settings(environ).receipt_keys
        if keys is not None:
            # Told of now: with keys that cannot sign, nothing would ever be let out.
            open_keys(keys).signer()
        self._model, self._scorer, self._environ = model, scorer, environ
        self._default = self._made(policy)
        self._by_name: dict[str, Guard] = {}
        self._lock = Lock()

    @property
    def default(self) -> Guard:
        """The guard of requests that name no policy."""
        return self._default

    def get(self, name: str | None) -> Guard:
        """The guard of a preset, or the default one. A file is never opened because a request names it.

        Raises:
            PolicyError: there is no such preset.
        """
        if name is None or name == self._default.policy.name:
            return self._default
        if name not in PRESETS:
            raise PolicyError(f"a request names one of the policies {', '.join(PRESETS)}; got {name!r}")
        with self._lock:
            if name not in self._by_name:
                self._by_name[name] = self._made(name)
            return self._by_name[name]

    def _made(self, policy: str | Path | None) -> Guard:
        if self._scorer is not None:
            return Guard(read_policy(policy, self._environ), scorer=self._scorer, environ=self._environ)
        return build_guard(policy, self._model, self._environ)
