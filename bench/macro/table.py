"""The table that bench/run prints, and the raw samples behind it."""
import statistics


def quantile(samples, q):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


class Table:
    def __init__(self):
        self.rows, self.raw, self.failed = [], {}, 0

    def row(self, name, value, unit, target="", floor=None, larger_is_better=False, note=""):
        below = floor is not None and (value < floor if larger_is_better else value > floor)
        self.failed += below
        self.rows.append((name, f"{value:,.2f}" if value < 100 else f"{value:,.0f}", unit, target, "below its floor" if below else note))
        print(f"  {name}: {self.rows[-1][1]} {unit} {self.rows[-1][4]}", flush=True)

    def spread(self, name, samples, target="", floor=None, note=""):
        self.keep(name, samples)
        self.row(f"{name}, p50", statistics.median(samples), "ms", target, floor, note=note or f"N = {len(samples)}")
        self.row(f"{name}, p99", quantile(samples, 0.99), "ms")

    def keep(self, name, samples):
        self.raw[name] = [round(sample, 4) for sample in samples]

    def missing(self, name, why):
        self.rows.append((name, "-", "", "", why))
        print(f"  {name}: {why}", flush=True)

    def markdown(self):
        lines = ["| what | value | unit | target | note |", "| --- | ---: | --- | --- | --- |"]
        return "\n".join(lines + [f"| {' | '.join(row)} |" for row in self.rows])
