/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_project.c: the files around kernel and host: launch, build, scripts, configuration. */
#include <sys/stat.h>

#include "base/file.h"
#include "base/process.h"
#include "codec/json_writer.h"
#include "dump/dtype.h"
#include "replay/msprof.h"

static const char LAUNCH[] =
	"// Made by incore. The launch stands apart: only the vendor's compiler reads its "
	"brackets.\n"
	"#include <cstdint>\n\n"
	"extern \"C\" __global__ __aicore__ void " MSPROF_SYMBOL
	"(__gm__ uint8_t *aic_rows, __gm__ uint8_t *aiv_rows);\n\n"
	"extern \"C\" void launch_replay(uint32_t blocks, void *stream, void *aic_rows, void "
	"*aiv_rows)\n"
	"{\n"
	"\t" MSPROF_SYMBOL
	"<<<blocks, nullptr, stream>>>((__gm__ uint8_t *)aic_rows, (__gm__ uint8_t *)aiv_rows);\n"
	"}\n";

static const char CMAKE[] =
	"# Made by incore. cmake -S . -B build -G Ninja -DAICORE_ARCH=... -DSOC_VERSION=...\n"
	"cmake_minimum_required(VERSION 3.16)\n"
	"set(CMAKE_CXX_COMPILER bisheng)\n"
	"project(incore_replay LANGUAGES CXX)\n"
	"set(CMAKE_CXX_STANDARD 17)\n"
	"set(ASCEND_HOME $ENV{ASCEND_HOME_PATH})\n"
	"file(GLOB SIMULATOR_DIRS ${ASCEND_HOME}/*/simulator/${SOC_VERSION}/lib\n"
	"\t${ASCEND_HOME}/simulator/${SOC_VERSION}/lib "
	"${ASCEND_HOME}/tools/simulator/${SOC_VERSION}/lib)\n"
	"set(KERNEL_FLAGS -xcce -fenable-matrix --cce-aicore-enable-tl "
	"--cce-aicore-arch=${AICORE_ARCH}\n"
	"\t-DREGISTER_BASE -std=c++17 \"SHELL:-mllvm -cce-aicore-stack-size=0x8000\")\n"
	"if(DEBUG_LINES)\n\tlist(APPEND KERNEL_FLAGS -g)\nendif()\n"
	"add_library(" MSPROF_LIB " SHARED replay_kernel.cpp replay_launch.cpp)\n"
	"target_compile_options(" MSPROF_LIB " PRIVATE ${KERNEL_FLAGS})\n"
	"target_include_directories(" MSPROF_LIB
	" PRIVATE ${INCLUDE_DIRS} ${PTO_ISA_ROOT}/include ${ASCEND_HOME}/include)\n"
	"target_link_options(" MSPROF_LIB " PRIVATE --cce-fatobj-link)\n"
	"add_executable(" MSPROF_HOST " replay_host.cpp)\n"
	"target_include_directories(" MSPROF_HOST " PRIVATE ${ASCEND_HOME}/include)\n"
	"target_link_directories(" MSPROF_HOST
	" PRIVATE ${SIMULATOR_DIRS} ${ASCEND_HOME}/lib64 ${ASCEND_HOME}/devlib)\n"
	"target_link_libraries(" MSPROF_HOST " PRIVATE " MSPROF_LIB
	" runtime_camodel ascendcl tiling_api platform c_sec nnopbase stdc++ m dl)\n"
	"if(NOT DEBUG_LINES)\n\ttarget_link_options(" MSPROF_HOST " PRIVATE -s)\nendif()\n";

static bool write_text(const struct replay_job *job, const char *name, struct str text, mode_t mode,
	struct incore_error *e)
{
	char *path = path_join(job->workspace, name);
	struct out_file o = {0};
	bool ok;

	if (!path)
		return err_nomem(e);
	ok = out_file_open(&o, path, e);
	if (ok) {
		fwrite(text.p, 1, text.n, o.f);
		ok = out_file_commit(&o, e);
	}
	if (ok && chmod(path, mode) != 0)
		ok = err_set(e, INCORE_FAILED, "chmod-failed", "cannot set the mode of %s", path);
	mem_free(path);
	return ok;
}

static bool write_made(const struct replay_job *job, const char *name,
	bool (*make)(const struct replay_job *, struct strbuf *, struct incore_error *),
	struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok = make(job, &b, e) && write_text(job, name, (struct str){b.p, b.n}, 0644, e);

	sb_free(&b);
	return ok;
}

static void put_quoted(struct strbuf *b, const char *s)
{
	process_quote((const char *const[]){s, NULL}, b);
}

/* The steps of msprof_run.c, for a person: the same commands in the same order. */
static bool write_script(const struct replay_job *job, const struct msprof_options *o,
	const struct cann *c, struct incore_error *e)
{
	const struct cann_target *t = cann_target(job->target);
	struct strbuf b = {0};
	bool ok;

	sb_puts(&b, "#!/bin/bash\n# Made by incore: build and run this replay by hand.\nset -euo "
		    "pipefail\n"
		    "cd \"$(dirname \"$0\")\"\n");
	sb_puts(&b, "set_env=${CANN_SET_ENV:-");
	sb_puts(&b, c ? "" : "/usr/local/Ascend/ascend-toolkit/set_env.sh");
	if (c)
		put_quoted(&b, c->set_env);
	sb_puts(&b, "}\nset +u; . \"$set_env\"; set -u\n");
	sb_printf(&b, "soc=${SOC_VERSION:-%s}\narch=${AICORE_ARCH:-%s}\n", c ? c->soc : t->soc,
		o->cann.arch ? o->cann.arch : t->arch);
	sb_puts(&b, "includes=");
	for (size_t i = 0; i < job->n_include_dirs; i++) {
		sb_puts(&b, i ? "';'" : "");
		put_quoted(&b, job->include_dirs[i]);
	}
	sb_puts(&b, "\npto_isa=${PTO_ISA_ROOT:-");
	if (o->cann.pto_isa)
		put_quoted(&b, o->cann.pto_isa);
	sb_printf(&b,
		"}\ncmake -S . -B build -G Ninja -DAICORE_ARCH=\"$arch\" -DSOC_VERSION=\"$soc\" "
		"\\\n"
		"\t-DINCLUDE_DIRS=\"$includes\" -DPTO_ISA_ROOT=\"$pto_isa\" -DDEBUG_LINES=%s\n"
		"cmake --build build\n"
		"for d in lib64 devlib x86_64-linux/devlib aarch64-linux/devlib \\\n"
		"\tx86_64-linux/simulator/$soc/lib aarch64-linux/simulator/$soc/lib "
		"simulator/$soc/lib "
		"tools/simulator/$soc/lib; do\n"
		"\t[ ! -d \"$ASCEND_HOME_PATH/$d\" ] || "
		"LD_LIBRARY_PATH=$ASCEND_HOME_PATH/$d:${LD_LIBRARY_PATH:-}\n"
		"done\nexport LD_LIBRARY_PATH=$PWD/build:$LD_LIBRARY_PATH\n"
		"(umask 077 && mkdir -p insight_export)\n"
		"msprof op simulator --application=./build/%s --kernel-name=%s --launch-count=%u "
		"\\\n"
		"\t--soc-version=\"$soc\" --timeout=%u --output=insight_export\n",
		job->has_debug_lines ? "ON" : "OFF", MSPROF_HOST, MSPROF_SYMBOL,
		o->launch_count ? o->launch_count : 1,
		o->timeout_minutes ? o->timeout_minutes : 120);
	ok = (!b.failed || err_nomem(e)) &&
	     write_text(job, "run_collect.sh", (struct str){b.p, b.n}, 0755, e);
	sb_free(&b);
	return ok;
}

static void put_arg(struct json_writer *w, uint32_t i, const struct replay_slot *s)
{
	json_w_row_object(w);
	json_w_key(w, "index");
	json_w_u64(w, i);
	json_w_key(w, "kind");
	json_w_str(w, str_of(s->is_tensor ? "tensor" : "scalar"));
	json_w_key(w, "dtype");
	json_w_str(w, str_of(dtype_name(s->dtype)));
	if (s->is_tensor) {
		json_w_key(w, "shape");
		json_w_row(w);
		for (uint32_t d = 0; d < s->n_dims; d++)
			json_w_u64(w, s->shape[d]);
		json_w_end(w);
	} else {
		json_w_key(w, "value");
		json_w_u64(w, s->bits);
	}
	json_w_key(w, "name");
	json_w_str(w, str_of(s->name ? s->name : ""));
	json_w_end(w);
}

static void put_spmd(struct json_writer *w, const struct replay_job *job)
{
	json_w_key(w, "spmd");
	json_w_object(w);
	json_w_key(w, "hw_block_dim");
	json_w_u64(w, job->n_blocks);
	json_w_key(w, "aiv_lanes_per_core");
	json_w_u64(w, 2);
	json_w_key(w, "dispatches");
	json_w_array(w);
	for (uint32_t i = 0; i < job->n_blocks; i++) {
		json_w_row_object(w);
		json_w_key(w, "block_idx");
		json_w_u64(w, job->blocks[i].index);
		json_w_key(w, "block_num");
		json_w_u64(w, job->blocks[i].count);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_end(w);
}

static void put_members(struct json_writer *w, const struct replay_job *job)
{
	json_w_key(w, "members");
	json_w_array(w);
	for (uint32_t i = 0; i < job->n_members; i++) {
		json_w_row_object(w);
		json_w_key(w, "source");
		json_w_str(w, str_of(job->members[i].source));
		json_w_key(w, "core_type");
		json_w_str(w, str_of(job->members[i].core == KERNEL_ON_AIC ? "aic" : "aiv"));
		json_w_key(w, "func_id");
		json_w_i64(w, job->members[i].func);
		json_w_end(w);
	}
	json_w_end(w);
}

static bool write_config(const struct replay_job *job, const struct msprof_options *o,
	const struct cann *c, struct incore_error *e)
{
	struct strbuf b = {0};
	struct json_writer w;
	bool ok;

	json_w_buf(&w, &b, 2);
	json_w_object(&w);
	json_w_key(&w, "backend");
	json_w_str(&w, STR("msprof"));
	json_w_key(&w, "kernel");
	json_w_object(&w);
	json_w_key(&w, "name");
	json_w_str(&w, str_of(job->label));
	json_w_key(&w, "shape");
	json_w_str(&w, str_of(kernel_class_name(job->kernel_class)));
	put_members(&w, job);
	json_w_end(&w);
	json_w_key(&w, "replay");
	json_w_object(&w);
	json_w_key(&w, "hw_block_num");
	json_w_u64(&w, job->n_blocks);
	json_w_key(&w, "platform");
	json_w_str(&w, str_of(replay_target_name(job->target)));
	json_w_key(&w, "soc_version");
	json_w_str(&w, str_of(c ? c->soc : cann_target(job->target)->soc));
	json_w_key(&w, "timeout");
	json_w_u64(&w, o->timeout_minutes ? o->timeout_minutes : 120);
	json_w_key(&w, "launch_count");
	json_w_u64(&w, o->launch_count ? o->launch_count : 1);
	json_w_end(&w);
	json_w_key(&w, "args");
	json_w_array(&w);
	for (uint32_t i = 0; i < REPLAY_LOCAL_CONTEXT; i++)
		if (job->blocks[0].slots[i].is_used)
			put_arg(&w, i, &job->blocks[0].slots[i]);
	json_w_end(&w);
	if (job->kernel_class == KERNEL_SPMD_MIX)
		put_spmd(&w, job);
	json_w_end(&w);
	sb_putc(&b, '\n');
	ok = (!b.failed || err_nomem(e)) &&
	     write_text(job, "insight_trace_config.json", (struct str){b.p, b.n}, 0644, e);
	sb_free(&b);
	return ok;
}

bool msprof_check_options(const struct msprof_options *o, struct incore_error *e)
{
	if (o->timeout_minutes > MSPROF_MAX_MINUTES)
		return err_set(e, INCORE_USAGE, "bad-timeout",
			"msprof takes a time limit of 1 to %d minutes, not %u", MSPROF_MAX_MINUTES,
			o->timeout_minutes);
	if (o->launch_count > 5000)
		return err_set(e, INCORE_USAGE, "bad-launch-count",
			"msprof takes 1 to 5000 launches, not %u", o->launch_count);
	return true;
}

bool msprof_write_project(const struct replay_job *job, const struct msprof_options *o,
	const struct cann *c, struct incore_error *e)
{
	return write_made(job, "replay_kernel.cpp", msprof_kernel_text, e) &&
	       write_made(job, "replay_host.cpp", msprof_host_text, e) &&
	       write_text(job, "replay_launch.cpp", str_of(LAUNCH), 0644, e) &&
	       write_text(job, "CMakeLists.txt", str_of(CMAKE), 0644, e) &&
	       write_script(job, o, c, e) && write_config(job, o, c, e);
}
