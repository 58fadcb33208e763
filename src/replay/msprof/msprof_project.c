/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_project.c: the files around kernel and host: launch, build, scripts, configuration. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/process.h"
#include "codec/json_writer.h"
#include "replay/msprof/msprof.h"
#include "replay/workspace.h"

static const char LAUNCH[] =
	"// Made by incore. The launch stands apart: only the vendor's compiler reads its brackets.\n"
	"#include <cstdint>\n\n" MSPROF_AICORE
	"\nextern \"C\" __global__ __aicore__ void " MSPROF_SYMBOL
	"(__gm__ uint8_t *aic_rows, __gm__ uint8_t *aiv_rows);\n\n"
	"extern \"C\" void launch_replay(uint32_t blocks, void *stream, void *aic_rows, void *aiv_rows)\n"
	"{\n"
	"\t" MSPROF_SYMBOL
	"<<<blocks, nullptr, stream>>>((__gm__ uint8_t *)aic_rows, (__gm__ uint8_t *)aiv_rows);\n"
	"}\n";

static const char CMAKE[] =
	"# Made by incore. run_collect.sh has the command with its values.\n"
	"cmake_minimum_required(VERSION 3.16)\n"
	"set(CMAKE_CXX_COMPILER bisheng)\n"
	"project(incore_replay LANGUAGES CXX)\n"
	"set(CMAKE_CXX_STANDARD 17)\n"
	"set(ASCEND_HOME $ENV{ASCEND_HOME_PATH})\n"
	"file(GLOB SIMULATOR_DIRS ${ASCEND_HOME}/*/simulator/${SOC_VERSION}/lib\n"
	"\t${ASCEND_HOME}/simulator/${SOC_VERSION}/lib ${ASCEND_HOME}/tools/simulator/${SOC_VERSION}/lib)\n"
	"set(KERNEL_FLAGS -xcce -fenable-matrix --cce-aicore-enable-tl --cce-aicore-arch=${AICORE_ARCH}\n"
	"\t-DREGISTER_BASE -std=c++17 \"SHELL:-mllvm -cce-aicore-stack-size=0x8000\")\n"
	"if(DEBUG_LINES)\n\tlist(APPEND KERNEL_FLAGS -g)\nendif()\n"
	"add_library(" MSPROF_LIB " SHARED replay_kernel.cpp replay_launch.cpp)\n"
	"target_compile_options(" MSPROF_LIB " PRIVATE ${KERNEL_FLAGS})\n"
	"target_include_directories(" MSPROF_LIB
	" PRIVATE ${INCLUDE_DIRS} ${ASCEND_HOME}/include)\n"
	"target_link_options(" MSPROF_LIB " PRIVATE --cce-fatobj-link)\n"
	"add_executable(" MSPROF_HOST " replay_host.cpp)\n"
	"target_include_directories(" MSPROF_HOST " PRIVATE ${ASCEND_HOME}/include)\n"
	"target_link_directories(" MSPROF_HOST
	" PRIVATE ${SIMULATOR_DIRS} ${ASCEND_HOME}/lib64 ${ASCEND_HOME}/devlib)\n"
	"target_link_libraries(" MSPROF_HOST " PRIVATE " MSPROF_LIB
	" runtime_camodel ascendcl tiling_api platform c_sec nnopbase stdc++ m dl)\n"
	"if(NOT DEBUG_LINES)\n\ttarget_link_options(" MSPROF_HOST " PRIVATE -s)\nendif()\n";

static bool write_made(const struct replay_job *job, const char *name,
	bool (*make)(const struct replay_job *, struct strbuf *, struct incore_error *),
	struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok = make(job, &b, e) &&
		  workspace_text(job->workspace, name, (struct str){b.p, b.n}, 0644, e);

	sb_free(&b);
	return ok;
}

static void put_quoted(struct strbuf *b, const char *s)
{
	process_quote((const char *const[]){s, NULL}, b);
}

static const char BUILD_STEPS[] =
	"cmake -S . -B build -G Ninja \"-DAICORE_ARCH=$arch\" \"-DSOC_VERSION=$soc\" \\\n"
	"\t\"-DINCLUDE_DIRS=$includes\" \"-DDEBUG_LINES=$debug_lines\"\n"
	"cmake --build build\n\n"
	"home=$ASCEND_HOME_PATH\n"
	"libraries=$PWD/build:$home/lib64:$home/devlib\n"
	"for t in aarch64-linux x86_64-linux; do\n"
	"\t[ ! -d \"$home/$t\" ] || libraries=$libraries:$home/$t/devlib:$home/$t/simulator/$soc/lib\n"
	"done\n"
	"for d in simulator tools/simulator; do\n"
	"\t[ ! -d \"$home/$d/$soc/lib\" ] || libraries=$libraries:$home/$d/$soc/lib\n"
	"done\n"
	"export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n\n"
	"# new folders each time, of this user alone: msprof refuses others, and nothing older\n"
	"# can be taken for this run's\n"
	"umask 077\n"
	"again=$PWD/again_$(date +%Y%m%d_%H%M%S)_$$\n"
	"mkdir \"$again\" \"$again/collect\"\n";

/* A dry run may not have found a script: then uses the given one, or the usual one. */
static void put_set_env(struct strbuf *b, const struct msprof_options *o, const struct cann *c)
{
	char *full = c ? NULL : realpath(o->cann.set_env ? o->cann.set_env : ".", NULL);

	if (c || o->cann.set_env)
		put_quoted(b, c ? c->set_env : full ? full : o->cann.set_env);
	else if (o->cann.home) {
		put_quoted(b, o->cann.home);
		sb_puts(b, "/set_env.sh");
	} else
		sb_puts(b, "/usr/local/Ascend/ascend-toolkit/set_env.sh");
	free(full);
}

/* Writes the steps of msprof_run.c for manual use: the same commands in the same order. */
static bool write_script(const struct replay_job *job, const struct msprof_options *o,
	const struct cann *c, struct incore_error *e)
{
	struct strbuf b = {0}, dirs = {0};
	bool ok = msprof_include_dirs(job, o, &dirs, e);

	sb_puts(&b, "#!/bin/bash\n# Made by incore: build and run this replay by hand.\n"
		    "set -euo pipefail\ncd \"$(dirname \"$0\")\"\n\nset_env=");
	put_set_env(&b, o, c);
	sb_printf(&b, "\nsoc=%s\narch=%s\nincludes=", msprof_soc(job, o, c), msprof_arch(job, o));
	put_quoted(&b, dirs.p ? dirs.p : "");
	sb_printf(&b, "\ndebug_lines=%s\n\nset +u\n. \"$set_env\"\nset -u\n",
		job->has_debug_lines ? "ON" : "OFF");
	if (o->has_device)
		sb_printf(&b, "export ACL_DEVICE_ID=%u\n", o->device);
	sb_puts(&b, BUILD_STEPS);
	sb_printf(&b,
		"msprof op simulator --application=./build/%s --kernel-name=%s --launch-count=%u \\\n"
		"\t\"--soc-version=$soc\" --timeout=%u \"--output=$again/collect\"\n",
		MSPROF_HOST, MSPROF_SYMBOL, o->launch_count ? o->launch_count : 1,
		o->timeout_minutes ? o->timeout_minutes : MSPROF_DEFAULT_MINUTES);
	sb_puts(&b,
		"\n# an older msprof leaves a dump and exports in a second step\n"
		"if [ -z \"$(find \"$again/collect\" -name visualize_data.bin -print -quit)\" ]; then\n"
		"\tdump=$(find \"$again/collect\" -type d '(' -name tmp_dump -o -name dump ')' -print -quit)\n"
		"\tstart=$(find \"$again/collect\" -name pc_start_addr.txt -print -quit)\n"
		"\t[ -z \"$start\" ] || [ -e \"$dump/pc_start_addr.txt\" ] || cp \"$start\" \"$dump/\"\n"
		"\tmkdir \"$again/export\"\n"
		"\tmsprof op simulator \"--export=$dump\" \"--output=$again/export\"\n"
		"fi\n"
		"find \"$again\" -type d -name simulator\n");
	ok = ok && (!b.failed || err_nomem(e)) &&
	     workspace_text(job->workspace, "run_collect.sh", (struct str){b.p, b.n}, 0755, e);
	sb_free(&b);
	sb_free(&dirs);
	return ok;
}

static void put_arg(struct json_writer *w, uint32_t i, const struct arg *s)
{
	json_w_row_object(w);
	json_w_kv_u64(w, "index", i);
	json_w_kv_cstr(w, "kind", s->is_tensor ? "tensor" : "scalar");
	json_w_kv_cstr(w, "dtype", dtype_name(s->dtype));
	if (s->is_tensor) {
		arg_put_dims(w, "shape", s->shape, s->n_dims);
	} else {
		json_w_kv_u64(w, "value", s->bits);
	}
	json_w_kv_cstr(w, "name", s->name ? s->name : "");
	json_w_end(w);
}

static void put_spmd(struct json_writer *w, const struct replay_job *job)
{
	json_w_kv_object(w, "spmd");
	json_w_kv_u64(w, "hw_block_dim", job->args->rows.n);
	json_w_kv_u64(w, "aiv_lanes_per_core", msprof_lanes(job));
	json_w_kv_array(w, "dispatches");
	for (uint32_t i = 0; i < job->args->rows.n; i++) {
		json_w_row_object(w);
		json_w_kv_u64(w, "block_idx", job->args->first_block + i);
		json_w_kv_u64(w, "block_num", job->args->block_count);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_end(w);
}

static void put_member(struct json_writer *w, const struct replay_member *m)
{
	json_w_kv_i64(w, "func_id", m->func);
	json_w_kv_cstr(w, "core_type", kernel_core_name(m->core));
	json_w_kv_cstr(w, "source", m->source);
}

/* The first member is also at top level, where a reader of a single kernel expects it. */
static void put_members(struct json_writer *w, const struct replay_job *job)
{
	put_member(w, &job->members[0]);
	json_w_kv_array(w, "members");
	for (uint32_t i = 0; i < job->n_members; i++) {
		json_w_row_object(w);
		put_member(w, &job->members[i]);
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
	json_w_kv_cstr(&w, "backend", "msprof");
	json_w_kv_null(&w, "test_module");
	json_w_kv_null(&w, "case");
	json_w_kv_object(&w, "kernel");
	json_w_kv_cstr(&w, "name", job->label);
	json_w_kv_cstr(&w, "shape", kernel_class_name(job->kernel_class));
	put_members(&w, job);
	json_w_end(&w);
	json_w_kv_object(&w, "replay");
	json_w_kv_u64(&w, "hw_block_num", job->args->rows.n);
	json_w_kv_cstr(&w, "platform", replay_target_name(job->target));
	json_w_kv_cstr(&w, "soc_version", msprof_soc(job, o, c));
	json_w_kv_u64(
		&w, "timeout", o->timeout_minutes ? o->timeout_minutes : MSPROF_DEFAULT_MINUTES);
	json_w_kv_u64(&w, "launch_count", o->launch_count ? o->launch_count : 1);
	json_w_end(&w);
	json_w_kv_array(&w, "args");
	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++)
		if (job->args->slots[i].is_used)
			put_arg(&w, i, &job->args->slots[i]);
	json_w_end(&w);
	if (job->kernel_class == KERNEL_SPMD_MIX)
		put_spmd(&w, job);
	json_w_end(&w);
	sb_putc(&b, '\n');
	ok = (!b.failed || err_nomem(e)) &&
	     workspace_text(
		     job->workspace, "insight_trace_config.json", (struct str){b.p, b.n}, 0644, e);
	sb_free(&b);
	return ok;
}

const char *msprof_arch(const struct replay_job *job, const struct msprof_options *o)
{
	return o->cann.arch ? o->cann.arch : cann_target(job->target)->arch;
}

const char *msprof_soc(
	const struct replay_job *job, const struct msprof_options *o, const struct cann *c)
{
	return c ? c->soc : o->cann.soc ? o->cann.soc : cann_target(job->target)->soc;
}

static bool add_dir(struct strbuf *out, const char *dir, struct incore_error *e)
{
	char *full = realpath(dir, NULL);
	bool ok = full ? msprof_check_path(full, e)
		       : err_file(e, "no-folder", dir, INCORE_NO_OFFSET,
				 "this folder of headers cannot be read: %s", strerror(errno));

	if (ok)
		ok = sb_printf(out, "%s%s", out->n ? ";" : "", full) || err_nomem(e);
	free(full);
	return ok;
}

bool msprof_include_dirs(const struct replay_job *job, const struct msprof_options *o,
	struct strbuf *out, struct incore_error *e)
{
	const char *root = o->cann.pto_isa;
	char *headers;
	bool ok = true;

	for (size_t i = 0; ok && i < job->n_include_dirs; i++)
		ok = add_dir(out, job->include_dirs[i], e);
	if (!ok || !root)
		return ok;
	headers = path_join(root, "include");
	ok = headers ? add_dir(out, headers, e) : err_nomem(e);
	mem_free(headers);
	return ok;
}

static bool check_word(const char *option, const char *value, struct incore_error *e)
{
	return !value || cann_is_word(value) ||
	       err_set(e, INCORE_USAGE, "bad-option-value",
		       "--%s: expected letters, digits, '_', '.' and '-', found '%s'", option,
		       value);
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
	return check_word("soc-version", o->cann.soc, e) &&
	       check_word("aicore-arch", o->cann.arch, e);
}

bool msprof_write_project(const struct replay_job *job, const struct msprof_options *o,
	const struct cann *c, struct incore_error *e)
{
	return write_made(job, "replay_kernel.cpp", msprof_kernel_text, e) &&
	       write_made(job, "replay_host.cpp", msprof_host_text, e) &&
	       workspace_text(job->workspace, "replay_launch.cpp", str_of(LAUNCH), 0644, e) &&
	       workspace_text(job->workspace, "CMakeLists.txt", str_of(CMAKE), 0644, e) &&
	       write_script(job, o, c, e) && write_config(job, o, c, e);
}
