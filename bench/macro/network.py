"""What bench/run measures of the way out: names, relayed bytes, connections that are read, and what a policy costs calls."""
import contextlib
import json
import pathlib
import random
import statistics
import subprocess
import time

import wire
from client import Client
from server import BUILD

HERE = pathlib.Path(__file__).resolve().parent
RULES = [{"id": f"r{i}", "action": "allow", "host": [f"*.service{i}.example", f"service{i}.example"], "port": [443, 8443]} for i in range(100)]
POLICY = {"preset": "packages-only", "rule": RULES}


def program(name):
    """The figures that a program of bench/micro prints."""
    out = subprocess.run([BUILD / "bin" / name], capture_output=True, text=True, check=True).stdout
    return {figure["name"]: figure["value"] for figure in map(json.loads, out.splitlines())}


def relay(table, _server, _n):
    names = program("egress_bench")
    table.row("a name from the cache, p50", names["dns_cached_p50"] / 1000, "ms", "0.2 ms", floor=1)
    table.row("a name that is asked for, beside its server on loopback, p50", names["dns_asked_p50"] / 1000, "ms")
    out = program("egress_relay_bench")
    table.row("one loopback connection", out["direct"], "MB/s")
    table.row("a minimal copying proxy", out["copying_proxy"], "MB/s")
    table.row("a connection that is passed on", out["pass_through"], "MB/s", "1,000 MB/s")
    table.row("... over the copying proxy", out["pass_through_over_copying_proxy"], "x", "0.75 x", floor=0.5, larger_is_better=True)
    table.row("first byte of a new connection, added, p50", out["first_byte_added_p50"], "ms", "0.3 ms", floor=2)
    table.row(f"memory of each of {out['open_connections']:,.0f} open connections", out["memory_of_each"], "KiB", "30 KiB", floor=60)


def reading(table, _server, n):
    out = subprocess.run([HERE / "read_rates.py", str(5 if n >= 100 else 2), str(20_000 if n >= 100 else 2_000)], capture_output=True, text=True)
    if out.returncode != 0:
        raise RuntimeError(out.stderr[-2000:])
    rates = json.loads(out.stdout.splitlines()[-1])
    for way, samples in rates.items():
        table.row(f"requests over TLS, {way}", statistics.median(samples), "a second", note=f"median of {len(samples)}, 1,000 bytes, 16 connections")
    for protocol in ("HTTP/1.1", "HTTP/2"):
        if f"mitmproxy, {protocol}" in rates:
            ratio = statistics.median(rates[f"oyat, {protocol}"]) / statistics.median(rates[f"mitmproxy, {protocol}"])
            table.row(f"oyat over mitmproxy, {protocol}", ratio, "x", "3 x", floor=2, larger_is_better=True)
        else:
            table.missing(f"oyat over mitmproxy, {protocol}", "mitmproxy is not installed")


def policies(table, server, n):
    """Creates and commands of a tenant with a policy of a hundred rules beside those of one without, 10 n of each in turn; and creates that
    bring such a document with them."""
    sides = {"without": (server.client, {}), "with": (tenant_with_policy(server), {}), "own": (server.client, {"policy": POLICY})}
    samples = {(what, side): [] for what in ("create", "exec") for side in sides}
    with contextlib.ExitStack() as scope:
        living = {side: (wire.Wire(client), scope.enter_context(client.create(timeout=3600, policy=fields.get("policy")))) for side, (client, fields) in sides.items()}
        for round_ in range(20 + 10 * n):
            for side in random.sample(list(sides), len(sides)):
                client, fields = sides[side]
                connection, sandbox = living[side]
                took = {"exec": timed(lambda: connection.exec_true(sandbox))}
                made = []
                body = json.dumps({"template": "base", **fields})
                headers = {"X-API-Key": client.key, "Content-Type": "application/json"}
                took["create"] = timed(lambda: made.append(client.raw("POST", "/v1/sandboxes", body, headers)[2]))
                client.api("DELETE", f"/v1/sandboxes/{json.loads(made[0])['id']}")
                if round_ >= 20:
                    for what, milliseconds in took.items():
                        samples[what, side].append(milliseconds)
    for (what, side), taken in samples.items():
        table.keep(f"wire, {what}, {side} policy", taken)
    for what in ("create", "exec"):
        compare(table, f"{what} under a tenant's policy of 100 rules over one without", samples[what, "with"], samples[what, "without"], "1.02 x")
    compare(table, "create with a document of 100 rules of its own over one without", samples["create", "own"], samples["create", "without"])


def timed(call):
    """Milliseconds."""
    began = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - began)


def tenant_with_policy(server):
    key = server.client.api("POST", "/v1/keys", {"name": "bench", "tenant": "ruled", "scopes": ["admin", "run", "read"]})["key"]
    client = Client(server.client.url.geturl(), key)
    client.api("PUT", "/v1/tenants/self/policy", POLICY)
    return client


def compare(table, what, with_, without, target=""):
    table.row(f"{what}, p50", statistics.median(with_) / statistics.median(without), "x", target, floor=1.2,
              note=f"N = {len(with_)} each, interleaved; {statistics.median(without):.2f} ms without")


MEASURES = {"relay": relay, "reading": reading, "policies": policies}
