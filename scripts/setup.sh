#!/bin/sh
# Make .venv as uv.lock says. Needs only a Python 3.11 or newer: uv is found, or installed into .tools.
# `setup.sh` installs what serving needs; `setup.sh GROUP...` adds groups of pyproject.toml, such as test and lint. A call
# that finds everything installed returns at once.
set -eu
cd "$(dirname "$0")/.."

UV_VERSION=0.13.8 # the one this repository is locked with
OLDEST_UV=0.9.0   # reads this lock file
OLDEST_PYTHON="3, 11"
FIRST_TOO_NEW="3, 16" # numba has no wheel for it

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# The path of the Python behind the name $1, if it is CPython of a fitting version. A name can be there and yet
# not run (pyenv's shims), so it is asked and not believed; one of an environment names the one it was made from.
python_behind() {
    "$1" -c "
import platform, sys
fits = ($OLDEST_PYTHON) <= sys.version_info < ($FIRST_TOO_NEW) and platform.python_implementation() == 'CPython'
sys.exit(print(getattr(sys, '_base_executable', sys.executable)) if fits else 1)" 2>/dev/null
}

find_python() {
    for name in "${PYTHON:-python3}" python3 python3.11 python3.12 python3.13 python3.14 python3.15 /usr/bin/python3; do
        python_behind "$name" && return
    done
    die "Jurado needs CPython 3.11 to 3.15 and found none: install one (Debian: apt-get install python3) or name it: PYTHON=/path/to/python3 make setup"
}

is_recent_uv() {
    found=$("$1" --version 2>/dev/null | cut -d ' ' -f 2) && [ -n "$found" ] &&
        [ "$(printf '%s\n%s\n' "$OLDEST_UV" "$found" | sort -V | head -n 1)" = "$OLDEST_UV" ]
}

uv_by_venv() { # $1: a Python
    rm -rf .tools/uv && "$1" -m venv .tools/uv >/dev/null 2>&1 &&
        .tools/uv/bin/python -m pip install --quiet --disable-pip-version-check "uv==$UV_VERSION" >&2
}

uv_by_pip() { # $1: a Python that has pip but cannot make environments
    "$1" -m pip --version >/dev/null 2>&1 || return 1
    rm -rf .tools/uv &&
        "$1" -m pip install --quiet --disable-pip-version-check --target .tools/uv "uv==$UV_VERSION" >&2
}

uv_by_debian() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || return 1
    say "installing Debian's python3-venv"
    sh scripts/apt_install.sh python3-venv && uv_by_venv /usr/bin/python3
}

find_uv() {
    for candidate in uv .tools/uv/bin/uv; do
        is_recent_uv "$candidate" && { command -v "$candidate"; return; }
    done
    mkdir -p .tools
    say "installing uv $UV_VERSION into .tools"
    uv_by_venv "$1" || uv_by_pip "$1" || uv_by_debian ||
        die "cannot install uv: $1 has no working venv or pip, or no package index answers (Debian: apt-get install python3-venv; or install uv yourself)"
    is_recent_uv .tools/uv/bin/uv || die "uv was installed into .tools/uv but does not run"
    echo .tools/uv/bin/uv
}

wanted() { { pwd; cat uv.lock pyproject.toml scripts/setup.sh; } | cksum; }

stamp=.venv/.jurado-setup # what was asked for, then the groups installed
installed=
[ -x .venv/bin/jurado ] && [ -x .venv/bin/python ] && [ -f $stamp ] && installed=$(tail -n +2 $stamp)
missing=
for group in serve "$@"; do
    printf '%s\n' "$installed" | grep -qx "$group" || missing="$missing $group"
done
[ -z "$missing" ] && [ "$(head -n 1 $stamp)" = "$(wanted)" ] && exit 0
set -- $installed "$@" # groups that are installed stay
options="--extra kernels"
for group in "$@"; do
    [ "$group" = serve ] || options="$options --group $group"
done
python=$(find_python)
uv=$(find_uv "$python")
say "making .venv with $python"
# Compiled now, once: where Python may not keep what it compiles, each solver and grader would compile its libraries again.
UV_PYTHON_DOWNLOADS=never "$uv" sync --frozen --quiet --compile-bytecode --python "$python" $options ||
    die "uv could not make .venv; the lines above say why"
{ wanted; printf '%s\n' serve "$@" | sort -u; } >$stamp
