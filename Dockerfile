# Jurado in one image: the server, its graders, the bundled problems. Data lives in the volume /data.
#   docker build -t jurado . && docker run --rm -p 8000:8000 -v jurado:/data jurado

FROM python:3.13-slim AS build
# The version scripts/setup.sh pins.
RUN pip install --no-cache-dir uv==0.13.8
ENV UV_PYTHON_DOWNLOADS=never UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy
WORKDIR /src
# Extras of pyproject.toml, such as "--extra postgres --extra distributed --extra s3" for many servers (deploy/compose.yaml).
ARG EXTRAS=""
# The libraries first: this layer stays as long as the lock file does.
COPY pyproject.toml uv.lock README.md LICENSE ./
RUN uv venv /jurado \
    && uv export --quiet --frozen --no-emit-project --extra kernels $EXTRAS --output-file requirements.txt \
    && uv pip install --python /jurado/bin/python --requirement requirements.txt
COPY app app
COPY client client
COPY checkers checkers
COPY games games
COPY solvers solvers
COPY problems problems
COPY migrations migrations
COPY docs/guides docs/guides
COPY docs/screenshots docs/screenshots
RUN uv build --quiet --wheel && uv pip install --python /jurado/bin/python --no-deps dist/*.whl
COPY scripts/warm_kernels.py /jurado/warm_kernels.py

FROM python:3.13-slim
# For programs that packages bring; they also need rights that a container has only if it is given them: docs/guides/operating.md.
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --home-dir /data --create-home --shell /usr/sbin/nologin jurado \
    && install --directory --owner jurado /cache
COPY --from=build /jurado /jurado
ENV PATH=/jurado/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    JURADO_HOME=/data \
    JURADO_HOST=0.0.0.0 \
    JURADO_PORT=8000 \
    NUMBA_CACHE_DIR=/cache
WORKDIR /data
USER jurado
# Compile the kernels of every bundled problem now, into the image.
RUN python /jurado/warm_kernels.py
VOLUME /data
EXPOSE 8000
# A start that brings a large database to a new schema takes long: what fails meanwhile does not count.
HEALTHCHECK --interval=10s --timeout=5s --start-period=600s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"JURADO_PORT\"]}/health/ready', timeout=4)"]
# A signal to stop reaches the server itself, and a zombie's parent is Docker's init if --init is given.
CMD ["jurado", "serve"]
