"""Checks the Lua that runs inside Redis as luacheck sees it: that it can be read, and that it uses no global name that
Redis does not have. A script is checked as it is sent, put together as LuaText.swift does it."""
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "Sources/Store/Lua"
TEXT = ROOT / "Sources/Store/Scripts/LuaText.swift"
SWIFT = ROOT / "Sources/Store/Scripts/Scripts.swift"
# Parts define what not every script needs; loops count; an inner block may use a name of an outer one again.
IGNORED = ["211", "212", "213", "42", "43"]
# What Redis gives a script.
KNOWN = ["redis", "struct", "bit", "cjson", "cmsgpack", "assert", "error", "ipairs", "math", "next", "pairs", "pcall",
         "select", "string", "table", "tonumber", "tostring", "type", "unpack"]


def assembled(file, used):
    for line in file.read_text().splitlines():
        if not line.startswith("-- use "):
            yield line
            continue
        for name in line[len("-- use "):].split(","):
            part = SCRIPTS / "Parts" / f"{name.strip()}.part.lua"
            if part not in used:
                used.add(part)
                yield from assembled(part, used)


def findings():
    if not shutil.which("luacheck"):
        yield "Sources/Store/Lua", "luacheck is missing: install the packages of Config/lint-packages"
        return
    constants = re.findall(r'^ +\("([A-Z_]+)", ', TEXT.read_text(), re.M)
    used = set()
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(SCRIPTS.rglob("*.lua")):
            if not file.name.endswith(".part.lua"):
                own = set()
                (pathlib.Path(folder) / file.name).write_text("\n".join(assembled(file, own)) + "\n")
                used |= own
        run = subprocess.run(
            ["luacheck", folder, "--no-config", "--no-color", "--std", "none", "--globals", "KEYS", "ARGV",
             "--read-globals", *KNOWN, *constants, "--no-max-line-length", "--formatter", "plain", "--ignore", *IGNORED],
            capture_output=True, text=True)
        for line in run.stdout.splitlines():
            name, _, text = line.partition(":")
            yield f"Sources/Store/Lua/**/{pathlib.Path(name).name}", f"line {text.strip()} (as it is put together)"
        if run.returncode not in (0, 1, 2) or run.returncode and not run.stdout.strip():
            yield "Sources/Store/Lua", f"luacheck failed: {run.stderr.strip()}"
    named = set(re.findall(r'LuaText\.script\("(\w+)", PackageResources\.(\w+)_lua\)', SWIFT.read_text()))
    files = [file.stem for file in sorted(SCRIPTS.rglob("*.lua")) if not file.name.endswith(".part.lua")]
    for name in files:
        if (name, name) not in named or files.count(name) > 1:
            yield f"Sources/Store/Lua/**/{name}.lua", "is not, or not once, in Scripts.swift under its name"
    for part in sorted((SCRIPTS / "Parts").glob("*.lua")):
        if part not in used:
            yield str(part.relative_to(ROOT)), "is part of no script"
