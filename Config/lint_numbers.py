"""Whole numbers that somebody else wrote are read with their range, so that no arithmetic on them can overflow and end the
process. Called by lint.py.

A text becomes a number through `Whole.read(_:in:)` (Domain), or in the store through `StoredNumber.read`, which holds it within
2^48. What this finds: a failable `Int(text)` and its like, and arithmetic on a number of a JSON document: where it is taken out,
or under the local name that it was given, until the function has asked whether a range contains it.
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
# let number = document["x"]?.integer, also behind `if` and `guard`, and with `?? 0`.
NAMED = re.compile(
    r"\b(?:let|var)\s+(\w+)(?:\s*:\s*[\w?]+)?\s*=\s*[\w.$?!()]*(?:\[\"\w+\"\]\??)+\.integer\b(?!\.)"
    r"(?:\s*\?\?\s*-?[\d_]+)?\s*(?=$|[,;}{]|else\b)")
# UInt64(time.milliseconds), Int32(seconds): a time may be before 1970, and is longer than 32 bits.
TIME = re.compile(r"\b(?:UInt(?:8|16|32|64)?|Int(?:8|16|32))\((?!exactly:|clamping:|truncatingIfNeeded:|bitPattern:|max\()"
                  r"[^()]*\b(?:milliseconds|seconds)\b")
# Where the reading itself is done, and what only looks whether a text is a number.
READERS = {
    "Sources/Domain/Text/Whole.swift", "Sources/Store/Packing/StoredNumber.swift", "Sources/JSON/FaultFinder.swift",
}
# Laboratory code speaks with processes that it has started itself.
LABORATORY = ("Sources/Laboratory/Bench/", "Sources/Laboratory/Chaos/", "Sources/Laboratory/Demo/", "Sources/Sandbox/")


def check(place, lines, find):
    """`place`: the file's path from the root. `find(place, text)` takes a finding."""
    if place in READERS or place.startswith(LABORATORY):
        return
    for number, line in enumerate(lines, 1):
        code = line.split("//")[0]
        if any(pattern.search(code) for pattern in FAILABLE):
            find(f"{place}:{number}", "a number from a text is read with its range: Whole.read(_:in:)")
        if TIME.search(code):
            find(f"{place}:{number}", "a time may not fit this type: write `clamping:` or `exactly:`")
        if JSON_NUMBER.search(code):
            find(f"{place}:{number}", "arithmetic on a number as a document has it: bound it first")
    for number, name in reckoned(lines):
        find(f"{place}:{number}", f"arithmetic on `{name}`, a number as a document has it: bound it first")


def reckoned(lines):
    """Lines with arithmetic on a local name of a number of a document, and the name."""
    found = []
    # By name: the depth of braces that it was given at.
    named = {}
    depth = 0
    for number, line in enumerate(lines, 1):
        code = re.sub(r'"(?:[^"\\]|\\.)*"', lambda text: text[0] if re.fullmatch(r'"\w+"', text[0]) else '""', line)
        code = code.split("//")[0]
        given = [match[1] for match in NAMED.finditer(code)]
        for name in given:
            named[name] = depth
        for name in list(named):
            is_other = name not in given and re.search(rf"\b(?:let|var)\s+{name}\s*(?::[^=]*)?=", code)
            if is_other or re.search(rf"\.contains\({name}\b|~=\s*{name}\b", code):
                del named[name]
                continue
            operand = rf"\b{name}\b!?(?:\s*\?\?\s*-?\d+\s*\)?)?"
            if re.search(rf"{operand}\s(?:[-+*]|<<)=?\s|\s(?:[-+*]|<<)=?\s\(?{name}\b(?!\s*[(:])", code):
                found.append((number, name))
        depth += code.count("{") - code.count("}")
        # What was given within a block ends with it.
        named = {name: at for name, at in named.items() if depth >= at and depth > 0 or at == 0 and depth == 0}
    return found


def self_test(find):
    """That the rules find what they are for, and nothing else."""
    def of(text):
        found = []
        check("Sources/API/Example.swift", text.splitlines(), lambda place, _: found.append(int(place.split(":")[1])))
        return found

    cases = [
        ('func f() {\n  let n = j["x"]?.integer\n  guard let n else { return }\n  use(n)\n}', []),
        ('func f() {\n  let n = j["x"]?.integer ?? 0\n  use(n + 1)\n}', [3]),
        ('func f() {\n  let n = j["x"]?.integer\n  guard let n else { return }\n  use(n + 1)\n}', [4]),
        ('func f() {\n  guard let n = j["x"]?.integer else { return }\n  use(2 * n)\n}', [3]),
        ('func f() {\n  if let n = j["a"]?["x"]?.integer {\n    total += n\n  }\n}', [3]),
        ('func f() {\n  var n = j["x"]?.integer ?? 0\n  n -= 1\n}', [3]),
        ('func f() {\n  let n = j["x"]?.integer\n  use((n ?? 0) << 2)\n}', [3]),
        ('func f() {\n  guard let n = j["x"]?.integer, (0...9).contains(n) else { return }\n  use(n + 1)\n}', []),
        ('func f() {\n  let n = j["x"]?.integer ?? 0\n  use(n &+ 1)\n}', []),
        ('func f() {\n  let n = j["x"]?.integer\n}\nfunc g(n: Int) {\n  use(n + 1)\n}', []),
        ('func f() {\n  use((j["x"]?.integer ?? 0) + 1)\n}', [2]),
        ('func f() {\n  let n = Int(text) ?? 0\n}', [2]),
    ]
    for text, expected in cases:
        if of(text) != expected:
            find("Config/lint_numbers.py", f"finds {of(text)} in place of {expected} in: {text}")
