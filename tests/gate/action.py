#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""action.yml and examples/ci/gate.yml: against the public schemas, and run: their shell steps as a runner starts them, with a release file
made here, in a repository made here. Actions of others (checkout, uploads) are not run: what they would be given is looked at.

usage: action.py BUILD_DIR      INCORE_NO_NPM: without schemas
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

from run import COUNTS, DATA, ROOT, SCHEMAS, check, npm, skip


class Loader(yaml.SafeLoader):
    """YAML 1.2 as GitHub reads it: on is a word."""


Loader.yaml_implicit_resolvers = {k: [(tag, r) for tag, r in v if not tag.endswith(":bool")] for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))


def load(path):
    with open(os.path.join(ROOT, path)) as f:
        return yaml.load(f, Loader)


class Runner:
    """One job: the steps of a workflow, and of our action in its place."""

    def __init__(self, tmp, workspace, replace):
        self.tmp, self.workspace, self.replace = tmp, workspace, replace
        self.summary, self.path, self.others, self.text, self.failed, self.n = "", [], [], "", False, 0

    def value(self, text, names):
        """An expression of ours: names, 'text', always(), !=, ==, &&."""
        def one(word):
            word = word.strip()
            if word[0] == "'":
                return word[1:-1]
            if word == "always()":
                return True
            found = names
            for part in word.split("."):
                found = found.get(part, "") if isinstance(found, dict) else ""
            return found

        def term(words):
            for sign in ("!=", "=="):
                if sign in words:
                    a, b = map(one, words.split(sign))
                    return (a != b) == (sign == "!=")
            return one(words)
        values = [term(t) for t in text.split("&&")]
        return values[0] if len(values) == 1 else all(values)

    def filled(self, text, names):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda m: str(self.value(m[1], names)), str(text))

    def is_due(self, step, names):
        condition = re.sub(r"^\$\{\{(.*)\}\}$", r"\1", str(step.get("if", "")))
        if self.failed and "always()" not in condition:
            return False
        return bool(self.value(condition, names)) if condition else True

    def shell(self, step, names):
        """Its outputs, and whether it ended well."""
        self.n += 1
        files = {name: os.path.join(self.tmp, f"{name}{self.n}") for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            open(path, "w").close()
        script = os.path.join(self.tmp, f"step{self.n}.sh")
        with open(script, "w") as f:
            f.write(step["run"])
        env = {"PATH": ":".join([*reversed(self.path), "/usr/bin:/bin"]), "HOME": self.tmp, "GITHUB_WORKSPACE": self.workspace, "RUNNER_TEMP": os.path.join(self.tmp, "runner"),
               "CI": "true", "GITHUB_ACTIONS": "true", **files, **{k: self.filled(v, names) for k, v in step.get("env", {}).items()}}
        os.makedirs(env["RUNNER_TEMP"], exist_ok=True)
        p = subprocess.run(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script], cwd=self.workspace, env=env, capture_output=True, text=True, timeout=120)
        self.text += p.stdout + p.stderr
        outputs = dict(line.split("=", 1) for line in open(files["GITHUB_OUTPUT"]).read().splitlines())
        self.path += open(files["GITHUB_PATH"]).read().splitlines()
        self.summary += open(files["GITHUB_STEP_SUMMARY"]).read()
        return outputs, p.returncode == 0

    def steps(self, steps, names):
        names["steps"] = {}
        for step in steps:
            if not self.is_due(step, names):
                continue
            outputs, is_good = {}, True
            if "run" in step:
                outputs, is_good = self.shell(step, names)
            elif step["uses"].startswith("OWNER/incore@"):
                outputs, is_good = self.action(load("action.yml"), {k: self.filled(self.replace.get(k, v), names) for k, v in step["with"].items()})
            else:
                self.others.append((step["uses"].split("@")[0], {k: self.filled(v, names) for k, v in step.get("with", {}).items()}))
            names["steps"][step.get("id", f"step {len(names['steps'])}")] = {"outputs": outputs}
            self.failed |= not is_good

    def action(self, action, given):
        names = {"inputs": {k: given.get(k, v.get("default", "")) for k, v in action["inputs"].items()}}
        check(set(given) <= set(action["inputs"]) and all(given.get(k) for k, v in action["inputs"].items() if v.get("required")), f"inputs of the action: {given}")
        inner = Runner(self.tmp, self.workspace, {})
        inner.n = self.n
        inner.steps(action["runs"]["steps"], names)
        self.n, self.text = inner.n, self.text + inner.text
        self.summary += inner.summary
        self.path += inner.path
        return {k: self.filled(v["value"], names) for k, v in action["outputs"].items()}, not inner.failed


def repository(build, tmp, name, after):
    """A project with a kernel, a capture of it as it should be, and a way to take another."""
    folder = os.path.join(tmp, name)
    os.makedirs(os.path.join(folder, "perf"))
    os.mkdir(os.path.join(folder, "kernels"))
    shutil.copy(os.path.join(DATA, "gemm", "ui_output_agent_1000_dispatch_7", "source_0_gemm.py"), os.path.join(folder, "kernels", "gemm.py"))
    tools = [os.path.join(build, "examples", "make_capture"), os.path.join(build, "incore")]
    with open(os.path.join(folder, "perf", "take-capture"), "w") as f:
        f.write(f'#!/bin/sh -e\nd=$(mktemp -d)\n"{tools[0]}" {after} "$d/c"\n"{tools[1]}" pack -q -o "$1" "$d/c"\nrm -r "$d"\n')
    os.chmod(os.path.join(folder, "perf", "take-capture"), 0o755)
    subprocess.run([tools[0], "--change", "0=1", "gemm", os.path.join(tmp, name + "-before")], check=True)
    subprocess.run([tools[1], "pack", "-q", "-o", os.path.join(folder, "perf", "before.incore"), os.path.join(tmp, name + "-before")], check=True, stdout=subprocess.DEVNULL)
    return folder


def job(build, tmp, name, after, **replace):
    with open(os.path.join(build, "incore"), "rb") as f:
        own = {"file": os.path.join(build, "incore"), "sha256": hashlib.sha256(f.read()).hexdigest().upper()}
    runner = Runner(os.path.join(tmp, name + "-runner"), repository(build, tmp, name, after), {**own, **replace})
    os.mkdir(runner.tmp)
    workflow = load("examples/ci/gate.yml")
    runner.steps(workflow["jobs"]["gate"]["steps"], {})
    return runner


def jobs(build, tmp):
    uploads = ["actions/checkout", "github/codeql-action/upload-sarif", "actions/upload-artifact"]

    same = job(build, tmp, "same", "--change 0=1 gemm")
    check(not same.failed and [u for u, _ in same.others] == uploads, f"a kernel as before: {same.text}")
    check("2 gates passed" in same.summary and "incore 0." in same.text, f"its summary: {same.summary}")
    check(os.path.basename(same.path[0]) == "bin", f"not in PATH: {same.path}")

    worse = job(build, tmp, "worse", "--change 17=0.25 gemm")
    check(worse.failed and [u for u, _ in worse.others] == uploads, f"a slower kernel: {worse.text}")
    check("2 of 2 gates failed" in worse.summary and "s_waitcnt vmcnt(0)" in worse.summary, f"its summary: {worse.summary}")
    with open(os.path.join(worse.workspace, worse.others[1][1]["sarif_file"])) as f:
        results = json.load(f)["runs"][0]["results"]
    spots = [r["locations"][0]["physicalLocation"] for r in results]
    check([(s["artifactLocation"]["uri"], s["region"]["startLine"]) for s in spots] == [("kernels/gemm.py", 17)] * 2, f"the planted line is 17: {spots}")
    check(sorted(os.listdir(os.path.join(worse.workspace, worse.others[2][1]["path"]))) == ["gate.sarif", "gate.txt", "gate.xml"], "the files to keep")

    for what, words in (("another checksum", {"sha256": "0" * 64}), ("no checksum", {"sha256": "nonsense"}), ("no https", {"file": "http://example.invalid/incore"}),
                        ("no file", {"file": "/nowhere"})):
        bad = job(build, tmp, what.replace(" ", "-"), "--change 0=1 gemm", **words)
        check(bad.failed and [u for u, _ in bad.others] == uploads[:1] and not bad.summary and not bad.path, f"{what}: {bad.text}")
        check("checksum" not in what or not os.path.exists(os.path.join(bad.tmp, "runner", "incore", "bin", "incore")), f"{what}: the program stays")

    other = job(build, tmp, "other", "gfx12")
    check(other.failed and [u for u, _ in other.others] == uploads[:1] and "not of comparable code" in other.text, f"captures of two kernels: {other.text}")

    words = "diff\n--gate\n$(touch pwned)`touch pwned`;touch pwned\nperf/before.incore\nperf/after.incore\n"
    odd = job(build, tmp, "odd", "--change 0=1 gemm", gate=words)
    check(odd.failed and not os.path.exists(os.path.join(odd.workspace, "pwned")) and "expected the name of a value" in odd.text, f"words that a shell would run: {odd.text}")


def schemas():
    import jsonschema

    for path, name in (("action.yml", "github-action.json"), ("examples/ci/gate.yml", "github-workflow.json")):
        with open(os.path.join(SCHEMAS, name)) as f:
            schema = json.load(f)
        validator = jsonschema.validators.validator_for(schema)(schema)
        bad = [e.message for e in validator.iter_errors(load(path))]
        check(not bad, f"{path}: {bad[:3]}")
        check(list(validator.iter_errors({**load(path), "runs": {"using": "nothing"}, "jobs": 1})), f"the schema of {path} takes anything")


def main():
    build = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as tmp:
        jobs(build, tmp)
    if not os.environ.get("INCORE_NO_NPM"):
        why = npm()
        if why:
            skip("schemas of GitHub: " + why)
        else:
            schemas()
    print(f"\n{COUNTS['passed']} passed, {COUNTS['failed']} failed, {COUNTS['skipped']} skipped")
    return COUNTS["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
