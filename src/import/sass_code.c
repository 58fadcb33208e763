/* SPDX-License-Identifier: Apache-2.0 */
/* sass_code.c: rows, source lines and sources of the functions that ran. */
#include "import/sass_code.h"
#include "base/search.h"
#include "import/other_sources.h"

#define MAX_FRAMES 64u /* in an inline chain */

/* --- binaries and functions --- */

bool sass_open_binary(struct sass_code *c, struct sass_binary *b, struct incore_error *e)
{
	struct incore_error why = {0};

	b->is_open = cubin_open(&b->cubin, b->bytes, c->path, c->scratch, &why);
	if (b->is_open)
		return cubin_lines_read(&b->cubin, &b->lines, c->scratch, e);
	if (err_is(&why, "no-memory")) {
		incore_error_clear(&why);
		return err_nomem(e);
	}
	if (!trace_note(c->t, NOTE_DAMAGED, "damaged-cubin", NULL,
		    (uint64_t)(b->bytes.p - c->file.p), 1,
		    "the code of a kernel cannot be read: %s", why.message ? why.message : ""))
		err_nomem(e);
	incore_error_clear(&why);
	return true;
}

ORDER(by_load, struct sass_function, UP(load) A_TO_Z(name))

void sass_find_code(struct sass_code *c)
{
	EACH (struct sass_function, f, c->functions.v, c->functions.n) {
		const struct sass_binary *b = &c->binaries.v[f->binary];

		f->section = b->is_open ? cubin_find_code(&b->cubin, f->name) : UINT32_MAX;
		if (f->section == UINT32_MAX)
			continue;
		f->code = b->cubin.elf.sections[f->section].data;
		f->size = b->cubin.elf.sections[f->section].size;
	}
	SORT(c->functions.v, c->functions.n, by_load);
}

uint32_t sass_function_at(const struct sass_code *c, uint64_t address)
{
	size_t lo = 0, hi = c->functions.n;

	BISECT(lo, hi, i, c->functions.v[i].load <= address);
	return lo && address - c->functions.v[lo - 1].load < c->functions.v[lo - 1].size
		       ? (uint32_t)lo - 1
		       : SASS_NO_FUNCTION;
}

/* --- rows --- */

static bool push_row(struct sass_code *c, struct code_row row)
{
	row.number = (int64_t)c->rows.n;
	return c->rows.n < UINT32_MAX - 1 && VEC_PUSH(&c->rows, row);
}

static bool add_label(struct sass_code *c, uint32_t f, const char *name, uint64_t offset)
{
	struct arena *a = &c->t->arena;
	struct code_row row = {.is_label = true, .code_object = f, .source = ""};

	row.address = c->functions.v[f].load + offset;
	row.text = arena_printf(a, "; %s", name);
	row.opcode = intern_add(&c->opcodes, STR(";"));
	if (!row.text || row.opcode == INTERN_NONE)
		return false;
	row.text_len = (uint32_t)strlen(row.text);
	return push_row(c, row);
}

/* Adds labels of functions that begin at an instruction inside a section; the section's own
 * function is its name. *next walks the symbols, which are sorted by place. */
static bool add_inner_labels(struct sass_code *c, uint32_t f, uint64_t offset, uint32_t *next)
{
	const struct sass_function *x = &c->functions.v[f];
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

static bool add_function(struct sass_code *c, uint32_t f)
{
	struct sass_function *x = &c->functions.v[f];
	uint32_t n = (uint32_t)(x->size / SASS_INST_BYTES), symbol = 0;

	x->row_of = arena_zalloc(c->scratch, (size_t)n + 1, sizeof(*x->row_of));
	if (!x->row_of || !add_label(c, f, x->name, 0))
		return false;
	x->n_inst = n;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t offset = (uint64_t)i * SASS_INST_BYTES;
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

/* All code is in the file: a larger listing cannot be right. */
static bool is_too_much(const struct sass_code *c)
{
	uint64_t bytes = 0;

	EACH (const struct sass_function, f, c->functions.v, c->functions.n)
		bytes += f->is_used ? f->size : 0;
	return bytes / 4 > c->file.n;
}

static bool add_functions(struct sass_code *c)
{
	for (int is_kernel = 1; is_kernel >= 0; is_kernel--)
		for (uint32_t i = 0; i < c->functions.n; i++) {
			const struct sass_function *f = &c->functions.v[i];

			if (f->is_used && f->code && f->is_kernel == is_kernel &&
				!add_function(c, i))
				return false;
		}
	return true;
}

code_idx sass_row_at(const struct sass_code *c, uint64_t address)
{
	uint32_t f = sass_function_at(c, address);
	const struct sass_function *x = f == SASS_NO_FUNCTION ? NULL : &c->functions.v[f];
	uint64_t i = x ? (address - x->load) / SASS_INST_BYTES : 0;

	return x && i < x->n_inst ? x->row_of[i] : NO_CODE;
}

/* --- sources --- */

static bool put_frames(struct sass_code *c, struct code_row *row, const struct cubin_lines *l,
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
			&c->t->arena, c->chains.strs[chain].p, c->chains.strs[chain].n);

		ok = copy && VEC_PUSH(&c->chain_texts, copy);
	}
	if (ok && n && chain != INTERN_NONE)
		row->source = c->chain_texts.v[chain];
	return ok && (!n || chain != INTERN_NONE);
}

static bool map_sources(struct sass_code *c)
{
	for (uint32_t i = 0; i < c->functions.n; i++) {
		const struct sass_function *f = &c->functions.v[i];
		const struct cubin_lines *l = &c->binaries.v[f->binary].lines;

		for (uint32_t k = 0; k < f->n_inst; k++) {
			const struct cubin_frame *frame =
				cubin_frame_at(l, f->section, (uint64_t)k * SASS_INST_BYTES);

			if (frame && !put_frames(c, &c->rows.v[f->row_of[k]], l, frame))
				return false;
		}
	}
	return true;
}

static bool note_lines(struct sass_code *c)
{
	EACH (const struct sass_binary, b, c->binaries.v, c->binaries.n) {
		if (b->lines.problem && !trace_note(c->t, NOTE_DAMAGED, "damaged-debug-info", NULL,
						(uint64_t)(b->bytes.p - c->file.p), 1,
						"%s: source lines are missing", b->lines.problem))
			return false;
	}
	return true;
}

/* --- into the trace --- */

static bool commit_sources(struct sass_code *c)
{
	struct trace *t = c->t;

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
			if (c->options->want & IMPORT_SOURCES &&
				!import_source_text(t, i, k->text.p, k->text.n))
				return false;
		}
	}
	return true;
}

static bool commit_rows(struct sass_code *c)
{
	struct trace *t = c->t;
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

void sass_code_deinit(struct sass_code *c)
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

void sass_code_init(struct sass_code *c)
{
	intern_init(&c->opcodes);
	intern_init(&c->paths);
	intern_init(&c->chains);
}

bool sass_list_code(struct sass_code *c, struct incore_error *e)
{
	if (is_too_much(c))
		return err_file(e, "damaged-code", c->path, INCORE_NO_OFFSET,
			"functions with more code than the file holds");
	if (!add_functions(c) || !map_sources(c) || !note_lines(c))
		return err_nomem(e);
	return sass_write_texts(c, e) && ((commit_rows(c) && commit_sources(c)) || err_nomem(e));
}
