# SPDX-License-Identifier: Apache-2.0
"""What a fresh machine takes from the one it is made on: Debian's archive, proxies, npm's registry and the authorities that are trusted."""
import os
import re
import shutil
import subprocess
import sys

RELEASE = "bookworm"
SUITES = {RELEASE, RELEASE + "-updates", RELEASE + "-security"}
AUTHORITIES = "/etc/authorities-of-the-host.pem"
GIVEN = ("JOBS", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
# All that a command starts and mounts lives in its own namespaces: whatever ends it, by itself or by Ctrl-C, ends that.
ALONE = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount-proc", "--propagation", "private", "--pid", "--fork", "--kill-child", "--"]
NEEDED = ("mmdebstrap", "unshare", "setpriv", "git")


def why_not():
    """None, or why no machine can be made here."""
    if os.geteuid():
        return "only root can make one"
    missing = [n for n in NEEDED if not shutil.which(n)]
    if missing:
        return f"{' and '.join(missing)} is not installed"
    return None if archive() else f"/etc/apt names no archive of Debian 12 ({RELEASE})"


def archive():
    """Debian's own lines of /etc/apt, each as one line; what else the host installs from is no part of a fresh Debian."""
    texts, folder = [], "/etc/apt/sources.list.d"
    for path in ["/etc/apt/sources.list", *(os.path.join(folder, n) for n in (sorted(os.listdir(folder)) if os.path.isdir(folder) else []))]:
        if path.endswith((".list", ".sources")) and os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                texts.append(f.read())
    lines = []
    for text in texts:
        lines += [" ".join(words) for words in map(str.split, text.splitlines()) if words[:1] == ["deb"] and SUITES & set(words)]
        for stanza in re.split(r"\n\s*\n", text):
            field = {k.lower(): v.split() for k, v in re.findall(r"^([\w-]+):(.*)$", stanza, re.M)}
            key = f"[signed-by={field['signed-by'][0]}] " if field.get("signed-by") else ""
            lines += [f"deb {key}{uri} {suite} {' '.join(field.get('components', []))}" for uri in field.get("uris", [])
                      for suite in field.get("suites", []) if suite in SUITES and "deb" in field.get("types", [])]
    return lines


def environment():
    registry = subprocess.run(["npm", "config", "get", "registry"], capture_output=True, text=True).stdout.strip() if shutil.which("npm") else ""
    return {"LC_ALL": "C.UTF-8", "NODE_EXTRA_CA_CERTS": AUTHORITIES, **({"npm_config_registry": registry} if registry else {}),
            **{name: os.environ[name] for name in GIVEN if name in os.environ}}


def alone(words, env=None, show=False):
    """Exit status and output; shown while it comes, when asked to."""
    out = []
    p = subprocess.Popen([*ALONE, *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        for line in p.stdout:
            out.append(line)
            if show:
                print(line, end="", flush=True)
        p.wait()
    finally:
        if p.poll() is None:
            p.kill()
            p.stdout.read()  # until the last of its processes is gone
            p.wait()
    return p.returncode, "".join(out)


def bootstrap(path):
    """A Debian with git and make, as the archive has it today."""
    told = subprocess.run(["apt-config", "dump"], check=True, capture_output=True, text=True).stdout
    proxies = re.findall(r'^Acquire::(?:http|https|ftp)::Proxy(?:::\S+)? ".+";$', told, re.M)
    rc, text = alone(["mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", "--format=directory", "--include=git,make",
                      *(f"--aptopt={line}" for line in proxies), "--dpkgopt=force-unsafe-io", RELEASE, path, *archive()])
    if rc:
        sys.exit(f"mmdebstrap: exit status {rc}\n{text[-4000:]}")
    trusted = next((p for p in map(os.environ.get, ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE")) if p and os.path.exists(p)),
                   "/etc/ssl/certs/ca-certificates.crt")
    if os.path.exists(trusted):
        shutil.copy(trusted, path + AUTHORITIES)
    with open(os.path.join(path, "etc", "passwd"), "a") as f:
        f.write("somebody:x:1000:1000::/home/somebody:/bin/bash\n")
    with open(os.path.join(path, "etc", "group"), "a") as f:
        f.write("somebody:x:1000:\n")
