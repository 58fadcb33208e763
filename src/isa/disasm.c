/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disasm.c: finds a disassembler that can write the instructions as text. Each source is tried in a
 * child process of its own. The child answers with its version, then one string per instruction (""
 * if refused), in batches; after a crash it is started again from where the answer ended, one
 * instruction at a time, to find the one that crashes it.
 */
#include "isa/disasm.h"

#include "base/child.h"
#include "base/file.h"
#include "codec/varint.h"

#define BATCH 256
#define LIMIT_S 60
#define MAX_CRASHES 16u
#define MAX_ANSWER_BYTES ((size_t)512 << 20)
#define MAX_TEXT 4096

struct job {
	struct disasm_inst *v;
	uint32_t n, from; /* instructions before `from` are done */
	uint32_t batch;
	const char *gpu, *path;
	const struct disasm_ops *ops;
	struct arena *arena;
	struct disasm_report *report;
};

/* Are the words safe to pass on? They must be known to our table and not of a form known to crash
 * LLVM 22. */
static bool is_accepted(enum amd_arch arch, const struct disasm_inst *i)
{
	struct amd_code_inst inst;
	unsigned top;

	if (!amd_code_decode(arch, i->bytes, i->len_bytes, &inst) ||
		inst.inst_class == AMD_CODE_UNKNOWN || inst.len_bytes != i->len_bytes)
		return false;
	top = i->bytes[3] >> 2;
	/* gfx9 MUBUF and MTBUF whose soffset byte means a literal, which they cannot have */
	return !(arch == AMD_ARCH_GFX9 && (top == 0x38 || top == 0x3a) && i->bytes[7] == 0xff);
}

static bool work(void *ctx, int fd)
{
	struct job *j = ctx;
	struct strbuf out = {0}, text = {0};
	void *d = j->ops->open(j->path, j->gpu, &text);
	uint32_t in_batch = 0;

	if (!d)
		return false;
	bytes_put_str(&out, (struct str){text.p, text.n});
	if (out.failed || !write_all(fd, out.p, out.n, NULL))
		return false;
	sb_reset(&out);
	for (uint32_t i = j->from; i < j->n; i++) {
		sb_reset(&text);
		if (!j->v[i].is_accepted || !j->ops->text(d, &j->v[i], &text) || text.n > MAX_TEXT)
			sb_reset(&text);
		bytes_put_str(&out, (struct str){text.p, text.n});
		if (++in_batch < j->batch && i + 1 < j->n)
			continue;
		if (out.failed || !write_all(fd, out.p, out.n, NULL))
			return false;
		sb_reset(&out);
		in_batch = 0;
	}
	return write_all(fd, out.p, out.n, NULL); /* the process ends: nothing is freed */
}

/* " s_nop 0 // comment" -> "s_nop 0" */
static struct str clean(struct str s)
{
	ptrdiff_t at = str_find(s, "//");

	if (at >= 0)
		s = str_sub(s, 0, (size_t)at);
	at = str_find(s, ";");
	if (at >= 0)
		s = str_sub(s, 0, (size_t)at);
	return str_trim(s);
}

/* Takes the complete answers; *is_open: the library could be loaded. */
static bool take_answer(struct job *j, const struct strbuf *b, bool *is_open)
{
	struct bytes_reader r = {(const uint8_t *)b->p, (const uint8_t *)b->p + b->n, false};
	struct str version = b->n ? bytes_str(&r) : (struct str){NULL, 0};

	*is_open = b->n && !r.is_failed;
	if (!*is_open)
		return true;
	if (!j->report->source)
		j->report->source = arena_strndup(j->arena, version.p, version.n);
	if (!j->report->source)
		return false;
	for (; j->from < j->n && r.p < r.end; j->from++) {
		struct disasm_inst *i = &j->v[j->from];
		struct str text = clean(bytes_str(&r));

		if (r.is_failed)
			break;
		if (text.n) {
			i->text = arena_strndup(j->arena, text.p, text.n);
			if (!i->text)
				return false;
			j->report->n_texts++;
		} else if (i->is_accepted) {
			j->report->n_refused++;
		} else {
			j->report->n_rejected++;
		}
	}
	return true;
}

static bool run_once(struct job *j, enum child_end *end, bool *is_open, struct incore_error *e)
{
	struct child_job c = {work, j, LIMIT_S, MAX_ANSWER_BYTES};
	struct strbuf answer = {0};
	bool ok = child_run(&c, &answer, end, e);

	if (ok && !take_answer(j, &answer, is_open))
		ok = err_nomem(e);
	sb_free(&answer);
	return ok;
}

/* Disassembles all instructions by one source. *is_open: it is available and answers. */
static bool run_source(struct job *j, bool *is_open, struct incore_error *e)
{
	enum child_end end = CHILD_DONE;

	j->batch = BATCH;
	if (!run_once(j, &end, is_open, e))
		return false;
	while (*is_open && end != CHILD_DONE && j->from < j->n) {
		uint32_t before = j->from;

		if (j->batch == 1 || end == CHILD_TOO_LONG) {
			j->report->n_crashes++;
			j->from++;
		}
		if (j->report->n_crashes >= MAX_CRASHES || end == CHILD_TOO_LONG) {
			j->report->gave_up = true;
			return true;
		}
		/* one by one up to the crash, then in batches again */
		j->batch = j->batch == 1 ? BATCH : 1;
		if (!run_once(j, &end, is_open, e))
			return false;
		*is_open = *is_open || j->from > before;
	}
	return true;
}

/* defined in packaging/static/no_loader.c, if that is linked */
extern const char incore_loads_nothing[] __attribute__((weak));

bool disasm_loads_libraries(void)
{
	return incore_loads_nothing == NULL;
}

bool disasm_texts(struct disasm_inst *v, uint32_t n, const char *gpu, const char *which,
	struct arena *a, struct disasm_report *report, struct incore_error *e)
{
	static const struct disasm_ops *const sources[] = {&disasm_comgr, &disasm_llvm};
	struct job j = {.v = v, .n = n, .gpu = gpu, .arena = a, .report = report};
	bool is_auto = !which || !*which || strcmp(which, "auto") == 0;
	bool is_path = which && strchr(which, '/');
	enum amd_arch arch = gpu ? amd_arch_of_gpu(gpu) : AMD_ARCH_UNKNOWN;

	*report = (struct disasm_report){0};
	if (!n || arch == AMD_ARCH_UNKNOWN || (which && strcmp(which, "none") == 0))
		return true;
	for (uint32_t i = 0; i < n; i++)
		v[i].is_accepted = is_accepted(arch, &v[i]);
	j.path = is_path ? which : NULL;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources) && !report->source; i++) {
		bool is_open = false;

		if (!is_auto && !is_path && strcmp(which, sources[i]->name) != 0)
			continue;
		j.ops = sources[i];
		if (!run_source(&j, &is_open, e))
			return false;
	}
	if (!report->source && ((is_auto && !disasm_loads_libraries()) || is_path ||
				       (which && strcmp(which, "objdump") == 0)))
		return disasm_program(v, n, gpu, j.path, a, report, e);
	return true;
}
