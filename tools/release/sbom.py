# SPDX-License-Identifier: Apache-2.0
"""What is in the files of a release, as an SPDX 2.3 document. It is made of what was really taken: archives that the linker's map names,
libraries that the wheel holds, packages that the .deb files depend on; versions are those of dpkg."""
import collections
import datetime
import hashlib
import json
import os
import re
import subprocess
import zipfile

MAP = "packaging/static/incore-static.map"
# Of source packages, as their copyright files say (docs/install.md has the table).
LICENCES = {
    "bzip2": "bzip2-1.0.6", "elfutils": "LGPL-3.0-or-later OR GPL-2.0-or-later", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later", "gmp": "LGPL-3.0-or-later OR GPL-2.0-or-later", "gnutls28": "LGPL-2.1-or-later", "libbsd": "BSD-3-Clause",
    "libedit": "BSD-3-Clause", "libffi": "MIT", "libidn2": "LGPL-3.0-or-later OR GPL-2.0-or-later", "libmd": "BSD-3-Clause",
    "libmicrohttpd": "LGPL-2.1-or-later", "libtasn1-6": "LGPL-2.1-or-later", "libunistring": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "libyaml": "MIT", "libzstd": "BSD-3-Clause", "ncurses": "X11", "nettle": "LGPL-3.0-or-later OR GPL-2.0-or-later", "otf2": "BSD-3-Clause",
    "p11-kit": "BSD-3-Clause", "pcre2": "BSD-3-Clause", "python3-defaults": "MIT", "sqlite3": "blessing", "xz-utils": "LicenseRef-public-domain",
    "zlib": "Zlib",
}
Part = collections.namedtuple("Part", "name version source source_version licence copyright")


def _text(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _parts(names):
    """Of installed packages, sorted by source."""
    shown = _text("dpkg-query", "-W", "-f", "${binary:Package}\t${Version}\t${source:Package}\t${source:Version}\n", *names) if names else ""
    out = []
    for line in shown.splitlines():
        name, version, source, source_version = line.split("\t")
        name = name.split(":")[0]
        out.append(Part(name, version, source, source_version, LICENCES.get(source, "NOASSERTION"), f"/usr/share/doc/{name}/copyright"))
    return sorted(set(out), key=lambda p: (p.source, p.name))


def _owners(files):
    """Names of the packages that brought the files."""
    asked = sorted({p for f in files for p in (os.path.realpath(f), os.path.realpath(f).replace("/usr/lib/", "/lib/", 1))})
    found = subprocess.run(["dpkg-query", "-S", *asked], capture_output=True, text=True).stdout
    return sorted({line.split(": ")[0].split(",")[0] for line in found.splitlines() if not line.startswith("diversion")})


def linked_statically(build):
    """Packages of which at least one object is in the static program."""
    with open(os.path.join(build, MAP)) as f:
        head = f.read().split("Memory Configuration")[0]
        f.seek(0)
        whole = re.findall(r"^LOAD (/\S+\.o)$", f.read(), re.M)  # start files
    return _parts(_owners([*re.findall(r"^(/\S+\.a)\(", head, re.M), *whole]))


def carried_by_wheel(path):
    """Packages whose libraries lie in the wheel."""
    with zipfile.ZipFile(path) as z:
        names = sorted(os.path.basename(n) for n in z.namelist() if "/lib/incore/lib" in n and "libincore" not in n)
    return _parts(_owners([p for n in names for p in _library_paths(n)]))


def _library_paths(name):
    for folder in ("/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"):
        if os.path.exists(os.path.join(folder, name)):
            return [os.path.join(folder, name)]
    return []


def needed_by_deb(path):
    """Packages of other sources that it depends on."""
    groups = _text("dpkg-deb", "-f", path, "Depends").split(",")
    names = [re.match(r"\s*([a-z0-9][a-z0-9.+-]*)", g) for g in groups]
    return _parts(sorted({n[1] for n in names if n and "incore" not in n[1]}))


def _spdx_id(*words):
    return "SPDXRef-" + "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", w).strip("-") for w in words)


def _release_file(path):
    with open(path, "rb") as f:
        data = f.read()
    return {
        "SPDXID": _spdx_id("file", os.path.basename(path)), "fileName": "./" + os.path.basename(path),
        "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                      {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}],
        "fileTypes": ["BINARY" if path.endswith("x86_64") else "ARCHIVE"], "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION",
    }


def _package(p):
    return {
        "SPDXID": _spdx_id("package", p.name, p.version), "name": p.name, "versionInfo": p.version, "supplier": "Organization: Debian",
        "downloadLocation": f"https://snapshot.debian.org/package/{p.source}/{p.source_version}/", "filesAnalyzed": False,
        "sourceInfo": f"built from the source package {p.source} {p.source_version}", "licenseConcluded": "NOASSERTION", "licenseDeclared": p.licence,
        "copyrightText": "NOASSERTION", "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{p.name}@{p.version.replace(':', '%3A').replace('+', '%2B')}?arch=amd64&distro=bookworm"}],
    }


def _parts_of(path, build):
    """(relationship, part) of one file of the release."""
    name = os.path.basename(path)
    if name.endswith("linux-x86_64"):
        return [("STATIC_LINK", p) for p in linked_statically(build)]
    if name.endswith(".whl"):
        return [("CONTAINS", p) for p in carried_by_wheel(path)]
    if name.endswith(".deb"):
        return [("DEPENDS_ON", p) for p in needed_by_deb(path)]
    return []


def make(build, out, version):
    files = [os.path.join(out, n) for n in sorted(os.listdir(out)) if n.startswith(("incore", "lib", "python3")) and not n.endswith(".spdx.json")]
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    own = {"SPDXID": "SPDXRef-incore", "name": "incore", "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
           "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION"}
    packages, relations = {}, [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-incore")]
    described = [_release_file(path) for path in files]
    for path, entry in zip(files, described):
        relations.append((entry["SPDXID"], "GENERATED_FROM", "SPDXRef-incore"))
        for kind, part in _parts_of(path, build):
            packages[_spdx_id("package", part.name, part.version)] = _package(part)
            relations.append((entry["SPDXID"], kind, _spdx_id("package", part.name, part.version)))
    digest = hashlib.sha256("".join(f["checksums"][1]["checksumValue"] for f in described).encode()).hexdigest()
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"incore-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/incore-{version}-{digest}",
        "creationInfo": {"created": created, "creators": ["Tool: incore-release-" + version]},
        "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-public-domain", "name": "public domain", "extractedText": "liblzma is in the public domain."}],
        "packages": [own, *(packages[k] for k in sorted(packages))], "files": described,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }
    path = os.path.join(out, f"incore-{version}.spdx.json")
    with open(path, "w") as f:
        json.dump(document, f, indent=1)
        f.write("\n")
    return [path]
