"""Holds the findings of `make fuzz-api` against those that are known: python3 fuzz_findings.py REPORT.json KNOWN OUTPUT

A line of KNOWN is `CODE METHOD /path: why it is no fault`; `*` in place of an operation stands for all of them.
"""

import json
import re
import sys


def read_known(path):
    known = {}
    for line in open(path, encoding="utf-8"):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        finding, _, reason = line.partition(": ")
        if not reason.strip():
            sys.exit(f"{path}: {finding} has no reason")
        known[tuple(finding.split(" ", 1))] = reason
    return known


def busy(path):
    """Operations whose server errors were all a 503 that asks to come again: a machine with other work, not a fault."""
    found, operation, server_error = {}, "", False
    for line in open(path, encoding="utf-8", errors="replace"):
        title = re.fullmatch(r"_+ (.+?) _+\n", line)
        if title:
            operation = title.group(1)
        if line.startswith("- "):
            server_error = line.startswith("- ST101")
        if server_error and re.match(r"\[5\d\d\]", line):
            found.setdefault(operation, []).append(False)
        if server_error and line.lstrip().startswith('`{"type"'):
            found.setdefault(operation, [False])[-1] = '"status":503' in line and '"retryable":true' in line
    return {name for name, answers in found.items() if all(answers)}


def main(report_path, known_path, output_path):
    report = json.load(open(report_path, encoding="utf-8"))
    known = read_known(known_path)
    if not report["complete"] or report["operations"].get("tested", 0) == 0:
        sys.exit("fuzz-api: the run tested nothing, or did not come to its end")
    unknown, seen, late = [], set(), busy(output_path)
    for kind in ("failures", "errors"):
        for finding in report[kind]:
            code = finding.get("code") or finding.get("title", "?").replace(" ", "-")
            for operation in finding.get("operations") or ["*"]:
                for key in ((code, operation), (code, "*")):
                    if key in known:
                        seen.add(key)
                        break
                else:
                    if code == "ST101" and operation in late:
                        print(f"  the machine was busy: {operation} got a 503")
                        continue
                    unknown.append(f"{code} {operation}: {finding.get('title', '')}")
    total = report["test_cases"].get("generated", report["test_cases"])
    print(f"fuzz-api: {total} requests, {len(unknown)} findings that are not known, {len(seen)} that are")
    for key in sorted(set(known) - seen):
        print(f"  not seen this time: {' '.join(key)}")
    for line in unknown:
        print(f"  {line}")
    sys.exit(1 if unknown else 0)


main(*sys.argv[1:])
