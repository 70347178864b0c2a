"""Traps where the tenant's authority is put in: a sandbox may do to its list of authorities what it likes, and harms itself only."""
import time

BUNDLE, SOURCES, RUN = "/etc/ssl/certs/ca-certificates.crt", "/usr/local/share/ca-certificates", "/run/oyat"
READS = {"preset": "public-web", "rule": [{"id": "read", "action": "allow", "host": ["a.test"], "path": ["/x"]}]}
TRAPS = {
    "a pipe": f"rm {BUNDLE}; mkfifo {BUNDLE}",
    "an endless device": f"rm {BUNDLE}; ln -s /dev/zero {BUNDLE}",
    "a terminal": f"rm {BUNDLE}; ln -s /dev/ptmx {BUNDLE}",
    "a directory": f"rm {BUNDLE}; mkdir {BUNDLE}",
    "itself": f"rm {BUNDLE}; ln -s {BUNDLE} {BUNDLE}",
    "the agent's memory": f"rm {BUNDLE}; ln -s /proc/1/mem {BUNDLE}",
    "a file of 1 TiB": f"truncate -s 1T {BUNDLE}",
    "a pipe for the source": f"mkdir -p {SOURCES}; rm -f {SOURCES}/oyat-authority.crt; mkfifo {SOURCES}/oyat-authority.crt",
    "a file for the directory": f"rm -rf {RUN}; touch {RUN}",
    "a pipe beside it": f"mkdir -p {RUN}; mkfifo {RUN}/authority.pem",
}


def springs(server, trap):
    with server.client.create() as sandbox:
        assert sandbox.run(TRAPS[trap], user="root").exit_code == 0
        began = time.monotonic()
        sandbox.set_policy(READS)
        assert time.monotonic() - began < 12, "the change of policy waited for the trap"
        assert sandbox.run("echo here").stdout == "here\n"


def too_long_a_list(server):
    """It stays as it is, rather than being cut."""
    with server.client.create() as sandbox:
        sandbox.run(f"head -c 6000000 /dev/zero | tr '\\0' '#' >>{BUNDLE}", user="root")
        before = sandbox.run(f"sha256sum {BUNDLE}").stdout
        sandbox.set_policy(READS)
        assert sandbox.run(f"sha256sum {BUNDLE}").stdout == before


def full_disk(server):
    """No room for the new list: the old one is whole."""
    with server.client.create_with_limits(disk_bytes=256 << 20) as sandbox:
        before = sandbox.run(f"sha256sum {BUNDLE}").stdout
        sandbox.run("dd if=/dev/zero of=/most bs=1M; dd if=/dev/zero of=/rest bs=4k", user="root", timeout_ms=60_000)
        sandbox.set_policy(READS)
        assert sandbox.run(f"sha256sum {BUNDLE}").stdout == before


def checks(tally, server, _internet):
    for trap in TRAPS:
        tally.check(f"E-12 trust: {trap}", springs, server, trap)
    tally.check("E-12 trust: too long a list", too_long_a_list, server)
    tally.check("E-12 trust: a full disk", full_disk, server)
