"""Whole numbers that somebody else wrote are read with their range, so that no arithmetic on them can overflow and end the
process. Called by lint.py.

A text becomes a number through `Whole.read(_:in:)` (Domain), or in the store through `StoredNumber.read`, which holds it within
2^48. What this finds: a failable `Int(text)` and its like, and arithmetic on a number of a JSON document where it is taken out.
"""
import re

TYPES = r"(?:Int|Int64|Int32|Int16|UInt|UInt64|UInt32|UInt16|UInt8)"
INNER = r"\((?!exactly:|clamping:|truncatingIfNeeded:|bitPattern:|ascii:)(?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
FAILABLE = [
    # guard let number = Int(text)
    re.compile(rf"\b(?:if|guard|while|,)\s*(?:let|var)\s+\w+\s*=\s*{TYPES}{INNER}"),
    re.compile(rf"^\s*(?:let|var)\s+\w+\s*=\s*{TYPES}{INNER},?\s*(?:,|else)"),
    # texts.compactMap { Int($0) }, text.flatMap { Int($0) }
    re.compile(rf"\b(?:flatMap|compactMap)\s*(?:\(\s*|\{{\s*){TYPES}(?:\.init\s*\)|\(\$0[),])"),
    # Int(text) ?? 0, Int(text) != nil, Int(text).map { … }
    re.compile(rf"\b{TYPES}{INNER}\s*(?:\?\?|[!=]= nil|\.map\b|\.flatMap\b|\?\.)"),
    # Int(text, radix: 16)
    re.compile(rf"\b{TYPES}\([^()]*radix:"),
]
# A member of a JSON document, as it came, with + - * << beside it.
JSON_NUMBER = re.compile(
    r"\[\"\w+\"\]\??\.integer\b(?:\s*\?\?\s*-?\d+\s*\)?)?\s(?:[-+*]|<<)\s"
    r"|\s(?:[-+*]|<<)\s\(?[\w.$?]*\[\"\w+\"\]\??\.integer\b")
# Where the reading itself is done, and what only looks whether a text is a number.
READERS = {
    "Sources/Domain/Whole.swift", "Sources/Store/Packing/StoredNumber.swift", "Sources/JSON/FaultFinder.swift",
}
# Laboratory code speaks with processes that it has started itself.
LABORATORY = ("Sources/fanfare/Bench/", "Sources/fanfare/Chaos/", "Sources/fanfare/Demo/", "Sources/Sandbox/")


def check(place, lines, find):
    """`place`: the file's path from the root. `find(place, text)` takes a finding."""
    if place in READERS or place.startswith(LABORATORY):
        return
    for number, line in enumerate(lines, 1):
        code = line.split("//")[0]
        if any(pattern.search(code) for pattern in FAILABLE):
            find(f"{place}:{number}", "a number from a text is read with its range: Whole.read(_:in:)")
        if JSON_NUMBER.search(code):
            find(f"{place}:{number}", "arithmetic on a number as a document has it: bound it first")
