#!/usr/bin/env python3
"""sbom.py BINARY: prints what a built fanfare consists of and needs, as CycloneDX 1.5 (JSON).

Components are the Debian packages of the libraries that the binary loads, Swift's runtime, and the packages that a
running gateway needs beside them. The same binary on the same packages gives the same bytes: there is no time in it,
and its serial number is made of the binary's digest.
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

# Not loaded, but needed: the store, the authorities by which vendors are verified, the clocks of time zones.
BESIDE = ["redis-server", "ca-certificates", "tzdata"]
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "fanfare/sbom")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries(binary):
    """The files that the loader takes for the binary, all levels deep."""
    loaded = run("ldd", binary)
    files = re.findall(r"=> (/\S+) \(", loaded) + re.findall(r"^\s+(/\S+ld-linux\S*) \(", loaded, re.M)
    missing = re.findall(r"(\S+) => not found", loaded)
    if missing:
        sys.exit(f"sbom: {binary} needs {', '.join(missing)}, which this machine does not have")
    return sorted(set(files))


def places(file):
    """How a package may call the file: Debian moved /lib into /usr/lib, and packages name either."""
    real = os.path.realpath(file)
    return dict.fromkeys([file, real, real.removeprefix("/usr"), "/usr" + real])


def packages(files):
    """The Debian package of each file; None: it is of no package."""
    known = subprocess.run(
        ["dpkg-query", "-S", *(place for file in files for place in places(file))], capture_output=True, text=True)
    owners = {}
    for line in known.stdout.splitlines():
        names, _, path = line.partition(": ")
        owners[path] = names.split(",")[0].split(":")[0]
    return {file: next((owners[place] for place in places(file) if place in owners), None) for file in files}


def debian(names):
    distribution = dict(re.findall(r'^(ID|VERSION_ID)="?([^"\n]+)', pathlib.Path("/etc/os-release").read_text(), re.M))
    place = f"{distribution['ID']}-{distribution['VERSION_ID']}"
    answer = run("dpkg-query", "-W", "-f=${Package}\t${Version}\t${Architecture}\t${source:Package}\n", *names)
    for line in sorted(set(answer.splitlines())):
        name, version, architecture, source = line.split("\t")
        encoded = version.replace("+", "%2B").replace(":", "%3A")
        link = f"pkg:deb/{distribution['ID']}/{name}@{encoded}?arch={architecture}&distro={place}"
        yield {
            "type": "library", "bom-ref": link, "name": name, "version": version, "purl": link,
            "properties": [{"name": "debian:source", "value": source}],
        }


def swift(files):
    version = re.search(r"Swift version (\S+)", run(os.environ.get("SWIFT", "swift"), "--version")).group(1)
    link = f"pkg:generic/swift-runtime@{version}"
    return {
        "type": "library", "bom-ref": link, "name": "swift-runtime", "version": version, "purl": link,
        "properties": [{"name": "file", "value": pathlib.Path(file).name} for file in files],
    }


def document(binary):
    digest = hashlib.sha256(pathlib.Path(binary).read_bytes()).hexdigest()
    version = json.loads(run(binary, "version", "--json"))["version"]
    owners = packages(libraries(binary))
    runtime = [file for file, owner in owners.items() if owner is None]
    strange = [file for file in runtime if "/swift/" not in file]
    if strange:
        sys.exit(f"sbom: no Debian package has {', '.join(strange)}: install the library as a package")
    names = sorted({owner for owner in owners.values() if owner} | set(BESIDE))
    components = list(debian(names)) + ([swift(runtime)] if runtime else [])
    for component in components:
        if component["name"] in BESIDE:
            component["type"] = "application" if component["name"] == "redis-server" else "data"
    itself = {
        "type": "application", "bom-ref": f"fanfare@{version}", "name": "fanfare", "version": version,
        "licenses": [{"license": {"id": "Apache-2.0"}}], "hashes": [{"alg": "SHA-256", "content": digest}],
    }
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": uuid.uuid5(NAMESPACE, digest).urn, "version": 1,
        "metadata": {"component": itself}, "components": components,
        "dependencies": [{"ref": itself["bom-ref"], "dependsOn": [component["bom-ref"] for component in components]}],
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: sbom.py BINARY")
    json.dump(document(sys.argv[1]), sys.stdout, indent=2, sort_keys=True)
    print()
