# What the checks have in common: sourced by smoke.sh, inside the machine.
failures=0

# check WHAT COMMAND...: prints PASS or FAIL, and what the command said when it failed.
check() {
    what=$1
    shift
    if "$@" >/results/said 2>&1; then
        echo "PASS $what"
    else
        echo "FAIL $what (ended with $?)"
        tail -n 15 /results/said | sed 's/^/     | /'
        failures=$((failures + 1))
    fi
}

# within SECONDS COMMAND...: again and again, until it succeeds.
within() {
    deadline=$(($(date +%s) + $1))
    shift
    until "$@"; do
        [ "$(date +%s)" -lt "$deadline" ] || return 1
        sleep 0.5
    done
}

# says TEXT COMMAND...: the command's output, errors too, has the text in it.
says() {
    text=$1
    shift
    said=$("$@" 2>&1 </dev/null) || true
    printf '%s\n' "$said"
    case $said in *"$text"*) return 0 ;; esac
    return 1
}

# ends_with CODE COMMAND...
ends_with() {
    wanted=$1
    shift
    code=0
    "$@" </dev/null || code=$?
    echo "ended with $code"
    [ "$code" = "$wanted" ]
}


# fails COMMAND...: it ran, and said no. (From 124 to 127: it took too long, or could not be run.)
fails() {
    code=0
    "$@" </dev/null || code=$?
    echo "ended with $code"
    [ "$code" != 0 ] && { [ "$code" -lt 124 ] || [ "$code" -gt 127 ]; }
}

is_gone() { ! [ -e "$1" ]; }
pid_of() { systemctl show -p MainPID --value "$1"; }
active() { systemctl is-active "$1"; }
