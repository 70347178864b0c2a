"""Runs named checks, prints a line for each, and ends with `N passed, N failed`."""
import sys
import time
import traceback


class Skipped(Exception):
    """This machine can't run the check; the text says what it lacks."""


class Tally:
    def __init__(self, only=()):
        self.passed = self.failed = self.skipped = 0
        self.only = only

    def wants(self, name):
        return not self.only or any(name.startswith(prefix) for prefix in self.only)

    def check(self, name, body, *arguments):
        if not self.wants(name):
            return
        began = time.monotonic()
        try:
            body(*arguments)
            self.passed += 1
            print(f"PASS {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except Skipped as reason:
            self.skipped += 1
            print(f"SKIPPED {name}: {reason}", flush=True)
        except Exception as error:  # a check may fail in any way; the others go on
            self.failed += 1
            print(f"FAIL {name}: {error}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc(file=sys.stdout)

    def close(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{skipped}", flush=True)
        return 1 if self.failed or self.passed == 0 else 0
