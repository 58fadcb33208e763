/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own.c: the tables that our exporter writes beside the events: the original trace without its
 * slices. If they fit the slices of the events (every pipe, every instruction, the hash of every
 * pipe), the trace becomes the one that was exported; if not, only the events are used and a note
 * is added.
 */
#include "base/hash.h"
#include "import/ascend/ascend.h"
#include "isa/ascend.h"
#include "trace/packed.h"

bool asc_read_own(struct asc_build *b, struct str bytes, const char *path, uint64_t base,
	struct incore_error *e)
{
	struct trace *t;

	if (b->own)
		return true;
	t = trace_new();
	if (!t)
		return err_nomem(e);
	t->meta.origin = "";
	if (!packed_read_bytes((const uint8_t *)bytes.p, bytes.n, path, t, e) ||
		!trace_seal(t, e)) {
		asc_error_at(e, base);
		trace_free(t);
		return false;
	}
	b->own = t;
	return true;
}

/* --- do they belong together? --- */

struct taking {
	struct asc_build *b;
	struct trace *own;
	code_idx *row;	     /* by code row of the builder */
	uint8_t *is_by_code; /* by track: sorted by code alone */
};

static bool map_rows(struct taking *x, bool *fits)
{
	const struct asc_build *b = x->b;
	struct u64_map at = {0};
	bool ok = true;

	for (code_idx i = 0; ok && i < x->own->n_code; i++) {
		const struct code_row *r = &x->own->code[i];
		uint64_t *k;

		if (r->is_label)
			continue;
		k = u64_map_at(&at, ascend_row_key(r->code_object, r->address,
					    str_of(x->own->opcodes[r->opcode]),
					    (struct str){r->text, r->text_len}));
		ok = k != NULL;
		if (ok)
			*k = (uint64_t)i + 1;
	}
	for (size_t i = 0; ok && i < b->code.n; i++) {
		const struct code_row *r = &b->code.v[i];
		struct str opcode = b->opcodes.strs[r->opcode], text = {r->text, r->text_len};
		uint64_t *k =
			u64_map_find(&at, ascend_row_key(r->code_object, r->address, opcode, text));

		if (!k)
			k = u64_map_find(
				&at, ascend_row_key(ASCEND_PLAIN, r->address, opcode, text));
		x->row[i] = b->rows.v[i].own ? (code_idx)(b->rows.v[i].own - 1)
			    : k		     ? (code_idx)(*k - 1)
					     : NO_CODE;
		/* A row without a slice was made by a table: nothing depends on it. */
		*fits &= x->row[i] != NO_CODE || b->rows.v[i].n == 0;
	}
	u64_map_deinit(&at);
	return ok;
}

static uint64_t hash_of(const struct track_slice *v, uint32_t n)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < n; i++)
		hash = ascend_slice_hash(
			hash, &(struct ascend_slice){v[i].start, v[i].dur, v[i].stall, v[i].code});
	return hash;
}

static void reorder(const struct taking *x, track_idx k, bool is_by_code, struct track_slice *v)
{
	uint32_t n = x->b->trace->tracks[k].n_slices;

	for (uint32_t i = 0; i < n; i++)
		v[i].code = x->row[v[i].code];
	asc_sort_recs(is_by_code ? NULL : x->own->code, v, n);
}

/* Compares the slices in our importers' order, or in that of another producer. */
static bool check_track(struct taking *x, track_idx k, const char *want, bool *fits)
{
	uint32_t n = x->b->trace->tracks[k].n_slices;
	const struct track_slice *recs = mem_tracks_at(x->b->trace, k);
	struct track_slice *copy = mem_resize(NULL, (size_t)n + 1, sizeof(*copy));
	char text[24];
	bool is_same = false;

	if (!copy)
		return false;
	for (unsigned i = 0; i < 2 && !is_same; i++) {
		memcpy(copy, recs, n * sizeof(*copy));
		reorder(x, k, i, copy);
		snprintf(text, sizeof(text), "%016llx", (unsigned long long)hash_of(copy, n));
		is_same = want && strcmp(text, want) == 0;
		x->is_by_code[k] = (uint8_t)i;
	}
	*fits &= is_same;
	mem_free(copy);
	return true;
}

static bool ascend_own_is_inside(const struct trace *own, track_idx track, uint32_t slice)
{
	return track < own->n_tracks && slice < own->tracks[track].n_slices;
}

/* Checks the slice numbers of links and heads, which were not compared before. */
static bool are_indices_good(const struct trace *own)
{
	for (uint32_t i = 0; i < own->n_links; i++)
		if (!ascend_own_is_inside(
			    own, own->links[i].from_track, own->links[i].from_slice) ||
			!ascend_own_is_inside(
				own, own->links[i].to_track, own->links[i].to_slice) ||
			own->links[i].kind > LINK_FLOW)
			return false;
	for (uint32_t i = 0; i < own->n_heads; i++)
		if (!ascend_own_is_inside(own, own->heads[i].track, own->heads[i].slice))
			return false;
	return true;
}

static bool are_tracks_same(const struct trace *own, const struct trace *t)
{
	if (own->n_tracks != t->n_tracks)
		return false;
	for (track_idx i = 0; i < t->n_tracks; i++)
		if (memcmp(own->tracks[i].coord, t->tracks[i].coord, sizeof(t->tracks[i].coord)) !=
				0 ||
			own->tracks[i].n_slices != t->tracks[i].n_slices)
			return false;
	return true;
}

static bool check_own(struct taking *x, const char **why)
{
	const struct trace *t = x->b->trace;
	const struct named_table *k =
		x->own->n_tables ? &x->own->tables[x->own->n_tables - 1] : NULL;
	bool fits = true;

	*why = NULL;
	if (!k || strcmp(k->name, ASCEND_TABLE_SLICES) != 0 || k->n_cols != 1 ||
		k->n_rows != x->own->n_tracks)
		*why = "it has no hashes";
	else if (!are_tracks_same(x->own, t))
		*why = "the events have other pipes or slices";
	else if (!are_indices_good(x->own))
		*why = "its links leave the pipes";
	if (*why)
		return true;
	if (!map_rows(x, &fits))
		return false;
	if (!fits)
		*why = "the events have other instructions";
	for (track_idx i = 0; !*why && i < t->n_tracks; i++) {
		if (!check_track(x, i, k->cells[i], &fits))
			return false;
		if (!fits)
			*why = "the slices of a pipe differ";
	}
	return true;
}

/* --- taking over the tables --- */

/* Keeps the facts about the current file: its blocks, and losses while reading it. */
static bool keep_facts(struct trace *now, const struct trace *was, bool is_user_clock)
{
	uint32_t n = 0;

	now->meta.format = was->meta.format;
	now->meta.origin = arena_strdup(&now->arena, was->meta.origin);
	now->meta.format_version = NULL;
	if (was->meta.format_version)
		now->meta.format_version = arena_strdup(&now->arena, was->meta.format_version);
	memset(now->meta.content_hash, 0, sizeof(now->meta.content_hash));
	if (is_user_clock) {
		now->meta.clock_hz_num = was->meta.clock_hz_num;
		now->meta.clock_hz_den = was->meta.clock_hz_den;
		now->meta.clock_source = arena_strdup(&now->arena, was->meta.clock_source);
		now->meta.arch = was->meta.arch ? arena_strdup(&now->arena, was->meta.arch) : NULL;
		now->meta.arch_source = was->meta.arch_source;
	}
	for (uint32_t i = 0; i + 1 < now->n_tables; i++)
		if (strcmp(now->tables[i].name, ASCEND_TABLE_BLOCKS) != 0)
			now->tables[n++] = now->tables[i];
	now->n_tables = n;
	EACH (const struct note, k, was->notes, was->n_notes) {
		if ((k->kind == NOTE_DAMAGED || k->kind == NOTE_LOST || k->kind == NOTE_TRUNCATED ||
			    str_ends(str_of(k->code), "-json-differs")) &&
			!trace_note_as(now, k->kind, k->code, k->path, k->offset, k->count, "%s",
				k->message))
			return false;
	}
	return now->meta.origin != NULL;
}

static bool ascend_own_copy_text(struct arena *a, const char **s)
{
	bool was_there = *s != NULL;

	if (was_there)
		*s = arena_strdup(a, *s);
	return !was_there || *s;
}

/* The table of blocks is about the file, not about the run: it goes before the others. */
static bool add_blocks(struct trace *now, const struct trace *was)
{
	const struct named_table *k = trace_find_table(was, ASCEND_TABLE_BLOCKS);
	struct named_table *v;
	const char **cells, **cols;
	size_t n;
	bool ok;

	if (!k)
		return true;
	n = (size_t)k->n_cols * k->n_rows;
	v = arena_zalloc(&now->arena, (size_t)now->n_tables + 1, sizeof(*v));
	cols = arena_memdup(&now->arena, k->cols, k->n_cols * sizeof(*cols));
	cells = arena_memdup(&now->arena, k->cells, n * sizeof(*cells));
	if (!v || !cols || !cells)
		return false;
	v[0] = *k;
	v[0].cols = cols;
	v[0].cells = cells;
	ok = ascend_own_copy_text(&now->arena, &v[0].name) &&
	     ascend_own_copy_text(&now->arena, &v[0].origin);
	for (uint32_t i = 0; ok && i < k->n_cols; i++)
		ok = ascend_own_copy_text(&now->arena, &cols[i]);
	for (size_t i = 0; ok && i < n; i++)
		ok = ascend_own_copy_text(&now->arena, &cells[i]);
	if (now->n_tables)
		memcpy(v + 1, now->tables, now->n_tables * sizeof(*v));
	now->tables = v;
	now->n_tables++;
	return ok;
}

static bool become(struct taking *x, struct incore_error *e)
{
	struct trace *t = x->b->trace, was = *t;
	bool is_user_clock = x->b->options->soc || x->b->options->clock_hz;

	for (track_idx i = 0; i < t->n_tracks; i++)
		reorder(x, i, x->is_by_code[i], mem_tracks_at(t, i));
	if (!keep_facts(x->own, t, is_user_clock) || !add_blocks(x->own, t))
		return err_nomem(e);
	x->own->loader.close(x->own->loader_ctx);
	*t = *x->own;
	t->loader = was.loader;
	t->loader_ctx = was.loader_ctx;
	was.loader.close = NULL;
	*x->own = was; /* freed with the builder */
	return true;
}

bool asc_take_own(struct asc_build *b, struct incore_error *e)
{
	struct taking x = {.b = b, .own = b->own};
	const char *why = NULL;
	bool ok;

	/* Slices in another order would have other places in the text. */
	if (!b->own || b->is_ticks || b->trace->text)
		return true;
	x.row = mem_zalloc(b->code.n + 1, sizeof(*x.row));
	x.is_by_code = mem_zalloc((size_t)b->trace->n_tracks + 1, 1);
	ok = (x.row && x.is_by_code && check_own(&x, &why)) || err_nomem(e);
	if (ok && why)
		ok = asc_note(b, "own-tables", INCORE_NO_OFFSET,
			     "the block of tables that incore wrote does not fit the events (%s): not used",
			     why) ||
		     err_nomem(e);
	else if (ok)
		ok = become(&x, e);
	mem_free(x.row);
	mem_free(x.is_by_code);
	return ok;
}
