# SPDX-License-Identifier: Apache-2.0
"""Clean roots to install a release in and to use it there.

    why_not()                      what stands against entering a root on this machine, or None
    with Root.empty() as r:        nothing but /proc, /dev/null and /tmp
    with Root.debian(debs) as r:   a small Debian with what these packages depend on, and nothing of incore
    r.copy(path, "/opt")           a file or folder of this machine into the root; gives its name there
    r.run(["incore", "--version"]) subprocess.CompletedProcess with text; env, cwd, input as there (an empty root has no cwd but /)
    r.installed()                  {package: version} as dpkg of the root knows them
    r.files()                      names of all files in it, to see what a removal left

Root.debian() takes packages as this machine has them: files, database and scripts of each, in a second and without a network. With
INCORE_CHROOT=mmdebstrap it is made by mmdebstrap from the archive of /etc/apt instead (half a minute of work; make soak does).
"""
import os
import re
import shutil
import subprocess
import tempfile

# Beside what the packages ask for: what dpkg and apt run, and a shell to work in.
BASE = ["apt", "base-files", "bash", "coreutils", "dash", "debianutils", "diffutils", "dpkg", "findutils", "grep", "gzip", "hostname", "libc-bin",
        "perl-base", "sed", "tar", "mawk", "base-passwd"]
MERGED = ("bin", "sbin", "lib", "lib64")  # links to usr/ on Debian 12
ENTER = ('mount --rbind /proc "$0/proc" && mount --bind /dev/null "$0/dev/null" && mount --bind /dev/urandom "$0/dev/urandom" && '
         'cd / && exec chroot "$0" sh -c \'cd "$0" && exec "$@"\' "$@"')
ENTER_EMPTY = 'mount --rbind /proc "$0/proc" && mount --bind /dev/null "$0/dev/null" && cd / && exec chroot "$0" "$@"'
OWN = ["unshare", *(["-r"] if os.geteuid() else []), "-m"]


def why_not():
    if not shutil.which("unshare") or not shutil.which("dpkg-query"):
        return "no unshare or no dpkg"
    with Root.empty() as r:
        p = subprocess.run([*OWN, "sh", "-c", 'mount --rbind /proc "$0/proc" && mount --bind /dev/null "$0/dev/null" && chroot "$0" /nothing', r.path],
                           capture_output=True, text=True)
        kind = "user namespaces" if os.geteuid() else "a mount namespace"
        return None if "No such file" in p.stderr else f"{kind} cannot be had here: {p.stderr.strip()}"


def _paragraphs():
    """{package: the paragraph of this machine's database}, of what is installed."""
    with open("/var/lib/dpkg/status", encoding="utf-8") as f:
        found = [p for p in f.read().split("\n\n") if "\nStatus: install ok installed" in p]
    return {re.search(r"^Package: (\S+)", p, re.M)[1]: p for p in found}


def _asked(fields):
    """Lists of alternatives, each a name without version and architecture."""
    for group in ", ".join(fields).split(","):
        names = [re.match(r"\s*([a-z0-9][a-z0-9.+-]*)", word) for word in group.split("|")]
        if any(names):
            yield [n[1] for n in names if n]


def closure(packages, debs):
    """All that the packages and files need, by name; an alternative that is installed counts."""
    known = _paragraphs()
    provided = {name: package for package, text in known.items() for names in _asked(re.findall(r"^Provides: (.*)", text, re.M)) for name in names}
    own = {os.path.basename(d).split("_")[0] for d in debs}
    depends = [subprocess.run(["dpkg-deb", "-f", d, "Depends"], capture_output=True, text=True, check=True).stdout.strip() for d in debs]
    waiting, found = [*([p] for p in packages), *_asked(d for d in depends if d)], {}
    while waiting:
        names = waiting.pop()
        if own & set(names):
            continue
        name = next((n if n in known else provided[n] for n in names if n in known or n in provided), None)
        if not name:
            raise LookupError(f"{' | '.join(names)} is not installed on this machine")
        if name not in found:
            found[name] = known[name]
            waiting += _asked(re.findall(r"^(?:Pre-)?Depends: (.*)", known[name], re.M))
    return found


def _copy_packages(found, root):
    info = "/var/lib/dpkg/info"
    database = os.path.join(root, info[1:])
    os.makedirs(database)
    for name in MERGED:
        os.makedirs(os.path.join(root, "usr", name))
        os.symlink("usr/" + name, os.path.join(root, name))
    names = set()
    for entry in os.listdir(info):
        if entry.rsplit(".", 1)[0].split(":")[0] in found:
            shutil.copy2(os.path.join(info, entry), database)
            if entry.endswith(".list"):
                with open(os.path.join(info, entry), encoding="utf-8") as f:
                    names |= set(f.read().splitlines())
    skipped = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/zoneinfo/")
    names = sorted(n for n in names if not n.startswith(skipped) and os.path.lexists(n) and n[1:] not in MERGED)
    p = subprocess.run(["tar", "-C", "/", "--no-recursion", "-cf", "-", "--null", "-T", "-"], input="\0".join("." + n for n in names).encode(),
                       capture_output=True, check=True)
    subprocess.run(["tar", "-C", root, "--keep-directory-symlink", "-xf", "-"], input=p.stdout, check=True)
    with open(os.path.join(root, "var/lib/dpkg/status"), "w", encoding="utf-8") as f:
        f.write("\n\n".join(found[n] for n in sorted(found)) + "\n\n")
    for name, text in {"passwd": "root:x:0:0:root:/root:/bin/bash\n_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n", "group": "root:x:0:\n"}.items():
        with open(os.path.join(root, "etc", name), "w") as f:
            f.write(text)


def _mmdebstrap(found, root):
    """The same packages, each from the archive, unpacked and configured."""
    subprocess.run(["mmdebstrap", "--variant=apt", "--quiet", "--mode=root", "--format=directory", "--include=" + ",".join(sorted(found)),
                    '--aptopt=Acquire::Languages "none"', "--dpkgopt=force-unsafe-io", "--dpkgopt=path-exclude=/usr/share/doc/*", "bookworm", root],
                   check=True, capture_output=True)


class Root:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="incore-root-")
        self.path = os.path.join(self.folder.name, "root")
        self.is_empty = True
        os.mkdir(self.path)

    @classmethod
    def empty(cls):
        root = cls()
        root._mount_points()
        return root

    @classmethod
    def debian(cls, debs=(), also=()):
        """also: names of further packages, with what they need."""
        root = cls()
        root.is_empty = False
        found = closure([*BASE, *also], debs)
        (_mmdebstrap if os.environ.get("INCORE_CHROOT") == "mmdebstrap" else _copy_packages)(found, root.path)
        root._mount_points()
        root.run(["ldconfig"])
        return root

    def _mount_points(self):
        for name in ("proc", "dev", "tmp", "root"):
            os.makedirs(os.path.join(self.path, name), exist_ok=True)
        for name in ("null", "urandom"):
            path = os.path.join(self.path, "dev", name)
            if not os.path.exists(path):
                with open(path, "w"):
                    pass

    def copy(self, path, to="/"):
        name = os.path.join(to, os.path.basename(path))
        there = os.path.join(self.path, name[1:])
        os.makedirs(os.path.dirname(there), exist_ok=True)
        if os.path.isdir(path):
            shutil.copytree(path, there, symlinks=True)
        else:
            shutil.copy2(path, there)
        return name

    def run(self, words, env=None, cwd="/", **more):
        given = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", **(env or {})}
        enter = [*OWN, "sh", "-c", ENTER_EMPTY if self.is_empty else ENTER, self.path]
        # what enters needs this machine's PATH; an empty root has no env to set another
        inside = words if self.is_empty else [cwd, "/usr/bin/env", "PATH=" + given["PATH"], *words]
        return subprocess.run([*enter, *inside], capture_output=True, text=True, env={**given, "PATH": os.environ["PATH"]}, **more)

    def installed(self):
        p = self.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Abbrev} ${Version}\n"])
        return {words[0]: words[-1] for words in map(str.split, p.stdout.splitlines()) if words[1].startswith("ii")}

    def files(self):
        return {os.path.relpath(os.path.join(place, n), self.path) for place, _, names in os.walk(self.path) for n in names}

    def remove(self):
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.remove()
