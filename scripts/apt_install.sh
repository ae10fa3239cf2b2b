#!/bin/sh
# Install Debian packages quietly; the output of apt-get is shown only if it fails.
set -eu
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
if { apt-get update && apt-get install -y --no-install-recommends "$@"; } >"$log" 2>&1 </dev/null; then
    rm -f "$log"
else
    cat "$log" >&2
    rm -f "$log"
    exit 1
fi
