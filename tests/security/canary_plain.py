"""The canary proof for values that a sandbox was given as they are: used, rotated, crashed with and exported, they are in no record,
log, error, export or core dump.
"""
import os
import signal

from canary import client_of, exports
from canary_scan import Scanner, generate
from client import Refused, Sandbox
from server import Server

# Prints a variable in the ways in which programs print things.
PRINTER = r"""
import base64, json, os, sys, time, urllib.parse
name = sys.argv[1]
value = os.environ[name]; data = value.encode()
for text in (value, json.dumps({name: value}), json.dumps(value).replace("/", "\\/"), data.hex(), data.hex().upper(),
             base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode(), base64.b64encode(b"user:" + data).decode(),
             base64.b64encode(b"me:" + data + b"\n").decode(), urllib.parse.quote(value), urllib.parse.quote(value, safe=""),
             urllib.parse.quote_plus(value), urllib.parse.quote(value, safe="").lower(), "".join("%%%02X" % b for b in data)):
    print(text)
for half in (value[:5], value[5:]):
    sys.stderr.write(half); sys.stderr.flush(); time.sleep(0.03)
"""


def use(sandbox, name):
    """Lets a variable of the sandbox show wherever a program or a client may make it show."""
    sandbox.write("/tmp/printer.py", PRINTER.encode())
    sandbox.run(["python3", "/tmp/printer.py", name])
    sandbox.run(f"python3 /tmp/printer.py {name}", pty=(80, 24))
    sandbox.run("rm /tmp/printer.py")


def refused_with(sandbox, value):
    """Calls that fail, with the value in what they were asked."""
    for call in (lambda: sandbox.run([value]), lambda: sandbox.run("true", cwd="/" + value), lambda: sandbox.run("true", user=value),
                 lambda: sandbox.read("/no/" + value), lambda: sandbox.write("/proc/" + value, b"x")):
        try:
            call()
        except (Refused, ValueError):
            pass


def plain_values_stay_out_of_the_record(_server):
    """B.9, C-13, C-14, R-11: values of secret variables, keys and tokens, over a run with a crash and a rotation, are in no
    record, log, error, export or core dump."""
    first, second, own_to_command = generate(), generate(), generate()
    values = {**{f"{n} first": v for n, v in first.items()}, **{f"{n} rotated": v for n, v in second.items()},
              **{f"{n} of a command": v for n, v in own_to_command.items()}}
    variables = {f"TEST_{name}_TOKEN": value for name, value in first.items()}
    with Server(ephemeral=False) as own:
        client = client_of(own)
        values["key"] = client.key
        made = client.api("POST", "/v2/sandboxes", {"templateID": "base", "timeout": 300, "envVars": variables})
        sandbox = Sandbox(client, made["sandboxID"], made["envdAccessToken"])
        values["token"] = sandbox.token
        scanner = Scanner(values)
        for name in variables:
            use(sandbox, name)
        for name, value in own_to_command.items():
            sandbox.run("env; printenv COMMAND_PASSWORD | base64 -w0; cat /proc/self/environ >&2", envs={"COMMAND_PASSWORD": value})
            if "\n" not in value:
                refused_with(sandbox, value)
        # While one runs that prints, oyatd dies; what comes afterwards is masked by what was stored.
        old = own.ready()
        running = sandbox.start(["/bin/sh", "-c", "for i in $(seq 40); do env; sleep 0.1; done"])
        next(running)
        next(running)
        os.kill(old["oyatdPid"], signal.SIGKILL)
        own.wait_restarted(old)
        client = client_of(own)
        sandbox.client = client
        sandbox.run("env")
        # A new sandbox with other values is what a rotation is for a plain variable.
        with client.create(envVars={name: second[name[5:8]] for name in variables}) as rotated:
            use(rotated, "TEST_s02_TOKEN")
            scanner.state(own.state)
            rotated.run("env")
            client.raw("GET", f"/v1/events?sandbox={rotated.id}&limit=1000", None, {"X-API-Key": client.key})
        client.seen.clear()
        for path in (f"/v1/events?sandbox={sandbox.id}&limit=1000", f"/v2/sandboxes/{sandbox.id}/logs", "/metrics", "/v1/events?limit=1000"):
            client.raw("GET", path, None, {"X-API-Key": client.key})
        scanner.bytes("answers about what happened", b"\n".join(client.seen))
        scanner.bytes("exports", exports(own, sandbox.id) + exports(own, rotated.id))
        sandbox.kill()
        own.stop()
        scanner.state(own.state)
    # A plain value is the sandbox's own: its store holds it, and its disk what programs wrote.
    allowed = {"database", "key file"}
    bad = sorted(hit for hit in scanner.hits if hit[0] not in allowed)
    assert not bad, f"{len(bad)} traces, such as {bad[:5]}"
    keys = {hit for hit in scanner.hits if hit[1] == "key" and hit[0] != "key file"}
    assert not keys, f"the server's key is in {keys}"
    assert scanner.in_place("database"), "nothing at all was found: the scan did not look at the right places"


def checks(tally, server, _full):
    tally.check("B.9 C-13 C-14 R-11 plain values stay out of the record", plain_values_stay_out_of_the_record, server)
