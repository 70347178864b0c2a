"""The operator's brakes: a hundred busy sandboxes are cut off and held, with oyatd and without it, with agents that answer and agents that
don't. That a sandbox is busy is shown by the test's Internet, before and after; that it is cut off, by the log of packets there."""
import json
import os
import pathlib
import signal
import subprocess
import time

import kernel
from client import Refused
from internet import SHARED
from server import BUILD, Server

MANY = 100
# One connection after the other, each for two seconds, whatever becomes of it.
BUSY = f"""
import socket, time
while True:
    try:
        with socket.create_connection(({SHARED!r}, 7), timeout=1) as away:
            for _ in range(8):
                away.sendall(b"busy" * 100)
                away.recv(65536)
                time.sleep(0.25)
    except OSError:
        pass
    time.sleep(0.2)
"""
REACH = f"import socket; s = socket.create_connection(({SHARED!r}, 7), timeout=3); s.sendall(b'x'); raise SystemExit(s.recv(1) != b'x')"


def start(sandbox, program):
    """Runs it inside, away from this connection: the sandbox may be held or ended under it."""
    sandbox.write("/tmp/guest.py", program.encode())
    sandbox.run("setsid python3 /tmp/guest.py >/dev/null 2>&1 </dev/null & disown")


def oyat(server, *words, past_server=False, check=True):
    """The command line, as root: by the server, or by the keeper of its state."""
    state = ["--state", str(server.state)] if past_server else []
    done = subprocess.run([BUILD / "bin" / "oyat", *words, *state, "--json"], env={**os.environ, **server.environment()},
                          capture_output=True, text=True, timeout=60)
    assert not check or done.returncode == 0, f"oyat {' '.join(words)}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout.splitlines()[0]) if done.stdout.strip() else None


class Crowd:
    """Sandboxes that talk to the test's Internet all the time."""

    def __init__(self, server, internet):
        self.server, self.internet = server, internet
        self.sandboxes = []
        for _ in range(MANY):
            sandbox = server.client.create(timeout=3600)
            start(sandbox, BUSY)
            self.sandboxes.append(sandbox)
        self.must_be_busy()

    def must_be_busy(self):
        """Each of them is heard: so many new connections, and bytes on them."""
        end = time.monotonic() + 60
        seen = len(self.internet.services.visits)
        while time.monotonic() < end:
            fresh = [visit for visit in self.internet.services.visits[seen:] if visit.port == 7 and visit.bytes]
            if len(fresh) >= 2 * MANY:
                return
            time.sleep(0.1)
        raise AssertionError("the sandboxes are not busy")

    def must_be_silent(self, since, seconds=3):
        """Nothing arrives later than half a second after `since`."""
        time.sleep(max(0, since + 0.5 - time.monotonic()))
        before = len(self.internet.packets.all())
        time.sleep(seconds)
        late = self.internet.packets.all()[before:]
        assert not late, f"{len(late)} packets after half a second, the first to {late[:3]}"

    def freezers(self):
        """State of each sandbox's freezer, as the kernel says."""
        ids = {sandbox.id for sandbox in self.sandboxes}
        found = {}
        for root, folders, _ in os.walk("/sys/fs/cgroup"):
            for name in ids.intersection(folders):
                path = pathlib.Path(root) / name
                if (path / "freezer.state").exists():
                    found[name] = (path / "freezer.state").read_text().strip() == "FROZEN"
                elif (path / "cgroup.freeze").exists():
                    found.setdefault(name, "frozen 1" in (path / "cgroup.events").read_text())
        return found


def kill_oyatd(server):
    old = server.ready()
    os.kill(old["oyatdPid"], signal.SIGKILL)
    return old


def agents(server):
    """Host pids of the first process of each sandbox."""
    state_id = (server.state / "keeper" / "id").read_text().strip()
    found = []
    for pid in kernel.sandbox_processes(state_id):
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            inside = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[-1]
        except (OSError, StopIteration):
            continue
        if inside == "1":
            found.append(pid)
    return found


def cut_by_server(crowd):
    """`oyat egress off`: silence within half a second; new sandboxes have no way out either; `on` lets them talk again."""
    began = time.monotonic()
    oyat(crowd.server, "egress", "off", "--all")
    crowd.must_be_silent(began)
    with crowd.server.client.create() as late:
        assert late.run(["python3", "-c", REACH]).exit_code != 0
    oyat(crowd.server, "egress", "on")
    crowd.must_be_busy()


def cut_without_oyatd(crowd):
    """oyatd is killed, and the keeper alone is told: silence, also after oyatd has come back, until it is lifted."""
    old = kill_oyatd(crowd.server)
    began = time.monotonic()
    answer = oyat(crowd.server, "egress", "off", "--all", past_server=True)
    assert answer["egress_off"] is True, answer
    crowd.must_be_silent(began)
    crowd.server.wait_restarted(old)
    assert oyat(crowd.server, "status")["egress_off"] is True
    crowd.must_be_silent(time.monotonic())
    oyat(crowd.server, "egress", "on", "--all", past_server=True)
    crowd.must_be_busy()


def cut_over_restart(crowd):
    """A restart of both daemons does not lift it."""
    oyat(crowd.server, "egress", "off")
    old = crowd.server.ready()
    for victim in ("oyatdPid", "keeperPid"):
        os.kill(old[victim], signal.SIGKILL)
    crowd.server.wait_restarted(old)
    crowd.must_be_silent(time.monotonic())
    oyat(crowd.server, "egress", "on")
    crowd.must_be_busy()


def all_held_within(crowd, began, seconds=1.0):
    took = time.monotonic() - began
    held = crowd.freezers()
    assert len(held) == MANY and all(held.values()), f"{sum(held.values())} of {MANY} are held"
    assert took <= seconds, f"it took {took:.2f} s"


def stop_by_server(crowd):
    """`oyat stop --all`: each stands still within a second; clients can't resume, kill or create; the record says who did it."""
    began = time.monotonic()
    oyat(crowd.server, "stop", "--all")
    all_held_within(crowd, began)
    crowd.must_be_silent(began)
    one = crowd.sandboxes[0]
    for attempt in (lambda: one.client.api("POST", f"/sandboxes/{one.id}/connect", {"timeout": 60}), one.kill, crowd.server.client.create):
        try:
            attempt()
        except Refused as refused:
            assert "operator" in json.dumps(refused.body), refused
        else:
            raise AssertionError("a client could do it")
    try:
        one.run("true")
    except Refused as refused:
        assert refused.status == 502, refused
    else:
        raise AssertionError("a command ran in a sandbox that is held")
    held = [json.loads(line) for line in one.client.raw("GET", f"/v1/events?sandbox={one.id}&type=sandbox.held", None,
                                                        {"X-API-Key": one.client.key})[2].splitlines()]
    assert held, "the record does not say that it is held"
    oyat(crowd.server, "thaw", "--all")
    oyat(crowd.server, "egress", "on")
    crowd.must_be_busy()


def stop_without_oyatd(crowd):
    """With oyatd killed and every agent stopped: the keeper holds them all, and oyatd finds them held."""
    stopped = agents(crowd.server)
    assert len(stopped) >= MANY, f"{len(stopped)} agents"
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    old = kill_oyatd(crowd.server)
    began = time.monotonic()
    answer = oyat(crowd.server, "stop", "--all", past_server=True)
    all_held_within(crowd, began)
    assert answer["stopped"] is True and answer["held"] >= MANY, answer
    crowd.server.wait_restarted(old)
    assert all(crowd.freezers().values()), "the restart let some go"
    crowd.must_be_silent(time.monotonic(), seconds=1)
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
    oyat(crowd.server, "thaw", "--all")
    oyat(crowd.server, "egress", "on")
    crowd.must_be_busy()


def kill_without_agent(crowd):
    """A sandbox whose agent does not answer, and one that is held, are ended all the same; without oyatd, too."""
    first, second, third = crowd.sandboxes.pop(), crowd.sandboxes.pop(), crowd.sandboxes.pop()
    for pid in agents(crowd.server):
        os.kill(pid, signal.SIGSTOP)
    try:
        oyat(crowd.server, "kill", first.id)
        oyat(crowd.server, "freeze", second.id)
        assert oyat(crowd.server, "kill", second.id, check=False)["error"]["code"] == "failed_precondition"
        oyat(crowd.server, "kill", "--force", second.id)
        old = kill_oyatd(crowd.server)
        oyat(crowd.server, "kill", "--force", third.id, past_server=True)
    finally:
        for pid in agents(crowd.server):
            os.kill(pid, signal.SIGCONT)
    crowd.server.wait_restarted(old)
    for sandbox, why in ((first, "killed"), (second, "operator"), (third, "operator")):
        info = oyat(crowd.server, "info", sandbox.id)
        assert info["state"] == "ended" and info["ended_by"] == why, info


def stop_by_label_and_key(server):
    """Only those with the label, and only those of the key, which opens nothing afterwards."""
    with server.client.create(metadata={"job": "42"}) as mine, server.client.create() as other:
        oyat(server, "stop", "--label", "job=42")
        assert oyat(server, "info", mine.id)["held"] and oyat(server, "info", mine.id)["egress_off"]
        assert not oyat(server, "info", other.id)["held"]
        oyat(server, "thaw", mine.id)
        oyat(server, "egress", "on", mine.id)
        made = oyat(server, "key", "create", "suspect", "--scope", "run")
        client = type(server.client)(server.ready()["url"], made["key"])
        suspect = client.create()
        assert oyat(server, "stop", "--key", made["id"])["held"] == 1
        assert oyat(server, "info", suspect.id)["held"]
        try:
            client.create()
        except Refused as refused:
            assert refused.status == 401, refused
        else:
            raise AssertionError("a key that was stopped makes sandboxes")
        assert not oyat(server, "info", other.id)["held"]
        oyat(server, "kill", "--force", suspect.id)


def checks(tally, internet):
    names = {"brakes: egress off by the server": cut_by_server, "brakes: egress off without oyatd": cut_without_oyatd,
             "brakes: egress off over restarts": cut_over_restart, "brakes: stop --all by the server": stop_by_server,
             "brakes: stop --all without oyatd and agents": stop_without_oyatd, "brakes: kill without an agent": kill_without_agent}
    if not any(map(tally.wants, [*names, "brakes: stop by label and key"])):
        return
    with Server(options=internet.options()) as server:
        tally.check("brakes: stop by label and key", stop_by_label_and_key, server)
        if any(map(tally.wants, names)):
            crowd = Crowd(server, internet)
            for name, check in names.items():
                tally.check(name, check, crowd)
