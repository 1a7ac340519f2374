# syntax=docker/dockerfile:1
# The server of assay: two stages, no compiler and no package manager's cache in the last one, nobody is root.
# For a build that is the same each time, name the base by its digest:
#   docker build --build-arg BASE=python:3.12-slim@sha256:DIGEST --tag assay .
# Read-only is enough for all but /var/lib/assay and /tmp:
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#     --volume assay:/var/lib/assay --publish 127.0.0.1:8080:8080 assay
ARG BASE=python:3.12-slim

FROM ${BASE} AS build
# What the server may use: `server` is itself, `postgres` the driver of PostgreSQL.
ARG EXTRAS=server,postgres,otel
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /source
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src ./src
RUN python -m venv /opt/assay && /opt/assay/bin/pip install ".[${EXTRAS}]"

FROM ${BASE} AS run
LABEL org.opencontainers.image.title="assay" \
      org.opencontainers.image.description="Tests every claim of an LLM's output for the evidence that it contains." \
      org.opencontainers.image.licenses="Apache-2.0"
RUN groupadd --gid 10001 assay \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/assay --shell /usr/sbin/nologin assay \
    && install --directory --owner=10001 --group=10001 --mode=0750 /var/lib/assay
COPY --from=build /opt/assay /opt/assay
ENV PATH=/opt/assay/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    ASSAY_DATABASE_URL=sqlite:////var/lib/assay/assay.db \
    ASSAY_LOG_FORMAT=json
USER 10001:10001
WORKDIR /var/lib/assay
VOLUME /var/lib/assay
EXPOSE 8080
# Whether the process answers. Whether it may be given requests is /readyz.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["assay"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080"]
