#!/usr/bin/python3
"""Requests a second through connections that are read, beside mitmproxy and squid that do the same: end TLS, read each request, ask a
server by a TLS connection whose certificate they check. Prints {way: [requests a second, ...]} as JSON.

Usage: bench/macro/read_rates.py ROUNDS REQUESTS

In a network namespace whose Internet is the test's; nginx is the server, h2load the program that asks: in a sandbox where oyat reads, on
the host where the others do. Needs the Debian packages nginx-light, nghttp2-client, mitmproxy and squid-openssl; who is missing is left out.
"""
import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "support"))

import netns  # noqa: E402
from beyond import Beyond  # noqa: E402
from internet import Internet  # noqa: E402
from server import Server  # noqa: E402

NAME, THERE = "bench.test", "203.0.113.80"
CONNECTIONS = 16
POLICY = {"preset": "public-web", "rule": [{"id": "read", "action": "allow", "host": [NAME], "port": [9443], "method": ["GET"], "path": ["/**"]}]}
NGINX = """daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 1000000;
  server {{
    listen {there}:9443 ssl http2; server_name {name}; ssl_certificate {certificate}; ssl_certificate_key {key};
    location / {{ default_type text/plain; return 200 "{body}"; }}
  }}
}}
"""
SQUID = """https_port 127.0.0.1:8443 accel tls-cert={certificate} tls-key={key} defaultsite={name} no-vhost
cache_peer {there} parent 9443 0 no-query originserver tls ssldomain={name} tls-cafile={authority} name=up
http_access allow all
never_direct allow all
cache deny all
access_log none
cache_log /dev/null
pid_filename {folder}/squid.pid
coredump_dir {folder}
shutdown_lifetime 1 seconds
"""


def h2load(requests, protocol, to=None):
    words = ["h2load", f"-n{requests}", f"-c{CONNECTIONS}", "-t1", *(["--h1"] if protocol == "HTTP/1.1" else []), *([f"--connect-to={to}"] if to else [])]
    return [*words, f"https://{NAME}:9443/"]


def rate_of(said):
    found = re.search(r"finished in [\d.]+m?s, ([\d.]+) req/s", said)
    failed = re.search(r"(\d+) failed, (\d+) errored", said)
    if not found or not failed or failed.groups() != ("0", "0"):
        raise RuntimeError(said[-1500:])
    return float(found[1])


@contextlib.contextmanager
def program(words, port):
    """Runs it until it listens, and ends it afterwards."""
    running = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while port and subprocess.run(["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}"], capture_output=True).returncode != 0:
            if running.poll() is not None:
                raise RuntimeError(f"{words[0]} ended with {running.returncode}")
            time.sleep(0.1)
        yield running
    finally:
        running.terminate()
        running.wait()


def peers(scope, facts):
    """{name: how it is reached} of those that are installed and started."""
    folder, ways = facts["folder"], {"direct": f"{THERE}:9443"}
    if shutil.which("mitmdump"):
        both = folder / "mitm.pem"
        both.write_bytes(facts["certificate"].read_bytes() + facts["key"].read_bytes())
        scope.enter_context(program(["mitmdump", "-q", "--mode", f"reverse:https://{NAME}:9443/", "--listen-host", "127.0.0.1", "--listen-port", "8080", "--certs",
                                     f"*={both}", "--set", f"ssl_verify_upstream_trusted_ca={facts['authority']}", "--set", f"confdir={folder}"], 8080))
        ways["mitmproxy"] = "127.0.0.1:8080"
    if shutil.which("squid"):
        (folder / "squid.conf").write_text(SQUID.format(**facts))
        scope.enter_context(program(["squid", "-N", "-f", str(folder / "squid.conf")], 8443))
        ways["squid"] = "127.0.0.1:8443"
    return ways


def main():
    rounds, requests = map(int, sys.argv[1:3])
    home = netns.run_in_own_namespace()
    with Internet() as internet, Server(options=internet.options()) as server, contextlib.ExitStack() as scope:
        files = {"authority": internet.authority.certificate, **dict(zip(("certificate", "key"), internet.authority.issue(NAME)))}
        facts = {"folder": internet.folder, "name": NAME, "there": THERE, "body": 1000 * "x"}
        for what, made in files.items():  # squid's configuration knows no spaces in names
            facts[what] = internet.folder / f"{what}.pem"
            facts[what].write_bytes(made.read_bytes())
        internet.names.hosts[NAME] = [THERE]
        (internet.folder / "nginx.conf").write_text(NGINX.format(**facts))
        hosts = internet.folder / "hosts"  # for mitmproxy, which looks the name up
        hosts.write_text(f"127.0.0.1 localhost\n{THERE} {NAME}\n")
        subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
        scope.callback(subprocess.run, ["umount", "/etc/hosts"], check=True)
        with internet.namespace.entered():
            nginx = scope.enter_context(program(["nginx", "-c", str(internet.folder / "nginx.conf")], 0))
        ways = peers(scope, facts)
        Beyond(home, internet.services, internet.names)
        sandbox = scope.enter_context(server.client.create(timeout=1800, policy=POLICY))
        installed = sandbox.run("apt-get -qq update && apt-get -qq install -y --no-install-recommends nghttp2-client", user="root", timeout_ms=300_000)
        if installed.exit_code != 0:
            raise RuntimeError(installed.stderr[-1000:])
        asks = {name: lambda n, protocol, to=to: subprocess.run(h2load(n, protocol, to), capture_output=True, text=True).stdout for name, to in ways.items()}
        asks["oyat"] = lambda n, protocol: sandbox.run(h2load(n, protocol), timeout_ms=300_000).stdout
        rates = {f"{name}, {protocol}": [] for protocol in ("HTTP/1.1", "HTTP/2") for name in asks if (name, protocol) != ("squid", "HTTP/2")}
        for _ in range(rounds):
            for way, seen in rates.items():
                if nginx.poll() is not None:
                    raise RuntimeError(f"nginx ended with {nginx.returncode}")
                name, protocol = way.split(", ")
                seen.append(rate_of(asks[name](requests // (8 if name == "mitmproxy" else 1), protocol)))
    print(json.dumps(rates))


if __name__ == "__main__":
    main()
