#!/usr/bin/env python3
"""Measures the sources: types with all their extensions, files in a folder, longest functions, documented declarations.

`python3 Config/measure.py` prints the figures of docs/design.md ("Measured"); `make lint` checks the limits
below. A type counts with the lines of its declaration and of all extensions, in every file of the sources.
"""
import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
# No type has more lines, or stands in more files.
TYPE_LINES, TYPE_FILES = 900, 8
# No function has more lines.
FUNCTION_LINES = 80
# Of a hundred package declarations, but for stored properties and imports, so many have a doc comment at least.
DOCUMENTED = 92

TYPE = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:package|public|internal|private|fileprivate|final|indirect|nonisolated)\s+)*"
                  r"(struct|class|enum|actor|protocol|extension)\s+(\w+(?:\.\w+)*)")
FUNCTION = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:package|public|internal|private|fileprivate|static|final|mutating|override|"
                      r"nonisolated|required|convenience|consuming)\s+)*(?:func\s+([\w+\-*/<>=!&|~^%.]+)|(init)\b|(subscript)\b)")
PACKAGE = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*package\s+(?!import\b|let\b|var\b)")


def plain(text):
    """The text without comments and strings, each line in its place."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    return re.sub(r'#*"""(?:.|\n)*?"""#*|//[^\n]*|/\*(?:.|\n)*?\*/|#"[^\n]*?"#|"(?:\\.|[^"\\\n])*"', blank, text)


def blocks(lines, pattern):
    """Declarations with a body: (match, first line, last line, depth), lines from 0."""
    depth, opened, found, waiting = 0, [], [], None
    for number, line in enumerate(lines):
        match = pattern.match(line)
        if match and waiting is None:
            waiting = (match, number, depth)
        for letter in line:
            if letter == "{":
                if waiting:
                    opened.append((depth, waiting))
                    waiting = None
                depth += 1
            elif letter == "}":
                depth -= 1
                if opened and opened[-1][0] == depth:
                    _, (match, first, at) = opened.pop()
                    found.append((match, first, number, at))
        # A requirement of a protocol has no body.
        if waiting and depth <= waiting[2] and number > waiting[1] and not line.strip():
            waiting = None
    return found


def measured():
    types = collections.defaultdict(lambda: [0, set()])
    functions, folders = [], collections.Counter()
    documented = declared = 0
    for top in ("Sources", "Providers"):
        for file in sorted((ROOT / top).rglob("*.swift")):
            place = str(file.relative_to(ROOT))
            folders[str(file.parent.relative_to(ROOT))] += 1
            raw = file.read_text().splitlines()
            lines = plain("\n".join(raw)).split("\n")
            module = place.split("/")[1]
            for match, first, last, depth in blocks(lines, TYPE):
                if depth == 0:
                    entry = types[f"{module}.{match[2].split('.')[0]}"]
                    entry[0] += last - first + 1
                    entry[1].add(place)
            for match, first, last, _ in blocks(lines, FUNCTION):
                functions.append((last - first + 1, f"{place}: {match[1] or match[2] or match[3]}"))
            for number, line in enumerate(lines):
                if PACKAGE.match(line):
                    above = number - 1
                    while above >= 0 and raw[above].strip().startswith("@"):
                        above -= 1
                    declared += 1
                    documented += raw[above].strip().startswith("///")
    return types, functions, folders, documented, declared


def findings():
    types, functions, _, documented, declared = measured()
    for name, (lines, files) in sorted(types.items()):
        if lines > TYPE_LINES or len(files) > TYPE_FILES:
            yield f"{name}", f"{lines} lines in {len(files)} files, at most {TYPE_LINES} in {TYPE_FILES}"
    for lines, name in functions:
        if lines > FUNCTION_LINES:
            yield name, f"{lines} lines, at most {FUNCTION_LINES}"
    if documented * 100 < DOCUMENTED * declared:
        yield "Sources", f"{documented} of {declared} package declarations have a doc comment, at least {DOCUMENTED} %"


def main():
    types, functions, folders, documented, declared = measured()
    print("Largest types, with their extensions (lines, files)")
    for name, (lines, files) in sorted(types.items(), key=lambda item: -item[1][0])[:12]:
        print(f"  {lines:6} {len(files):4}  {name}")
    print("Longest functions (lines)")
    for lines, name in sorted(functions, reverse=True)[:12]:
        print(f"  {lines:6}  {name}")
    print("Fullest folders (files)")
    for name, count in folders.most_common(5):
        print(f"  {count:6}  {name}")
    print(f"Package declarations with a doc comment: {documented} of {declared} ({documented * 100 // max(1, declared)} %)")


if __name__ == "__main__":
    main()
