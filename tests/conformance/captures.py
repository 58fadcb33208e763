# SPDX-License-Identifier: Apache-2.0
"""captures.py: the real captures by name, and one program run per question, kept."""
import json
import os
import subprocess

# name of the capture directory, its dispatch directory, name of its facts file
CAPTURES = [
    ("topk_gating_softmax", "ui_output_agent_23939_dispatch_37", "topk_gating_softmax.23939_37"),
    ("flash_attn_before", "ui_output_agent_38430_dispatch_44", "flash_attn_func.38430_44"),
    ("flash_attn_after29", "ui_output_agent_50261_dispatch_44_after_loc_fix", "flash_attn_func.50261_44"),
    ("flash_attn_unmapped", "ui_output_agent_7267_dispatch_42", "flash_attn_func.7267_42"),
    ("pa_mqa_double 234", "ui_output_agent_64914_dispatch_234", "pa_mqa_logits_fp4.64914_234"),
    ("pa_mqa_double 236", "ui_output_agent_64914_dispatch_236", "pa_mqa_logits_fp4.64914_236"),
    ("mla_decode_earlyexit", "ui_output_agent_41578_dispatch_58", "mla_decode.41578_58"),
    ("vec_add", "ui_output_agent_14705_dispatch_25", "vec_add.14705_25"),
    ("layernorm", "ui_output_agent_22257_dispatch_23", "layernorm.22257_23"),
    ("fused_rope_cache", "ui_output_agent_4253_dispatch_8781", "fused_rope_cache.4253_8781"),
    ("hgemm_splitk", "ui_output_agent_4716_dispatch_319", "hgemm_splitk.4716_319"),
    ("pa_decode", "ui_output_agent_10886_dispatch_209", "pa.10886_209"),
    ("rmsnorm", "ui_output_agent_19276_dispatch_18", "rmsnorm.19276_18"),
    ("preshuffle_gemm_v2", "ui_output_agent_63371_dispatch_15", "preshuffle_gemm_v2.63371_15"),
    ("moe_blockscale", "ui_output_agent_39345_dispatch_668", "moe_blockscale.39345_668"),
]

SYNTHETIC = {
    "shell_empty": "ui_output_agent_99999_dispatch_7",
    "shell_missed_cu": "ui_output_agent_32235_dispatch_46",
    "truncated_tail": "ui_output_agent_23939_dispatch_37",
    "missing_wave": "ui_output_agent_4253_dispatch_8781",
    "capture_dir": None,
}


class Failed(Exception):
    """The program did not answer."""


class Data:
    """The captures under the shared folder, and the program under test."""

    def __init__(self, program, shared):
        self.program = program
        self.root = os.path.join(shared, "data", "amd")
        self.kept = {}
        self.kept_bytes = {}

    def exists(self):
        return os.path.isdir(os.path.join(self.root, "ui_output"))

    def path(self, name):
        for known, directory, _ in CAPTURES:
            if known == name:
                return os.path.join(self.root, "ui_output", known.split()[0], directory)
        directory = SYNTHETIC[name]
        base = os.path.join(self.root, "ui_output_synthetic", name)
        return os.path.join(base, directory) if directory else base

    def facts(self, name):
        for known, _, facts in CAPTURES:
            if known == name:
                with open(os.path.join(self.root, "golden", "facts", facts + ".json"), encoding="utf-8") as f:
                    return json.load(f)
        raise KeyError(name)

    def run(self, *args, cwd=None, jobs=None):
        """Exit status, stdout bytes, stderr text."""
        env = dict(os.environ, NO_COLOR="1")
        if jobs:
            env["INCORE_JOBS"] = str(jobs)
        p = subprocess.run([self.program, *args], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=600, check=False)
        return p.returncode, p.stdout, p.stderr.decode("utf-8", "replace")

    def ask_path(self, path, verb, *options):
        """data of the JSON answer about a path; exit statuses 0 and 1 are answers."""
        key = (path, verb, options)
        if key not in self.kept:
            rc, out, err = self.run(verb, "--json", *options, "-j2", path)
            if rc not in (0, 1):
                raise Failed(f"incore {verb} {' '.join(options)} {path}: exit {rc}: {err.strip()[:300]}")
            answer = json.loads(out)
            if answer["schema"] != f"incore.{verb}/1":
                raise Failed(f"{verb}: schema {answer['schema']}")
            self.kept[key], self.kept_bytes[key] = answer["data"], out
        return self.kept[key]

    def ask(self, name, verb, *options):
        return self.ask_path(self.path(name), verb, *options)


class Report:
    """Comparisons made; a failing one prints path, got and want."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def same(self, path, got, want):
        """Every value below want, one comparison each."""
        if isinstance(want, dict):
            if not isinstance(got, dict):
                return self.one(path, got, want)
            for key in sorted(set(want) | set(got)):
                if key not in want:
                    self.one(f"{path}.{key}", got[key], "(nothing)")
                else:
                    self.same(f"{path}.{key}", got.get(key), want[key])
            return None
        if isinstance(want, list) and want and isinstance(want[0], (dict, list)):
            self.one(f"{path}.length", len(got) if isinstance(got, list) else got, len(want))
            for i, item in enumerate(want):
                self.same(f"{path}[{i}]", got[i] if isinstance(got, list) and i < len(got) else None, item)
            return None
        return self.one(path, got, want)

    def one(self, path, got, want):
        if got == want and isinstance(got, bool) == isinstance(want, bool):
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED {path}\n  got  {str(got)[:400]}\n  want {str(want)[:400]}")

    def near(self, path, got, want, tolerance):
        if isinstance(got, (int, float)) and abs(got - want) <= tolerance:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED {path}\n  got  {got}\n  want {want} +- {tolerance}")

    def skip(self, what, why):
        self.skipped += 1
        print(f"SKIP {what}: {why}")

    def guard(self, path, function, *args):
        """A comparison that cannot even be made is one failure, not the end."""
        try:
            function(*args)
        except (Failed, KeyError, IndexError, TypeError, ValueError, AttributeError, OSError) as e:
            self.failed += 1
            print(f"FAILED {path}\n  {type(e).__name__}: {e}")
