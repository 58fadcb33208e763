/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_own.c: data to restore the same trace. Events contain the slices; everything else (code
 * rows in order, sources, totals, links, counters at their true times, tables, notes) goes into a
 * separate block: a packed trace with empty tracks and a hash of each pipe's slices, so that a
 * reader knows whether the two belong together.
 */
#include <stdlib.h>

#include "export/insight/insight.h"
#include "isa/ascend_identity.h"
#include "trace/packed.h"

/* --- rows --- */

static uint64_t key_of(const struct insight *s, code_idx i, unsigned kind)
{
	const struct code_row *r = &s->t->code[i];

	return ascend_row_key(
		kind, r->address, insight_opcode(s, i), (struct str){r->text, r->text_len});
}

/* Finds the rows that must be written by number. A row without a kind of core matches cores of any
 * kind: there it must be the only match. */
bool insight_find_named(struct insight *s)
{
	struct u64_map first = {0}, any = {0};
	bool ok = true;

	for (code_idx i = 0; ok && i < s->t->n_code; i++) {
		unsigned kind = s->t->code[i].code_object;
		uint64_t *a = u64_map_at(&first, key_of(s, i, kind));
		uint64_t *b = u64_map_at(&any, key_of(s, i, ASCEND_PLAIN));

		ok = a && b;
		if (!ok || s->t->code[i].is_label)
			continue;
		if (*a)
			s->is_row_named[i] = s->is_row_named[*a - 1] = 1;
		else
			*a = (uint64_t)i + 1;
		if (*b && (kind == ASCEND_PLAIN || s->t->code[*b - 1].code_object == ASCEND_PLAIN))
			s->is_row_named[i] = s->is_row_named[*b - 1] = 1;
		if (!*b || kind == ASCEND_PLAIN)
			*b = (uint64_t)i + 1;
	}
	u64_map_deinit(&first);
	u64_map_deinit(&any);
	return ok;
}

bool insight_is_named(const struct insight *s, code_idx code, uint32_t unit)
{
	unsigned kind;

	if (code >= s->t->n_code)
		return false;
	kind = s->t->code[code].code_object;
	return s->is_row_named[code] || (kind != ASCEND_PLAIN && kind != s->units.v[unit].kind);
}

/* --- the block --- */

void insight_hash_track(struct insight *s, const struct export_track *k)
{
	const struct track_data *d = k->data;
	uint64_t hash = 0;

	for (uint32_t i = 0; i < d->n; i++)
		hash = ascend_slice_hash(hash, &(struct ascend_slice){d->start_cyc[i],
						       d->dur_cyc[i], d->stall_cyc[i], d->code[i]});
	s->track_hash[k->index] = hash;
	s->n_hashed++;
}

/* Adds the hashes as the last table of the trace. */
static bool add_hashes(struct insight *s, struct trace *shallow)
{
	static const char *const cols[] = {"hash"};
	const struct trace *t = s->t;
	const char **cells = arena_zalloc(&s->arena, (size_t)t->n_tracks + 1, sizeof(*cells));
	struct named_table *tables =
		arena_zalloc(&s->arena, (size_t)t->n_tables + 1, sizeof(*tables));

	if (!cells || !tables)
		return false;
	for (track_idx i = 0; i < t->n_tracks; i++) {
		cells[i] = arena_printf(&s->arena, "%016llx", (unsigned long long)s->track_hash[i]);
		if (!cells[i])
			return false;
	}
	if (t->n_tables)
		memcpy(tables, t->tables, t->n_tables * sizeof(*tables));
	tables[t->n_tables] = (struct named_table){.name = ASCEND_TABLE_SLICES,
		.origin = "",
		.n_cols = 1,
		.n_rows = t->n_tracks,
		.cols = cols,
		.cells = cells};
	shallow->tables = tables;
	shallow->n_tables = t->n_tables + 1;
	return true;
}

bool insight_own_bytes(struct insight *s, char **bytes, size_t *n, struct incore_error *e)
{
	struct trace shallow = *s->t;
	FILE *f;
	bool ok;

	*bytes = NULL;
	*n = 0;
	if (s->n_hashed != s->t->n_tracks)
		return true;
	f = open_memstream(bytes, n);
	if (!f || !add_hashes(s, &shallow)) {
		if (f)
			fclose(f);
		free(*bytes);
		*bytes = NULL;
		return err_nomem(e);
	}
	ok = packed_write_tables(&shallow, f, e);
	if (fclose(f) != 0 && ok)
		ok = err_nomem(e);
	if (!ok) {
		free(*bytes);
		*bytes = NULL;
	}
	return ok;
}
