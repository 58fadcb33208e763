#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does `incore profile` run every kernel of a build, keep going, keep its lists whole, and say what is wrong?

usage: run.py BUILD_DIR
"""
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import build as make  # noqa: E402

RESULT = [0, 0]
COLUMNS = ("func,status,source_cpp,symbol,demangled,app,kernel_lib,case_dir,build_dir,collect_dir,export_dir,export_src,"
           "artifact_count,trace_json,visualize_data_bin,core_trace_count,instr_csv_count,duration_sec,message").split(",")


def check(is_right, what):
    RESULT[not is_right] += 1
    if not is_right:
        print(f"FAIL {what}")


class Profile:
    def __init__(self, program, tmp):
        self.program, self.tmp = program, tmp
        self.env = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG") or k.endswith("SAN_OPTIONS")}
        self.env.update(LC_ALL="C.UTF-8", XDG_CACHE_HOME=os.path.join(tmp, "cache"))

    def start(self, *words, verb="profile", **more):
        return subprocess.Popen([self.program, verb, *words], cwd=self.tmp, env={**self.env, **more}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *words, **more):
        p = self.start(*words, **more)
        p.out, p.err = p.communicate(timeout=600)
        return p

    def manifest(self, root):
        with open(os.path.join(self.tmp, root, "manifest_export.csv"), newline="") as f:
            rows = list(csv.DictReader(f))
            return {r["func"]: r for r in rows}


def whole_build(p, tmp):
    """Every form of kernel, good and bad, in one build."""
    b = os.path.join(tmp, "b")
    make.put(b + "/ptoas", "vec", make.VECTOR, make.VECTOR_PTO)
    make.put(b + "/ptoas", "plain", make.VECTOR, make.VECTOR_PTO, mark="", const="const ", op="TMUL")
    make.put(b + "/ptoas", "cube", make.CUBE, make.CUBE_PTO)
    make.put(b + "/ptoas", "mixed", make.MIXED, make.MIXED_PTO)
    make.put(b + "/next_levels/0/ptoas", "vec", make.VECTOR, make.VECTOR_PTO, rows=16)
    make.put(b + "/next_levels/1/ptoas", "vec", make.VECTOR, make.VECTOR_PTO, rows=8, target="a5")
    make.put(b + "/ptoas", "no_pto", make.CUBE, None)
    make.put(b + "/ptoas", "liar", make.VECTOR, make.CUBE_PTO)
    make.put(b + "/ptoas", "broken", make.VECTOR, make.VECTOR_PTO, op="TNOSUCHOP")
    make.put(b + "/ptoas", "control", make.CONTROL, make.CONTROL_PTO)
    os.makedirs(b + "/insight_old/ptoas")
    shutil.copy(b + "/ptoas/vec.cpp", b + "/insight_old/ptoas/old.cpp")
    q = p.run("--build-dir", "b", "--list")
    names = [line.split("\t")[0] for line in q.out.splitlines()]
    check(sorted(names) == sorted(["vec", "plain", "cube", "mixed", "next_levels.0.vec", "next_levels.1.vec", "no_pto", "liar",
                                   "broken", "control"]), f"--list: {names}")
    q = p.run("--build-dir", "b", "--json", "-o", "out", "-j2", "--bundle")
    check(q.returncode == 1, f"some kernels failed: exit status {q.returncode}, {q.err}")
    data = json.loads(q.out)["data"]
    check(data["evidence"] == "estimate" and data["exported"] == 6 and data["total"] == 10, f"counts: {data['exported']}")
    by = {k["func"]: k for k in data["kernels"]}
    for name, part in (("no_pto", "no_pto.pto: expected the .pto"), ("liar", "parameters here"),
                       ("broken", "TNOSUCHOP"), ("control", "slot 0")):
        check(by[name]["status"] == "failed" and part in by[name]["message"], f"{name}: {by[name]}")
    for name in ("vec", "plain", "cube", "mixed", "next_levels.0.vec", "next_levels.1.vec"):
        check(by[name]["status"] == "exported" and by[name]["cycles"] > 0, f"{name}: {by[name]}")
        folder = os.path.join(tmp, data["run_root"], "funcs", name)
        check(f"{name}.clean.json" in os.listdir(folder), f"{name}: no clean trace")
    costs = [k["cycles"] for k in data["kernels"] if k["status"] == "exported"]
    check(costs == sorted(costs, reverse=True), f"ranked by cost: {costs}")
    check(by["mixed"]["is_degenerate"] and "cube" in by["mixed"]["message"], f"mixed without cube work: {by['mixed']}")
    check("v4=0x100 (bound)" in by["vec"]["workload"], f"workload: {by['vec']['workload']}")
    rows = p.manifest(data["run_root"])
    check(list(next(iter(rows.values()))) == COLUMNS, "columns of the manifest")
    for name, r in rows.items():
        here = os.path.join(tmp, r["build_dir"]) if r["build_dir"] else ""
        done = r["status"] == "exported"
        check(not done or (r["symbol"] and r["demangled"] and all(os.path.exists(os.path.join(tmp, r[k])) for k in
              ("app", "kernel_lib", "collect_dir", "case_dir"))), f"{name}: what was built and where: {r}")
        bundle = os.path.join(tmp, by[name].get("bundle") or "none")
        check(not done or {f"{name}.clean.json", "instr_metrics.json", "pipes.tsv", "raw_simulator", "summary.txt"} == set(os.listdir(bundle)),
              f"{name}: the bundle {bundle}")
        if done:
            with open(os.path.join(bundle, "summary.txt")) as f:
                check(by[name]["workload"] in f.read(), f"{name}: the workload in its bundle")
        check(not done or os.access(os.path.join(here, "run_model.sh"), os.X_OK), f"{name}: no run_model.sh")
    check(len(rows) == 10 and rows["vec"]["status"] == "exported" and int(rows["vec"]["artifact_count"]) == 4, f"{rows['vec']}")
    check(os.stat(os.path.join(tmp, data["run_root"])).st_mode & 0o777 == 0o700, "the run folder is ours alone")
    with open(os.path.join(tmp, data["run_root"], "summary.txt")) as f:
        summary = f.read()
    check("total=10\nexported=6\nfailed=4\n" in summary, summary)
    return data["run_root"]


def supplied(p):
    q = p.run("--build-dir", "b", "--func", "control", "--set", "len=3", "-o", "out2")
    check(q.returncode == 0 and "EXPORTED 1/1" in q.out, f"control value set: {q.out}{q.err}")
    with open(os.path.join(p.tmp, "len.bin"), "wb") as f:
        f.write((5).to_bytes(4, "little"))
    q = p.run("--build-dir", "b", "--func", "control", "--data", "len=len.bin", "-o", "out2", "--json")
    check(q.returncode == 0, f"control tensor from a file: {q.err}")
    q = p.run("--build-dir", "b", "--func", "control", "--set", "len=0", "-o", "out2", "--json")
    check(q.returncode == 0 and json.loads(q.out)["data"]["kernels"][0]["is_degenerate"], f"zero trips: {q.out}{q.err}")


def cases(p, tmp):
    """--case runs a script that makes a build, and takes that build: new, or changed; options of the scripts that people know."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(tmp, "case.py"), "w") as f:
        f.write(f"import sys\nsys.path.insert(0, {here!r})\nimport build\nprint('building', sys.argv[1:])\n"
                "for name in sys.argv[2:]:\n    build.put(f'build_output/{sys.argv[1]}/ptoas', name, build.CUBE, build.CUBE_PTO)\n"
                "sys.exit(sys.argv[1] == 'bad')\n")
    q = p.run("--case", "case.py", "--list-funcs", "--", "one", "k1")
    check(q.returncode == 0 and q.out == "k1\tbuild_output/one/ptoas/k1.cpp\n" and "building" in q.err, f"{q.out}{q.err}")
    q = p.run("--case", "./case.py", "--list-funcs", "--", "two", "k2", "k3")
    check(q.out.split() == ["k2", "build_output/two/ptoas/k2.cpp", "k3", "build_output/two/ptoas/k3.cpp"], f"a new build: {q.out}{q.err}")
    os.utime(os.path.join(tmp, "build_output", "two"), (1, 1))
    os.utime(os.path.join(tmp, "build_output", "two", "ptoas"), (1, 1))
    q = p.run("--case", "case.py", "--list", "--", "one", "k4")
    check(q.out.startswith("k1\tbuild_output/one/"), f"the build that changed: {q.out}{q.err}")
    os.utime(os.path.join(tmp, "build_output", "one", "ptoas"), (1, 1))
    os.utime(os.path.join(tmp, "build_output", "one"), (1, 1))
    for words, status, part in ((["--case", "case.py", "--", "bad"], 6, "exit status 1"), (["--case", "case.py", "--", "none"], 3, "no new build"),
                                (["--case", "nowhere"], 5, "nowhere"), (["--case", "case.py", "--build-dir", "b"], 2, "not both"),
                                (["--build-dir", "b", "extra"], 2, "extra"),
                                (["--case", "case.py", "--build-output-root", "nobuilds", "--", "one", "k1"], 3, "nobuilds")):
        q = p.run(*words)
        check(q.returncode == status and part in q.err, f"{words}: {q.returncode} {q.err}")
    make.put(os.path.join(tmp, "fails", "ptoas"), "a_bad", make.CUBE, None)
    make.put(os.path.join(tmp, "fails", "ptoas"), "b_good", make.CUBE, make.CUBE_PTO)
    q = p.run("--build-dir", "fails", "-o", "outf", "-j1", "--no-keep-going", "--name", "mine", "--json")
    by = {k["func"]: k["status"] for k in json.loads(q.out)["data"]["kernels"]}
    check(q.returncode == 1 and by == {"a_bad": "failed", "b_good": "not_run"}, f"--no-keep-going: {by} {q.err}")
    check(os.listdir(os.path.join(tmp, "outf"))[0].startswith("mine_"), f"--name: {q.err}")
    make.put(os.path.join(tmp, "other", "ptoas"), "good", make.VECTOR, make.VECTOR_PTO, target="a5")
    make.put(os.path.join(tmp, "other", "ptoas"), "bad", make.VECTOR, make.VECTOR_PTO, target="a5", op="TNOSUCHOP")
    q = p.run("--build-dir", "other", "-o", "outo", "--target", "a2a3", "--set", "v4=64", "--no-sources", "--json")
    by = {k["func"]: k for k in json.loads(q.out)["data"]["kernels"]}
    check("its .pto is for the other --target" in by["good"]["message"] and
          "the .pto is for a5 (pto.target_arch), and --target says a2a3" in by["bad"]["message"], f"another generation: {by}")
    with open(os.path.join(tmp, by["good"]["simulator"], "visualize_data.bin"), "rb") as f:
        check(b"for (int i = 0; i < v4" not in f.read(), "--no-sources")
    q = p.run("--build-dir", "fails", "--ptoas-root", "x")
    check(q.returncode == 2 and "PTOAS's generator is never run" in q.err, f"--ptoas-root: {q.returncode} {q.err}")
    q = p.run("--build-dir", "fails", "-o", "outf", "--name", "mine", "--resume", "--json")
    data = json.loads(q.out)["data"]
    done = next(k for k in data["kernels"] if k["func"] == "b_good")
    check(re.search(r"/funcs/b_good/collect/out/OPPROF_[^/]+/simulator$", done["simulator"]), f"the place of the trace: {done}")
    folder = os.path.join(tmp, data["run_root"], "funcs", "b_good")
    link = os.path.join(folder, "insight_export", os.listdir(os.path.join(folder, "insight_export"))[0])
    check(os.path.islink(link) and os.path.exists(os.path.join(link, "simulator", "trace.json")), f"our own layout: {link}")
    with open(os.path.join(folder, "b_good.clean.json")) as f:
        check("b_good" in f.read(), "the kernel's name inside its cleaned trace")
    check(p.run("--build-dir", "b", "--name", "a/b").returncode == 2, "a name that is a path")


OFFSET = make.HEAD + """
extern "C" __global__ AICORE void %(name)s(__gm__ float* x, __gm__ float* y, int32_t row, int32_t trips, float factor)
{
	using G = GlobalTensor<float, Shape<1, 1, 1, 8, 64>, Stride<1, 1, 1, 64, 1>>;
	Tile<TileType::Vec, float, 8, 64> t;

	TASSIGN(t, 0x0);
	for (int i = 0; i < trips %(more)s; i++) {
		G g(x + row * 64), h(y);

		TLOAD(t, g);
		set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		TMULS(t, t, factor);
		pipe_barrier(PIPE_ALL);
		TSTORE(h, t);
		pipe_barrier(PIPE_ALL);
	}
}
"""
OFFSET_PTO = """module attributes {pto.target_arch = "a2a3"} {
  func.func @%(name)s(%%x: !pto.ptr<f32>, %%y: !pto.ptr<f32>, %%row: i32, %%trips: i32, %%factor: f32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %%0 = arith.constant 8 : index
    %%1 = arith.constant 64 : index
    %%2 = arith.constant 1 : index
    %%v = pto.make_tensor_view %%x, shape = [%%0, %%1], strides = [%%1, %%2] : !pto.tensor_view<?x?xf32>
    %%w = pto.make_tensor_view %%y, shape = [%%0, %%1], strides = [%%1, %%2] : !pto.tensor_view<?x?xf32>
    return
  }
}
"""


def defaults(p, tmp):
    """Scalars that nobody sets keep every access inside, and give the kernel work; what was chosen is told everywhere."""
    make.put(os.path.join(tmp, "d", "ptoas"), "offset", OFFSET, OFFSET_PTO, more="+ 1")
    make.put(os.path.join(tmp, "d", "ptoas"), "both", OFFSET, OFFSET_PTO, more="")
    q = p.run("--build-dir", "d", "-o", "outd", "--json")
    check(q.returncode == 0, f"row offsets: {q.returncode} {q.out} {q.err}")
    data = json.loads(q.out)["data"]
    by = {k["func"]: k for k in data["kernels"]}
    for name, want in (("offset", "row=0x0 (made up) trips=0x0 (made up) factor=0x3f800000 (default); 2 tensors without values"
                                  "; defaults are 0, which keeps every access inside"),
                       ("both", "row=0x0 (made up) trips=0x1 (made up) factor=0x3f800000 (default); 2 tensors without values"
                                "; one default is 1: with all alike it has no work or leaves a buffer")):
        check(by[name]["workload"] == want and not by[name]["is_degenerate"], f"{name}: {by[name]}")
        for file in ("summary.txt", "overview.tsv", os.path.join("funcs", name, "profile.txt")):
            with open(os.path.join(tmp, data["run_root"], file)) as f:
                check(want in f.read(), f"{file}: no workload of {name}")
    with open(os.path.join(tmp, "x.bin"), "wb") as f:
        f.write(bytes(2048))
    q = p.run("--build-dir", "d", "-o", "outd", "--json", "--set", "trips=2", "--set", "both:trips=3", "--data", "offset:x=x.bin")
    by = {k["func"]: k["workload"] for k in json.loads(q.out)["data"]["kernels"]}
    check("trips=0x2 (set)" in by["offset"] and "x: FLOAT32 512 (file x.bin)" in by["offset"] and "; 1 tensor " in by["offset"],
          by["offset"])
    check("trips=0x3 (set)" in by["both"] and "file" not in by["both"], by["both"])
    for words in (["--set", "nobody:trips=1"], ["--func", "both", "--func", "nobody"], ["--data", "nobody:x=x.bin"]):
        q = p.run("--build-dir", "d", "-o", "outd", *words)
        check(q.returncode == 2 and "no kernel named nobody" in q.err, f"{words}: {q.returncode} {q.err}")
    q = p.run("--build-dir", "d", "-o", "outd", "--func", "offset", "--set", "row=1")
    check(q.returncode == 1 and "bytes 256 to 2303 of slot 0" in q.out, f"a row that is set is not changed: {q.out}{q.err}")


CONTROL = make.HEAD + """
extern "C" __global__ AICORE void %(name)s(__gm__ float* x, __gm__ int32_t* count)
{
	using G = GlobalTensor<float, Shape<1, 1, 1, 8, 64>, Stride<1, 1, 1, 64, 1>>;
	Tile<TileType::Vec, float, 8, 64> t;

	TASSIGN(t, 0x0);
	for (int i = 0; i < %(count)s; i++) {
		G g(x);

		TEXPANDS(t, 1.0f);
		pipe_barrier(PIPE_ALL);
		TSTORE(g, t);
		pipe_barrier(PIPE_ALL);
	}
}
"""
CONTROL_PTO = """module attributes {pto.target_arch = "a2a3"} {
  func.func @%(name)s(%%x: !pto.ptr<f32>, %%count: !pto.ptr<i32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %%0 = arith.constant 8 : index
    %%1 = arith.constant 64 : index
    %%2 = arith.constant 1 : index
    %%v = pto.make_tensor_view %%x, shape = [%%0, %%1], strides = [%%1, %%2] : !pto.tensor_view<?x?xf32>
    %%w = pto.make_tensor_view %%count, shape = [%%0], strides = [%%2] : !pto.tensor_view<?xi32>
    %(load)s
    return
  }
}
"""


def control(p, tmp):
    """A tensor that steers a kernel holds a default only where the .pto says that scalars are loaded from it, and it is told."""
    load = "%n = pto.load_scalar %count[%2] : !pto.ptr<i32> -> i32"
    for name, count, said in (("steered", "count[1]", load), ("plain", "2", load), ("unsaid", "count[1]", "")):
        make.put(os.path.join(tmp, "c", "ptoas"), name, CONTROL, CONTROL_PTO, count=count, load=said)
    q = p.run("--build-dir", "c", "-o", "outc", "--json")
    by = {k["func"]: k for k in json.loads(q.out)["data"]["kernels"]}
    check(by["steered"]["workload"] == "count: INT32 8 (made up: 1 everywhere); 1 tensor without values; defaults are 1: with 0 it has no work or "
          "leaves a buffer" and not by["steered"]["is_degenerate"], by["steered"])
    check(by["steered"]["made_up_control"] == "count %w (1 everywhere)", by["steered"])
    check(by["plain"]["made_up_control"] == "", "a tensor that nothing reads decides nothing")
    check(by["unsaid"]["status"] == "failed" and "whose values nobody supplied" in by["unsaid"]["message"], by["unsaid"])
    q = p.run("--build-dir", "c", "-o", "outc", "--func", "steered", "--set", "count=2", "--json")
    check("count: INT32 8 (set to 2)" in json.loads(q.out)["data"]["kernels"][0]["workload"], q.out + q.err)


# A kernel as PTOAS writes it: the .pto folds to where each value goes, so its full shape is known.
TRIPS = make.HEAD + """
extern "C" __global__ AICORE void %(name)s(__gm__ float* v1, __gm__ int32_t* v2, int64_t v3, int32_t v4, int64_t v5)
{
	using G = GlobalTensor<float, Shape<1, 1, 1, 8, 64>, Stride<1, 1, 1, 64, 1>>;
	Tile<TileType::Vec, float, 8, 64> t;

	TASSIGN(t, 0x0);
	for (int64_t r = v4; r < 4; r += 2)
		for (int64_t i = 0; i < (v2[r] + 15) / 16; i++) {
			G g(v1 + v3 * 64 + (r * 64 + i * 8) * 64);

			TLOAD(t, g);
			set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
			wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
			TMULS(t, t, 2.0f);
			pipe_barrier(PIPE_ALL);
		}
	(void)v5;
}
"""
TRIPS_PTO = """module attributes {pto.target_arch = "a2a3"} {
  func.func @%(name)s(%%arg0: !pto.ptr<f32>, %%arg1: !pto.ptr<i32>, %%arg2: index, %%__pypto_spmd_block_idx: i32, %%arg4: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %%c0 = arith.constant 0 : index
    %%c1 = arith.constant 1 : index
    %%c2 = arith.constant 2 : index
    %%c4 = arith.constant 4 : index
    %%c8 = arith.constant 8 : index
    %%c15 = arith.constant 15 : index
    %%c16 = arith.constant 16 : index
    %%c64 = arith.constant 64 : index
    %%c256 = arith.constant 256 : index
    %%x = pto.make_tensor_view %%arg0, shape = [%%c256, %%c64], strides = [%%c64, %%c1] {layout = #pto.layout<nd>}: !pto.tensor_view<?x?xf32>
    %%lens__ssa_v0_view = pto.make_tensor_view %%arg1, shape = [%%c4], strides = [%%c1] {layout = #pto.layout<nd>}: !pto.tensor_view<?xi32>
    %%t = pto.alloc_tile addr = %%c0 valid_row = %%c8 valid_col = %%c64 : !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=64>
    %%b = arith.index_cast %%__pypto_spmd_block_idx : i32 to index
    scf.for %%r = %%b to %%c4 step %%c2 {
      %%1 = pto.load_scalar %%arg1[%%r] : !pto.ptr<i32> -> i32
      %%2 = arith.index_cast %%1 : i32 to index
      %%3 = arith.addi %%2, %%c15 : index
      %%4 = arith.divsi %%3, %%c16 : index
      %%5 = arith.muli %%r, %%c64 : index
      scf.for %%i = %%c0 to %%4 step %%c1 {
        %%6 = arith.muli %%i, %%c8 : index
        %%7 = arith.addi %%5, %%6 : index
        %%8 = arith.addi %%7, %%arg2 : index
        %%p = pto.partition_view %%x, offsets = [%%8, %%c0], sizes = [%%c8, %%c64] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x64xf32>
        pto.tload ins(%%p : !pto.partition_tensor_view<8x64xf32>) outs(%%t : !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=64>)
      }
    }
    %%e = scf.for %%k = %%c0 to %%c4 step %%c1 iter_args(%%a = %%arg4) -> (index) {
      scf.yield %%a : index
    }
    return
  }
}
"""
SCALARS = make.HEAD + """
extern "C" __global__ AICORE void %(name)s(__gm__ int32_t* v1, __gm__ int32_t* v2)
{
	for (int i = 0; i < v1[0]; i++)
		v2[i] = i;
}
"""
SCALARS_PTO = """module attributes {pto.target_arch = "a2a3"} {
  func.func @%(name)s(%%arg0: !pto.ptr<i32>, %%arg1: !pto.ptr<i32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %%c0 = arith.constant 0 : index
    %%c1 = arith.constant 1 : index
    %%c32 = arith.constant 32 : index
    %%n_view = pto.make_tensor_view %%arg0, shape = [%%c1], strides = [%%c1] : !pto.tensor_view<?xi32>
    %%w = pto.make_tensor_view %%arg1, shape = [%%c32], strides = [%%c1] : !pto.tensor_view<?xi32>
    %%1 = pto.load_scalar %%arg0[%%c0] : !pto.ptr<i32> -> i32
    %%2 = arith.index_cast %%1 : i32 to index
    scf.for %%i = %%c0 to %%2 step %%c1 {
      %%3 = arith.index_cast %%i : index to i32
      pto.store_scalar %%3, %%arg1[%%i] : !pto.ptr<i32>, i32
    }
    return
  }
}
"""


def full_shape(p, tmp):
    """What decides how much a kernel does follows from its .pto, or is marked everywhere; a value that only moves is neither."""
    for name, source, pto in (("trips", TRIPS, TRIPS_PTO), ("scalars", SCALARS, SCALARS_PTO), ("both", OFFSET, OFFSET_PTO),
                              ("dims", make.VECTOR, make.VECTOR_PTO)):
        make.put(os.path.join(tmp, "f", "ptoas"), name, source, pto, more="")
    q = p.run("--build-dir", "f", "-o", "outf1", "--json", "--strict")
    data = json.loads(q.out)["data"]
    by = {k["func"]: k for k in data["kernels"]}
    check(q.returncode == 4, f"--strict with made-up values: {q.returncode}")
    check(by["trips"]["assumed_control"] == "v2 %lens (128 everywhere)" and not by["trips"]["made_up_control"], by["trips"])
    for part in ("v2: INT32 4 (full shape: 128 everywhere)", "v3=0x0 (any place)", "v4=0x0 (launch)", "v5=0x0 (decides nothing)"):
        check(part in by["trips"]["workload"], f"{part}: {by['trips']['workload']}")
    check(by["scalars"]["assumed_control"] == "v1 %n (32 everywhere)" and not by["scalars"]["is_degenerate"], by["scalars"])
    check(by["both"]["made_up_control"] == "row (0), trips (1)" and "WARN both" in q.err, by["both"])
    check(by["dims"]["made_up_control"] == "v4 (256)", by["dims"])
    for name in ("summary.txt", "manifest_export.csv", "funcs/both/profile.txt"):
        with open(os.path.join(tmp, data["run_root"], name)) as f:
            check("row (0), trips (1)" in f.read(), f"{name} marks made-up values")
    with open(os.path.join(tmp, by["both"]["simulator"], "trace.json")) as f:
        head = f.read()
        check('"made_up_control":"row (0), trips (1)"' in head and "estimate, made-up control values" in head, "the exported trace")
    for path in (by["both"]["simulator"], os.path.join(data["run_root"], "funcs", "both", "trace.incore")):
        got = subprocess.run([p.program, "check", path], cwd=tmp, env=p.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check("made-up-control" in got.stdout + got.stderr and "row (0), trips (1)" in got.stdout + got.stderr, f"check {path}: {got.stdout}")
    q = p.run("--build-dir", "f", "-o", "outf1", "--json", "--strict", "--func", "dims", "--dynamic-dim", "128")
    check(q.returncode == 0 and not json.loads(q.out)["data"]["kernels"][0]["made_up_control"], f"a bound that is given: {q.err}")
    cycles = {}
    for word in ("v2=128", "%lens=128", "lens=64", "1=64", "%arg1=16"):
        q = p.run("--build-dir", "f", "-o", "outf1", "--json", "--func", "trips", "--set", word)
        row = json.loads(q.out)["data"]["kernels"][0]
        check(q.returncode == 0 and "set to" in row["workload"] and not row["assumed_control"], f"--set {word}: {q.out} {q.err}")
        cycles.setdefault(word.split("=")[1], set()).add(row["cycles"])
    check([len(cycles[n]) for n in ("128", "64", "16")] == [1, 1, 1] and cycles["128"] == {by["trips"]["cycles"]} and
          max(cycles["64"]) < max(cycles["128"]) and max(cycles["16"]) < max(cycles["64"]), f"cycles by value: {cycles}")
    q = p.run("--build-dir", "f", "-o", "outf1", "--json", "--func", "trips", "--set", "v2=0")
    row = json.loads(q.out)["data"]["kernels"][0]
    check(row["is_degenerate"] and "v2 is 0, and decides how much is done: --set v2=128 is its full shape" in row["message"], row)
    got = subprocess.run([p.program, "check", row["simulator"]], cwd=tmp, env=p.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check("degenerate-run" in got.stdout and "--set v2=128" in got.stdout, f"check of a degenerate run: {got.stdout}")
    for words, part in ((["--set", "nobody=1"], "trips:v2 %lens"), (["--data", "seq=x.bin"], "no kernel that is selected")):
        q = p.run("--build-dir", "f", "-o", "outf1", *words)
        check(q.returncode == 2 and part in q.err, f"{words}: {q.returncode} {q.err}")
    with open(os.path.join(tmp, "short.bin"), "wb") as f:
        f.write(bytes(12))
    q = p.run("--build-dir", "f", "-o", "outf1", "--func", "trips", "--data", "lens=short.bin")
    check(q.returncode == 1 and "16 bytes (INT32 x 4), the file has 12" in q.out, f"a file of another size: {q.out}")
    dump = os.path.join(tmp, "otherdump")
    os.makedirs(dump)
    record = {"task_id": "0x1", "func_id": [7], "arg_index": 0, "role": "input", "stage": "before_dispatch", "kind": "scalar", "dtype": "UINT64",
              "value": 1, "is_contiguous": True, "shape": [], "strides": [], "start_offset": 0, "numel": 1, "bin_offset": 0, "bin_size": 0,
              "kernel": "somebody", "truncated": False, "overwritten": False}
    with open(os.path.join(dump, "args_dump.json"), "w") as f:
        json.dump({"total_args": 1, "bin_file": None, "args": [record]}, f)
    q = p.run("--build-dir", "f", "-o", "outf1", "--dump", "otherdump")
    check(q.returncode == 3 and "no task of a kernel of f is in this dump" in q.err and "somebody" in q.err, f"{q.returncode} {q.err}")


KILLER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* Kills the program at its n-th new name in a run folder: before it, or after it. */
static void count(const char *path, int is_after)
{
	static int n;
	const char *root = strstr(path, "kernel_insight"), *at = getenv("KILL_AT");
	int depth = 0;
	if (!root || !at)
		return;
	for (const char *p = root; *p; p++)
		depth += *p == '/';
	if (depth > 2 && !strstr(root, "profile.txt"))
		return; /* inside of a kernel's folder: it is made anew */
	n += !is_after;
	if (n == abs(atoi(at)) && is_after == (atoi(at) < 0))
		kill(getpid(), SIGKILL);
}
int rename(const char *from, const char *to)
{
	int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
	count(to, 0);
	int rc = real(from, to);
	count(to, 1);
	return rc;
}
int mkdir(const char *path, mode_t mode)
{
	int (*real)(const char *, mode_t) = (int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir");
	count(path, 0);
	int rc = real(path, mode);
	count(path, 1);
	return rc;
}
"""


def outcome(p, tmp, top, text):
    """The answer and the lists of a run, without its time and place."""
    root = sorted(d for d in os.listdir(os.path.join(tmp, top)) if d.startswith("kernel_insight"))[-1]
    parts = [text]
    for name in ("summary.txt", "overview.tsv", "README.txt"):
        with open(os.path.join(tmp, top, root, name)) as f:
            parts.append(f.read())
    parts += [str({**r, "duration_sec": 0}) for r in p.manifest(os.path.join(top, root)).values()]
    parts += sorted(os.path.relpath(os.path.join(d, f), os.path.join(tmp, top, root)) for d, _, files in os.walk(os.path.join(tmp, top, root))
                    for f in files)
    return re.sub(r"OPPROF_\d+", "OPPROF", "\n".join(parts).replace(root, "ROOT").replace(top + "/", ""))


def killed_anywhere(p, tmp):
    """Killed at every stage, and taken up again: the same answer and lists as of a run that never stopped."""
    if any(k.endswith("SAN_OPTIONS") for k in p.env):
        print("SKIP killed_anywhere: the sanitizer's library must be the first")
        return
    with open(os.path.join(tmp, "killer.c"), "w") as f:
        f.write(KILLER)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", os.path.join(tmp, "killer.so"), f.name, "-ldl"], check=True)
    make.vectors(os.path.join(tmp, "three", "ptoas"), 1)
    make.put(os.path.join(tmp, "three", "ptoas"), "control", make.CONTROL, make.CONTROL_PTO)
    make.put(os.path.join(tmp, "three", "ptoas"), "no_pto", make.CUBE, None)
    words = ["--build-dir", "three", "-j1", "--json", "-q", "--set", "len=0"]
    want = outcome(p, tmp, "ref", p.run(*words, "-o", "ref").out)
    check('"is_degenerate": true' in want and '"cycles": 0' in want, f"the run to compare with: {want[:2000]}")
    at, has_ended = 0, False
    while not has_ended and at < 200:
        at += 1
        for sign in ("", "-"):
            top = f"killed{at}{sign}"
            q = p.run(*words, "-o", top, LD_PRELOAD=os.path.join(tmp, "killer.so"), KILL_AT=f"{sign}{at}")
            has_ended = q.returncode != -signal.SIGKILL
            if not has_ended and os.path.isdir(os.path.join(tmp, top)) and os.listdir(os.path.join(tmp, top)):
                q = p.run(*words, "-o", top, "--resume")
            if not has_ended and os.path.isdir(os.path.join(tmp, top)) and os.listdir(os.path.join(tmp, top)):
                got = outcome(p, tmp, top, q.out)
                check(got == want, f"killed {'after' if sign else 'before'} step {at}: {first_difference(got, want)} {q.err}")
            shutil.rmtree(os.path.join(tmp, top), ignore_errors=True)
    check(20 < at < 200, f"{at} steps")


def first_difference(a, b):
    for x, y in zip(a.splitlines(), b.splitlines()):
        if x != y:
            return f"{x} instead of {y}"
    return "lines are missing"


def again(p, tmp, root):
    """run_model.sh of a kernel's folder: the same cycles, a new folder each time, and edited inputs are taken."""
    folder = os.path.join(tmp, root, "funcs", "vec")
    env = {**p.env, "PATH": os.path.dirname(p.program) + ":" + p.env["PATH"]}
    with open(os.path.join(folder, "profile.txt")) as f:
        cycles = re.search(r"cycles=(\d+)", f.read())[1]
    for edited in (False, True):
        if edited:
            with open(os.path.join(folder, "args.json")) as f:
                spec = json.load(f)
            next(a for a in spec["args"] if a["kind"] == "scalar")["value"] = 1
            with open(os.path.join(folder, "args.json"), "w") as f:
                json.dump(spec, f)
        q = subprocess.run([os.path.join(folder, "run_model.sh")], env=env, capture_output=True, text=True)
        check(q.returncode == 0, f"run_model.sh: {q.stdout}{q.stderr}")
        check(edited or f": {cycles} cycles" in q.stdout, f"the same cycles, {cycles}: {q.stdout}")
    check(len([d for d in os.listdir(folder) if d.startswith("again_")]) == 2, f"a folder for each run: {os.listdir(folder)}")


def compared(p, tmp):
    """Two runs: every kernel, changed values by name, and parts that add up to the change of the sum."""
    a = os.path.join("out", sorted(d for d in os.listdir(os.path.join(tmp, "out")) if d.startswith("kernel_insight"))[0])
    rows = [r for r in p.manifest(a).values() if r["status"] == "exported"]
    shutil.copytree(os.path.join(tmp, a), os.path.join(tmp, "other", "run"), symlinks=True)
    names = sorted(r["func"] for r in rows)
    changed, gone = "cube", "plain"
    same = [n for n in names if n not in (changed, gone)]
    path = os.path.join(tmp, "other", "run", "manifest_export.csv")
    with open(path) as f:
        text = f.read().replace(a, "other/run").replace(f"{gone},", "renamed,").replace(f"/funcs/{gone}/", "/funcs/renamed/")
    with open(path, "w") as f:
        f.write(text)
    os.rename(os.path.join(tmp, "other", "run", "funcs", gone), os.path.join(tmp, "other", "run", "funcs", "renamed"))
    path = os.path.join(tmp, "other", "run", "funcs", changed, "profile.txt")
    with open(path) as f:
        text = re.sub("workload=.*", "workload=trips=0x3 (set); 3 tensors without values", f.read())
    with open(path, "w") as f:
        f.write(text)
    q = p.run("--json", a, "other/run", verb="diff")
    data = json.loads(q.out)["data"]
    by = {k["func"]: k for k in data["kernels"]}
    check(q.returncode == 0 and sorted(by) == sorted(names + ["renamed"]), f"kernels of two runs: {q.returncode} {sorted(by)} {q.err}")
    check("B trips=0x3 (set)" in (by[changed]["values"] or "") and by[changed]["by"] == "instruction", f"changed values: {by[changed]}")
    check((by[gone]["state"], by["renamed"]["state"]) == ("gone", "new"), f"{by[gone]} {by['renamed']}")
    check(all(by[n]["by"] == "run" and by[n]["change"] == 0 for n in same), f"unchanged kernels: {by}")
    check(data["change"] == data["of_same"] + data["of_values"] + data["of_new"] + data["of_gone"] == sum(k["change"] for k in data["kernels"])
          == data["cycles_b"] - data["cycles_a"], f"the parts of the sum: {data}")
    q = p.run("--by", "line", a, "other/run", verb="diff")
    check(q.returncode == 2 and "kernel by kernel" in q.err, f"options for two captures: {q.err}")


def usage(p):
    for words, status, part in ((["--func", "nobody"], 2, "no kernel named nobody"), ([], 2, "--build-dir"),
                                (["--msprof-timeout", "0"], 2, "1 to 2880"), (["--msprof-timeout", "2881"], 2, "1 to 2880")):
        q = p.run(*(["--build-dir", "b"] if words else []), *words)
        check(q.returncode == status and part in q.err, f"{words}: {q.returncode} {q.err}")
    q = p.run("--build-dir", "nowhere")
    check(q.returncode == 3 and "nowhere" in q.err, f"no such build: {q.returncode} {q.err}")
    os.makedirs(os.path.join(p.tmp, "empty"))
    q = p.run("--build-dir", "empty")
    check(q.returncode == 3 and "no kernels" in q.err, f"empty build: {q.err}")
    q = p.run("--build-dir", "b", "--func", "cube", "--backend", "msprof", "-o", "out3", CANN_SET_ENV="/nowhere/set_env.sh")
    check(q.returncode == 5 and "/nowhere/set_env.sh" in q.err, f"no CANN: {q.returncode} {q.out} {q.err}")
    q = p.run("--build-dir", "b", "--func", "cube", "-o", "out4", PATH="/nowhere", CXX="/nowhere/c++",
              XDG_CACHE_HOME=os.path.join(p.tmp, "cache2"))
    check(q.returncode == 5 and "compiler" in q.err, f"no compiler: {q.returncode} {q.out} {q.err}")


def killed(p, tmp):
    """Killed after two kernels: the lists hold both; --resume does the rest and runs none twice."""
    make.vectors(os.path.join(tmp, "many", "ptoas"), 5)
    q = p.start("--build-dir", "many", "-j1")
    done = 0
    for line in q.stderr:
        done += line.startswith("[0")
        if done == 2:
            break
    q.send_signal(signal.SIGKILL)
    q.wait()
    roots = [d for d in os.listdir(os.path.join(tmp, "many")) if d.startswith("kernel_insight")]
    check(len(roots) == 1, f"{roots}")
    rows = p.manifest(os.path.join("many", roots[0]))
    check(len([r for r in rows.values() if r["status"] == "exported"]) == 2, f"after the kill: {rows}")
    with open(os.path.join(tmp, "many", "latest_all_funcs_kernel_insight_export_root.txt")) as f:
        check(os.path.basename(f.read().strip()) == roots[0], "the pointer file names the run")
    halves = [os.path.join(tmp, "many", *at, ".summary.txt.0123456789abcdef.tmp") for at in ((), (roots[0],), (roots[0], "funcs", min(rows)))]
    others = [os.path.join(tmp, "many", roots[0], n) for n in (".x.tmp", ".summary.txt.0123456789abcdeg.tmp")]
    for path in halves + others:
        open(path, "w").close()
    q = p.run("--build-dir", "many", "--resume")
    check(not any(map(os.path.exists, halves)) and all(map(os.path.exists, others)), "what a killed run left half written")
    check(q.returncode == 0 and "EXPORTED 5/5" in q.out, f"resumed: {q.out}{q.err}")
    check(q.err.count("] WARN ") == 3, f"only the rest ran: {q.err}")
    programs = sorted(os.listdir(os.path.join(tmp, "cache", "incore", "recorder")))
    q = p.run("--build-dir", "many", "-o", "again")
    check(q.returncode == 0 and "EXPORTED 5/5" in q.out, f"once more, elsewhere: {q.out}{q.err}")
    check(sorted(os.listdir(os.path.join(tmp, "cache", "incore", "recorder"))) == programs, "a kernel was compiled twice")
    with open(os.path.join(tmp, "many", roots[0], "manifest_export.csv"), "w") as f:
        f.write("func,status\n")
    q = p.run("--build-dir", "many", "--resume")
    check(q.returncode == 3 and "19 columns" in q.err, f"a manifest of another kind: {q.returncode} {q.err}")


def main():
    program = os.path.join(os.path.abspath(sys.argv[1]), "incore")
    tmp = tempfile.mkdtemp(prefix="incore-profile-")
    try:
        p = Profile(program, tmp)
        root = whole_build(p, tmp)
        supplied(p)
        compared(p, tmp)
        again(p, tmp, root)
        usage(p)
        cases(p, tmp)
        defaults(p, tmp)
        control(p, tmp)
        full_shape(p, tmp)
        killed(p, tmp)
        killed_anywhere(p, tmp)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
    print(f"{RESULT[0]} passed, {RESULT[1]} failed, 0 skipped")
    return RESULT[1] > 0


if __name__ == "__main__":
    sys.exit(main())
