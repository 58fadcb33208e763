/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_project.c: writes the project of a kernel: the kernel, the host program, and the files
 * around them (launch, build, scripts, configuration). Parts: the kernel; the host program; the
 * other files.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "args/dtype.h"
#include "base/file.h"
#include "base/process.h"
#include "base/vec.h"
#include "codec/json_writer.h"
#include "replay/msprof/msprof.h"
#include "replay/source/source_text.h"
#include "replay/workspace.h"

/* --- the kernel ------------------------------------------------------------------------------- */

/*
 * The translation unit that holds the kernel. Each member is included under the macro of its core;
 * two vector members share a unit, so each gets a namespace, its extern "C" names are renamed, and
 * its macros are undefined after it.
 */

struct member_text {		/* properties of a source that matter when sharing a unit */
	struct str folder;	/* of the source */
	struct strbuf includes; /* its include lines */
	struct strbuf undefs;	/* "#undef N" for each macro it defines */
	struct strbuf masked;
};

/* Moves an include before the namespace, where the source's own folder is not searched: a header in
 * that folder gets its full path. A header of a branch not taken may be missing. */
static bool hoist_include(struct member_text *t, struct str target)
{
	struct strbuf path = {0};
	bool ok, is_beside;

	if (target.n < 2 || (target.p[0] != '"' && target.p[0] != '<'))
		return true;
	if (target.p[0] == '"') {
		ptrdiff_t end = str_find(str_sub(target, 1, target.n), "\"");

		sb_printf(&path, "%.*s/%.*s", STR_ARG(t->folder), (int)(end < 0 ? 0 : end),
			target.p + 1);
	}
	is_beside = path.p && file_exists(path.p) && !file_is_dir(path.p) &&
		    msprof_check_path(path.p, NULL);
	ok = !path.failed;
	if (ok && is_beside)
		ok = sb_printf(&t->includes, "#include \"%s\"\n", path.p);
	else if (ok)
		ok = sb_printf(&t->includes, "#if __has_include(%.*s)\n#include %.*s\n#endif\n",
			STR_ARG(target), STR_ARG(target));
	sb_free(&path);
	return ok;
}

static bool on_directive(void *ctx, struct str line)
{
	struct member_text *t = ctx;
	struct str rest;
	size_t n = 0;

	if (str_starts(line, "include"))
		return hoist_include(t, str_trim(str_sub(line, 7, line.n)));
	if (!str_starts(line, "define"))
		return true;
	rest = str_trim(str_sub(line, 6, line.n));
	while (n < rest.n && char_is_word(rest.p[n]))
		n++;
	return sb_printf(&t->undefs, "#undef %.*s\n", (int)n, rest.p);
}

static void member_text_free(struct member_text *t)
{
	sb_free(&t->includes);
	sb_free(&t->undefs);
	sb_free(&t->masked);
}

static bool read_member(const char *path, struct member_text *t, struct incore_error *e)
{
	struct source_macros hooks = {.on_directive = on_directive, .ctx = t};
	struct file_data f = {0};
	ptrdiff_t slash = str_rfind_char(str_of(path), '/');
	bool ok;

	t->folder = slash < 0 ? STR(".") : (struct str){path, (size_t)slash};
	ok = file_load(&f, path, e) &&
	     source_mask((struct str){(const char *)f.data, f.size}, path, &hooks, &t->masked, e);

	file_unload(&f);
	return ok && (!(t->includes.failed || t->undefs.failed) || err_nomem(e));
}

/* A path is quoted in C++, CMake and shell text: it must not contain anything that could end the
 * quotes. */
bool msprof_check_path(const char *path, struct incore_error *e)
{
	for (const char *p = path; *p; p++)
		if (strchr("\"\\$`;", *p) || (unsigned char)*p < 32)
			return err_file(e, "bad-path", path, INCORE_NO_OFFSET,
				"this path cannot stand in generated text: it has a quote, backslash, dollar sign, semicolon or control character");
	return true;
}

/* extern "C" names are not separated by a namespace, so they are renamed. extern "C" blocks are
 * refused. */
static bool rename_c_names(struct member_text *t, const char *path, unsigned member,
	struct strbuf *out, struct incore_error *e)
{
	struct str m = {t->masked.p, t->masked.n};
	size_t pos = 0;

	while (source_find_word(m, "extern", &pos)) {
		struct str rest = str_trim(str_sub(m, pos, m.n)), head;
		ptrdiff_t open, brace;
		size_t end;

		if (!rest.n || rest.p[0] != '"')
			continue;
		open = str_find(rest, "(");
		brace = str_find(rest, "{");
		if (brace >= 0 && (open < 0 || brace < open))
			return err_file(e, "shared-unit", path, INCORE_NO_OFFSET,
				"two vector sources share one unit, and this one has an extern \"C\" block: mark its functions one by one");
		head = str_trim(str_sub(rest, 0, open < 0 ? 0 : (size_t)open));
		end = head.n;
		while (end > 0 && char_is_word(head.p[end - 1]))
			end--;
		head = str_sub(head, end, head.n);
		if (!head.n || str_is(head, "kernel_entry"))
			continue;
		sb_printf(out, "#define %.*s incore_member_%u_%.*s\n", STR_ARG(head), member,
			STR_ARG(head));
		sb_printf(&t->undefs, "#undef %.*s\n", STR_ARG(head));
	}
	return !(out->failed || t->undefs.failed) || err_nomem(e);
}

static bool put_member(const struct replay_job *job, unsigned i, bool is_shared, struct strbuf *out,
	struct incore_error *e)
{
	const char *path = job->members[i].source;
	struct member_text t = {0};
	struct strbuf renames = {0};
	bool ok = msprof_check_path(path, e);

	if (ok && is_shared)
		ok = read_member(path, &t, e) && rename_c_names(&t, path, i, &renames, e);
	if (ok) {
		if (is_shared)
			sb_printf(out, "%snamespace incore_member_%u {\n%s",
				t.includes.p ? t.includes.p : "", i, renames.p ? renames.p : "");
		sb_printf(out,
			"#define kernel_entry incore_member_%u_entry\n#include \"%s\"\n"
			"#undef kernel_entry\n",
			i, path);
		if (is_shared)
			sb_printf(out,
				"} // namespace incore_member_%u\n%susing incore_member_%u::incore_member_%u_entry;\n",
				i, t.undefs.p ? t.undefs.p : "", i, i);
	}
	sb_free(&renames);
	member_text_free(&t);
	return ok;
}

static unsigned count_core(const struct replay_job *job, enum kernel_core core)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < job->n_members; i++)
		n += job->members[i].core == core;
	return n;
}

static bool put_core(const struct replay_job *job, enum kernel_core core, struct strbuf *out,
	struct incore_error *e)
{
	unsigned n = count_core(job, core);
	bool ok = true;

	if (!n)
		return true;
	sb_printf(
		out, "\n#if defined(%s)\n", core == KERNEL_ON_AIC ? "__DAV_CUBE__" : "__DAV_VEC__");
	for (uint32_t i = 0; ok && i < job->n_members; i++)
		if (job->members[i].core == core)
			ok = put_member(job, i, n > 1, out, e);
	sb_puts(out, "#endif\n");
	return ok;
}

/* In generated text: marker of a device function. */
#define MSPROF_AICORE "#ifndef __aicore__\n#define __aicore__ [aicore]\n#endif\n"

static void put_prologue(const struct replay_job *job, struct strbuf *out)
{
	const struct cann_target *t = cann_target(job->target);

	sb_printf(out,
		"// Made by incore. The kernel under its recorded arguments: one row of %d slots a core.\n"
		"#ifndef __CCE_AICORE__\n#define __CCE_AICORE__ %u\n#endif\n"
		"#include <cstdint>\n"
		"#include <cce_aicore_intrinsics.h>\n" MSPROF_AICORE
		"#ifndef %s\n#define %s\n#endif\n"
		"#ifndef EVENT_ID7\n#define EVENT_ID7 ((event_t)7)\n#endif\n"
		"#ifndef PIPE_FIX\n#define PIPE_FIX ((pipe_t)10)\n#endif\n",
		ARG_SLOTS, t->cce_aicore, t->arch_macro, t->arch_macro);
}

/* Like -D, but after the vendor's headers: defined before any text of the kernel. */
static bool put_defines(const struct replay_job *job, struct strbuf *out, struct incore_error *e)
{
	for (size_t i = 0; i < job->means->defines.n; i++) {
		const char *word = job->means->defines.v[i];
		size_t n = 0;

		while (char_is_word(word[n]))
			n++;
		if (!n || (word[0] >= '0' && word[0] <= '9') || (word[n] && word[n] != '=') ||
			strpbrk(word, "\r\n"))
			return err_set(e, INCORE_USAGE, "bad-option-value",
				"--define: expected NAME or NAME=VALUE on one line, found '%s'",
				word);
		sb_printf(out, "#define %.*s %s\n", (int)n, word, word[n] ? word + n + 1 : "1");
	}
	return true;
}

/* Vector rows of a block: two if it has a cube kernel or a kernel on lane 1, else one. */
static unsigned msprof_lanes(const struct replay_job *job)
{
	unsigned n = count_core(job, KERNEL_ON_AIC) ? 2 : 1;

	for (uint32_t i = 0; i < job->n_members; i++)
		n = job->members[i].lanes & 2 ? 2 : n;
	return n;
}

/* A lane without a kernel in the task does nothing. */
static void put_vector_call(const struct replay_job *job, struct strbuf *out)
{
	sb_puts(out, "\tint64_t lane = get_subblockid();\n");
	if (msprof_lanes(job) == 1)
		sb_puts(out, "\tif (lane != 0)\n\t\treturn;\n");
	sb_printf(out, "\t__gm__ int64_t *row = (__gm__ int64_t *)aiv_rows + %s * %d;\n",
		msprof_lanes(job) == 1 ? "get_block_idx()"
				       : "(get_block_idx() * get_subblockdim() + lane)",
		ARG_SLOTS);
	for (uint32_t i = 0; i < job->n_members; i++) {
		if (job->members[i].core != KERNEL_ON_AIV)
			continue;
		if (msprof_lanes(job) > 1 && job->members[i].lanes != 3)
			sb_printf(out, "\tif (lane == %u)\n\t", job->members[i].lanes == 2);
		sb_printf(out, "\tincore_member_%u_entry(row);\n", i);
	}
}

/* Text of single files, for tests; false: a path or name must not occur in generated text. */
static bool msprof_kernel_text(
	const struct replay_job *job, struct strbuf *out, struct incore_error *e)
{
	put_prologue(job, out);
	if (!put_defines(job, out, e) || !put_core(job, KERNEL_ON_AIC, out, e) ||
		!put_core(job, KERNEL_ON_AIV, out, e))
		return false;
	sb_printf(out,
		"\nextern \"C\" __global__ __aicore__ void %s(__gm__ uint8_t *aic_rows, __gm__ uint8_t *aiv_rows)\n"
		"{\n\t(void)aic_rows;\n\t(void)aiv_rows;\n",
		MSPROF_SYMBOL);
	for (uint32_t i = 0; i < job->n_members; i++)
		if (job->members[i].core == KERNEL_ON_AIC)
			sb_printf(out,
				"#if defined(__DAV_CUBE__)\n\tincore_member_%u_entry((__gm__ int64_t *)aic_rows + get_block_idx() * %d);\n#endif\n",
				i, ARG_SLOTS);
	if (count_core(job, KERNEL_ON_AIV)) {
		sb_puts(out, "#if defined(__DAV_VEC__)\n");
		put_vector_call(job, out);
		sb_puts(out, "#endif\n");
	}
	sb_puts(out, "}\n");
	return !out->failed || err_nomem(e);
}

/* --- the host program ------------------------------------------------------------------------- */

/*
 * The program that lays out buffers, descriptors, contexts and argument rows as the runtime did,
 * and launches the kernel once. Its tables are the job, its code is fixed.
 */

static const char HEAD[] =
	"// Made by incore. Lays the arguments of one dispatch out and launches its kernel.\n"
	"#include <cstdint>\n"
	"#include <cstdio>\n"
	"#include <cstdlib>\n"
	"#include <cstring>\n"
	"#include <vector>\n\n"
	"#include <acl/acl.h>\n\n"
	"extern \"C\" void launch_replay(uint32_t blocks, void *stream, void *aic_rows, void *aiv_rows);\n\n"
	"struct Tensor { // as the kernel reads it\n"
	"\tuint64_t addr, size, owner, start_offset;\n"
	"\tint32_t version;\n"
	"\tuint32_t ndims;\n"
	"\tuint8_t dtype, manual_dep, is_contiguous, address_space;\n"
	"\tuint32_t shapes[5];\n"
	"\tuint64_t extent;\n"
	"\tuint32_t strides[5];\n"
	"\tuint8_t pad[36];\n"
	"};\n"
	"static_assert(sizeof(Tensor) == 128, \"tensor descriptor\");\n\n"
	"struct LocalContext {\n"
	"\tint32_t block_idx, block_num;\n"
	"\tuint64_t completion_count, error_code, entries;\n"
	"\tuint32_t capacity, pad;\n"
	"\tuint64_t task_token;\n"
	"};\n"
	"static_assert(sizeof(LocalContext) == 48, \"local context\");\n\n"
	"struct GlobalContext {\n"
	"\tint32_t sub_block_id, pad;\n"
	"\tuint64_t dma_workspace[2];\n"
	"};\n"
	"static_assert(sizeof(GlobalContext) == 24, \"global context\");\n\n"
	"struct Buffer {\n\tconst char *file; // nullptr: zeros\n\tuint64_t bytes;\n};\n"
	"struct Slot {\n"
	"\tuint32_t block, slot;\n"
	"\tbool is_tensor;\n"
	"\tuint64_t bits; // scalar\n"
	"\tuint32_t buffer;\n"
	"\tuint64_t start_offset, extent;\n"
	"\tuint8_t dtype, is_contiguous;\n"
	"\tuint32_t ndims, shapes[5], strides[5];\n"
	"};\n"
	"struct Block {\n\tint32_t index, count;\n};\n\n"
	"static const uint64_t NONE = ~0ull;\n"
	"static const unsigned SLOTS_A_ROW = 50, LOCAL_CONTEXT = 48, GLOBAL_CONTEXT = 49;\n\n";

static const char BODY[] =
	"\nstatic void check(aclError rc, const char *what)\n"
	"{\n"
	"\tif (rc == ACL_SUCCESS)\n"
	"\t\treturn;\n"
	"\tstd::fprintf(stderr, \"replay_host: %s failed: %d\\n\", what, (int)rc);\n"
	"\tstd::exit(1);\n"
	"}\n\n"
	"static std::vector<void *> uploaded; // all of it, to be freed at the end\n\n"
	"static void *upload(const void *bytes, size_t n)\n"
	"{\n"
	"\tvoid *p = nullptr;\n\n"
	"\tcheck(aclrtMalloc(&p, n, ACL_MEM_MALLOC_HUGE_FIRST), \"aclrtMalloc\");\n"
	"\tuploaded.push_back(p);\n"
	"\tcheck(aclrtMemcpy(p, n, bytes, n, ACL_MEMCPY_HOST_TO_DEVICE), \"aclrtMemcpy\");\n"
	"\treturn p;\n"
	"}\n\n"
	"static void *upload_buffer(const Buffer &b)\n"
	"{\n"
	"\tstd::vector<char> bytes(b.bytes ? b.bytes : 1, 0);\n\n"
	"\tif (b.file) {\n"
	"\t\tstd::FILE *f = std::fopen(b.file, \"rb\");\n\n"
	"\t\tif (!f || std::fread(bytes.data(), 1, b.bytes, f) != b.bytes) {\n"
	"\t\t\tstd::fprintf(stderr, \"replay_host: cannot read %llu bytes of %s\\n\",\n"
	"\t\t\t\t(unsigned long long)b.bytes, b.file);\n"
	"\t\t\tstd::exit(1);\n"
	"\t\t}\n"
	"\t\tstd::fclose(f);\n"
	"\t}\n"
	"\treturn upload(bytes.data(), bytes.size());\n"
	"}\n\n"
	"// One row of slots for one core of one block.\n"
	"static void fill_row(int64_t *row, uint32_t block, int32_t lane, const std::vector<void *> &buffers)\n"
	"{\n"
	"\tLocalContext local = {BLOCKS[block].index, BLOCKS[block].count, 0, 0, 0, 0, 0, NONE};\n"
	"\tGlobalContext global = {lane, 0, {0, 0}};\n\n"
	"\tfor (const Slot &s : SLOTS) {\n"
	"\t\tif (s.block != block)\n"
	"\t\t\tcontinue;\n"
	"\t\tif (!s.is_tensor) {\n"
	"\t\t\trow[s.slot] = (int64_t)s.bits;\n"
	"\t\t\tcontinue;\n"
	"\t\t}\n"
	"\t\tTensor t = {};\n\n"
	"\t\tt.addr = (uint64_t)buffers[s.buffer];\n"
	"\t\tt.size = BUFFERS[s.buffer].bytes;\n"
	"\t\tt.owner = NONE;\n"
	"\t\tt.start_offset = s.start_offset;\n"
	"\t\tt.ndims = s.ndims;\n"
	"\t\tt.dtype = s.dtype;\n"
	"\t\tt.is_contiguous = s.is_contiguous;\n"
	"\t\tt.address_space = 1;\n"
	"\t\tt.extent = s.extent;\n"
	"\t\tstd::memcpy(t.shapes, s.shapes, sizeof(t.shapes));\n"
	"\t\tstd::memcpy(t.strides, s.strides, sizeof(t.strides));\n"
	"\t\trow[s.slot] = (int64_t)upload(&t, sizeof(t));\n"
	"\t}\n"
	"\trow[LOCAL_CONTEXT] = (int64_t)upload(&local, sizeof(local));\n"
	"\trow[GLOBAL_CONTEXT] = (int64_t)upload(&global, sizeof(global));\n"
	"}\n\n"
	"static void *upload_rows(uint32_t lanes, const std::vector<void *> &buffers)\n"
	"{\n"
	"\tconst uint32_t blocks = sizeof(BLOCKS) / sizeof(*BLOCKS);\n"
	"\tstd::vector<int64_t> rows((size_t)blocks * lanes * SLOTS_A_ROW, 0);\n\n"
	"\tfor (uint32_t b = 0; b < blocks; b++)\n"
	"\t\tfor (uint32_t lane = 0; lane < lanes; lane++)\n"
	"\t\t\tfill_row(&rows[((size_t)b * lanes + lane) * SLOTS_A_ROW], b, (int32_t)lane, buffers);\n"
	"\treturn upload(rows.data(), rows.size() * sizeof(rows[0]));\n"
	"}\n\n"
	"int main()\n"
	"{\n"
	"\tconst char *stated = std::getenv(\"ACL_DEVICE_ID\");\n"
	"\tint32_t device = stated ? std::atoi(stated) : 0;\n"
	"\taclrtStream stream = nullptr;\n"
	"\tstd::vector<void *> buffers;\n\n"
	"\tcheck(aclInit(nullptr), \"aclInit\");\n"
	"\tcheck(aclrtSetDevice(device), \"aclrtSetDevice\");\n"
	"\tcheck(aclrtCreateStream(&stream), \"aclrtCreateStream\");\n"
	"\tfor (const Buffer &b : BUFFERS)\n"
	"\t\tbuffers.push_back(upload_buffer(b));\n"
	"\tlaunch_replay(sizeof(BLOCKS) / sizeof(*BLOCKS), stream, upload_rows(1, buffers),\n"
	"\t\tupload_rows(VECTOR_LANES, buffers));\n"
	"\tcheck(aclrtSynchronizeStream(stream), \"aclrtSynchronizeStream\");\n"
	"\tfor (void *p : uploaded)\n"
	"\t\tcheck(aclrtFree(p), \"aclrtFree\");\n"
	"\tcheck(aclrtDestroyStream(stream), \"aclrtDestroyStream\");\n"
	"\tcheck(aclrtResetDevice(device), \"aclrtResetDevice\");\n"
	"\tcheck(aclFinalize(), \"aclFinalize\");\n"
	"\treturn 0;\n"
	"}\n";

static void put_dims(struct strbuf *out, const uint64_t *v, uint32_t n)
{
	sb_puts(out, "{");
	for (uint32_t i = 0; i < ARG_DESCRIPTOR_DIMS; i++)
		sb_printf(out, "%s%llu", i ? ", " : "", i < n ? (unsigned long long)v[i] : 0);
	sb_puts(out, "}");
}

static void put_slot(
	struct strbuf *out, uint32_t block, uint32_t slot, const struct arg *s, uint64_t bits)
{
	sb_printf(out, "\t{%u, %u, %s, 0x%016llxull, %u, %llu, %llu, %u, %u, %u, ", block, slot,
		s->is_tensor ? "true" : "false", (unsigned long long)bits, s->buffer,
		(unsigned long long)s->start_offset, (unsigned long long)s->extent, s->dtype,
		s->is_contiguous, s->n_dims);
	put_dims(out, s->shape, s->n_dims);
	sb_puts(out, ", ");
	put_dims(out, s->strides, s->n_dims);
	sb_puts(out, "},");
	if (s->is_tensor)
		sb_printf(out, " // %s", dtype_name(s->dtype));
	sb_putc(out, '\n');
}

static void put_tables(const struct args *a, struct strbuf *out)
{
	sb_puts(out, "static const Buffer BUFFERS[] = {\n");
	EACH (const struct arg_buffer, b, a->buffers.v, a->buffers.n) {
		sb_printf(out, "\t{%s%s%s, %llu},\n", b->file ? "\"" : "",
			b->file ? b->file : "nullptr", b->file ? "\"" : "",
			(unsigned long long)b->n);
	}
	if (!a->buffers.n)
		sb_puts(out, "\t{nullptr, 0},\n");
	sb_puts(out, "};\nstatic const Block BLOCKS[] = {\n");
	for (uint32_t b = 0; b < a->rows.n; b++)
		sb_printf(out, "\t{%u, %u},\n", a->first_block + b, a->block_count);
	sb_puts(out, "};\nstatic const Slot SLOTS[] = {\n");
	for (uint32_t b = 0; b < a->rows.n; b++)
		for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++)
			if (a->slots[i].is_used)
				put_slot(out, b, i, &a->slots[i], args_bits(a, b, i));
	/* C++ has no empty arrays: add a slot that no block uses */
	put_slot(out, UINT32_MAX, 0, &(struct arg){0}, 0);
	sb_puts(out, "};\n");
}

static bool msprof_host_text(
	const struct replay_job *job, struct strbuf *out, struct incore_error *e)
{
	for (size_t i = 0; i < job->args->buffers.n; i++) {
		const char *file = job->args->buffers.v[i].file;

		if (file && !msprof_check_path(file, e))
			return false;
	}
	sb_puts(out, HEAD);
	sb_printf(out, "static const uint32_t VECTOR_LANES = %u;\n", msprof_lanes(job));
	put_tables(job->args, out);
	sb_puts(out, BODY);
	return !out->failed || err_nomem(e);
}

/* --- the other files -------------------------------------------------------------------------- */

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

static const char *msprof_soc(
	const struct replay_job *job, const struct msprof_options *o, const struct cann *c);

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
		job->means->has_debug_lines ? "ON" : "OFF");
	if (o->device != NO_COUNT)
		sb_printf(&b, "export ACL_DEVICE_ID=%u\n", (unsigned)o->device);
	sb_puts(&b, BUILD_STEPS);
	sb_printf(&b,
		"msprof op simulator --application=./build/%s --kernel-name=%s --launch-count=%u \\\n"
		"\t\"--soc-version=$soc\" --timeout=%u \"--output=$again/collect\"\n",
		MSPROF_HOST, MSPROF_SYMBOL, (unsigned)o->launch_count,
		(unsigned)o->timeout_minutes);
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

static void project_put_member(struct json_writer *w, const struct replay_member *m)
{
	json_w_kv_i64(w, "func_id", m->func);
	json_w_kv_cstr(w, "core_type", kernel_core_name(m->core));
	json_w_kv_cstr(w, "source", m->source);
}

/* The first member is also at top level, where a reader of a single kernel expects it. */
static void put_members(struct json_writer *w, const struct replay_job *job)
{
	project_put_member(w, &job->members[0]);
	json_w_kv_array(w, "members");
	for (uint32_t i = 0; i < job->n_members; i++) {
		json_w_row_object(w);
		project_put_member(w, &job->members[i]);
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
	json_w_kv_cstr(&w, "test_module", job->module);
	json_w_kv_cstr(&w, "case", job->case_name);
	json_w_kv_object(&w, "kernel");
	json_w_kv_cstr(&w, "name", job->asked ? job->asked : job->label);
	json_w_kv_cstr(&w, "shape", kernel_class_name(job->kernel_class));
	put_members(&w, job);
	json_w_end(&w);
	json_w_kv_object(&w, "replay");
	json_w_kv_u64(&w, "hw_block_num", job->args->rows.n);
	json_w_kv_cstr(&w, "platform", op_arch_name(job->target));
	json_w_kv_cstr(&w, "soc_version", msprof_soc(job, o, c));
	json_w_kv_u64(&w, "timeout", o->timeout_minutes);
	json_w_kv_u64(&w, "launch_count", o->launch_count);
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

static const char *msprof_soc(
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

	for (size_t i = 0; ok && i < job->means->include_dirs.n; i++)
		ok = add_dir(out, job->means->include_dirs.v[i], e);
	if (!ok || !root)
		return ok;
	headers = path_join(root, "include");
	ok = headers ? add_dir(out, headers, e) : err_nomem(e);
	mem_free(headers);
	return ok;
}

#define MOST_DEVICE 63

static bool check_word(const char *option, const char *value, struct incore_error *e)
{
	return !value || cann_is_word(value) ||
	       err_set(e, INCORE_USAGE, "bad-option-value",
		       "--%s: expected letters, digits, '_', '.' and '-', found '%s'", option,
		       value);
}

bool msprof_check_options(const struct msprof_options *o, struct incore_error *e)
{
	if (o->timeout_minutes < 1 || o->timeout_minutes > MSPROF_MAX_MINUTES)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--msprof-timeout takes 1 to %d minutes, not %llu", MSPROF_MAX_MINUTES,
			(unsigned long long)o->timeout_minutes);
	if (o->launch_count < 1 || o->launch_count > MSPROF_MAX_LAUNCHES)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--launch-count takes 1 to %d, not %llu", MSPROF_MAX_LAUNCHES,
			(unsigned long long)o->launch_count);
	if (o->device != NO_COUNT && o->device > MOST_DEVICE)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--device takes 0 to %d, not %llu", MOST_DEVICE,
			(unsigned long long)o->device);
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
