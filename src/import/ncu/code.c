/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.c: the code of a result and what the report says of its instructions. A metric by
 * instruction has an address for each value; functions say where they were loaded, and the binary
 * beside them has their bytes. Functions that were hit are listed whole, the kernel first.
 */
#include "import/ncu/code.h"
#include "base/map.h"
#include "base/search.h"
#include "import/other_sources.h"

#define NO_FUNCTION UINT32_MAX
#define MAX_FRAMES 64u /* of an inline chain */

/* --- binaries and functions --- */

/* { 1 name, 2 where it was loaded, 3 symbol } */
static bool read_function(struct code_build *c, uint32_t binary, struct str bytes)
{
	struct ncu_function f = {.binary = binary, .section = UINT32_MAX};
	struct pb_reader m = pb_of(bytes);
	struct pb_field x;

	while (ncu_next(c->b->report, &m, 3, &x)) {
		if (x.number == 1 && x.wire == PB_BYTES)
			f.name = arena_strndup(&c->b->t->arena, x.bytes.p, x.bytes.n);
		else if (x.number == 2 && x.wire == PB_VARINT)
			f.load = x.value;
	}
	if (m.is_failed || !f.name)
		return !m.is_failed;
	EACH (const struct ncu_function, k, c->functions.v, c->functions.n) {
		if (k->binary == binary && k->load == f.load && !strcmp(k->name, f.name))
			return true;
	}
	return VEC_PUSH(&c->functions, f);
}

static bool add_source_file(struct code_build *c, struct str bytes)
{
	struct source_copy s = {0};
	struct str path = {0};
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;

	while (ncu_next(c->b->report, &m, 2, &f)) {
		if (f.number == 1 && f.wire == PB_BYTES)
			path = f.bytes;
		else if (f.number == 2 && f.wire == PB_BYTES)
			s.text = f.bytes;
	}
	if (m.is_failed || !path.p)
		return true;
	s.path = arena_strndup(&c->b->scratch, path.p, path.n);
	s.path = s.path ? cubin_plain_path(&c->b->scratch, s.path) : NULL;
	return s.path && VEC_PUSH(&c->copies, s);
}

/* Messages of number 1 inside a message. */
static bool each_inside(struct code_build *c, uint32_t binary, struct str bytes, bool is_functions)
{
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;
	bool ok = true;

	while (ok && pb_next(&m, &f))
		if (f.number == 1 && f.wire == PB_BYTES)
			ok = is_functions ? read_function(c, binary, f.bytes)
					  : add_source_file(c, f.bytes);
	return ok;
}

static bool is_wanted(const struct code_build *c, uint64_t id)
{
	const struct ncu_result *x = c->b->result;

	for (size_t i = 0; i < x->sources.n; i++)
		if (x->sources.v[i] == id)
			return true;
	return x->sources.n == 0; /* graphs do not say which */
}

/* The binary of an id: a report tells it in pieces. */
static uint32_t binary_of(struct code_build *c, uint64_t id)
{
	for (uint32_t i = 0; i < c->binaries.n; i++)
		if (c->binaries.v[i].id == id)
			return i;
	return VEC_PUSH(&c->binaries, (struct ncu_binary){.id = id}) ? (uint32_t)c->binaries.n - 1
								     : NO_FUNCTION;
}

/* { 1 id, 4 binary, 8 source files, 9 functions } */
static bool read_source(struct code_build *c, struct str bytes, struct incore_error *e)
{
	struct pb_reader m = pb_of(bytes);
	struct str binary = {0};
	uint64_t id = 0;
	struct pb_field f;
	uint32_t at;

	while (ncu_next(c->b->report, &m, 9, &f)) {
		if (f.number == 1 && f.wire == PB_VARINT)
			id = f.value;
		else if (f.number == 4)
			binary = f.bytes;
	}
	if (m.is_failed)
		return ncu_damaged(c->b->report, m.p, "a source is damaged", e);
	if (!is_wanted(c, id))
		return true;
	at = binary_of(c, id);
	if (at == NO_FUNCTION)
		return err_nomem(e);
	if (binary.n)
		c->binaries.v[at].bytes = binary;
	for (m = pb_of(bytes); pb_next(&m, &f);)
		if ((f.number == 8 || f.number == 9) && f.wire == PB_BYTES &&
			!each_inside(c, at, f.bytes, f.number == 9))
			return err_nomem(e);
	return true;
}

static bool open_binary(struct code_build *c, struct ncu_binary *b, struct incore_error *e)
{
	struct incore_error why = {0};
	struct trace *t = c->b->t;

	if (!b->bytes.n)
		return trace_note(t, NOTE_MISSING, "no-cubin", NULL, INCORE_NO_OFFSET, 1,
			       "the report does not hold the code of a kernel: its instructions are "
			       "not shown (ncu keeps it unless --import-sass no)") ||
		       err_nomem(e);
	b->is_open = cubin_open(&b->cubin, b->bytes, c->b->report->path, &c->b->scratch, &why);
	if (b->is_open)
		return cubin_lines_read(&b->cubin, &b->lines, &c->b->scratch, e);
	if (err_is(&why, "no-memory")) {
		incore_error_clear(&why);
		return err_nomem(e);
	}
	if (!trace_note(t, NOTE_DAMAGED, "damaged-cubin", NULL,
		    (uint64_t)(b->bytes.p - c->b->report->bytes.p), 1,
		    "the code of a kernel cannot be read: %s", why.message ? why.message : ""))
		err_nomem(e);
	incore_error_clear(&why);
	return true;
}

struct first_pc {
	uint64_t address;
	bool is_found;
};

static bool take_first_pc(void *ctx, const struct ncu_value *id, const struct ncu_value *value)
{
	struct first_pc *p = ctx;

	(void)id;
	if (!p->is_found && value->kind == NCU_UINT)
		*p = (struct first_pc){value->uint, true};
	return true;
}

/* Before 2022 functions were not listed: a metric has the address of the kernel first. */
static bool find_old_kernel(struct code_build *c, struct incore_error *e)
{
	const struct ncu_result *x = c->b->result;
	const struct ncu_metric *k = ncu_find(x, "launch__function_pcs");
	struct ncu_function f = {.section = UINT32_MAX};
	struct first_pc pc = {0};

	if (c->functions.n || !c->binaries.n || !k || !x->mangled.n)
		return true;
	if (!ncu_instances(x, k, take_first_pc, &pc, e))
		return false;
	f.name = arena_strndup(&c->b->t->arena, x->mangled.p, x->mangled.n);
	f.load = pc.address;
	return !pc.is_found || (f.name && VEC_PUSH(&c->functions, f)) || err_nomem(e);
}

ORDER(by_load, struct ncu_function, UP(load) A_TO_Z(name))

static bool find_functions(struct code_build *c, struct incore_error *e)
{
	struct ncu_report *r = c->b->report;

	for (size_t i = 0; i < r->sources.n; i++)
		if (!read_source(c, r->sources.v[i], e))
			return false;
	if (!find_old_kernel(c, e))
		return false;
	for (size_t i = 0; i < c->binaries.n; i++)
		if (!open_binary(c, &c->binaries.v[i], e))
			return false;
	EACH (struct ncu_function, f, c->functions.v, c->functions.n) {
		const struct ncu_binary *b = &c->binaries.v[f->binary];

		f->section = b->is_open ? cubin_find_code(&b->cubin, f->name) : UINT32_MAX;
		if (f->section == UINT32_MAX)
			continue;
		f->code = b->cubin.elf.sections[f->section].data;
		f->size = b->cubin.elf.sections[f->section].size;
	}
	SORT(c->functions.v, c->functions.n, by_load);
	return true;
}

static uint32_t function_at(const struct code_build *c, uint64_t address)
{
	size_t lo = 0, hi = c->functions.n;

	BISECT(lo, hi, i, c->functions.v[i].load <= address);
	return lo && address - c->functions.v[lo - 1].load < c->functions.v[lo - 1].size
		       ? (uint32_t)lo - 1
		       : NO_FUNCTION;
}

/* --- which functions ran --- */

struct marking {
	struct code_build *c;
	uint64_t n_known, n_other;
};

static bool mark_function(void *ctx, const struct ncu_value *id, const struct ncu_value *value)
{
	struct marking *m = ctx;
	uint32_t f = id->kind == NCU_UINT ? function_at(m->c, id->uint) : NO_FUNCTION;

	(void)value;
	m->n_known += f != NO_FUNCTION;
	m->n_other += f == NO_FUNCTION;
	if (f != NO_FUNCTION)
		m->c->functions.v[f].is_used = true;
	return true;
}

/* Does it hold a figure per instruction? */
static bool is_instruction_metric(struct str name)
{
	static const char *const names[] = {"inst_executed", "thread_inst_executed",
		"thread_inst_executed_true", "smsp__pcsamp_", "smsp__sass_", "memory_",
		"derived__memory_", "branch_inst_executed"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_starts(name, names[i]))
			return true;
	return false;
}

/* A metric belongs to rows where its values stand at addresses of functions that are known; one of
 * a known name does also where none is. */
static bool mark_metrics(struct code_build *c, struct incore_error *e)
{
	struct ncu_result *x = c->b->result;
	bool has_samples = false;

	c->b->is_by_row = arena_zalloc(&c->b->scratch, x->metrics.n + 1, 1);
	if (!c->b->is_by_row)
		return err_nomem(e);
	for (size_t i = 0; i < x->metrics.n; i++) {
		const struct ncu_metric *k = &x->metrics.v[i];
		struct marking m = {.c = c};
		bool is_sampled = str_starts(k->name, "smsp__pcsamp_");

		if (!k->n_instances)
			continue;
		/* the sampler's metrics all list the same instructions */
		if (!(is_sampled && has_samples) && !ncu_instances(x, k, mark_function, &m, e))
			return false;
		has_samples |= is_sampled && m.n_known;
		c->b->is_by_row[i] =
			m.n_known || (is_instruction_metric(k->name) && c->functions.n);
	}
	EACH (struct ncu_function, f, c->functions.v, c->functions.n) {
		f->is_kernel = x->mangled.n && str_is(x->mangled, f->name);
		f->is_used |= f->is_kernel;
	}
	return true;
}

/* --- rows --- */

static bool push_row(struct code_build *c, struct code_row row)
{
	row.number = (int64_t)c->rows.n;
	return c->rows.n < UINT32_MAX - 1 && VEC_PUSH(&c->rows, row);
}

static bool add_label(struct code_build *c, uint32_t f, const char *name, uint64_t offset)
{
	struct arena *a = &c->b->t->arena;
	struct code_row row = {.is_label = true, .code_object = f, .source = ""};

	row.address = c->functions.v[f].load + offset;
	row.text = arena_printf(a, "; %s", name);
	row.opcode = intern_add(&c->opcodes, STR(";"));
	if (!row.text || row.opcode == INTERN_NONE)
		return false;
	row.text_len = (uint32_t)strlen(row.text);
	return push_row(c, row);
}

/* Functions inside a section that begin at an instruction; the section's own is its name. *next goes
 * through the symbols, which are in the order of their places. */
static bool add_inner_labels(struct code_build *c, uint32_t f, uint64_t offset, uint32_t *next)
{
	const struct ncu_function *x = &c->functions.v[f];
	const struct cubin *b = &c->binaries.v[x->binary].cubin;

	for (; *next < b->n_symbols && b->symbols[*next].section <= x->section; ++*next) {
		const struct cubin_symbol *y = &b->symbols[*next];

		if (y->section == x->section && y->offset > offset)
			break;
		if (y->section == x->section && y->offset == offset && offset &&
			!add_label(c, f, y->name, offset))
			return false;
	}
	return true;
}

static bool add_function(struct code_build *c, uint32_t f)
{
	struct ncu_function *x = &c->functions.v[f];
	uint32_t n = (uint32_t)(x->size / NCU_INST_BYTES), symbol = 0;

	x->row_of = arena_zalloc(&c->b->scratch, (size_t)n + 1, sizeof(*x->row_of));
	if (!x->row_of || !add_label(c, f, x->name, 0))
		return false;
	x->n_inst = n;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t offset = (uint64_t)i * NCU_INST_BYTES;
		struct code_row row = {
			.address = x->load + offset, .code_object = f, .text = "", .source = ""};

		if (!add_inner_labels(c, f, offset, &symbol))
			return false;
		x->row_of[i] = (code_idx)c->rows.n;
		if (!push_row(c, row))
			return false;
	}
	return true;
}

/* The code of each is in the file: more than that is no listing of what ran. */
static bool is_too_much(const struct code_build *c)
{
	uint64_t bytes = 0;

	EACH (const struct ncu_function, f, c->functions.v, c->functions.n)
		bytes += f->is_used ? f->size : 0;
	return bytes / 4 > c->b->report->bytes.n;
}

static bool add_functions(struct code_build *c)
{
	for (int is_kernel = 1; is_kernel >= 0; is_kernel--)
		for (uint32_t i = 0; i < c->functions.n; i++) {
			const struct ncu_function *f = &c->functions.v[i];

			if (f->is_used && f->code && f->is_kernel == is_kernel &&
				!add_function(c, i))
				return false;
		}
	return true;
}

code_idx ncu_row_at(const struct code_build *c, uint64_t address)
{
	uint32_t f = function_at(c, address);
	const struct ncu_function *x = f == NO_FUNCTION ? NULL : &c->functions.v[f];
	uint64_t i = x ? (address - x->load) / NCU_INST_BYTES : 0;

	return x && i < x->n_inst ? x->row_of[i] : NO_CODE;
}

/* --- sources --- */

static bool put_frames(struct code_build *c, struct code_row *row, const struct cubin_lines *l,
	const struct cubin_frame *f)
{
	struct strbuf text = {0};
	uint32_t n = 0, chain;
	bool ok = true;

	row->first_frame = (uint32_t)c->frames.n;
	for (; ok && f && n < MAX_FRAMES; n++) {
		uint32_t path = intern_add(&c->paths, str_of(l->files[f->file]));

		ok = path != INTERN_NONE && VEC_PUSH(&c->frames, (struct frame){path, f->line}) &&
		     sb_printf(&text, "%s%s:%u", n ? " -> " : "", l->files[f->file], f->line);
		f = f->outer ? &l->frames[f->outer - 1] : NULL;
	}
	row->n_frames = (uint16_t)n;
	chain = ok && n ? intern_add(&c->chains, (struct str){text.p, text.n}) : INTERN_NONE;
	sb_free(&text);
	if (ok && n && chain == c->chain_texts.n) {
		const char *copy = arena_strndup(
			&c->b->t->arena, c->chains.strs[chain].p, c->chains.strs[chain].n);

		ok = copy && VEC_PUSH(&c->chain_texts, copy);
	}
	if (ok && n && chain != INTERN_NONE)
		row->source = c->chain_texts.v[chain];
	return ok && (!n || chain != INTERN_NONE);
}

static bool map_sources(struct code_build *c)
{
	for (uint32_t i = 0; i < c->functions.n; i++) {
		const struct ncu_function *f = &c->functions.v[i];
		const struct cubin_lines *l = &c->binaries.v[f->binary].lines;

		for (uint32_t k = 0; k < f->n_inst; k++) {
			const struct cubin_frame *frame =
				cubin_frame_at(l, f->section, (uint64_t)k * NCU_INST_BYTES);

			if (frame && !put_frames(c, &c->rows.v[f->row_of[k]], l, frame))
				return false;
		}
	}
	return true;
}

static bool note_lines(struct code_build *c)
{
	EACH (const struct ncu_binary, b, c->binaries.v, c->binaries.n) {
		if (b->lines.problem &&
			!trace_note(c->b->t, NOTE_DAMAGED, "damaged-debug-info", NULL,
				(uint64_t)(b->bytes.p - c->b->report->bytes.p), 1,
				"%s: source lines are missing", b->lines.problem))
			return false;
	}
	return true;
}

/* --- into the trace --- */

static bool commit_sources(struct code_build *c)
{
	struct trace *t = c->b->t;

	t->sources = arena_zalloc(&t->arena, (size_t)c->paths.n + 1, sizeof(*t->sources));
	if (!t->sources)
		return false;
	t->n_sources = c->paths.n;
	for (uint32_t i = 0; i < c->paths.n; i++) {
		struct source_file *s = &t->sources[i];

		s->path = arena_strndup(&t->arena, c->paths.strs[i].p, c->paths.strs[i].n);
		if (!s->path)
			return false;
		EACH (const struct source_copy, k, c->copies.v, c->copies.n) {
			if (s->snapshot || !k->text.n || strcmp(k->path, s->path) != 0)
				continue;
			s->snapshot = s->path;
			if (c->b->options->want & IMPORT_SOURCES &&
				!import_source_text(t, i, k->text.p, k->text.n))
				return false;
		}
	}
	return true;
}

static bool commit_rows(struct code_build *c)
{
	struct trace *t = c->b->t;
	struct arena *a = &t->arena;

	t->code = arena_memdup(a, c->rows.v, c->rows.n * sizeof(*t->code));
	t->frames = arena_memdup(a, c->frames.v, c->frames.n * sizeof(*t->frames));
	t->opcodes = arena_zalloc(a, (size_t)c->opcodes.n + 1, sizeof(*t->opcodes));
	if ((c->rows.n && !t->code) || (c->frames.n && !t->frames) || !t->opcodes)
		return false;
	for (uint32_t i = 0; i < c->opcodes.n; i++)
		if (!(t->opcodes[i] = arena_strndup(a, c->opcodes.strs[i].p, c->opcodes.strs[i].n)))
			return false;
	t->n_code = (uint32_t)c->rows.n;
	t->n_frames = (uint32_t)c->frames.n;
	t->n_opcodes = c->opcodes.n;
	return true;
}

static void code_build_deinit(struct code_build *c)
{
	intern_deinit(&c->opcodes);
	intern_deinit(&c->paths);
	intern_deinit(&c->chains);
	VEC_FREE(&c->binaries);
	VEC_FREE(&c->functions);
	VEC_FREE(&c->copies);
	VEC_FREE(&c->rows);
	VEC_FREE(&c->frames);
	VEC_FREE(&c->chain_texts);
}

bool ncu_build_code(struct ncu_build *b, struct incore_error *e)
{
	struct code_build c = {.b = b};
	bool ok;

	intern_init(&c.opcodes);
	intern_init(&c.paths);
	intern_init(&c.chains);
	ok = find_functions(&c, e) && mark_metrics(&c, e);
	if (ok && is_too_much(&c))
		ok = ncu_damaged(
			b->report, b->report->bytes.p, "functions with more code than it holds", e);
	if (ok && (!add_functions(&c) || !map_sources(&c) || !note_lines(&c)))
		ok = err_nomem(e);
	ok = ok && ncu_write_texts(&c, e);
	if (ok && (!commit_rows(&c) || !commit_sources(&c)))
		ok = err_nomem(e);
	ok = ok && ncu_read_figures(&c, e) && ncu_link_code(&c, e);
	code_build_deinit(&c);
	return ok;
}
