/* SPDX-License-Identifier: Apache-2.0 */
/* record.c: from a kernel's source to its op streams. Parts: the run; the recording. */
#include "model/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "args/value.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "model/record/record_internal.h"

/* --- the run ---------------------------------------------------------------------------------- */

/*
 * Runs a compiled recorder in a child with limits: its job goes in, and its streams or its error
 * come out, through unnamed files.
 */

#define RUN_LIMIT_S 60
#define RUN_MEMORY (UINT64_C(4) << 30)
#define RUN_FILE_BYTES (UINT64_C(8) << 30)
#define MAX_OPS 20000000
#define MAX_CHATTER (1u << 16) /* maximum output of a kernel; it is not read */

/* The descriptors 3 to 6 of the driver; the runner finds the kernel at 7. */
enum { IN_JOB, IN_PAYLOAD, OUT_STREAM, OUT_REPORT, N_FILES, KERNEL_FD = 3 + N_FILES };

struct run {
	const struct record_unit *unit;
	FILE *file[N_FILES];
	uint64_t memory_bytes;
	char *libraries; /* "LD_LIBRARY_PATH=...", or NULL */
	bool is_unsafe;
};

static bool record_hints(struct opstream *s, const struct record_unit *u, struct incore_error *e);

/* In the child; async-signal-safe. The runner builds the walls: it needs its own libraries first. */
static bool record_start(void *ctx, int fd)
{
	const struct run *run = ctx;
	/* of the environment only where the C++ library is found */
	char *env[] = {run->libraries, NULL};
	const char *argv[] = {
		run->unit->runner, run->unit->program, run->is_unsafe ? "unsafe" : NULL, NULL};
	int high[N_FILES], kernel = open(run->unit->program, O_RDONLY);

	for (int i = 0; i < N_FILES; i++) {
		high[i] = fcntl(fileno(run->file[i]), F_DUPFD, 20);
		if (high[i] < 0)
			return false;
	}
	kernel = fcntl(kernel, F_DUPFD, 20);
	if (kernel < 0)
		return false;
	dup2(fd, 1);
	dup2(fd, 2);
	for (int i = 0; i < N_FILES; i++) {
		dup2(high[i], 3 + i);
		lseek(3 + i, 0, SEEK_SET);
	}
	dup2(kernel, KERNEL_FD);
	close_range(KERNEL_FD + 1, ~0u, 0);
	walls_limit(RLIMIT_AS, run->memory_bytes);
	walls_limit(RLIMIT_FSIZE, RUN_FILE_BYTES);
	walls_limit(RLIMIT_NOFILE, 16);
	if (!run->is_unsafe)
		walls_limit(RLIMIT_NPROC, 0);
	execve(run->unit->runner, (char *const *)argv, env);
	return false;
}

/* --- the job --- */

/* The recorder's code for an element type. */
static unsigned op_dtype_of(unsigned dtype)
{
	static const uint8_t CODES[DTYPE_SPEC_COUNT] = {/* in the order of enum dump_dtype */
		DT_F32, DT_F16, DT_I32, DT_I16, DT_I8, DT_U8, DT_BF16, DT_I64, DT_U64, DT_U16,
		DT_U32, DT_BOOL, DT_F8E4M3, DT_F8E8M0, DT_F4E2M1, DT_NONE, DT_F64, DT_F8E5M2,
		DT_HIF8, DT_F4E1M2};

	return dtype < DTYPE_SPEC_COUNT ? CODES[dtype] : DT_NONE;
}

static bool write_failed(struct incore_error *e)
{
	return err_errno(e, errno ? errno : EIO, NULL, "cannot write a temporary file");
}

static bool put_payload_file(const struct arg_content *c, uint32_t slot, uint64_t bytes,
	FILE *payload, struct incore_error *e)
{
	struct file_data f = {0};
	bool ok = true;

	if (!file_load(&f, c->path, e))
		return err_wrap(e, "data of slot %u", slot);
	if (c->off > f.size || bytes > f.size - c->off)
		ok = err_file(e, "truncated", c->path, c->off,
			"slot %u needs %llu bytes here, the file has %zu in all", slot,
			(unsigned long long)bytes, f.size);
	else if (bytes && fwrite(f.data + c->off, 1, bytes, payload) != bytes)
		ok = write_failed(e);
	file_unload(&f);
	return ok;
}

/* Copies a slot's bytes to the payload file. */
static bool put_payload(const struct arg_content *c, uint32_t slot, uint64_t bytes, uint64_t room,
	FILE *payload, struct incore_error *e)
{
	if (bytes > room)
		return err_set(e, INCORE_BAD_INPUT, "bad-payload",
			"slot %u: %llu bytes of data for a buffer of %llu", slot,
			(unsigned long long)bytes, (unsigned long long)room);
	if (c->path)
		return put_payload_file(c, slot, bytes, payload, e);
	return !bytes || fwrite(c->p, 1, bytes, payload) == bytes || write_failed(e);
}

/* Refuses what the driver could not map, or has no code for. */
static bool check_tensor(const struct arg *s, const struct arg_buffer *b, struct incore_error *e)
{
	uint64_t extent;

	if (op_dtype_of(s->dtype) == DT_NONE)
		return err_set(e, INCORE_BAD_INPUT, "bad-dtype", "slot %u: its dtype is not known",
			s->slot);
	if (!arg_extent_bytes(s, &extent))
		return err_set(e, INCORE_BAD_INPUT, "out-of-range",
			"slot %u: its extent is too large", s->slot);
	return b->n <= ARG_MAX_BYTES || err_set(e, INCORE_BAD_INPUT, "out-of-range",
						"slot %u: its buffer is too large", s->slot);
}

static unsigned tensor_flags(
	const struct arg *s, const struct arg_buffer *b, const struct arg_content *c)
{
	unsigned flags = SLOT_TENSOR;

	if (c->is_filled)
		flags |= SLOT_PAYLOAD;
	if (s->is_written)
		flags |= SLOT_OUTPUT;
	if (b->is_size_known)
		flags |= SLOT_SIZE_KNOWN;
	return flags;
}

static bool record_put_tensor(
	struct run *run, const struct args *a, const struct arg *s, struct incore_error *e)
{
	const struct arg_buffer *b = &a->buffers.v[s->buffer];
	struct arg_content c = args_content(a, s);
	FILE *job = run->file[IN_JOB];
	uint64_t off = 0, bytes = 0;

	if (!check_tensor(s, b, e))
		return false;
	if (c.path || c.p) {
		off = (uint64_t)ftello(run->file[IN_PAYLOAD]);
		bytes = c.n_bytes ? c.n_bytes : b->n;
		if (!put_payload(&c, s->slot, bytes, b->n, run->file[IN_PAYLOAD], e))
			return false;
	}
	fprintf(job, "slot %u tensor %u %u %llu %llu %d %llu %.17g %llu %llu %u", s->slot,
		op_dtype_of(s->dtype), tensor_flags(s, b, &c), (unsigned long long)b->n,
		(unsigned long long)s->start_offset, (int)c.fill, (unsigned long long)c.seed,
		c.value, (unsigned long long)off, (unsigned long long)bytes, s->n_dims);
	for (int i = 0; i < ARG_DESCRIPTOR_DIMS; i++)
		fprintf(job, " %llu", (unsigned long long)s->shape[i]);
	for (int i = 0; i < ARG_DESCRIPTOR_DIMS; i++)
		fprintf(job, " %llu", (unsigned long long)s->strides[i]);
	fprintf(job, " %s\n", s->name);
	return true;
}

static bool record_put_slots(
	struct run *run, const struct record_options *o, struct incore_error *e)
{
	const struct args *a = o->args;
	FILE *job = run->file[IN_JOB];

	for (uint32_t i = 0; a && i < ARG_CONTEXT_SLOT; i++) {
		const struct arg *s = &a->slots[i];
		unsigned dtype = o->has_raw_scalars ? DT_U64 : op_dtype_of(s->dtype);

		if (!s->is_used)
			continue;
		if (!s->is_tensor)
			fprintf(job, "slot %u scalar %u %llu %s\n", i, dtype,
				(unsigned long long)args_bits(
					a, o->first_block - a->first_block, i),
				s->name);
		else if (!record_put_tensor(run, a, s, e))
			return false;
		if (s->is_tensor && args_owner(a, i) != i)
			fprintf(job, "share %u %u\n", i, args_owner(a, i));
	}
	return true;
}

static bool put_job(
	struct run *run, const struct record_options *o, unsigned mixed, struct incore_error *e)
{
	FILE *job = run->file[IN_JOB];
	uint32_t blocks = o->blocks ? o->blocks : 1;

	fprintf(job,
		"arch %d\ncore %d\norigin %d\nmax_ops %llu\nseconds %u\nkernel %s\nsha256 %s\n",
		(int)o->arch, (int)run->unit->core,
		o->args && o->args->is_recorded ? ARGS_DUMP : ARGS_SYNTHETIC,
		(unsigned long long)(o->max_ops ? o->max_ops : MAX_OPS),
		o->run_limit_s ? o->run_limit_s : RUN_LIMIT_S, path_base(run->unit->source),
		run->unit->sha256);
	if (!record_put_slots(run, o, e))
		return false;
	for (uint32_t b = 0; b < blocks; b++)
		for (unsigned lane = 0; lane < run->unit->n_lanes; lane++)
			fprintf(job, "run %u %u %u %u\n", o->first_block + b,
				o->block_num ? o->block_num : o->first_block + blocks,
				run->unit->first_lane + lane, mixed);
	if (fflush(job) != 0 || fflush(run->file[IN_PAYLOAD]) != 0)
		return write_failed(e);
	return true;
}

/* --- the result --- */

/* Reads an unnamed file; *p is on the heap, followed by FILE_PAD zero bytes. */
static bool read_back(FILE *f, uint8_t **p, size_t *n, struct incore_error *e)
{
	off_t size;

	if (fseeko(f, 0, SEEK_END) != 0 || (size = ftello(f)) < 0)
		return err_set(e, INCORE_FAILED, "read-failed", "cannot read a temporary file");
	*p = mem_alloc((size_t)size + FILE_PAD);
	if (!*p)
		return err_nomem(e);
	rewind(f);
	*n = fread(*p, 1, (size_t)size, f);
	memset(*p + *n, 0, FILE_PAD);
	return true;
}

/* Error codes must outlive the report: returns the constant string for the driver's code. */
static const char *known_code(struct str code)
{
	static const char *const CODES[] = {"out-of-bounds", "no-value", "missing-argument",
		"chip-address", "crash", "too-long", "too-many-ops", "too-many", "bad-shape",
		"bad-operand", "wrong-core", "no-memory", "truncated", "write-failed", "no-walls"};

	for (size_t i = 0; i < sizeof(CODES) / sizeof(CODES[0]); i++)
		if (str_is(code, CODES[i]))
			return CODES[i];
	return "crash";
}

static bool explain_end(
	struct run *run, enum child_end end, const struct record_options *o, struct incore_error *e)
{
	uint8_t *text = NULL;
	struct str rest, code = {0};
	size_t n = 0;

	if (!read_back(run->file[OUT_REPORT], &text, &n, e))
		return false;
	rest = (struct str){(const char *)text, n};
	if (n && str_cut(&rest, "\n", &code) && rest.n)
		err_set(e, str_is(code, "no-walls") ? INCORE_MISSING : INCORE_BAD_INPUT,
			known_code(code), "%.*s", STR_ARG(rest));
	else if (end == CHILD_TOO_LONG)
		err_set(e, INCORE_BAD_INPUT, "too-long",
			"the kernel did not end within %u s, or printed too much",
			o->run_limit_s ? o->run_limit_s : RUN_LIMIT_S);
	else if (end == CHILD_REFUSED)
		err_set(e, INCORE_FAILED, "no-process", "cannot start the compiled recorder %s",
			run->unit->program);
	else
		err_set(e, INCORE_BAD_INPUT, "crash", "the kernel ended its process");
	mem_free(text);
	return err_wrap(e, "kernel %s", run->unit->source);
}

static bool open_files(struct run *run, struct incore_error *e)
{
	for (int i = 0; i < N_FILES; i++) {
		run->file[i] = fault_hit(FAULT_OPEN) ? NULL : tmpfile();
		if (!run->file[i])
			return err_set(e, INCORE_FAILED, "no-file", "cannot make a temporary file");
	}
	return true;
}

static bool run_job(struct run *run, const struct record_options *o, struct opstream_set *out,
	struct incore_error *e)
{
	/* prefer the driver's own timeout: it can report where the kernel was */
	unsigned seconds = (o->run_limit_s ? o->run_limit_s : RUN_LIMIT_S) + 2;
	struct child_job j = {record_start, run, seconds, MAX_CHATTER, .is_apart = !o->is_unsafe};
	struct strbuf chatter = {0};
	enum child_end end;
	uint8_t *bytes = NULL;
	size_t n = 0;
	bool ok = child_run(&j, &chatter, &end, e);

	sb_free(&chatter);
	if (!ok)
		return err_wrap(e, "cannot run the kernel");
	if (end != CHILD_DONE)
		return explain_end(run, end, o, e);
	ok = read_back(run->file[OUT_STREAM], &bytes, &n, e) &&
	     opstream_read(out, bytes, n, run->unit->source, e);
	mem_free(bytes);
	return ok;
}

/* Runs the unit for every block and each of its lanes and adds the streams. mixed: 0, or the vector
 * lanes of a mixed kernel. */
static bool record_run_unit(const struct record_unit *u, const struct record_options *o,
	unsigned mixed, struct opstream_set *out, struct incore_error *e)
{
	struct run run = {.unit = u,
		.memory_bytes = o->memory_bytes ? o->memory_bytes : RUN_MEMORY,
		.is_unsafe = o->is_unsafe};
	const char *path = getenv("LD_LIBRARY_PATH");
	struct strbuf libraries = {0};
	size_t from = out->v.n;
	bool ok;

	if (path)
		sb_printf(&libraries, "LD_LIBRARY_PATH=%s", path);
	run.libraries = libraries.p;
	log_info("model", "running %s on %s, blocks %u to %u", u->source,
		u->core == CORE_AIC ? "AIC" : "AIV", o->first_block,
		o->first_block + (o->blocks ? o->blocks : 1) - 1);
	ok = open_files(&run, e) && put_job(&run, o, mixed, e) && run_job(&run, o, out, e);

	for (int i = 0; i < N_FILES; i++)
		if (run.file[i])
			fclose(run.file[i]);
	sb_free(&libraries);
	for (size_t i = from; ok && i < out->v.n; i++)
		ok = record_hints(&out->v.v[i], u, e);
	return ok;
}

/* --- the recording ---------------------------------------------------------------------------- */

static bool load_unit(
	struct record_unit *u, const char *source, enum opstream_core core, struct incore_error *e)
{
	struct sha256 s;

	*u = (struct record_unit){.source = source, .core = core, .n_lanes = 1};
	if (!file_load(&u->text, source, e))
		return err_wrap(e, "kernel source");
	sha256_init(&s);
	sha256_add(&s, u->text.data, u->text.size);
	sha256_hex(&s, u->sha256);
	return true;
}

static void free_unit(struct record_unit *u)
{
	file_unload(&u->text);
	*u = (struct record_unit){0};
}

/* --- name hints --- */

#define HINT "// pto: %"
#define HINT_REACH 8 /* lines searched above a tile op for its name; generated code needs seven */

/* The "%name" on a line, or empty. */
static struct str hint_of(struct str line)
{
	ptrdiff_t at = str_find(line, HINT);
	size_t n = 1;
	struct str s;

	if (at < 0)
		return (struct str){0};
	s = str_sub(line, (size_t)at + strlen(HINT) - 1, line.n);
	while (n < s.n && (unsigned char)s.p[n] > ' ')
		n++;
	return str_sub(s, 0, n);
}

static bool is_of(const struct opstream *s, const struct op_site *site, const char *source)
{
	return strcmp(opstream_str(s, site->file), source) == 0;
}

/* The nearest hint above a line, or empty. */
static struct str hint_above(const struct str *hints, size_t n, uint32_t line)
{
	for (uint32_t up = 0; up <= HINT_REACH && up < line; up++)
		if (line - up <= n && hints[line - up - 1].n)
			return hints[line - up - 1];
	return (struct str){0};
}

/* Only tile ops have names; flags and barriers are in between. */
static bool set_hints(struct opstream *s, const char *source, const struct str *hints, size_t n,
	struct incore_error *e)
{
	EACH (const struct op_exec, x, s->ops.v, s->ops.n) {
		struct op_site *site = &s->sites.v[x->site];
		unsigned kind = s->forms.v[x->form].kind;
		struct str hint;

		if ((kind != OPK_OP && kind != OPK_PUSH && kind != OPK_POP) || site->hint ||
			!is_of(s, site, source))
			continue;
		hint = hint_above(hints, n, site->line);
		if (hint.n && !opstream_add_str(s, hint, &site->hint, e))
			return false;
	}
	return true;
}

/* Joins "// pto: %name" of the source to the sites of a stream. */
static bool record_hints(struct opstream *s, const struct record_unit *u, struct incore_error *e)
{
	struct str text = {(const char *)u->text.data, u->text.size}, rest = text, line;
	VEC(struct str) hints = {0};
	bool ok = true;

	if (!str_has(text, HINT))
		return true;
	while (ok && str_cut(&rest, "\n", &line))
		ok = VEC_PUSH(&hints, hint_of(line)) || err_nomem(e);
	ok = ok && set_hints(s, u->source, hints.v, hints.n, e);
	VEC_FREE(&hints);
	return ok;
}

/* --- all of it --- */

/* The units that run on one block; a unit without a source is absent. */
struct units {
	struct record_unit aic, aiv[2];
};

/* Moves streams so that those of each block are adjacent: AIC, AIV0, AIV1. */
static bool unite_streams(struct opstream_set *out, struct opstream_set parts[3], size_t blocks,
	struct incore_error *e)
{
	size_t total = parts[0].v.n + parts[1].v.n + parts[2].v.n;

	if (!VEC_RESERVE(&out->v, out->v.n + total))
		return err_nomem(e);
	for (size_t b = 0; b < blocks; b++)
		for (unsigned p = 0; p < 3; p++) {
			size_t each = parts[p].v.n / blocks;

			for (size_t i = 0; i < each; i++)
				out->v.v[out->v.n++] = parts[p].v.v[b * each + i];
		}
	for (unsigned p = 0; p < 3; p++)
		parts[p].v.n = 0; /* moved */
	return true;
}

static bool record_run_units(struct units *u, const struct record_options *o,
	struct opstream_set *out, struct incore_error *e)
{
	struct record_unit *all[3] = {&u->aic, &u->aiv[0], &u->aiv[1]};
	unsigned lanes = (u->aiv[0].source ? u->aiv[0].n_lanes : 0) + (u->aiv[1].source != NULL);
	unsigned mixed = u->aic.source || lanes > 1 ? lanes : 0;
	struct opstream_set parts[3];
	bool ok = true;

	for (unsigned p = 0; p < 3; p++)
		opstream_set_init(&parts[p]);
	for (unsigned p = 0; ok && p < 3; p++)
		ok = !all[p]->source || record_run_unit(all[p], o, mixed, &parts[p], e);
	ok = ok && unite_streams(out, parts, o->blocks ? o->blocks : 1, e);
	for (unsigned p = 0; p < 3; p++)
		opstream_set_deinit(&parts[p]);
	return ok;
}

static bool record_units(const struct record_options *o, struct units *u, struct opstream_set *out,
	struct record_info *info, struct incore_error *e)
{
	struct record_unit *all[3] = {&u->aic, &u->aiv[0], &u->aiv[1]};
	struct record_tools t;
	uint64_t from_ns;
	bool ok = record_tools_find(&t, o, e);

	for (unsigned p = 0; p < 3; p++) {
		ok = ok && (!all[p]->source || record_compile(all[p], &t, o, e));
		info->compile_us += all[p]->compile_us;
	}
	from_ns = clock_ns();
	ok = ok && record_run_units(u, o, out, e);
	record_tools_free(&t);
	info->run_us = (clock_ns() - from_ns) / 1000;
	info->was_cached = info->compile_us == 0;
	return ok;
}

/* Loads the vector side: one source for its lanes, or one per lane. */
static bool load_lanes(struct units *u, const struct record_options *o, enum kernel_core cores,
	struct incore_error *e)
{
	const char *lane0 = cores == KERNEL_ON_MIX && o->kernel_aiv ? o->kernel_aiv : o->kernel;
	bool is_both = cores == KERNEL_ON_MIX || o->kernel_aiv1;

	if (cores == KERNEL_ON_AIC)
		return true;
	if (!load_unit(&u->aiv[0], lane0, CORE_AIV, e))
		return false;
	if (!o->kernel_aiv1) {
		unsigned lanes = o->lanes ? o->lanes : is_both ? 3 : 1;

		u->aiv[0].n_lanes = lanes == 3 ? 2 : 1;
		u->aiv[0].first_lane = lanes == 2;
		return true;
	}
	if (!load_unit(&u->aiv[1], o->kernel_aiv1, CORE_AIV, e))
		return false;
	u->aiv[1].first_lane = 1;
	return true;
}

bool record_is_possible(const struct record_options *o, struct incore_error *e)
{
	struct record_tools t;
	bool ok = record_tools_find(&t, o, e);

	record_tools_free(&t);
	return ok;
}

bool record_kernel(const struct record_options *o, struct opstream_set *out,
	struct record_info *info, struct incore_error *e)
{
	struct units u = {0};
	struct core_evidence evidence = {.said = o->cores, .path = o->kernel};
	struct core_answer answer;
	bool ok;

	*info = (struct record_info){0};
	if (!load_unit(&u.aic, o->kernel, CORE_AIC, e))
		return false;
	if (o->cores == KERNEL_ON_ANY && o->kernel_aiv)
		evidence.said = KERNEL_ON_MIX; /* separate sources for both sides */
	evidence.text = (struct str){(const char *)u.aic.text.data, u.aic.text.size};
	answer = cores_decide(&evidence);
	info->cores = answer.core;
	log_debug("model", "%s: %s (%s)", o->kernel, kernel_core_name(answer.core), answer.reason);
	if (answer.core == KERNEL_ON_AIV)
		free_unit(&u.aic);
	ok = load_lanes(&u, o, answer.core, e) && record_units(o, &u, out, info, e);
	free_unit(&u.aic);
	free_unit(&u.aiv[0]);
	free_unit(&u.aiv[1]);
	return ok;
}
