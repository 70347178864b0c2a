"""Other ways to run one command in isolation, from nothing to its end, measured in the same run as oyat."""
import json
import os
import pathlib
import shutil
import subprocess
import time

# Without the profile of whoever runs the benchmark, as in the sandbox.
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent"}
COMMANDS = {
    "host spawn of bash -l -c true": ["/bin/bash", "-l", "-c", "true"],
    "bwrap, create to command end": ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "--proc", "/proc", "--dev", "/dev", "/bin/bash", "-l", "-c", "true"],
    "runsc do, create to command end": ["runsc", "--network=none", "--ignore-cgroups", "--platform=ptrace", "do", "/bin/true"],
}


def spawn_samples(command, n):
    """Milliseconds of n runs, or None when it fails."""
    samples = []
    for _ in range(n):
        began = time.perf_counter()
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT).returncode != 0:
            return None
        samples.append(1000 * (time.perf_counter() - began))
    return samples


def oci_samples(name, n):
    """Containers of the host's own root, read-only, by an OCI runtime; None when it can't run them."""
    bundle = pathlib.Path("/var/tmp") / f"oyat-bench-{name}"
    shutil.rmtree(bundle, ignore_errors=True)
    bundle.mkdir()
    try:
        subprocess.run([name, "spec"], cwd=bundle, check=True, capture_output=True)
        config = json.loads((bundle / "config.json").read_text())
        config["root"] = {"path": "/", "readonly": True}
        config["process"].update({"terminal": False, "args": ["/bin/true"]})
        (bundle / "config.json").write_text(json.dumps(config))
        return spawn_samples([name, "run", "--bundle", str(bundle), f"oyat-bench-{os.getpid()}"], n)
    except (subprocess.CalledProcessError, OSError, ValueError):
        return None
    finally:
        shutil.rmtree(bundle, ignore_errors=True)


def measure(table, _server, n):
    for name, command in COMMANDS.items():
        count = max(5, n // 10) if "runsc" in name else n
        add(table, name, command[0], lambda: spawn_samples(command, count))
    for name in ("crun", "runc"):
        add(table, f"{name}, create to command end", name, lambda: oci_samples(name, n))


def add(table, name, program, take):
    if shutil.which(program) is None:
        return table.missing(name, "not installed")
    samples = take()
    if samples is None:
        return table.missing(name, "does not start on this machine")
    table.spread(name, samples)
