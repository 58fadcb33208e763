/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c: the code table. As in AMD's tools: a symbol that was hit is listed completely after a
 * label row, symbols in the order of their first hit over the shader engines; row numbers are
 * consecutive. Addresses outside all symbols get a row each at the end.
 */
#include "base/search.h"
#include "import/sqtt/sqtt.h"

#include "base/map.h"
#include "codec/dwarf.h"
#include "isa/amd.h"
#include "isa/amd_words.h"
#include "isa/disasm.h"

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
};

static bool push_row(struct rows_build *r, struct code_row row, struct row_place place)
{
	row.number = (int64_t)r->rows.n;
	return r->rows.n < UINT32_MAX - 1 && VEC_PUSH(&r->rows, row) && VEC_PUSH(&r->places, place);
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
	if (amd_code_decode(o->arch, at.bytes, left, &place.inst)) {
		place.len_bytes = place.inst.len_bytes;
	} else { /* truncated at the end: only the rest of it */
		place.inst = (struct amd_code_inst){4, AMD_CODE_UNKNOWN, 0, 0};
	}
	*len = place.len_bytes;
	if (!push_row(r, row, place))
		return false;
	r->row_of_slot[slot] = (uint32_t)r->rows.n;
	return true;
}

static bool add_label(
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
	return push_row(r, row,
		(struct row_place){(uint32_t)(at->object - r->b->objects.v.v), 0, NULL, {0}, 0});
}

/* Lists the function that contains a slot, if there is one and it is not listed yet. */
static bool add_function(struct rows_build *r, uint32_t slot)
{
	struct sqtt_place at = sqtt_place_of(&r->b->objects, slot);
	const struct elf_function *f = elf_function_at(&at.object->elf, at.vaddr);
	uint32_t first;

	if (!f || f->address % 4 || (at.vaddr - f->address) / 4 > slot)
		return true;
	first = slot - (uint32_t)((at.vaddr - f->address) / 4);
	if (r->row_of_slot[first])
		return true;
	if (!add_label(r, &at, f))
		return false;
	for (uint64_t done = 0; f->size - done >= 4;) {
		uint32_t len;

		if (!add_inst(r, first + (uint32_t)(done / 4), (size_t)(f->size - done), &len))
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
static void add_totals(struct rows_build *r)
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
				!add_function(r, g->first_hits.v[k]))
				return false;
	}
	if (!add_loose(r))
		return false;
	add_totals(r);
	return true;
}

/* --- text --- */

static bool ask_disassembler(struct rows_build *r, struct incore_error *e)
{
	const struct import_options *o = r->b->options;
	struct disasm_inst *v = mem_zalloc(r->rows.n + 1, sizeof(*v));
	uint32_t n = 0;
	bool ok;

	if (!v)
		return err_nomem(e);
	for (size_t i = 0; i < r->rows.n; i++)
		if (r->places.v[i].bytes)
			v[n++] = (struct disasm_inst){r->places.v[i].bytes, r->rows.v[i].address,
				r->places.v[i].len_bytes, NULL};
	ok = disasm_texts(
		v, n, r->b->objects.gpu, o ? o->disasm : NULL, &r->trace->arena, &r->report, e);
	for (size_t i = 0, k = 0; ok && i < r->rows.n; i++)
		if (r->places.v[i].bytes && v[k++].text)
			r->rows.v[i].text = v[k - 1].text;
	mem_free(v);
	return ok;
}

static bool write_text(struct rows_build *r, size_t i, struct strbuf *text)
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

	if (!ask_disassembler(r, e))
		return false;
	for (size_t i = 0; i < r->rows.n && ok; i++)
		ok = write_text(r, i, &text);
	sb_free(&text);
	return ok || err_nomem(e);
}

/* --- sources --- */

static bool take_chain(
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
			!take_chain(r, i, &d, d.chains[k++]))
			return err_nomem(e);
	if (d.problem && !trace_note(r->trace, dwarf_is_built() ? NOTE_DAMAGED : NOTE_MISSING,
				 dwarf_is_built() ? "damaged-debug-info" : "no-libdw", o->path,
				 INCORE_NO_OFFSET, 1, "%s: source lines are missing", d.problem))
		return err_nomem(e);
	return true;
}

static bool map_sources(struct rows_build *r, struct incore_error *e)
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

static bool commit(struct rows_build *r)
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

static bool note_text(struct rows_build *r)
{
	const struct disasm_report *d = &r->report;
	struct trace *t = r->trace;

	if (!r->rows.n)
		return true;
	if (!d->source)
		return trace_note(t, NOTE_INFO, "no-disassembler", NULL, INCORE_NO_OFFSET, 1,
			"instructions are shown by kind and words: no disassembler for %s was used",
			r->b->objects.gpu ? r->b->objects.gpu : "this target");
	if (!trace_note(t, NOTE_INFO, "disassembler", NULL, INCORE_NO_OFFSET, d->n_texts,
		    "text of %u instructions by %s; %u it does not know are shown as words",
		    d->n_texts, d->source, d->n_refused + d->n_rejected))
		return false;
	return !d->n_crashes ||
	       trace_note(t, NOTE_GUESSED, "disassembler-crash", NULL, INCORE_NO_OFFSET,
		       d->n_crashes, "%s crashed on %u instructions, shown as words%s", d->source,
		       d->n_crashes, d->gave_up ? "; the rest was not asked" : "");
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
	ok = ok && write_texts(&r, e) && map_sources(&r, e);
	if (ok && (!commit(&r) || !note_text(&r)))
		ok = err_nomem(e);
	intern_deinit(&r.opcodes);
	intern_deinit(&r.paths);
	intern_deinit(&r.chains);
	VEC_FREE(&r.rows);
	VEC_FREE(&r.places);
	VEC_FREE(&r.frames);
	return ok;
}
