#!/usr/bin/env python3
"""Checks what the compiler does not: the rows of the import graph, declared dependencies, file lengths, files in a folder, doc
comments, the places of the glossary, that what comments cite and pages link to is in the repository, that numbers of others
are read with their range (lint_numbers.py), the scripts inside Redis (lint_scripts.py), and the sizes of types and functions (measure.py).

Rows are read from the comments `// Row N` in Package.swift; C libraries stand before the first row. Exit code 1 with one
line per finding, 0 without any.
"""
import pathlib
import re
import sys

import lint_numbers
import lint_scripts
import measure

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST = 400
PLATFORM = {"Foundation", "FoundationEssentials", "Glibc", "Synchronization", "Testing", "PackageDescription", "Swift"}
# Which platform modules are kept to single places (design D16).
ONLY_IN = {"Foundation": {"Configuration"}, "FoundationEssentials": {"Configuration"}}
# Modules that may not see each other although the rows would let them (design D15).
FORBIDDEN = {
    "Sandbox": {"APNs", "FCM", "OneSignal", "WebPush", "Intake"},
    # It meets the gateway as its operator does (decision 0059).
    "Laboratory": {"APNs", "FCM", "OneSignal", "WebPush", "Intake", "Delivery", "API", "Gateway"},
}
# Executables: nobody sees their declarations.
PROGRAMS = {"fanfare", "Laboratory"}
# Behind the rows of the manifest.
TESTS_ROW = 9
IMPORT = re.compile(
    r"^\s*(?:@testable\s+|@preconcurrency\s+|@_exported\s+)*(?:(?:package|public|internal|private|fileprivate)\s+)?"
    r"import\s+(?:(?:struct|class|enum|protocol|func|var|typealias)\s+)?([A-Za-z_][A-Za-z_0-9]*)")
DECLARATION = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*package\s+(?!import)(?:[a-z]+\s+)*?(struct|class|enum|protocol|actor)\s+(\w+)")

findings = []


def find(place, text):
    findings.append(f"{place}: {text}")


class Target:
    def __init__(self, name, path, dependencies, row, test):
        self.name, self.path, self.dependencies, self.row, self.test = name, path, dependencies, row, test


def targets():
    """The targets of the manifest in its own words: library(…), module(…), tests(…), .target(…), .executableTarget(…)."""
    text = (ROOT / "Package.swift").read_text()
    body = text[text.index("let package = Package("):]
    found, row = {}, 0
    for entry in re.finditer(
            r"//\s*(?P<row>Row (?P<number>\d+))|//\s*(?P<tests>Tests:)"
            r"|(?P<call>\blibrary|\bmodule|\btests|\.target|\.executableTarget)\(", body):
        if entry["row"]:
            row = int(entry["number"])
            continue
        if entry["tests"]:
            row = TESTS_ROW
            continue
        depth, end = 1, entry.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(body[end], 0)
            end += 1
        call = body[entry.end():end - 1]
        name = re.search(r'"([^"]+)"', call)[1]
        path = re.search(r'path:\s*"([^"]+)"', call)
        kind = entry["call"]
        lists = [] if kind == "library" else re.findall(r"\[([^\]]*)\]", call)
        declared = set(re.findall(r'"([^"]+)"', lists[0])) if lists else set()
        place = path[1] if path else ("Tests/" if kind == "tests" else "Sources/") + name
        found[name] = Target(name, place, declared, 0 if kind == "library" else row, row == TESTS_ROW)
    return found


def sources(target):
    return sorted((ROOT / target.path).rglob("*.swift"))


def check_imports(all_targets):
    importers = {}
    for target in all_targets.values():
        used = set()
        for file in sources(target):
            for number, line in enumerate(file.read_text().splitlines(), 1):
                match = IMPORT.match(line)
                if not match:
                    continue
                name, place = match[1], f"{file.relative_to(ROOT)}:{number}"
                used.add(name)
                if name in PLATFORM:
                    if name in ONLY_IN and target.name not in ONLY_IN[name] and not target.test:
                        find(place, f"{name} is kept to {', '.join(sorted(ONLY_IN[name]))}")
                    continue
                if name not in all_targets:
                    find(place, f"imports {name}, which is no target of the package")
                    continue
                if name not in target.dependencies:
                    find(place, f"imports {name}, which {target.name} does not declare")
                if not target.test and name in FORBIDDEN.get(target.name, ()):
                    find(place, f"{target.name} must not see {name}")
                other = all_targets[name]
                if other.row == 0:
                    importers.setdefault(name, set()).add(target.name)
                elif not target.test and other.row >= target.row:
                    find(place, f"{target.name} (row {target.row}) imports {name} (row {other.row}): smaller rows only")
        for name in sorted(target.dependencies - used if not target.test else ()):
            find("Package.swift", f"{target.name} declares {name} and imports it nowhere")
    for library, names in sorted(importers.items()):
        if len(names) > 1:
            find("Package.swift", f"{library} has several importers: {', '.join(sorted(names))}")


def check_cycles(all_targets):
    done, path = set(), []

    def visit(name):
        if name in path:
            find("Package.swift", "cycle: " + " → ".join(path[path.index(name):] + [name]))
            return
        if name in done or name not in all_targets:
            return
        path.append(name)
        for other in sorted(all_targets[name].dependencies):
            visit(other)
        path.pop()
        done.add(name)

    for name in sorted(all_targets):
        visit(name)


def check_files(all_targets):
    lint_numbers.self_test(find)
    names = set(all_targets)
    for target in all_targets.values():
        for file in sources(target):
            place = str(file.relative_to(ROOT))
            lines = file.read_text().splitlines()
            if len(lines) > LONGEST:
                find(place, f"{len(lines)} lines, at most {LONGEST}")
            if file.stem in {"Utils", "Common", "Models", "Manager", "Helpers"}:
                find(place, "a file is named for its idea")
            if not target.test:
                lint_numbers.check(place, lines, find)
            if target.test or target.name in PROGRAMS:
                continue
            check_declarations(target, place, lines)


MOST_IN_FOLDER = 20


def check_folders():
    """A folder is small enough to be read at a glance."""
    for top in ("Sources", "Tests", "Providers"):
        for folder in sorted(path for path in (ROOT / top).rglob("*") if path.is_dir()):
            count = len([*folder.glob("*.swift"), *folder.glob("*.lua")])
            if count > MOST_IN_FOLDER:
                find(str(folder.relative_to(ROOT)), f"{count} files, at most {MOST_IN_FOLDER}: make rooms")


GLOSSARY_PLACE = re.compile(r"`((?:Sources|Providers|Config)/[\w/+.-]+)`")


def check_glossary():
    """The glossary's places are there."""
    page = ROOT / "docs" / "glossary.md"
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for place in GLOSSARY_PLACE.findall(line):
            if not (ROOT / place).exists():
                find(f"docs/glossary.md:{number}", f"names {place}, which is not there")


def check_declarations(target, place, lines):
    """Types seen outside their module carry a doc comment; members are left to readers."""
    for number, line in enumerate(lines):
        match = DECLARATION.match(line)
        if not match:
            continue
        kind, name = match[1], match[2]
        indent = len(line) - len(line.lstrip())
        above = number - 1
        while above >= 0 and lines[above].strip().startswith("@"):
            above -= 1
        if indent == 0 and kind in {"class", "protocol", "actor"} and not lines[above].strip().startswith("///"):
            find(f"{place}:{number + 1}", f"{kind} {name} has no doc comment")


CITED_DESIGN = re.compile(r"\bdesign D(\d+)|\(D(\d+)\)")
CITED_DECISION = re.compile(r"\bdecisions?[ /](\d{4})\b")
CITED_SHEET = re.compile(r"\b(\w+)\.md,? sections? ((?:\d[\d.]*)(?:(?:, | and | to )\d[\d.]*)*)")
CITED_SECTION = re.compile(r"\b[Ss]ections? \d")


def check_citations():
    """Each citation in a comment leads to a page of the repository: "design D5", "decision 0017", "protocols/apns.md section 9"."""
    docs = ROOT / "docs"
    principles = set(re.findall(r"^\*\*D(\d+)\.", (docs / "design.md").read_text(), re.M))
    decisions = {file.name[:4] for file in (docs / "decisions").glob("[0-9]*.md")}
    headings = {
        file.stem: set(re.findall(r"^#+ (\d[\d.]*?)\.? ", file.read_text(), re.M)) for file in (docs / "protocols").glob("*.md")}
    for folder in ("Sources", "Providers", "Tests", "Config"):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in {".swift", ".lua", ".py", ".h", ".c", ".cpp", ".json5"} or file.name == "lint.py":
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                place = f"{file.relative_to(ROOT)}:{number}"
                for match in CITED_DESIGN.finditer(line):
                    if (match[1] or match[2]) not in principles:
                        find(place, f"cites D{match[1] or match[2]}, which docs/design.md does not have")
                for match in CITED_DECISION.finditer(line):
                    if match[1] not in decisions:
                        find(place, f"cites decision {match[1]}, which docs/decisions does not have")
                sheets = list(CITED_SHEET.finditer(line))
                for match in sheets:
                    for section in re.findall(r"\d[\d.]*\d|\d", match[2]):
                        if section not in headings.get(match[1], ()):
                            find(place, f"cites section {section} of {match[1]}.md, which docs/protocols does not have")
                comment = line.partition("//")[2]
                if CITED_SECTION.search(comment) and not sheets and "RFC" not in comment and "its section" not in comment:
                    find(place, "cites a section without its page: protocols/apns.md section 9, or RFC 9110 section 5")


LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page):
    """What links to a page's headings may name, as the pages are shown on the web."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    plain = [re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)) for title in titles]
    return {title.strip().lower().replace(" ", "-") for title in plain}


def check_links():
    """Each link of a page leads to a file, and to a heading that is there."""
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "Providers").rglob("*.md"), *(ROOT / "Benchmarks").glob("*.md")]):
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
        for target in LINK.findall(text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                find(str(page.relative_to(ROOT)), f"links to {target}, which is not there")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                find(str(page.relative_to(ROOT)), f"links to {target}: {file.name} has no such heading")


def main():
    everything = targets()
    if len(everything) < 10 or not any(t.row == 8 for t in everything.values()):
        find("Config/lint.py", "Package.swift was not understood")
    check_imports(everything)
    check_cycles(everything)
    check_files(everything)
    check_folders()
    check_glossary()
    check_citations()
    check_links()
    for place, text in [*lint_scripts.findings(), *measure.findings()]:
        find(place, text)
    for line in findings:
        print(line)
    print(f"{len(everything)} targets, {len(findings)} findings")
    return 1 if findings else 0


sys.exit(main())
