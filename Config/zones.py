#!/usr/bin/env python3
"""Writes Sources/Domain/Schedule/ZoneName+List.swift from the machine's time zone database (tzdata.zi), links included."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/zoneinfo/tzdata.zi")
WIDTH = 120

lines = SOURCE.read_text().splitlines()
version = lines[0].removeprefix("# version ")
names = set()
for fields in (line.split() for line in lines):
    if fields and fields[0] == "Z":
        names.add(fields[1])
    elif fields and fields[0] == "L":
        names.add(fields[2])
# It stands for "no zone was set".
names.discard("Factory")

rows, row = [], ""
for name in sorted(names):
    if len(row) + 1 + len(name) + 4 > WIDTH:
        rows.append(row)
        row = ""
    row = f"{row} {name}" if row else name
rows.append(row)
body = "\n".join("    " + row for row in rows)
(ROOT / "Sources/Domain/Schedule/ZoneName+List.swift").write_text(f'''// Written by Config/zones.py from tzdata {version}.
extension ZoneName {{
  static let list = """
{body}
    """
}}
''')
print(f"{len(names)} zones of tzdata {version}")
