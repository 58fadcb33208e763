# SPDX-License-Identifier: Apache-2.0
"""A step that a device might have run, made by us: a build of small kernels, the tasks of it, and times that the model
itself gives with constants that are known. So calibrate must find these constants again, and validate no error with them."""
import json
import os
import subprocess

HEAD = '#include "pto/pto-inst.hpp"\nusing namespace pto;\n'
KERNEL = HEAD + """
AICORE void %(name)s(__gm__ float* v1, __gm__ float* v2)
{
	using G = GlobalTensor<float, Shape<1, 1, 1, %(rows)d, %(cols)d>, Stride<1, 1, 1, %(pitch)d, 1>>;
	using T = Tile<TileType::Vec, float, %(rows)d, %(cols)d>;
	T a;

	TASSIGN(a, 0x0);
%(body)s
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	G out(v2);
	TSTORE(out, a);
	pipe_barrier(PIPE_ALL);
}
"""
LOADS = """	for (int i = 0; i < %(n)d; i++) {
		G in(v1 + i * %(step)d);

		TLOAD(a, in);
		set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		TADDS(a, a, 1.0f);
		set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
		wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
	}
"""
READS = HEAD + """
AICORE void %(name)s(__gm__ float* v1, __gm__ float* v2)
{
	pipe_barrier(PIPE_ALL);
	v2[0] = v1[0] > 1.0f ? 1.0f : 2.0f;
}
"""
PTO = """module attributes {pto.target_arch = "a2a3"} {
  func.func @%(name)s(%%arg0: !pto.ptr<f32>, %%arg1: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %%n = arith.constant %(elements)d : index
    %%c1 = arith.constant 1 : index
    %%v0 = pto.make_tensor_view %%arg0, shape = [%%n], strides = [%%c1] : !pto.tensor_view<?xf32>
    %%v1 = pto.make_tensor_view %%arg1, shape = [%%n], strides = [%%c1] : !pto.tensor_view<?xf32>
    return
  }
}
"""
ELEMENTS = 1 << 20
STREAM = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "model", "vec_add.jsonl")
# name: rows, columns, pitch, body; tasks of it, all at once; beside which kernel, if not alone; whether its input was written
ROWS = {
    "fill": (16, 64, 64, "	TEXPANDS(a, 1.0f);\n", 1, None, True),
    "fill_b": (64, 64, 64, "	TEXPANDS(a, 1.0f);\n", 2, None, True),
    "many": (16, 64, 64, "	TADDS(a, a, 1.0f);\n	pipe_barrier(PIPE_V);\n" * 40, 1, None, True),
    "many_b": (8, 64, 64, "	TADDS(a, a, 1.0f);\n	pipe_barrier(PIPE_V);\n" * 60, 1, None, True),
    "rows": (16, 64, 512, LOADS % {"n": 10, "step": 8192}, 1, None, False),
    "rows_b": (8, 128, 1024, LOADS % {"n": 16, "step": 8192}, 1, None, False),
    "stream": (64, 128, 128, LOADS % {"n": 12, "step": 8192}, 24, None, False),
    "stream_b": (32, 128, 128, LOADS % {"n": 20, "step": 4096}, 40, None, False),
    "beside": (64, 128, 128, LOADS % {"n": 9, "step": 8192}, 1, "stream", True),
    "beside_b": (64, 64, 64, LOADS % {"n": 12, "step": 4096}, 2, "stream_b", True),
    "reads": (1, 64, 64, None, 1, None, False),
}
KNOWN = {"launch": 620, "s_fetch": 45, "hbm_bw": 410, "hbm_lat": 530, "l2_queue": 0.55}
OTHERS = {"task_switch": 1500, "task_ready": 3700}


def write(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w") as f:
        f.write(text if isinstance(text, str) else json.dumps(text))


def make_build(folder):
    for name, (rows, cols, pitch, body, *_) in ROWS.items():
        values = {"name": name, "rows": rows, "cols": cols, "pitch": pitch, "body": body, "elements": ELEMENTS}
        write(os.path.join(folder, "ptoas"), f"{name}.cpp", (KERNEL if body else READS) % values)
        write(os.path.join(folder, "ptoas"), f"{name}.pto", PTO % values)


def make_deps(folder):
    """Kernels one after the other, those beside another with it. The id of every task by kernel."""
    names, ids, tasks, tensors, edges = list(ROWS), {}, [], [], []
    for k, name in enumerate(names):
        ids[name] = [1000 * (k + 1) + i for i in range(ROWS[name][4])]
        for task in ids[name]:
            tasks.append({"task_id": str(task), "kernel_ids": [-1, k, -1], "args": [
                {"idx": 0, "type": "INOUT" if ROWS[name][6] else "INPUT", "tensor_id": str(10 * k + 1)},
                {"idx": 1, "type": "OUTPUT_EXISTING", "tensor_id": str(10 * k + 2)}]})
        tensors += [{"tensor_id": str(10 * k + t), "dtype": "FLOAT32", "buffer_numel": str(64 * ELEMENTS)} for t in (1, 2)]
    alone = [n for n in names if not ROWS[n][5]]
    for before, after in zip(alone, alone[1:]):
        edges += [{"pred": str(ids[before][0]), "succ": str(t)} for t in ids[after]]
    for name in names:
        if ROWS[name][5]:
            before = alone.index(ROWS[name][5]) - 1
            edges += [{"pred": str(ids[alone[before]][0]), "succ": str(t)} for t in ids[name]]
    write(folder, "deps.json", {"tasks": tasks, "tensors": tensors, "edges": edges})
    write(folder, "name_map_step.json", {"callable_id_to_name": {str(k): n for k, n in enumerate(names)}})
    return ids


def make_records(folder, ids, us):
    """Every kernel's tasks at once; ticks of 1 GHz, so that times are as good as exact."""
    rows, at = [], 1000
    alone = [n for n in ROWS if not ROWS[n][5]]
    for name in alone:
        together = [name] + [n for n in ROWS if ROWS[n][5] == name]
        core = 24
        for kernel in together:
            for task in ids[kernel]:
                rows.append([core, task, len(rows), at, at + int(us[kernel] * 1000), 5])
                core += 1
        at += max(int(us[n] * 1000) for n in together) + 2000
    write(folder, "l2_swimlane_records.json", {"metadata": {"clock_freq_hz": 1000000000, "core_types": ["aic"] * 24 + ["aiv"] * 48},
                                                "aicore_tasks": rows})


class Step:
    def __init__(self, model):
        self.model, self.build = model, os.path.join(model.tmp, "step-build")
        self.dfx = os.path.join(self.build, "dfx_outputs")
        self.lane = os.path.join(self.dfx, "l2_swimlane_records.json")
        make_build(self.build)
        self.ids = make_deps(self.dfx)
        lines = [f"  {k}: {{value: {v}, unit: cyc, source: known, status: device}}\n" for k, v in {**KNOWN, **OTHERS}.items()]
        write(model.tmp, "known.yaml", "format: incore-profile\nversion: 1\nname: known\nbase: 910b1\nconstants:\n" + "".join(lines))

    def run(self, *words, build=None):
        return self.model.run(*words, "--build", build or self.recorded, "--swimlane", self.lane)

    def record(self):
        """The kernels are recorded once; most of the verbs below read what that has left."""
        p = subprocess.run([self.model.program, "profile", "-q", "--build-dir", self.build, "-o", os.path.join(self.model.tmp, "step-run"), "--json"],
                           capture_output=True, text=True, env=self.model.env)
        self.recorded = json.loads(p.stdout)["data"]["run_root"]

    def settle(self):
        """Times that the model gives with the known constants, for the load that they make themselves."""
        us = {name: 10 for name in ROWS}
        self.record()
        for _ in range(4):
            make_records(self.dfx, self.ids, us)
            p = self.run("validate", "-p", "./known.yaml", "--json")
            if p.returncode:
                return p.stderr.strip() or p.stdout
            rows = json.loads(p.stdout)["data"]["kernels"]
            us = {r["kernel"]: r.get("estimate_us", us[r["kernel"]]) for r in rows}
        return None


def validated(step, report):
    p = step.run("validate", "-p", "./known.yaml", "--json", build=step.build)
    data = json.loads(p.stdout)["data"]
    errors = {(e["role"], e["class"]): e for e in data["errors"]}
    all_rows = errors["all", "all"]
    report(None if all_rows["mean_pct"] < 1 and all_rows["kernels"] == 10 else f"{all_rows}", "validate: the constants that made the times")
    names = [k["kernel"] for k in data["kernels"]]
    report(None if names == sorted(ROWS) and [k["role"] for k in data["kernels"]] == (["fit", "check"] * 6)[:11] else f"{names}",
           "validate: every second kernel by name is a check row")
    reads = [k for k in data["kernels"] if k["kernel"] == "reads"][0]
    report(None if "values nobody supplied" in reads["why"] and "/" not in reads["why"] and "estimate_us" not in reads else f"{reads}",
           "validate: a kernel that cannot be recorded says why")
    report(None if errors["all", "all"]["alone_pct"] > 5 else f"{all_rows}", "validate: without load it is another estimate")
    p = step.run("validate", "-p", "910b1", "--json")
    other = {(e["role"], e["class"]): e for e in json.loads(p.stdout)["data"]["errors"]}["all", "all"]
    report(None if other["mean_pct"] > 5 else f"{other}", "validate: other constants have an error")
    p = step.run("validate", "-p", "./known.yaml")
    report(None if "protocol  kernels by name" in p.stdout and "no estimate of reads" in p.stdout else p.stdout[-800:], "validate: as text")


def calibrated(step, report):
    out = os.path.join(step.model.tmp, "fitted.yaml")
    p = step.run("calibrate", "--base", "910b1", "-o", out, "--json")
    if p.returncode:
        report(p.stderr.strip(), "calibrate --swimlane")
        return
    data = json.loads(p.stdout)["data"]
    got = {v["key"]: v["is"] for v in data["values"]}
    off = {k: got.get(k) for k, v in KNOWN.items() if not got.get(k) or abs(got[k] / v - 1) > 0.05}
    report(f"{off} of {KNOWN}" if off else None, "calibrate --swimlane finds the constants that made the times")
    report(None if data["values"][0]["held_out_pct"] < 3 and data["values"][0]["before_pct"] > 5 else f"{data['values'][0]}",
           "calibrate --swimlane: error left out, and before")
    p = step.run("validate", "-p", out, "--json")
    mean = [e["mean_pct"] for e in json.loads(p.stdout)["data"]["errors"] if (e["role"], e["class"]) == ("all", "all")][0]
    with open(out) as f:
        text = f.read()
    report(None if mean < 2 and "residuals:" in text and "vector: {kernels: 10" in text else f"{mean}: {text}", "the profile that was written")
    half = os.path.join(step.model.tmp, "half.yaml")
    p = step.run("calibrate", "--base", "910b1", "-o", half, "--fit", "launch,l0a", "--fit-half", "--json")
    data = json.loads(p.stdout)["data"]
    left = [(v["key"], v["why"]) for v in data.get("not_fitted", [])]
    report(None if data["tasks"] == 5 and [k for k, _ in left] == ["l0a"] and "depends" in left[0][1] else f"{data}",
           "calibrate --swimlane: what is not identifiable is said; half of the rows are not looked at")


def scheduled(step, report):
    out = os.path.join(step.model.tmp, "step.incore")
    p = step.run("step", "-p", "./known.yaml", "--aic", "24", "--aiv", "48", "-o", out, "--json")
    if p.returncode:
        report(p.stderr.strip(), "step")
        return
    data = json.loads(p.stdout)["data"]
    spans = {s["what"]: s for s in data["spans"]}
    span, on_path, between = (spans[k]["estimate"] for k in ("makespan us", "kernels on the critical path us", "between them us"))
    # the chain is known: nine kernels wait for each other, 2 us (3,700 cycles) between two of them
    report(None if abs(span - on_path - between) < 0.02 and abs(between - 8 * 2) < 0.1 else f"{spans}", "step: the path adds up")
    report(None if abs(spans["kernels on the critical path us"]["error_pct"]) < 3 else f"{spans}", "step: kernels of the path beside the device's")
    report(None if data["measured"] == 1 and {r["basis"] for r in data["path"]} == {"estimate", "device"} else f"{data['path']}",
           "step: what has no estimate takes the device's time")
    p = subprocess.run([step.model.program, "summary", out, "--json"], capture_output=True, text=True, env=step.model.env)
    doc = json.loads(p.stdout)
    report(None if p.returncode == 0 and doc["input"]["evidence"] == "estimate" and doc["input"]["tracks"] == 48 else p.stdout[:600] + p.stderr,
           "step: the trace opens like any other")
    p = subprocess.run([step.model.program, "check", out], capture_output=True, text=True, env=step.model.env)
    report(None if p.returncode == 0 and "0 errors, 0 warnings" in p.stdout.replace("verdict: trustworthy", "0 errors, 0 warnings") else p.stdout, "step: check finds nothing wrong with it")
    one = step.run("step", "-p", "./known.yaml", "--aic", "1", "--aiv", "1", "--json")
    longer = json.loads(one.stdout)["data"]["spans"][0]["estimate"]
    report(None if longer > 2 * span else f"{longer} and {span}", "step: one core takes longer")
    p = step.model.run("step", "--build", step.recorded, "--deps", os.path.join(step.dfx, "deps.json"), "--json")
    data = json.loads(p.stdout)["data"] if p.returncode == 0 else None
    report(None if data and "device" not in data["spans"][0] and data["spans"][0]["estimate"] > 0 else p.stderr, "step: without times")
    report(None if data and {r["basis"] for r in data["path"]} == {"estimate", "none"} else f"{data and data['path']}",
           "step: what has neither an estimate nor times says so")


def refused(step, report):
    def no(what, words, status, text):
        p = step.model.run(*words)
        report(None if p.returncode == status and text in p.stderr else f"{p.returncode}: {p.stderr.strip()[:400]}", what)

    lane = os.path.join(step.model.tmp, "bad")
    no("validate --build without times", ["validate", "--build", step.build], 2, "--swimlane")
    no("validate with tasks alone", ["validate", "--build", step.recorded, "--deps", os.path.join(step.dfx, "deps.json")], 2, "--swimlane")
    no("step without vector cores", ["step", "--build", step.recorded, "--swimlane", step.lane, "--aiv", "0"], 2, "AIV")
    no("--cached of no slot", ["time", STREAM, "--cached", "99"], 2, "--cached")
    no("--active-cores 0", ["time", STREAM, "--active-cores", "0"], 2, "--active-cores")
    with open(step.lane) as f:
        good = f.read()
    write(lane, "deps.json", {"tasks": [], "tensors": [], "edges": []})
    write(lane, "l2_swimlane_records.json", good)
    bad = ["validate", "--build", step.recorded, "--swimlane", os.path.join(lane, "l2_swimlane_records.json")]
    no("records without a name map", bad, 3, "name_map")
    write(lane, "name_map_x.json", {"callable_id_to_name": {}})
    no("records of another step", bad, 3, "no timings")
    for cut in (0, 1, len(good) // 2, len(good) - 2):
        write(lane, "l2_swimlane_records.json", good[:cut])
        no(f"records cut at {cut}", bad, 3, "l2_swimlane_records.json")
    write(lane, "deps.json", {"tasks": [{"task_id": "1", "kernel_ids": [-1, 7, -1], "args": []}], "tensors": [], "edges": []})
    no("a kernel that nobody names", bad, 3, "name map")
    circle = [{"pred": "1000", "succ": "2000"}, {"pred": "2000", "succ": "1000"}]
    with open(os.path.join(step.dfx, "deps.json")) as f:
        deps = json.load(f)
    write(lane, "deps.json", {**deps, "edges": circle})
    with open(os.path.join(step.dfx, "name_map_step.json")) as f:
        write(lane, "name_map_x.json", f.read())
    no("tasks in a circle", ["step", "--build", step.recorded, "--deps", os.path.join(lane, "deps.json")], 3, "cycle")


def check(model, report):
    step = Step(model)
    problem = step.settle()
    report(problem, "a step that the model made")
    if not problem:
        validated(step, report)
        calibrated(step, report)
        scheduled(step, report)
        refused(step, report)
