/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c: makes the tables of the trace from the records of all shader engines: clocks, tracks,
 * occupancy with kernels by entry address, counters, markers, issue on other SIMDs.
 *
 * Parts: counters; rows of code; tables.
 */
#include "base/hash.h"
#include "base/map.h"
#include "base/search.h"
#include "codec/dwarf.h"
#include "import/capture_cache.h"
#include "import/other_sources.h"
#include "import/snapshots.h"
#include "import/sqtt/sqtt.h"
#include "isa/amd.h"
#include "isa/amd_text.h"
#include "isa/amd_words.h"
#include "isa/disasm.h"
#include "trace/align.h"

/* --- counters --------------------------------------------------------------------------------- */

/*
 * Streamed counters of gfx9 -> one series per shader engine, CU and counter. The stream has no
 * names of counters; they are named by number.
 */

#define BANKS 4u
#define PER_BANK 4u
#define CUS 256u
#define KINDS ((size_t)CUS * BANKS * PER_BANK)

struct sqtt_series_build {
	struct trace *trace;
	const char *names[BANKS * PER_BANK];
	uint32_t *count; /* first the samples by kind, then indices of series */
	VEC(struct counter_series) out;
};

static uint32_t sqtt_tables_kind_of(const struct sqtt_perf *p, unsigned k)
{
	return ((uint32_t)p->cu * BANKS + p->bank % BANKS) * PER_BANK + k;
}

static const char *counter_name(struct sqtt_series_build *s, uint32_t kind)
{
	uint32_t number = kind % (BANKS * PER_BANK);

	if (!s->names[number])
		s->names[number] = arena_printf(&s->trace->arena, "counter %u", number);
	return s->names[number];
}

/* Makes a series for each kind that has samples; count[] becomes its index + 1. */
static bool make_series(struct sqtt_series_build *s, clock_idx clock)
{
	struct arena *a = &s->trace->arena;

	for (uint32_t kind = 0; kind < KINDS; kind++) {
		struct counter_series c = {.clock = clock, .cu = kind / (BANKS * PER_BANK), .n = 0};
		uint64_t *time, *value;

		if (!s->count[kind])
			continue;
		time = arena_zalloc(a, s->count[kind], sizeof(*time));
		value = arena_zalloc(a, s->count[kind], sizeof(*value));
		c.name = counter_name(s, kind);
		c.time_cyc = time;
		c.value = value;
		if (!time || !value || !c.name || !VEC_PUSH(&s->out, c))
			return false;
		s->count[kind] = (uint32_t)s->out.n;
	}
	return true;
}

static bool add_engine(struct sqtt_series_build *s, const struct sqtt_engine *g, clock_idx clock)
{
	memset(s->count, 0, KINDS * sizeof(*s->count));
	for (size_t i = 0; i < g->perf.n; i++)
		for (unsigned k = 0; k < PER_BANK; k++)
			s->count[sqtt_tables_kind_of(&g->perf.v[i], k)]++;
	if (!make_series(s, clock))
		return false;
	EACH (const struct sqtt_perf, p, g->perf.v, g->perf.n) {
		for (unsigned k = 0; k < PER_BANK; k++) {
			struct counter_series *c =
				&s->out.v[s->count[sqtt_tables_kind_of(p, k)] - 1];

			((uint64_t *)(uintptr_t)c->time_cyc)[c->n] =
				p->time < 0 ? 0 : (uint64_t)p->time;
			((uint64_t *)(uintptr_t)c->value)[c->n++] = p->counter[k];
		}
	}
	return true;
}

/* Counters.c: false when out of memory. */
static bool sqtt_counters_build(struct sqtt_build *b)
{
	struct trace *t = b->trace;
	struct sqtt_series_build s = {.trace = t};
	bool ok = true, any = false;

	for (uint32_t i = 0; i < b->loader->n_engines; i++)
		any |= b->loader->engines[i].perf.n > 0;
	if (!any)
		return true;
	s.count = mem_zalloc(KINDS, sizeof(*s.count));
	for (uint32_t i = 0; s.count && ok && i < b->loader->n_engines; i++) {
		struct sqtt_engine *g = &b->loader->engines[i];

		ok = g->perf.n >= UINT32_MAX || add_engine(&s, g, i);
		VEC_FREE(&g->perf);
	}
	ok = ok && s.count;
	if (ok && s.out.n) {
		t->counters = arena_memdup(&t->arena, s.out.v, s.out.n * sizeof(*s.out.v));
		t->n_counters = t->counters ? (uint32_t)s.out.n : 0;
		ok = t->counters != NULL;
	}
	mem_free(s.count);
	VEC_FREE(&s.out);
	return ok;
}

/* --- rows of code ----------------------------------------------------------------------------- */

/*
 * The code table. As in AMD's tools: a symbol that was hit is listed completely after a label row,
 * symbols in the order of their first hit over the shader engines; row numbers are consecutive.
 * Addresses outside all symbols get a row each at the end.
 */

struct row_place { /* the place of a row; a label has no bytes */
	uint32_t object;
	uint32_t len_bytes;
	const uint8_t *bytes;
	struct amd_code_inst inst;
	uint32_t chain; /* index + 1 of its source text; 0: none */
};

struct rows_build {
	struct sqtt_build *b;
	struct trace *trace;
	VEC(struct code_row) rows;
	VEC(struct row_place) places;
	VEC(struct frame) frames;
	struct intern opcodes, paths, chains;
	uint32_t *row_of_slot;
	struct disasm_report report;
	uint32_t n_listed, n_asked; /* texts taken from a listing, asked of a disassembler */
};

static bool sqtt_tables_push_row(struct rows_build *r, struct code_row row, struct row_place place)
{
	row.number = (int64_t)r->rows.n;
	return r->rows.n < UINT32_MAX - 1 && VEC_PUSH(&r->rows, row) && VEC_PUSH(&r->places, place);
}

/* A row of a listing has its text, and its source lines. */
static bool add_listed(
	struct rows_build *r, struct sqtt_place at, struct code_row row, struct row_place place)
{
	const struct trace *from = at.object->listing->text;
	const struct code_row *listed = at.row ? &from->code[at.row - 1] : NULL;

	place.bytes = NULL;
	row.text = "(not in the listing)";
	row.first_frame = (uint32_t)r->frames.n;
	if (!listed)
		return sqtt_tables_push_row(r, row, place);
	row.text = arena_strndup(&r->trace->arena, listed->text, listed->text_len);
	if (!row.text)
		return false;
	for (uint32_t k = 0; k < listed->n_frames; k++) {
		struct frame f = from->frames[listed->first_frame + k];

		f.source = intern_add(&r->paths, str_of(from->sources[f.source].path));
		if (f.source == INTERN_NONE || !VEC_PUSH(&r->frames, f))
			return false;
	}
	row.n_frames = listed->n_frames;
	if (listed->source[0]) {
		place.chain = intern_add(&r->chains, str_of(listed->source)) + 1;
		if (!place.chain)
			return false;
	}
	return sqtt_tables_push_row(r, row, place);
}

/* Adds the instruction at a slot and sets *len to its length. False when out of memory. */
static bool add_inst(struct rows_build *r, uint32_t slot, size_t left, uint32_t *len)
{
	const struct sqtt_objects *o = &r->b->objects;
	struct sqtt_place at = sqtt_place_of(o, slot);
	struct row_place place = {(uint32_t)(at.object - o->v.v), 4, at.bytes, {0}, 0};
	struct code_row row = {.source = "", .text = "", .address = at.vaddr};

	if (left > at.left)
		left = at.left;
	row.code_object = at.object->id;
	if (at.inst && at.inst->len_bytes) {
		place.inst = *at.inst;
		place.len_bytes = place.inst.len_bytes;
	} else if (!at.inst && amd_code_decode(o->arch, at.bytes, left, &place.inst)) {
		place.len_bytes = place.inst.len_bytes;
	} else { /* truncated at the end: only the rest of it */
		place.inst = (struct amd_code_inst){4, AMD_CODE_UNKNOWN, 0, 0};
	}
	*len = place.len_bytes;
	if (at.inst ? !add_listed(r, at, row, place) : !sqtt_tables_push_row(r, row, place))
		return false;
	r->row_of_slot[slot] = (uint32_t)r->rows.n;
	return true;
}

static bool sqtt_tables_add_label(
	struct rows_build *r, const struct sqtt_place *at, const struct elf_function *f)
{
	struct arena *a = &r->trace->arena;
	struct code_row row = {.address = f->address, .is_label = true, .inst_class = CLASS_OTHER};

	row.code_object = at->object->id;
	row.text = arena_printf(a, "; %s", f->name);
	row.source = arena_strdup(a, f->demangled);
	if (!row.text || !row.source)
		return false;
	row.text_len = (uint32_t)strlen(row.text);
	return sqtt_tables_push_row(r, row,
		(struct row_place){(uint32_t)(at->object - r->b->objects.v.v), 0, NULL, {0}, 0});
}

/* Between the rows of a listing there is nothing to list. */
static bool is_hole(const struct rows_build *r, uint32_t slot)
{
	struct sqtt_place at = sqtt_place_of(&r->b->objects, slot);

	return at.inst && !at.inst->len_bytes;
}

/* Lists the function that contains a slot, if there is one and it is not listed yet. */
static bool sqtt_tables_add_function(struct rows_build *r, uint32_t slot)
{
	struct sqtt_place at = sqtt_place_of(&r->b->objects, slot);
	const struct elf_function *f = elf_function_at(&at.object->elf, at.vaddr);
	uint32_t first;

	if (!f || f->address % 4 || (at.vaddr - f->address) / 4 > slot)
		return true;
	first = slot - (uint32_t)((at.vaddr - f->address) / 4);
	if (r->row_of_slot[first])
		return true;
	if (!sqtt_tables_add_label(r, &at, f))
		return false;
	for (uint64_t done = 0; f->size - done >= 4;) {
		uint32_t len = 4, at_slot = first + (uint32_t)(done / 4);

		if (!is_hole(r, at_slot) && !add_inst(r, at_slot, (size_t)(f->size - done), &len))
			return false;
		done += len;
		if (done > f->size)
			break;
	}
	return true;
}

/* Adds executed words that are not an instruction of a listed function. */
static bool add_loose(struct rows_build *r)
{
	VEC(uint32_t) loose = {0};
	bool ok = true;

	EACH (const struct sqtt_engine, g, r->b->loader->engines, r->b->loader->n_engines) {
		for (size_t k = 0; ok && k < g->first_hits.n; k++)
			if (!r->row_of_slot[g->first_hits.v[k]])
				ok = VEC_PUSH(&loose, g->first_hits.v[k]);
	}
	if (ok && loose.n)
		SORT(loose.v, loose.n, compare_u32);
	for (size_t k = 0; ok && k < loose.n; k++) {
		uint32_t len;

		ok = r->row_of_slot[loose.v[k]] || add_inst(r, loose.v[k], 16, &len);
	}
	VEC_FREE(&loose);
	return ok;
}

/* Adds the totals of the waves of all engines to each row: our decoder is the producer here. */
static void sqtt_tables_add_totals(struct rows_build *r)
{
	EACH (const struct sqtt_engine, g, r->b->loader->engines, r->b->loader->n_engines) {
		for (size_t k = 0; k < g->first_hits.n; k++) {
			uint32_t row = r->row_of_slot[g->first_hits.v[k]];
			struct code_totals *to = &r->rows.v[row - 1].stated;

			to->hit += g->totals.v[k].hit;
			to->latency += g->totals.v[k].latency;
			to->stall += g->totals.v[k].stall;
			to->idle += g->totals.v[k].idle;
		}
	}
	r->trace->has_stated_totals = true;
}

static bool list_code(struct rows_build *r)
{
	EACH (const struct sqtt_engine, g, r->b->loader->engines, r->b->loader->n_engines) {
		for (size_t k = 0; k < g->first_hits.n; k++)
			if (!r->row_of_slot[g->first_hits.v[k]] &&
				!sqtt_tables_add_function(r, g->first_hits.v[k]))
				return false;
	}
	if (!add_loose(r))
		return false;
	sqtt_tables_add_totals(r);
	return true;
}

/* --- text --- */

/* A listing beside the code objects has the vendor's text, if it is of the same code. */
static bool take_texts(struct rows_build *r)
{
	const struct sqtt_build *b = r->b;

	for (size_t i = 0; i < r->rows.n; i++) {
		struct code_row *row = &r->rows.v[i];
		const struct row_place *p = &r->places.v[i];

		for (size_t k = 0; p->bytes && !*row->text && k < b->listings.n; k++) {
			const struct code_row *listed =
				sqtt_listing_row(b->listings.v[k], row->code_object, row->address);
			struct str text = listed ? (struct str){listed->text, listed->text_len}
						 : (struct str){0};

			if (!text.n ||
				amd_code_of_text(b->objects.arch, text, row->address, p->len_bytes)
						.inst_class != p->inst.inst_class)
				continue;
			row->text = arena_strndup(&r->trace->arena, text.p, text.n);
			if (!row->text)
				return false;
			r->n_listed++;
		}
	}
	return true;
}

static bool ask_disassembler(struct rows_build *r, struct incore_error *e)
{
	const struct import_options *o = r->b->options;
	struct disasm_inst *v = mem_zalloc(r->rows.n + 1, sizeof(*v));
	uint32_t n = 0;
	bool ok;

	if (!v)
		return err_nomem(e);
	for (size_t i = 0; i < r->rows.n; i++)
		if (r->places.v[i].bytes && !*r->rows.v[i].text)
			v[n++] = (struct disasm_inst){r->places.v[i].bytes, r->rows.v[i].address,
				r->places.v[i].len_bytes, NULL};
	ok = disasm_texts(
		v, n, r->b->objects.gpu, o ? o->disasm : NULL, &r->trace->arena, &r->report, e);
	for (size_t i = 0, k = 0; ok && i < r->rows.n; i++)
		if (r->places.v[i].bytes && !*r->rows.v[i].text && v[k++].text)
			r->rows.v[i].text = v[k - 1].text;
	r->n_asked = n;
	mem_free(v);
	return ok;
}

static bool sqtt_tables_write_text(struct rows_build *r, size_t i, struct strbuf *text)
{
	struct code_row *row = &r->rows.v[i];
	struct str s;

	if (!row->is_label && !*row->text) {
		sb_reset(text);
		if (!amd_words_put(
			    text, r->b->objects.arch, &r->places.v[i].inst, r->places.v[i].bytes))
			return false;
		row->text = arena_strndup(&r->trace->arena, text->p, text->n);
		if (!row->text)
			return false;
	}
	s = str_of(row->text);
	row->text_len = (uint32_t)s.n;
	if (!row->is_label)
		row->inst_class = (uint8_t)amd_class(AMD_NO_CATEGORY, s);
	row->opcode = intern_add(&r->opcodes, row->is_label ? STR(";") : amd_mnemonic(s));
	return row->opcode != INTERN_NONE;
}

static bool write_texts(struct rows_build *r, struct incore_error *e)
{
	struct strbuf text = {0};
	bool ok = true;

	if (!take_texts(r))
		return err_nomem(e);
	if (!ask_disassembler(r, e))
		return false;
	for (size_t i = 0; i < r->rows.n && ok; i++)
		ok = sqtt_tables_write_text(r, i, &text);
	sb_free(&text);
	return ok || err_nomem(e);
}

/* --- sources --- */

static bool sqtt_tables_take_chain(
	struct rows_build *r, size_t i, const struct dwarf_lines *d, struct dwarf_chain c)
{
	struct code_row *row = &r->rows.v[i];
	struct strbuf text = {0};
	uint32_t known;
	bool ok = true;

	row->first_frame = (uint32_t)r->frames.n;
	for (uint32_t k = 0; k < c.n && ok; k++) {
		const struct dwarf_frame *f = &d->frames[c.first + k];
		uint32_t path = intern_add(&r->paths, str_of(d->files[f->file]));

		ok = path != INTERN_NONE && VEC_PUSH(&r->frames, (struct frame){path, f->line}) &&
		     sb_printf(&text, "%s%s:%u", k ? " -> " : "", d->files[f->file], f->line);
	}
	row->n_frames = (uint16_t)c.n;
	known = ok && c.n ? intern_add(&r->chains, (struct str){text.p, text.n}) : 0;
	ok = ok && known != INTERN_NONE;
	if (ok && c.n)
		r->places.v[i].chain = known + 1;
	sb_free(&text);
	return ok;
}

static bool map_object(struct rows_build *r, uint32_t object, struct incore_error *e)
{
	const struct sqtt_object *o = &r->b->objects.v.v[object];
	uint64_t *addresses = mem_zalloc(r->rows.n + 1, sizeof(*addresses));
	struct str bytes = {(const char *)o->file.data, o->file.size};
	struct dwarf_lines d;
	uint32_t n = 0, k = 0;
	bool ok;

	if (!addresses)
		return err_nomem(e);
	for (size_t i = 0; i < r->rows.n; i++)
		if (r->places.v[i].bytes && r->places.v[i].object == object)
			addresses[n++] = r->rows.v[i].address - o->moved;
	ok = !n || dwarf_lookup(&d, bytes, addresses, n, &r->b->scratch, e);
	mem_free(addresses);
	if (!ok || !n)
		return ok;
	for (size_t i = 0; i < r->rows.n; i++)
		if (r->places.v[i].bytes && r->places.v[i].object == object &&
			!sqtt_tables_take_chain(r, i, &d, d.chains[k++]))
			return err_nomem(e);
	if (d.problem &&
		!trace_note(r->trace, dwarf_is_built() ? "damaged-debug-info" : "no-libdw", o->path,
			INCORE_NO_OFFSET, 1, "%s: source lines are missing", d.problem))
		return err_nomem(e);
	return true;
}

static bool sqtt_tables_map_sources(struct rows_build *r, struct incore_error *e)
{
	for (size_t i = 0; i < r->b->objects.v.n; i++)
		if (dwarf_is_there(&r->b->objects.v.v[i].elf) && !map_object(r, (uint32_t)i, e))
			return false;
	return true;
}

/* --- into the trace --- */

static bool commit_strings(struct rows_build *r)
{
	struct trace *t = r->trace;
	struct arena *a = &t->arena;
	const char **texts = arena_zalloc(&r->b->scratch, (size_t)r->chains.n + 1, sizeof(*texts));

	t->opcodes = arena_zalloc(a, (size_t)r->opcodes.n + 1, sizeof(*t->opcodes));
	t->sources = arena_zalloc(a, (size_t)r->paths.n + 1, sizeof(*t->sources));
	if (!texts || !t->opcodes || !t->sources)
		return false;
	for (uint32_t i = 0; i < r->opcodes.n; i++)
		if (!(t->opcodes[i] = arena_strndup(a, r->opcodes.strs[i].p, r->opcodes.strs[i].n)))
			return false;
	for (uint32_t i = 0; i < r->paths.n; i++)
		if (!(t->sources[i].path =
				    arena_strndup(a, r->paths.strs[i].p, r->paths.strs[i].n)))
			return false;
	for (uint32_t i = 0; i < r->chains.n; i++)
		if (!(texts[i] = arena_strndup(a, r->chains.strs[i].p, r->chains.strs[i].n)))
			return false;
	for (size_t k = 0; k < r->rows.n; k++)
		if (r->places.v[k].chain)
			r->rows.v[k].source = texts[r->places.v[k].chain - 1];
	t->n_opcodes = r->opcodes.n;
	t->n_sources = r->paths.n;
	return true;
}

static bool sqtt_tables_commit(struct rows_build *r)
{
	struct trace *t = r->trace;
	struct arena *a = &t->arena;

	if (!commit_strings(r))
		return false;
	t->code = arena_zalloc(a, r->rows.n + 1, sizeof(*t->code));
	t->frames = arena_zalloc(a, r->frames.n + 1, sizeof(*t->frames));
	if (!t->code || !t->frames)
		return false;
	if (r->rows.n)
		memcpy(t->code, r->rows.v, r->rows.n * sizeof(*t->code));
	if (r->frames.n)
		memcpy(t->frames, r->frames.v, r->frames.n * sizeof(*t->frames));
	t->n_code = (uint32_t)r->rows.n;
	t->n_frames = (uint32_t)r->frames.n;
	return amd_class_lut(a, t, &r->b->loader->class_lut);
}

/* --- copies of sources --- */

/* The path of a file in the folder of another; NULL when out of memory. */
static const char *beside(struct sqtt_build *b, const char *path, const char *name)
{
	return arena_printf(&b->scratch, "%.*s%s", (int)(path_base(path) - path), path, name);
}

static bool has_copy(void *ctx, const char *name)
{
	struct sqtt_build *b = ctx;
	const char *path = beside(b, b->container.snapshots, name);

	return path && file_exists_in(import_fence(b->options), path);
}

/* False only when out of memory: a damaged copy is left out with a note. */
static bool take_copy(struct sqtt_build *b, source_idx i, struct incore_error *e)
{
	struct trace *t = b->trace;
	const char *path = beside(b, b->container.snapshots, t->sources[i].snapshot);
	struct incore_error why = {0};
	struct file_data f = {0};
	bool ok;

	if (!path)
		return err_nomem(e);
	if (!import_load(b->options, &f, path, &why))
		return import_note_unread(t, "damaged-file", path, "is left out", &why) ||
		       (err_move(e, &why), false);
	ok = f.size > UINT32_MAX || import_source_text(t, i, f.data, f.size) || err_nomem(e);
	file_unload(&f);
	return ok;
}

/* Reads snapshots.json beside the streams, and the copies that it names. */
static bool read_snapshots(struct sqtt_build *b, struct incore_error *e)
{
	struct snapshots_in in = {b->trace, &b->scratch, has_copy, b};
	const char *path = b->container.snapshots;
	struct incore_error why = {0};
	struct file_data f = {0};
	bool ok;

	if (!path || !b->trace->n_sources)
		return true;
	ok = import_load(b->options, &f, path, &why) &&
	     snapshots_read(&in, (struct str){(const char *)f.data, f.size}, path, &why);
	file_unload(&f);
	if (!ok)
		return import_note_unread(b->trace, "damaged-file", path, "is left out", &why) ||
		       (err_move(e, &why), false);
	for (source_idx i = 0; b->want & IMPORT_SOURCES && i < b->trace->n_sources; i++)
		if (b->trace->sources[i].snapshot && !take_copy(b, i, e))
			return false;
	return true;
}

/* Says where the code is from, if not only from the capture's own code objects. */
static bool note_code(struct rows_build *r)
{
	const struct sqtt_build *b = r->b;
	const char *given = b->options ? b->options->code : NULL;
	uint32_t *count = arena_zalloc(&r->b->scratch, b->objects.v.n + 1, sizeof(*count));
	struct strbuf s = {0};
	bool is_used = false, ok;

	if (!count)
		return false;
	if (!given && !b->listings.n)
		return true;
	for (size_t i = 0; i < r->rows.n; i++)
		count[r->places.v[i].object] += !r->rows.v[i].is_label;
	for (size_t i = 0; i < b->objects.v.n; i++) {
		const struct sqtt_object *o = &b->objects.v.v[i];
		bool is_given =
			o->is_given || (o->listing && o->listing->path != b->container.code_json);

		if (!count[i])
			continue;
		is_used |= is_given;
		sb_printf(&s, "%s%u instructions of code object %u from %s%s", s.n ? "; " : "",
			count[i], o->id, is_given ? "--code " : "", path_base(o->path));
	}
	if (r->n_listed)
		sb_printf(&s, "; text of %u from a listing", r->n_listed);
	if (given && !is_used)
		sb_printf(&s, "; --code was not needed");
	ok = !s.failed && trace_note(r->trace, "code-source", NULL, INCORE_NO_OFFSET,
				  (uint64_t)r->rows.n, "%s", s.n ? s.p : "no code was used");
	sb_free(&s);
	return ok;
}

static bool sqtt_tables_note_text(struct rows_build *r)
{
	const struct disasm_report *d = &r->report;
	struct trace *t = r->trace;

	if (!r->rows.n || !note_code(r))
		return r->rows.n == 0;
	if (!r->n_asked)
		return true;
	if (!d->source)
		return trace_note(t, "no-disassembler", NULL, INCORE_NO_OFFSET, 1,
			"instructions are shown by kind and words: no disassembler for %s was used",
			r->b->objects.gpu ? r->b->objects.gpu : "this target");
	if (!trace_note(t, "disassembler", NULL, INCORE_NO_OFFSET, d->n_texts,
		    "text of %u instructions by %s; %u it does not know are shown as words",
		    d->n_texts, d->source, d->n_refused + d->n_rejected))
		return false;
	return !d->n_crashes ||
	       trace_note(t, "disassembler-crash", NULL, INCORE_NO_OFFSET, d->n_crashes,
		       "%s crashed on %u instructions, shown as words%s", d->source, d->n_crashes,
		       d->gave_up ? "; the rest was not asked" : "");
}

bool sqtt_rows_build(struct sqtt_build *b, struct incore_error *e)
{
	struct rows_build r = {.b = b, .trace = b->trace};
	bool ok;

	intern_init(&r.opcodes);
	intern_init(&r.paths);
	intern_init(&r.chains);
	r.row_of_slot = mem_zalloc((size_t)b->objects.n_slots + 1, sizeof(*r.row_of_slot));
	b->loader->row_of_slot = r.row_of_slot; /* freed with the loader */
	b->loader->n_slots = b->objects.n_slots;
	ok = r.row_of_slot && list_code(&r);
	if (!ok)
		err_nomem(e);
	ok = ok && write_texts(&r, e) && sqtt_tables_map_sources(&r, e);
	if (ok && (!sqtt_tables_commit(&r) || !sqtt_tables_note_text(&r)))
		ok = err_nomem(e);
	ok = ok && read_snapshots(b, e);
	intern_deinit(&r.opcodes);
	intern_deinit(&r.paths);
	intern_deinit(&r.chains);
	VEC_FREE(&r.rows);
	VEC_FREE(&r.places);
	VEC_FREE(&r.frames);
	return ok;
}

/* --- tables ----------------------------------------------------------------------------------- */

#define DEFAULT_REALTIME_HZ 100000000u
#define SAMPLES_SOURCE "realtime samples of the trace"

/* The symbol at a record's address, or "<object> / 0x<address>"; NULL when out of memory. */
static const char *sqtt_kernel_name(struct sqtt_build *b, uint32_t object, uint64_t pc)
{
	size_t hint = 0;
	uint32_t slot = sqtt_slot_of(&b->objects, object, pc, &hint);

	if (slot != SQTT_NO_SLOT) {
		struct sqtt_place at = sqtt_place_of(&b->objects, slot);
		const struct elf_function *f = elf_function_at(&at.object->elf, at.vaddr);

		if (f)
			return arena_strdup(&b->trace->arena, f->name);
	}
	return arena_printf(&b->trace->arena, "%u / 0x%llx", object, (unsigned long long)pc);
}

/* --- clocks --- */

static bool build_clocks(struct sqtt_build *b)
{
	struct trace *t = b->trace;
	const struct sqtt_loader *l = b->loader;
	uint64_t hz = b->container.realtime_hz;
	uint64_t *first = arena_zalloc(&b->scratch, (size_t)l->n_engines + 1, sizeof(*first));

	t->clocks = arena_zalloc(&t->arena, (size_t)l->n_engines + 1, sizeof(*t->clocks));
	if (!t->clocks || !first)
		return false;
	for (uint32_t i = 0; i < l->n_engines; i++) {
		const struct sqtt_engine *g = &l->engines[i];
		struct clock_domain *c = &t->clocks[i];
		int64_t(*samples)[2] = arena_zalloc(&t->arena, g->realtime.n + 1, sizeof(*samples));

		if (!samples)
			return false;
		c->id = g->se;
		first[i] = g->first_start_cyc;
		for (size_t k = 0; k < g->realtime.n && c->n_samples < UINT32_MAX; k++) {
			int64_t time = g->realtime.v[k].time;
			uint64_t clock = g->realtime.v[k].clock;

			if (time < 0 || time > TRACE_MAX_TIME_CYC || clock > INT64_MAX / 2)
				continue;
			samples[c->n_samples][0] = time;
			samples[c->n_samples++][1] = (int64_t)clock;
		}
		c->samples = (const int64_t(*)[2])samples;
		hz = g->result.rt_frequency_hz ? g->result.rt_frequency_hz : hz;
	}
	t->n_clocks = l->n_engines;
	if (!trace_align_clocks(t, hz ? hz : DEFAULT_REALTIME_HZ, first, SAMPLES_SOURCE))
		return false;
	if (!t->meta.clock_hz_den && b->container.shader_hz) {
		t->meta.clock_hz_num = b->container.shader_hz;
		t->meta.clock_hz_den = 1;
		t->meta.clock_source = "shader clock that the file states";
	}
	return true;
}

/* --- kernels by entry address --- */

struct entries {
	VEC(struct sqtt_entry) v; /* kernel id - 1 */
	struct u64_map by_key;
};

/* Finds or adds the kernel id of an entry address; 0: unknown, UINT32_MAX: out of memory. */
static uint32_t entry_id(struct entries *x, uint32_t object, uint64_t pc)
{
	uint64_t key = hash_mix64(pc) ^ object;

	if (!pc)
		return 0;
	for (;; key++) {
		uint64_t *at = u64_map_at(&x->by_key, key);

		if (!at)
			return UINT32_MAX;
		if (*at == 0) {
			if (!VEC_PUSH(&x->v, (struct sqtt_entry){object, pc, 0, 0}))
				return UINT32_MAX;
			*at = x->v.n;
		}
		if (x->v.v[*at - 1].object == object && x->v.v[*at - 1].pc == pc)
			return (uint32_t)*at;
	}
}

static bool name_entries(struct sqtt_build *b, const struct entries *x)
{
	struct trace *t = b->trace;

	t->kernel_names = arena_zalloc(&t->arena, x->v.n + 1, sizeof(*t->kernel_names));
	if (!t->kernel_names)
		return false;
	for (size_t i = 0; i < x->v.n; i++) {
		const char *name = sqtt_kernel_name(b, x->v.v[i].object, x->v.v[i].pc);

		if (!name)
			return false;
		t->kernel_names[i] = (struct kernel_name){(uint32_t)i + 1, name};
	}
	t->n_kernel_names = (uint32_t)x->v.n;
	for (uint32_t i = 0; i < t->n_dispatch_events; i++)
		if (t->dispatch_events[i].kernel_id)
			t->dispatch_events[i].kernel_name =
				t->kernel_names[t->dispatch_events[i].kernel_id - 1].name;
	return true;
}

/* The kernel with most traced cycles; in a tie one with a name, then most starts. NULL if it has no
 * name. */
static const struct sqtt_entry *main_entry(const struct trace *t, const struct entries *x)
{
	const struct sqtt_entry *best = NULL;
	bool best_named = false;

	for (size_t i = 0; i < x->v.n; i++) {
		const struct sqtt_entry *k = &x->v.v[i];
		bool named = !strstr(t->kernel_names[i].name, " / 0x");

		if (!best || k->cycles > best->cycles ||
			(k->cycles == best->cycles &&
				(named > best_named ||
					(named == best_named && k->starts > best->starts)))) {
			best = k;
			best_named = named;
		}
	}
	return best_named ? best : NULL;
}

static void set_launch(struct trace *t, const struct kernel_facts *k)
{
	struct trace_launch *l = &t->meta.launch;
	const struct amd_machine *m = amd_machine_find(t->meta.arch, t->meta.gfx_major);
	int64_t total = k->vgprs;

	/* if accumulation registers share the pool, the count includes both */
	if (total >= 0 && k->agprs > 0 && m && m->has_unified_accum && total >= k->agprs)
		total -= k->agprs;
	l->vgprs = total < 0 ? NO_VALUE : total;
	l->accum_vgprs = k->agprs < 0 ? NO_VALUE : k->agprs;
	l->sgprs = k->sgprs < 0 ? NO_VALUE : k->sgprs;
	l->lds_bytes = k->lds_bytes < 0 ? NO_VALUE : k->lds_bytes;
	l->scratch_bytes = k->scratch_bytes < 0 ? NO_VALUE : k->scratch_bytes;
	for (unsigned i = 0; i < 3; i++)
		if (k->workgroup[i] > 0 && k->workgroup[i] <= 1024)
			l->workgroup[i] = k->workgroup[i];
	if (k->wave_size > 0)
		t->meta.machine.wave_size = k->wave_size;
}

static void sqtt_tables_name_kernel(struct sqtt_build *b, const struct entries *x)
{
	struct trace *t = b->trace;
	const struct sqtt_entry *main = main_entry(t, x);

	if (main)
		t->meta.kernel = t->kernel_names[main - x->v.v].name;
	else if (b->meta.kernel)
		t->meta.kernel = b->meta.kernel;
	for (size_t i = 0; t->meta.kernel && i < b->objects.v.n; i++) {
		const struct code_facts *f = &b->objects.v.v[i].facts;

		for (uint32_t k = 0; k < f->n_kernels; k++)
			if (strcmp(f->kernels[k].name, t->meta.kernel) == 0) {
				set_launch(t, &f->kernels[k]);
				return;
			}
	}
}

/* --- occupancy --- */

/* Copies an engine's events with the trace's kernel ids instead of its own. */
static bool add_events(
	struct trace *t, const struct sqtt_engine *g, clock_idx clock, struct entries *x)
{
	uint32_t *ids = mem_zalloc(g->entries.n + 1, sizeof(*ids));
	bool ok = ids != NULL;

	for (size_t i = 0; ok && i < g->entries.n; i++) {
		ids[i + 1] = entry_id(x, g->entries.v[i].object, g->entries.v[i].pc);
		ok = ids[i + 1] != UINT32_MAX;
		if (ok && x->v.v)
			x->v.v[ids[i + 1] - 1].starts += g->entries.v[i].starts;
	}
	for (size_t i = 0; ok && i < g->events.n; i++) {
		struct occupancy_event *out = &t->occupancy[t->n_occupancy++];

		*out = g->events.v[i];
		out->clock = clock;
		out->kernel_id = ids[out->kernel_id];
	}
	for (size_t i = 0; ok && i < g->dispatches.n; i++) {
		struct dispatch_event *out = &t->dispatch_events[t->n_dispatch_events++];

		*out = g->dispatches.v[i];
		out->clock = clock;
		out->kernel_id = ids[out->kernel_id];
	}
	mem_free(ids);
	return ok;
}

static bool build_occupancy(struct sqtt_build *b, struct entries *x)
{
	struct trace *t = b->trace;
	const struct sqtt_loader *l = b->loader;
	size_t n = 0, n_dispatches = 0;

	for (uint32_t i = 0; i < l->n_engines; i++) {
		n += l->engines[i].events.n;
		n_dispatches += l->engines[i].dispatches.n;
	}
	t->dispatch_events = arena_zalloc(&t->arena, n_dispatches + 1, sizeof(*t->dispatch_events));
	t->occupancy =
		n < UINT32_MAX ? arena_zalloc(&t->arena, n + 1, sizeof(*t->occupancy)) : NULL;
	if (!t->occupancy || !t->dispatch_events)
		return false;
	for (uint32_t i = 0; i < l->n_engines; i++) {
		if (!add_events(t, &l->engines[i], i, x))
			return false;
		VEC_FREE(&l->engines[i].events);
	}
	return true;
}

/* --- tracks --- */

ORDER(compare_waves, struct sqtt_wave_ref, UP(engine) UP(cu) UP(simd) UP(slot) UP(begin_cyc) UP(at))

static bool same_slot(const struct sqtt_wave_ref *a, const struct sqtt_wave_ref *b)
{
	return a->engine == b->engine && a->cu == b->cu && a->simd == b->simd && a->slot == b->slot;
}

static bool gather_waves(struct sqtt_build *b, size_t *n)
{
	struct sqtt_loader *l = b->loader;
	size_t at = 0;

	*n = 0;
	for (uint32_t i = 0; i < l->n_engines; i++)
		*n += l->engines[i].waves.n;
	l->waves = *n < UINT32_MAX ? mem_zalloc(*n + 1, sizeof(*l->waves)) : NULL;
	if (!l->waves)
		return false;
	for (uint32_t i = 0; i < l->n_engines; i++) {
		struct sqtt_engine *g = &l->engines[i];

		for (size_t k = 0; k < g->waves.n; k++) {
			l->waves[at] = g->waves.v[k];
			l->waves[at++].engine = i;
		}
		VEC_FREE(&g->waves);
	}
	SORT(l->waves, *n, compare_waves);
	return true;
}

static bool build_tracks(struct sqtt_build *b, struct entries *x)
{
	struct trace *t = b->trace;
	const struct sqtt_loader *l = b->loader;
	uint32_t wave = 0;
	size_t n;

	if (!gather_waves(b, &n))
		return false;
	t->tracks = arena_zalloc(&t->arena, n + 1, sizeof(*t->tracks));
	if (!t->tracks)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct sqtt_wave_ref *w = &l->waves[i];
		uint32_t se = l->engines[w->engine].se;
		uint32_t id = entry_id(x, w->entry_object, w->entry_pc);

		wave = i && same_slot(w - 1, w) ? wave + 1 : 0;
		t->tracks[i] = (struct track){.coord = {se, w->cu, w->simd, w->slot, wave},
			.clock = w->engine,
			.n_slices = w->n_insts,
			.begin_cyc = w->begin_cyc,
			.end_cyc = w->end_cyc,
			.kernel_id = id,
			.workgroup = NO_VALUE};
		t->tracks[i].name =
			arena_printf(&t->arena, "se%u_sm%u_sl%u_wv%u", se, w->simd, w->slot, wave);
		if (id == UINT32_MAX || !t->tracks[i].name)
			return false;
		if (id)
			x->v.v[id - 1].cycles += w->end_cyc - w->begin_cyc;
	}
	t->n_tracks = (uint32_t)n;
	return true;
}

/* The traced CU: that of the first traced wave, else from the first header. */
static void choose_target_cu(struct sqtt_build *b)
{
	struct trace *t = b->trace;

	if (t->n_tracks) {
		t->meta.target_cu = t->tracks[0].coord[1];
		return;
	}
	for (uint32_t i = 0; i < b->loader->n_engines; i++)
		if (!b->loader->engines[i].is_bad) {
			t->meta.target_cu = b->loader->engines[i].stream.target_cu;
			return;
		}
}

/* --- side tables --- */

static uint64_t side_time(int64_t time)
{
	return time < 0 ? 0 : time > TRACE_MAX_TIME_CYC ? TRACE_MAX_TIME_CYC : (uint64_t)time;
}

static bool build_markers(struct sqtt_build *b)
{
	struct trace *t = b->trace;
	const struct sqtt_loader *l = b->loader;
	size_t n = 0, m = 0;

	for (uint32_t i = 0; i < l->n_engines; i++) {
		n += l->engines[i].shaderdata.n;
		m += l->engines[i].other_simd.n;
	}
	if (n >= UINT32_MAX || m >= UINT32_MAX)
		return false;
	t->markers = arena_zalloc(&t->arena, n + 1, sizeof(*t->markers));
	t->other_issues = arena_zalloc(&t->arena, m + 1, sizeof(*t->other_issues));
	if (!t->markers || !t->other_issues)
		return false;
	for (uint32_t i = 0; i < l->n_engines; i++) {
		struct sqtt_engine *g = &l->engines[i];

		EACH (const struct sqtt_shaderdata, s, g->shaderdata.v, g->shaderdata.n) {
			t->markers[t->n_markers++] = (struct marker){
				side_time(s->time), s->value, i, s->cu, s->simd, s->slot, s->flags};
		}
		EACH (const struct sqtt_other_simd, s, g->other_simd.v, g->other_simd.n) {
			t->other_issues[t->n_other_issues++] =
				(struct other_issue){side_time(s->time), s->cycles, s->category, i};
		}
		VEC_FREE(&g->shaderdata);
		VEC_FREE(&g->other_simd);
	}
	return true;
}

bool sqtt_tables_build(struct sqtt_build *b, struct incore_error *e)
{
	struct entries x = {0};
	bool ok = build_clocks(b) && build_occupancy(b, &x) && build_tracks(b, &x) &&
		  build_markers(b) && sqtt_counters_build(b) && name_entries(b, &x);

	if (ok) {
		choose_target_cu(b);
		sqtt_tables_name_kernel(b, &x);
	}
	VEC_FREE(&x.v);
	u64_map_deinit(&x.by_key);
	return ok || err_nomem(e);
}
