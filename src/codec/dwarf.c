/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf.c: addresses -> source lines, through libdw. The compiler writes no .debug_aranges for this
 * target, so all units are walked once and their line rows sorted by address; a scope lookup in the
 * unit that has the row gives the inlined calls.
 *
 * Everything above "the parent's side" runs in the child. Its answer, per address: a varint count
 * of frames, then per frame file, line, column; a file number not used before is followed by its
 * name.
 */
#include "codec/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#include "base/child.h"
#include "base/file.h"
#include "base/map.h"
#include "base/search.h"
#include "base/vec.h"
#include "codec/varint.h"

#define LIMIT_S 60
#define MAX_ANSWER_BYTES ((size_t)256 << 20)
#define MAX_CHAIN 64
#define FLUSH_BYTES 65536

struct line_row {
	uint64_t address;
	uint32_t unit;
	bool is_end; /* end of a sequence: no source from here */
	Dwarf_Line *line;
	size_t order;
};

struct lookup {
	struct str bytes;
	const uint64_t *addresses;
	uint32_t n_addresses;
	VEC(Dwarf_Die) units;
	VEC(struct line_row) rows;
	struct intern files;
	uint32_t n_told; /* number of files sent to the parent */
	struct strbuf out;
};

ORDER(compare_rows, struct line_row, UP(address) DOWN(is_end) UP(order))

static bool dwarf_add_unit(struct lookup *k, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n;

	if (!VEC_PUSH(&k->units, *unit))
		return false;
	if (dwarf_getsrclines(unit, &lines, &n) != 0)
		return true;
	for (size_t i = 0; i < n; i++) {
		struct line_row row = {.unit = (uint32_t)(k->units.n - 1), .order = k->rows.n};

		row.line = dwarf_onesrcline(lines, i);
		if (!row.line || dwarf_lineaddr(row.line, &row.address) != 0 ||
			dwarf_lineendsequence(row.line, &row.is_end) != 0)
			continue;
		if (!VEC_PUSH(&k->rows, row))
			return false;
	}
	return true;
}

static bool walk_units(struct lookup *k, Dwarf *dw)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, sub;
	uint8_t type;

	while (dwarf_get_units(dw, cu, &cu, NULL, &type, &die, &sub) == 0)
		if (type == DW_UT_compile && !dwarf_add_unit(k, &die))
			return false;
	SORT(k->rows.v, k->rows.n, compare_rows);
	return true;
}

static const struct line_row *dwarf_row_at(const struct lookup *k, uint64_t address)
{
	size_t lo = 0, hi = k->rows.n;

	BISECT(lo, hi, i, k->rows.v[i].address <= address);
	return lo && !k->rows.v[lo - 1].is_end ? &k->rows.v[lo - 1] : NULL;
}

/* The number of the file for the parent; its path is made absolute if the unit has its
 * directory. */
static uint32_t file_number(struct lookup *k, Dwarf_Die *unit, const char *path)
{
	Dwarf_Attribute attribute;
	const char *dir = path[0] == '/'
				  ? NULL
				  : dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	struct strbuf whole = {0};
	uint32_t number;

	if (dir && dir[0] == '/')
		sb_printf(&whole, "%s/%s", dir, path);
	else
		sb_puts(&whole, path);
	number = intern_add(&k->files, (struct str){whole.p, whole.n});
	sb_free(&whole);
	return number;
}

static void dwarf_put_frame(
	struct lookup *k, Dwarf_Die *unit, const char *path, const int position[2])
{
	uint32_t file = file_number(k, unit, path);

	bytes_put_varint(&k->out, file);
	if (file == k->n_told) {
		bytes_put_str(&k->out, k->files.strs[file]);
		k->n_told++;
	}
	bytes_put_varint(&k->out, (uint64_t)(position[0] > 0 ? position[0] : 0));
	bytes_put_varint(&k->out, (uint64_t)(position[1] > 0 ? position[1] : 0));
}

struct dwarf_call { /* call site of an inlined body */
	const char *file;
	int position[2];
};

static bool dwarf_read_call(Dwarf_Die *scope, Dwarf_Files *files, struct dwarf_call *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file = 0, line = 0, column = 0;

	if (dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &file) != 0 ||
		dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &line) != 0 ||
		line == 0 || line > INT32_MAX)
		return false;
	if (dwarf_formudata(dwarf_attr(scope, DW_AT_call_column, &attribute), &column) != 0 ||
		column > INT32_MAX)
		column = 0;
	out->file = files ? dwarf_filesrc(files, file, NULL, NULL) : NULL;
	out->position[0] = (int)line;
	out->position[1] = (int)column;
	return out->file != NULL;
}

static unsigned inline_calls(Dwarf_Die *unit, uint64_t address, struct dwarf_call *out)
{
	Dwarf_Die *scopes = NULL, *chain = NULL;
	Dwarf_Files *files = NULL;
	size_t n_files;
	unsigned n = 0;
	int n_scopes = dwarf_getscopes(unit, address, &scopes), n_chain = 0;

	/* plain scopes go from an inlined body to its abstract parent and lose the caller */
	if (n_scopes > 0)
		n_chain = dwarf_getscopes_die(&scopes[0], &chain);
	if (n_chain > 0 && dwarf_getsrcfiles(unit, &files, &n_files) != 0)
		files = NULL;
	for (int i = 0; i < n_chain && n < MAX_CHAIN; i++)
		if (dwarf_tag(&chain[i]) == DW_TAG_inlined_subroutine)
			n += dwarf_read_call(&chain[i], files, &out[n]);
	free(scopes);
	free(chain);
	return n;
}

static void put_chain(struct lookup *k, uint64_t address)
{
	const struct line_row *row = dwarf_row_at(k, address);
	Dwarf_Die *unit = row ? &k->units.v[row->unit] : NULL;
	const char *path = row ? dwarf_linesrc(row->line, NULL, NULL) : NULL;
	struct dwarf_call calls[MAX_CHAIN];
	int position[2] = {0, 0};
	unsigned n;

	if (!path || dwarf_lineno(row->line, &position[0]) != 0 || position[0] <= 0) {
		bytes_put_varint(&k->out, 0);
		return;
	}
	if (dwarf_linecol(row->line, &position[1]) != 0)
		position[1] = 0;
	n = inline_calls(unit, address, calls);
	bytes_put_varint(&k->out, n + 1);
	dwarf_put_frame(k, unit, path, position);
	for (unsigned i = 0; i < n; i++)
		dwarf_put_frame(k, unit, calls[i].file, calls[i].position);
}

static bool dwarf_work(void *ctx, int fd)
{
	struct lookup *k = ctx;
	Elf *elf;
	Dwarf *dw;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)(uintptr_t)k->bytes.p, k->bytes.n);
	dw = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	if (!dw || !walk_units(k, dw))
		return false;
	for (uint32_t i = 0; i < k->n_addresses; i++) {
		put_chain(k, k->addresses[i]);
		if (k->out.failed)
			return false;
		if (k->out.n >= FLUSH_BYTES) {
			if (!write_all(fd, k->out.p, k->out.n, NULL))
				return false;
			sb_reset(&k->out);
		}
	}
	return write_all(fd, k->out.p, k->out.n, NULL); /* the process ends: nothing is freed */
}

/* --- the parent's side --- */

bool dwarf_is_built(void)
{
	return true;
}

struct dwarf_answer {
	struct bytes_reader r;
	struct dwarf_lines *out;
	struct arena *arena;
	VEC(const char *) files;
	VEC(struct dwarf_frame) frames;
};

static bool dwarf_read_frame(struct dwarf_answer *w)
{
	struct dwarf_frame f = {.file = (uint32_t)bytes_varint(&w->r)};

	if (f.file == w->files.n) {
		struct str name = bytes_str(&w->r);
		const char *copy = w->r.is_failed ? "" : arena_strndup(w->arena, name.p, name.n);

		if (!copy || !VEC_PUSH(&w->files, copy))
			return false;
	}
	f.line = (uint32_t)bytes_varint(&w->r);
	f.column = (uint32_t)bytes_varint(&w->r);
	if (f.file >= w->files.n)
		w->r.is_failed = true;
	return w->r.is_failed || VEC_PUSH(&w->frames, f);
}

/* Reads all complete chains. */
static bool read_chains(struct dwarf_answer *w, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t n_frames = bytes_varint(&w->r);
		struct dwarf_chain c = {.first = (uint32_t)w->frames.n};

		for (uint64_t k = 0; k < n_frames && !w->r.is_failed; k++)
			if (!dwarf_read_frame(w))
				return false;
		if (w->r.is_failed)
			return true;
		c.n = (uint32_t)(w->frames.n - c.first);
		w->out->chains[i] = c;
	}
	return true;
}

static bool dwarf_keep(struct dwarf_answer *w)
{
	struct dwarf_lines *d = w->out;

	d->files = arena_zalloc(w->arena, w->files.n + 1, sizeof(*d->files));
	d->frames = arena_zalloc(w->arena, w->frames.n + 1, sizeof(*d->frames));
	if (!d->files || !d->frames)
		return false;
	for (size_t i = 0; i < w->files.n; i++)
		d->files[i] = w->files.v[i];
	if (w->frames.n)
		memcpy(d->frames, w->frames.v, w->frames.n * sizeof(*d->frames));
	d->n_files = (uint32_t)w->files.n;
	d->n_frames = (uint32_t)w->frames.n;
	return true;
}

static const char *problem_of(enum child_end end)
{
	switch (end) {
	case CHILD_REFUSED:
		return "the debug info cannot be read";
	case CHILD_CRASHED:
		return "the reader of debug info crashed";
	case CHILD_TOO_LONG:
		return "the debug info took too long to read";
	default:
		return NULL;
	}
}

bool dwarf_lookup(struct dwarf_lines *out, struct str bytes, const uint64_t *addresses, uint32_t n,
	struct arena *a, struct incore_error *e)
{
	struct lookup k = {.bytes = bytes, .addresses = addresses, .n_addresses = n};
	struct child_job job = {dwarf_work, &k, LIMIT_S, MAX_ANSWER_BYTES};
	struct dwarf_answer w = {.out = out, .arena = a};
	struct strbuf text = {0};
	enum child_end end = CHILD_DONE;
	bool ok;

	*out = (struct dwarf_lines){.n_chains = n};
	out->chains = arena_zalloc(a, (size_t)n + 1, sizeof(*out->chains));
	if (!out->chains)
		return err_nomem(e);
	intern_init(&k.files);
	ok = child_run(&job, &text, &end, e);
	out->problem = problem_of(end);
	if (text.n)
		w.r = (struct bytes_reader){
			(const uint8_t *)text.p, (const uint8_t *)text.p + text.n, false};
	if (ok && (!read_chains(&w, n) || !dwarf_keep(&w)))
		ok = err_nomem(e);
	VEC_FREE(&w.files);
	VEC_FREE(&w.frames);
	intern_deinit(&k.files);
	sb_free(&text);
	return ok;
}
