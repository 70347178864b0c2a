# Shared by the scripts: sourced, never run. Messages go to standard error, so that results can go to standard output.
set -euo pipefail

OYAT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
OYAT_BUILD=${OYAT_BUILD:-$OYAT_ROOT/build/release}
OYAT_BIN=$OYAT_BUILD/bin
OYAT_TEMPLATES=${OYAT_TEMPLATES:-/var/lib/oyat/templates}
OYAT_USER=${OYAT_USER:-oyat}

if [ -t 2 ]; then
    bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' plain=$'\e[0m'
else
    bold='' dim='' red='' plain=''
fi

step() { printf '%s==>%s %s\n' "$bold" "$plain" "$*" >&2; }
note() { printf '%s    %s%s\n' "$dim" "$*" "$plain" >&2; }
die() {
    printf '%serror:%s %s\n' "$red" "$plain" "$*" >&2
    exit 1
}

# usage_if_asked "$@": prints the comment block at the top of the calling script for --help.
usage_if_asked() {
    for word in "$@"; do
        if [ "$word" = --help ] || [ "$word" = -h ]; then
            sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
            exit 0
        fi
    done
}

need_root() {
    [ "$(id -u)" = 0 ] || die "this needs root: it makes namespaces and mounts (try: sudo $0 $*)"
}

# run_quietly WHAT LOG COMMAND...: shows the command's output only when it fails, and twice a minute where it has got to.
run_quietly() {
    local what=$1 log=$2 failed=no reporter
    shift 2
    mkdir -p "$(dirname "$log")"
    report_last_line "$log" &
    reporter=$!
    "$@" >"$log" 2>&1 || failed=yes
    kill "$reporter" 2>/dev/null || true
    wait "$reporter" 2>/dev/null || true
    if [ "$failed" = yes ]; then
        tail -n 40 "$log" >&2
        die "$what failed; the whole log is $log"
    fi
}

# Waits without a program of its own, which would outlive it and hold our output open.
report_last_line() {
    local line never
    exec 7<> <(:)
    while ! read -r -t 30 -u 7 never; do
        line=$(tail -n 1 "$1" 2>/dev/null | tr -d '\r' | cut -c 1-100)
        [ -z "$line" ] || note "$line"
    done
}

# The words of a package list without comments and empty lines.
list_packages() { sed 's/#.*//; /^[[:space:]]*$/d' "$1"; }

# Sets proxy_options: what the machine's own apt needs to reach its mirrors holds for mmdebstrap, too.
proxy_options() {
    local line
    proxy_options=()
    while read -r line; do
        proxy_options+=("--aptopt=$line")
    done < <(apt-config dump | grep -E '^Acquire::(http|https)::(Proxy|CAInfo) ' || true)
}

# Sets PATH so that `node` is at least 20.18, as scripts/setup left it.
use_node() {
    if [ -x "$OYAT_ROOT/build/node/bin/node" ]; then
        PATH=$OYAT_ROOT/build/node/bin:$PATH
    fi
    export PATH
}

# remove_state DIR: removes a server's state. The record carries the append-only attribute, so that the daemons can't change it;
# taking it away is the act of whoever owns the machine.
remove_state() {
    [ ! -d "$1/audit" ] || chattr -R -f -a "$1/audit" || true
    rm -rf --one-file-system "$1"
}
