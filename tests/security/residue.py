"""R: nothing of one sandbox is in the next."""
import time

from client import Refused

MARK = "oyat-residue-canary-7f3a"


def no_trace(server):
    """R-01, R-02: marks left in files, memory, environment and processes of one are in none of the next, pooled or not."""
    with server.client.create(envVars={"LEFT": MARK}) as first:
        first.run(f"echo {MARK} | tee /tmp/m /dev/shm/m /home/user/m /var/tmp/m /opt/m /etc/m >/dev/null; hostname", user="root")
        first.run(f"(exec -a {MARK} sleep 300) >/dev/null 2>&1 &")
    for _ in range(6):
        with server.client.create() as later:
            found = later.run(f"grep -rl {MARK} /tmp /dev/shm /home /var/tmp /opt /etc /root /run 2>/dev/null; env | grep {MARK};"
                              f" ps aux | grep {MARK} | grep -v grep; true", user="root").stdout
            assert found == "", f"found: {found}"


def ids_are_new(server):
    """R-03: an id is never given twice, and the dead one's door says so."""
    seen = set()
    for _ in range(20):
        sandbox = server.client.create()
        assert sandbox.id not in seen
        seen.add(sandbox.id)
        sandbox.kill()
    try:
        sandbox.run("true")
        raise AssertionError("a dead sandbox ran a command")
    except Refused as refused:
        assert refused.status == 502, refused


def tokens_end(server):
    """R-04: the token of one is refused by another, and by everything once its sandbox is gone."""
    with server.client.create() as one, server.client.create() as other:
        own, foreign = one.token, other.token
        one.token = foreign
        try:
            one.run("true")
            raise AssertionError("the token of another sandbox was accepted")
        except Refused as refused:
            assert refused.status == 401, refused
        finally:
            one.token = own


def names_are_own(server):
    """R-10: what one sandbox resolved or pinned is of no use to another: each has its own name server."""
    with server.client.create() as one, server.client.create(allow_internet_access=False) as other:
        one.run("getent hosts deb.debian.org || true")
        began = time.monotonic()
        result = other.run("getent hosts deb.debian.org")
        assert result.exit_code != 0, "a sandbox without internet got a name that another had resolved"
        assert time.monotonic() - began < 5


def cores_and_logs(server):
    """R-11: no core dump is written, and oyat's own log holds nothing of a sandbox's content."""
    with server.client.create() as sandbox:
        result = sandbox.run(f"ulimit -c; cd /tmp && sh -c 'echo {MARK}; kill -SEGV $$'; ls /tmp/core* 2>/dev/null | wc -l")
        assert result.stdout.splitlines()[0] == "0" and result.stdout.splitlines()[-1] == "0", result.stdout
        sandbox.write(f"/tmp/{MARK}", MARK.encode())
    for log in (server.state / "log").glob("*.log"):
        assert MARK not in log.read_text(errors="replace"), f"{log.name} holds content of a sandbox"


def fresh_disk(server):
    """R-12: what was never written reads as zeros, whatever lay on that disk before."""
    with server.client.create() as first:
        first.run(f"yes {MARK} | head -c 50000000 > /home/user/fill; sync; rm /home/user/fill")
    with server.client.create() as later:
        result = later.run("fallocate -l 50M /home/user/new 2>/dev/null || truncate -s 50M /home/user/new; tr -d '\\0' < /home/user/new | wc -c")
        assert result.stdout.strip() == "0", result.stdout


def checks(tally, server, _full):
    tally.check("R-01 R-02 no trace of an earlier sandbox", no_trace, server)
    tally.check("R-03 ids are new", ids_are_new, server)
    tally.check("R-04 tokens end", tokens_end, server)
    tally.check("R-10 names are each sandbox's own", names_are_own, server)
    tally.check("R-11 core dumps and logs", cores_and_logs, server)
    tally.check("R-12 fresh disk", fresh_disk, server)
