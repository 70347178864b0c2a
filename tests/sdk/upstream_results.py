"""A plugin of pytest: writes what became of each test to UPSTREAM_REPORT, in the form that upstream-report.mjs reads."""
import json
import os

_tests = {}


def pytest_runtest_logreport(report):
    # A test that fails in its setup or its end has failed; one that is skipped in its setup never ran.
    if report.when != "call" and report.passed:
        return
    status = "passed" if report.passed else "pending" if report.skipped else "failed"
    file, _, name = report.nodeid.partition("::")
    known = _tests.setdefault(file, {})
    if known.get(name, {}).get("status") != "failed":
        known[name] = {"status": status, "fullName": name, "failureMessages": [str(report.longrepr).splitlines()[-1]] if report.failed else []}


def pytest_sessionfinish(session):
    if hasattr(session.config, "workerinput"):
        return  # one of several processes: the one above hears of everything
    results = [{"name": f"/{file}", "assertionResults": list(tests.values())} for file, tests in sorted(_tests.items())]
    with open(os.environ["UPSTREAM_REPORT"], "w", encoding="utf-8") as out:
        json.dump({"testResults": results}, out)
