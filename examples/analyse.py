"""Runs inside the sandbox: what the time zone table says about the world's zones."""
import collections
import re
import sys

from tabulate import tabulate


def degrees(text):
    """+404251 (degrees, minutes, seconds; ISO 6709) as a number of degrees."""
    sign = -1 if text[0] == "-" else 1
    digits = text[1:]
    whole = len(digits) - (4 if len(digits) > 5 else 2)
    parts = [int(digits[:whole])] + [int(digits[i:i + 2]) for i in range(whole, len(digits), 2)]
    return sign * sum(part / 60**i for i, part in enumerate(parts))


def main(table, report):
    zones = []
    with open(table, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                countries, place, name = line.rstrip("\n").split("\t")[:3]
                latitude, longitude = re.findall(r"[+-]\d+", place)
                zones.append((name, countries.split(","), degrees(latitude), degrees(longitude)))
                if len(zones) % 100 == 0:
                    print(f"{len(zones)} zones read", flush=True)
    by_area = collections.Counter(name.split("/")[0] for name, *_ in zones)
    rows = [(area, count, f"{100 * count / len(zones):.0f} %") for area, count in by_area.most_common()]
    north = max(zones, key=lambda zone: zone[2])
    shared = max(zones, key=lambda zone: len(zone[1]))
    text = "\n".join([
        f"{len(zones)} zones",
        tabulate(rows, headers=["area", "zones", "share"]),
        f"northernmost: {north[0]} at {north[2]:.2f} degrees",
        f"shared by most countries: {shared[0]}, {len(shared[1])}",
    ])
    with open(report, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    print(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
