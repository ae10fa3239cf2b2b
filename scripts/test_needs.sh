#!/bin/sh
# Installs what the tests need beyond Python (PostgreSQL's and RabbitMQ's servers, chromium, bubblewrap) where that is allowed
# (Debian, root); else named in one line. No server of the machine is started or touched: the tests start their own.
set -eu
cd "$(dirname "$0")/.."

has_postgres() {
    command -v initdb >/dev/null && command -v postgres >/dev/null && return
    for folder in /usr/lib/postgresql/*/bin "$(pg_config --bindir 2>/dev/null || true)"; do
        [ -x "$folder/initdb" ] && [ -x "$folder/postgres" ] && return
    done
    return 1
}

install_postgres() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "tests: installing Debian's postgresql, without a cluster of its own" >&2
    if [ ! -e /etc/postgresql-common/createcluster.conf ]; then # else the package starts a server at once
        mkdir -p /etc/postgresql-common
        echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
    fi
    sh scripts/apt_install.sh postgresql
}

has_postgres || install_postgres && has_postgres || {
    echo "tests: PostgreSQL's server programs (initdb, postgres) are missing: install them (Debian: apt-get install postgresql)" >&2
    exit 1
}

has_chromium() {
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null
}

install_chromium() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "tests: installing Debian's chromium" >&2
    sh scripts/apt_install.sh chromium
}

has_chromium || install_chromium && has_chromium || {
    echo "tests: chromium is missing, so no test of the browser runs: install it (Debian: apt-get install chromium)" >&2
}

has_bubblewrap() {
    command -v bwrap >/dev/null
}

install_bubblewrap() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "tests: installing Debian's bubblewrap" >&2
    sh scripts/apt_install.sh bubblewrap
}

has_bubblewrap || install_bubblewrap && has_bubblewrap || {
    echo "tests: bubblewrap is missing, so no test of the sandbox runs: install it (Debian: apt-get install bubblewrap)" >&2
}

has_rabbitmq() {
    ls /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server >/dev/null 2>&1
}

install_rabbitmq() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "tests: installing Debian's rabbitmq-server, which is not started" >&2
    RUNLEVEL=1 sh scripts/apt_install.sh rabbitmq-server # at run level 1 the package starts no server
}

has_rabbitmq || install_rabbitmq && has_rabbitmq || {
    echo "tests: RabbitMQ is missing, so no test of many workers runs: install it (Debian: apt-get install rabbitmq-server)" >&2
}
