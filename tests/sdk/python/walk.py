"""Walks over every public method of the published Python package against a living server.

    walk.py sync      (or async)

Reads E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY. Prints a line for each step and "N passed, N failed" at the end. The
steps are written once: `await w.do(...)` waits where the flavour is asynchronous and takes the value where it is not.
"""
import asyncio
import sys

import steps_git
import steps_parts
import steps_sandbox
import steps_secrets
from flavour import AsyncFlavour, SyncFlavour

STEP_LIMIT = 90


def public_methods(w):
    """"Sandbox.create" for each public method; properties and constants are no calls."""
    owners = [("Sandbox", w.Sandbox), ("Secret", w.Secret)] + [(part, type(getattr(w.sandbox, part))) for part in ("commands", "files", "pty", "git")]
    for owner, kind in owners:
        for name in dir(kind):
            if not name.startswith("_") and callable(getattr(kind, name)):
                yield f"{owner}.{name}"


async def walk(flavour):
    w = flavour
    w.sandbox = await w.do(w.Sandbox.create("base", timeout=600))
    steps = {}
    for module in (steps_parts, steps_git, steps_secrets, steps_sandbox):
        steps.update({f"{owner}.{function.__name__}": function for owner, function in module.steps()})
    results = {name: "the walk has no step for this method" for name in public_methods(w) if name not in steps}
    for name, step in steps.items():
        try:
            await asyncio.wait_for(step(w), STEP_LIMIT)
            results[name] = None
        except Exception as error:  # whatever goes wrong in a step is its result
            results[name] = f"{type(error).__name__}: {error}"
    await w.do(w.Sandbox.kill(w.sandbox.sandbox_id))
    return results


def main():
    flavour = {"sync": SyncFlavour, "async": AsyncFlavour}[sys.argv[1]]()
    results = asyncio.run(walk(flavour))
    failed = 0
    for name, problem in results.items():
        failed += problem is not None
        print(f"{'FAIL' if problem else 'ok  '} python-{sys.argv[1]} {name}" + (f": {problem}" if problem else ""))
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
