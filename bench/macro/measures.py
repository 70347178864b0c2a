"""What bench/run measures of oyat itself. Each function adds rows to the table; `n` is 100, or 10 for a quick look."""
import json
import os
import pathlib
import random
import statistics
import subprocess
import time

import wire
from instant_server import InstantServer
from peers import ENVIRONMENT
from server import BUILD, Server
from table import quantile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXEC_PAUSE = 0.003  # what a bash -l takes: with it, the SDK's own work overlaps with the command's as it does in truth


def sdk(environment, *words):
    environment = {**os.environ, **environment}
    node = ROOT / "build" / "node" / "bin"
    if node.exists():
        environment["PATH"] = f"{node}:{environment['PATH']}"
    out = subprocess.run(["node", "sdk.mjs", *map(str, words)], cwd=ROOT / "bench" / "macro", env=environment, capture_output=True, text=True)
    if out.returncode != 0:
        raise RuntimeError(out.stderr[-2000:])
    return json.loads(out.stdout)


def sdk_alone(*words, pause=0.0):
    """The same calls against a server that answers at once: what no server can be faster than, on this machine."""
    with InstantServer(pause) as url:
        return sdk({"E2B_API_URL": url, "E2B_SANDBOX_URL": url, "E2B_API_KEY": "e2b_" + 40 * "0"}, *words)


def start(table, server, n):
    samples, alone = sdk(server.environment(), "tti", n), sdk_alone("tti", n, pause=EXEC_PAUSE)
    table.spread("JS SDK, create", samples["create"])
    table.spread("JS SDK, create to first command finished", samples["first"], "p50 10 ms, p99 30 ms", floor=50)
    table.spread("the SDK alone (a server that creates at once and whose command takes 3 ms)", alone["first"])


def execs(table, server, n):
    samples, alone = sdk(server.environment(), "exec", 3 * n), sdk_alone("exec", n)
    table.spread("JS SDK, exec of bash -l -c true", samples["exec"])
    table.spread("host spawn in the same run", samples["host"])
    table.row("JS SDK exec over host spawn, p50", statistics.median(samples["exec"]) - statistics.median(samples["host"]), "ms", "1.5 ms", floor=10)
    table.spread("the SDK alone, exec (a server that answers at once)", alone["exec"])
    table.spread("wire, exec of /bin/true", wire.exec_samples(server.client, 3 * n), "1.5 ms", floor=5)


def record(table, server, n):
    """Exec beside a server without a record, 10 n samples of each in turn."""
    without = BUILD / "unrecorded"
    for name in ("oyat", "oyat-agent", "oyat-keeper"):
        link = without / "bin" / name
        link.unlink(missing_ok=True)
        link.symlink_to(BUILD / "bin" / name)
    with Server(build=without) as other, server.client.create() as recorded, other.client.create() as unrecorded:
        sides = [(wire.Wire(server.client), recorded, []), (wire.Wire(other.client), unrecorded, [])]
        for round_ in range(20 + 10 * n):
            random.shuffle(sides)
            for connection, sandbox, samples in sides:
                began = time.perf_counter()
                connection.exec_true(sandbox)
                if round_ >= 20:
                    samples.append(1000 * (time.perf_counter() - began))
        by_sandbox = {sandbox.id: samples for _, sandbox, samples in sides}
        with_, without_ = by_sandbox[recorded.id], by_sandbox[unrecorded.id]
    table.keep("wire, exec with the record", with_)
    table.keep("wire, exec without a record", without_)
    table.row("exec with the record over exec without one, p50", statistics.median(with_) / statistics.median(without_), "x", "1.05 x", floor=1.5,
              note=f"N = {len(with_)} each, interleaved; {statistics.median(without_):.2f} ms without")


def burst(table, server, n):
    count = 100 if n >= 100 else 20
    alone = sdk_alone("burst", count, pause=EXEC_PAUSE)
    sdk(server.environment(), "burst", count)  # pools grow with what is asked for
    until_pool_is_full(server)
    for regime in ("pool full", "right after it, pool drained"):
        samples = sdk(server.environment(), "burst", count)
        what = f"burst of {count} creates, {regime}"
        table.keep(what, samples["created"])
        table.row(f"{what}: succeeded", 100 * len(samples["ready"]) / count, "%", "100 %", floor=100, larger_is_better=True,
                  note="; ".join(sorted(set(samples["failed"])))[:120])
        table.row(f"{what}: created, p99", quantile(samples["created"], 0.99), "ms", "1,000 ms", floor=2000)
        table.row(f"{what}: first command of each finished, p99", quantile(samples["ready"], 0.99), "ms")
    table.row(f"the SDK alone, the same burst: created, p99 (a server that creates at once, commands take 3 ms)", quantile(alone["created"], 0.99), "ms")
    table.row(f"the SDK alone, the same burst: finished, p99", quantile(alone["ready"], 0.99), "ms")


def until_pool_is_full(server):
    """Waits until the number of warm sandboxes has not changed for a second."""
    ready, last, since = server.ready(), -1, time.monotonic()
    while time.monotonic() - since < 1:
        _, _, data = server.client.raw("GET", "/v1/info", None, {"X-API-Key": ready["apiKey"]})
        pooled = json.loads(data)["pooled"]["sandboxes"]
        if pooled != last:
            last, since = pooled, time.monotonic()
        time.sleep(0.05)


def files(table, server, n):
    total = 1 << 30 if n >= 100 else 1 << 26
    up, down, grown = wire.file_rates(server.client, server.ready()["oyatdPid"], total)
    table.row("wire, upload", statistics.median(up), "MB/s", "400 MB/s", floor=150, larger_is_better=True, note=f"{total >> 20} MiB, new files")
    table.row("wire, download", statistics.median(down), "MB/s", "400 MB/s", floor=150, larger_is_better=True, note=f"{total >> 20} MiB")
    table.row("oyatd's growth meanwhile", grown / 1024, "MiB", "flat", floor=64)
    samples = sdk(server.environment(), "files", 3, 256 if n >= 100 else 32)
    for name, key in [("JS SDK, upload", "up"), ("bare Node server, upload", "bareUp"), ("JS SDK, download", "down"), ("bare Node server, download", "bareDown")]:
        table.row(name, samples["bytes"] / 1e3 / statistics.median(samples[key]), "MB/s")


def density(table, server, n):
    count, ready = (1000 if n >= 100 else 30), server.ready()
    pids = (ready["oyatdPid"], ready["keeperPid"])
    table.row("oyatd + keeper, idle", sum(map(wire.resident_kib, pids)) / 1024, "MiB", "40 MiB", floor=80)
    empty = calls(server, n)
    free = settled_kib()
    began = time.perf_counter()
    made = [server.client.create(timeout=3600) for _ in range(count)]
    table.row(f"{count} creates, one after the other", count / (time.perf_counter() - began), "a second")
    table.row(f"an idle sandbox among {count}", (free - settled_kib()) / count, "KiB", "1,024 KiB",
              floor=2048 if count >= 1000 else None)
    table.row(f"oyatd + keeper with {count}", sum(map(wire.resident_kib, pids)) / 1024, "MiB", "80 MiB", floor=336)
    full = calls(server, n)
    for what in ("create", "exec"):
        ratio = statistics.median(full[what]) / statistics.median(empty[what])
        host = statistics.median(full["host"]) / statistics.median(empty["host"])
        table.row(f"{what} with {count} alive over empty", ratio, "x", "1.2 x", floor=2,
                  note=f"{statistics.median(empty[what]):.2f} ms empty; a host spawn in the same rounds: {host:.2f} x")
    began = time.perf_counter()
    for sandbox in made:
        sandbox.kill()
    table.row(f"{count} kills, one after the other", count / (time.perf_counter() - began), "a second")


def calls(server, n):
    """Milliseconds of a create from the full pool, of execs in it, and of as many spawns on the host, in turn."""
    samples = {"create": [], "exec": [], "host": []}
    for _ in range(max(10, n // 2)):
        began = time.perf_counter()
        with server.client.create() as sandbox:
            samples["create"].append(1000 * (time.perf_counter() - began))
            connection = wire.Wire(server.client)
            connection.exec_true(sandbox)
            for _ in range(6):
                began = time.perf_counter()
                connection.exec_true(sandbox)
                samples["exec"].append(1000 * (time.perf_counter() - began))
                began = time.perf_counter()
                subprocess.run(["/bin/true"], check=True, env=ENVIRONMENT)
                samples["host"].append(1000 * (time.perf_counter() - began))
        time.sleep(0.06)
    return samples


def settled_kib():
    """Available memory once it has changed by less than 2 MiB in two seconds."""
    now = available_kib()
    for _ in range(20):
        before = now
        time.sleep(2)
        now = available_kib()
        if abs(now - before) < 2048:
            break
    return now


def available_kib():
    for line in open("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1])
    return 0


# Density first: what earlier measures leave in caches would be counted as given back.
MEASURES = {"density": density, "start": start, "exec": execs, "record": record, "burst": burst, "files": files}
