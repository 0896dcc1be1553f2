"""Checks the Lua that runs inside Redis as luacheck sees it: that it can be read, and that it uses no name that nobody has defined.
A script is checked as it is sent, put together as LuaText.swift does it."""
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "Sources/Store/Lua"
TEXT = ROOT / "Sources/Store/Scripts/LuaText.swift"
# Parts define what not every script needs; loops that count; names that are used again in an inner block.
IGNORED = ["211", "212", "213", "4"]


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
            ["luacheck", folder, "--no-config", "--no-color", "--std", "lua51", "--globals", "KEYS", "ARGV", "--read-globals",
             "redis", "struct", "bit", *constants, "--no-max-line-length", "--formatter", "plain", "--ignore", *IGNORED],
            capture_output=True, text=True)
        for line in run.stdout.splitlines():
            name, _, text = line.partition(":")
            yield f"Sources/Store/Lua/**/{pathlib.Path(name).name}", f"line {text.strip()} (as it is put together)"
        if run.returncode > 2:
            yield "Sources/Store/Lua", f"luacheck failed: {run.stderr.strip()}"
    for part in sorted((SCRIPTS / "Parts").glob("*.lua")):
        if part not in used:
            yield str(part.relative_to(ROOT)), "is part of no script"
