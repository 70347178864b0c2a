"""D-01..D-13: the keeper, spoken to by a hostile oyatd; and the bytes of the record."""
import array
import os
import pathlib
import random
import socket
import subprocess
import time

import kernel
from protobuf import field, message, parse
from server import Server

# Fields of KeeperRequest (src/wire/keeper_messages.hpp).
INFO, CREATE, LIST, ATTACH, KILL, FREEZE, UPDATE, DIAL, STATS, OPEN_AUDIT, DROP_AUDIT = range(2, 13)


def run_directory(server):
    import hashlib
    return pathlib.Path("/run/oyat") / hashlib.sha256(str(server.state.resolve()).encode()).hexdigest()[:12]


class Link:
    """One connection to the keeper's socket."""

    def __init__(self, server):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(10)
        self.socket.connect(str(run_directory(server) / "keeper.sock"))
        self.next_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def ask(self, kind, body=b"", fds=()):
        """(code, message text, fields, number of descriptors received) of one request."""
        self.next_id += 1
        packet = field(1, self.next_id) + field(kind, body)
        self.socket.sendmsg([packet], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])
        while True:
            data, ancillary, _, _ = self.socket.recvmsg(1 << 17, socket.CMSG_SPACE(8 * 4))
            received = []
            for level, kind_, payload in ancillary:
                if level == socket.SOL_SOCKET and kind_ == socket.SCM_RIGHTS:
                    received += list(array.array("i", payload[:len(payload) // 4 * 4]))
            if not data:
                raise ConnectionError("the keeper closed the connection")
            fields = parse(data)
            if fields.get(1, [0])[0] == self.next_id:
                for fd in received:
                    os.close(fd)
                return fields.get(2, [0])[0], fields.get(4, [b""])[0].decode(), fields, len(received)

    def create(self, **limits):
        return self.ask(CREATE, message(f1=self.digest, f3=message(**limits)))

    @property
    def digest(self):
        _, _, fields, _ = self.ask(13)
        first = parse(parse(fields[9][0])[1][0])
        return first[1][0].decode()


def own_server(body, full=False):
    """Runs a check on a server of its own, whose oyatd is stopped so that it does not take the link back."""
    with Server() as server:
        pid = server.ready()["oyatdPid"]
        os.kill(pid, 19)
        try:
            body(server, full) if body.__code__.co_argcount > 1 else body(server)
        finally:
            os.kill(pid, 18)


def strange_ids(server):
    """D-01, D-03: ids that name nothing, that were freed, or that are paths."""
    with Link(server) as link:
        for id_ in ("", "x", "i" * 21, "../../etc/passwd", "i/../../../../../", "a\0b", "I" + "A" * 20, "i" + "a" * 100_000, "/proc/1/root"):
            for kind in (ATTACH, KILL, FREEZE, DIAL):
                code, text, _, fds = link.ask(kind, message(f1=id_, f2=1))
                assert code != 0 and fds == 0, f"{kind} {id_[:30]!r}: {code} {text}"
            assert link.ask(UPDATE, message(f1=id_, f2=message(f1=1 << 30)))[0] != 0, id_[:30]
        for name in ("../x", "a/b", "", "A", "x" * 41, "a\0"):
            code, _, _, fds = link.ask(OPEN_AUDIT, message(f1=name, f2=1))
            assert code != 0 and fds == 0, name
        assert link.ask(INFO)[0] == 0


def limits_above(server):
    """D-02: limits above the keeper's ceiling are refused by the keeper itself."""
    with Link(server) as link:
        for limits in ({"f1": 1 << 60}, {"f2": (1 << 32) - 1}, {"f3": (1 << 32) - 1}, {"f4": 1 << 62}):
            code, text, _, _ = link.create(**limits)
            assert code != 0, f"{limits} was accepted: {text}"


def settled_descriptors(pid):
    """How many the keeper has once it has not opened or closed any for half a second: its pools fill at first."""
    count, since = len(kernel.descriptors(pid)), time.monotonic()
    while time.monotonic() - since < 0.5:
        time.sleep(0.02)
        now = len(kernel.descriptors(pid))
        if now != count:
            count, since = now, time.monotonic()
    return count


def descriptors(server):
    """D-05: descriptors that no message asks for are closed; none is leaked."""
    pid = server.ready()["keeperPid"]
    with Link(server) as link:
        link.ask(INFO)
        before = settled_descriptors(pid)
        null = os.open("/dev/null", os.O_RDONLY)
        for count in (1, 2, 100):
            try:
                link.ask(INFO, b"", [null] * count)
            except (OSError, ConnectionError):
                break
        os.close(null)
    with Link(server) as link:
        link.ask(INFO)
        assert settled_descriptors(pid) <= before, "descriptors were left open"


def garbage(server, full):
    """D-06: packets of any bytes close the connection at most; the keeper lives and takes the next."""
    pid = server.ready()["keeperPid"]
    dice = random.Random(7)
    for _ in range(2000 if full else 200):
        try:
            with Link(server) as link:
                packet = bytes(dice.randrange(256) for _ in range(dice.choice([0, 1, 2, 7, 64, 500])))
                link.socket.send(packet)
                link.socket.send(field(1, 1) + field(dice.randrange(1, 40), packet))
                link.socket.settimeout(0.01)
                link.socket.recv(1 << 17)
        except OSError:
            pass
    try:
        with Link(server) as link:
            link.socket.send(b"x" * 150_000)
    except OSError:
        pass
    assert pathlib.Path(f"/proc/{pid}").exists(), "the keeper died"
    with Link(server) as link:
        assert link.ask(INFO)[0] == 0


def floods(server):
    """D-07: creates in a loop meet the rate cap; the keeper's memory stays flat."""
    pid = server.ready()["keeperPid"]

    def resident():
        for line in open(f"/proc/{pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        return 0
    with Link(server) as link:
        digest = link.digest
        before, ids = resident(), []
        for _ in range(150):
            code, _, fields, _ = link.ask(CREATE, message(f1=digest))
            if code == 0:
                ids.append(parse(parse(fields[6][0])[1][0])[1][0].decode())
        for id_ in ids:
            assert link.ask(KILL, message(f1=id_))[0] == 0
        assert resident() - before < 16 * 1024, "the keeper's memory grew"


def strangers(server):
    """D-08: another local user can't connect."""
    path = run_directory(server) / "keeper.sock"
    probe = f"import socket; s=socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect({str(path)!r})"
    result = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", probe], capture_output=True)
    assert result.returncode != 0 and b"Permission" in result.stderr, result.stderr


def one_link(server):
    """D-09: a newer connection replaces the older one, and an attach replaces the agent's earlier connection."""
    with Link(server) as first:
        code, _, fields, fds = first.ask(CREATE, message(f1=first.digest))
        assert code == 0 and fds == 6, (code, fds)
        id_ = parse(parse(fields[6][0])[1][0])[1][0].decode()
        with Link(server) as second:
            assert second.ask(ATTACH, message(f1=id_))[0] == 0
            try:
                first.ask(INFO)
                raise AssertionError("the older connection still answers")
            except (ConnectionError, OSError):
                pass
            assert second.ask(KILL, message(f1=id_))[0] == 0


def foreign_record(server):
    """D-12: a record whose pid belongs to another process by now kills nothing: pid and start time are compared."""
    victim = subprocess.Popen(["sleep", "60"])
    try:
        with Link(server) as link:
            assert link.ask(CREATE, message(f1=link.digest))[0] == 0
        old = server.ready()
        os.kill(old["keeperPid"], 19)  # serve must not start the next one before the records are changed
        changed = 0
        for path in (server.state / "keeper" / "records").iterdir():
            content = path.read_bytes()  # the record's length and the record
            fields = parse(content[4:4 + int.from_bytes(content[:4], "little")])
            body = b"".join(field(number, victim.pid if number == 5 else value) for number, values in sorted(fields.items()) for value in values)
            path.write_bytes(len(body).to_bytes(4, "little") + body)
            changed += 1
        assert changed, "there was no record to change"
        os.kill(old["keeperPid"], 9)
        end = time.monotonic() + 30
        while server.ready()["keeperPid"] == old["keeperPid"]:
            assert time.monotonic() < end, "the keeper did not come back"
            time.sleep(0.1)
        with Link(server) as link:
            assert link.ask(INFO)[0] == 0
        assert victim.poll() is None, "a foreign process was killed"
    finally:
        victim.kill()
        victim.wait()


def written_record(server):
    """D-13: what is on the record can be neither rewritten nor cut nor removed by oyatd's user."""
    with server.client.create() as sandbox:
        sandbox.run("echo on the record")
    files = [path for path in (server.state / "audit").rglob("*") if path.is_file() and path.stat().st_size]
    assert files, "there is no record"
    for path in files[:3]:
        before = path.read_bytes()
        probe = (f"import os\np={str(path)!r}\nr=[]\n"
                 "for name,call in (('write',lambda: os.open(p,os.O_WRONLY)),('truncate',lambda: os.truncate(p,0)),('unlink',lambda: os.unlink(p)),"
                 "('rename',lambda: os.rename(p,p+'x'))):\n"
                 " try:\n  call(); r.append(name)\n except PermissionError: pass\n except OSError as e: r.append(f'{name} {e}')\nprint(r)")
        result = subprocess.run(["setpriv", "--reuid=oyat", "--regid=oyat", "--clear-groups", "/usr/bin/python3", "-c", probe], capture_output=True, text=True)
        assert result.stdout.strip() == "[]", result.stdout + result.stderr
        assert path.read_bytes().startswith(before)


def checks(tally, server, full):
    tally.check("D-01 D-03 strange ids", own_server, strange_ids)
    tally.check("D-02 limits above the ceiling", own_server, limits_above)
    tally.check("D-05 descriptors", own_server, descriptors)
    tally.check("D-06 garbage", own_server, garbage, full)
    tally.check("D-07 floods", own_server, floods)
    tally.check("D-08 strangers", strangers, server)
    tally.check("D-09 one link", own_server, one_link)
    tally.check("D-12 a record that lies", own_server, foreign_record)
    tally.check("D-13 the written record", written_record, server)
