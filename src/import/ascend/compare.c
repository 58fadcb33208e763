/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c: compares the trace that the producer derived with the exact ticks. Executions and
 * lengths are compared per instruction; the ratio of the lengths gives the clock; source lines,
 * which only the derived trace has, are copied.
 */
#include "base/hash.h"
#include "import/ascend/ascend.h"

static uint64_t row_key(const struct asc_build *b, size_t i)
{
	const struct code_row *c = &b->code.v[i];
	struct str op = b->opcodes.strs[c->opcode];

	return hash_bytes(op.p, op.n, hash_mix64(c->address) ^ (uint64_t)c->code_object << 1);
}

/* Copies the frames of a row of `from` to a row of `to`. */
static bool take_frames(struct asc_build *to, size_t i, const struct asc_build *from, size_t k)
{
	struct code_row *row = &to->code.v[i];
	const struct code_row *src = &from->code.v[k];

	if (row->n_frames || !src->n_frames)
		return true;
	row->first_frame = (uint32_t)to->frames.n;
	row->source = arena_strdup(&to->trace->arena, src->source);
	if (!row->source)
		return false;
	for (uint32_t f = 0; f < src->n_frames; f++) {
		struct frame frame = from->frames.v[src->first_frame + f];

		frame.source = intern_add(&to->sources, from->sources.strs[frame.source]);
		if (frame.source == INTERN_NONE || !VEC_PUSH(&to->frames, frame))
			return false;
		row->n_frames++;
	}
	return true;
}

struct comparison {
	uint64_t n_differ, example;
	double us, ticks;
};

static void sum_ticks(const struct asc_build *b, uint64_t *ticks)
{
	for (size_t l = 0; l < b->lanes.n; l++)
		for (size_t i = 0; i < b->lanes.v[l].recs.n; i++)
			ticks[b->lanes.v[l].recs.v[i].code] += b->lanes.v[l].recs.v[i].dur;
}

static bool compare_rows(struct asc_build *b, const struct asc_build *other, const uint64_t *ticks,
	struct comparison *c)
{
	struct u64_map at = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < other->code.n; i++) {
		uint64_t *k = u64_map_at(&at, row_key(other, i));

		ok = k != NULL;
		if (ok && *k == 0)
			*k = i + 1;
	}
	for (size_t i = 0; ok && i < b->code.n; i++) {
		uint64_t *k = u64_map_find(&at, row_key(b, i));
		const struct asc_row *row = k ? &other->rows.v[*k - 1] : NULL;

		if (!row)
			continue;
		ok = take_frames(b, i, other, (size_t)*k - 1);
		b->code.v[i].bytes = other->code.v[*k - 1].bytes;
		if (b->rows.v[i].sync != SYNC_NONE)
			continue;
		if (row->n != b->rows.v[i].n) {
			c->example = c->n_differ++ ? c->example : b->code.v[i].address;
			continue;
		}
		c->us += row->us;
		c->ticks += (double)ticks[i];
	}
	u64_map_deinit(&at);
	return ok;
}

bool asc_compare(struct asc_build *b, const struct asc_build *other, struct incore_error *e)
{
	uint64_t *ticks = mem_zalloc(b->code.n + 1, sizeof(*ticks));
	struct comparison c = {0};
	bool ok = ticks != NULL;

	if (ok) {
		sum_ticks(b, ticks);
		ok = compare_rows(b, other, ticks, &c);
	}
	mem_free(ticks);
	if (ok && c.us > 0)
		b->ratio_mhz = ascend_snap_mhz(c.ticks / c.us);
	if (ok && c.n_differ)
		ok = trace_note(b->trace, NOTE_CONTRADICTORY, "trace-differs", b->path,
			INCORE_NO_OFFSET, c.n_differ,
			"the trace beside the dumps has another number of executions for %llu instructions (0x%llx is one)",
			(unsigned long long)c.n_differ, (unsigned long long)c.example);
	return ok || err_nomem(e);
}

/* --- the same events in another file --- */

/* Do lengths of the same instruction differ by more than rounding? */
static bool is_other_length(const struct asc_row *a, const struct asc_row *c)
{
	double off = a->us > c->us ? a->us - c->us : c->us - a->us;

	return off > 0.001 * (double)a->n + 1e-6 * a->us;
}

struct row_sums {	   /* rows of one opcode at one address are summed together */
	struct u64_map at; /* key -> index + 1 of its first row, which has the sum */
	struct asc_row *v;
};

static bool sum_by_key(const struct asc_build *b, struct row_sums *s)
{
	s->v = mem_zalloc(b->code.n + 1, sizeof(*s->v));
	for (size_t i = 0; s->v && i < b->code.n; i++) {
		uint64_t *k = u64_map_at(&s->at, row_key(b, i));

		if (!k)
			return false;
		if (*k == 0)
			*k = i + 1;
		s->v[*k - 1].n += b->rows.v[i].n;
		s->v[*k - 1].us += b->rows.v[i].us;
	}
	return s->v != NULL;
}

static void row_sums_deinit(struct row_sums *s)
{
	u64_map_deinit(&s->at);
	mem_free(s->v);
}

static bool count_differences(const struct asc_build *b, const struct asc_build *other,
	bool is_same_schema, struct comparison *c)
{
	struct row_sums ours = {0}, theirs = {0};
	bool ok = sum_by_key(b, &ours) && sum_by_key(other, &theirs);

	for (size_t i = 0; ok && i < b->code.n; i++) {
		uint64_t *k = u64_map_find(&theirs.at, row_key(b, i));
		const struct asc_row *mine = &ours.v[i], *row = k ? &theirs.v[*k - 1] : NULL;

		/* only the first row of a key has the sum */
		if (b->rows.v[i].sync != SYNC_NONE || mine->n == 0 || (!row && !is_same_schema))
			continue;
		if (!row || row->n != mine->n || (is_same_schema && is_other_length(mine, row)))
			c->example = c->n_differ++ ? c->example : b->code.v[i].address;
	}
	row_sums_deinit(&ours);
	row_sums_deinit(&theirs);
	return ok;
}

bool asc_compare_copy(struct asc_build *b, const struct asc_build *other,
	const struct asc_copy *copy, struct incore_error *e)
{
	struct comparison c = {0};

	if (!count_differences(b, other, copy->is_same_schema, &c))
		return err_nomem(e);
	if (copy->is_same_schema && !c.n_differ && other->n_slices != b->n_slices)
		c.n_differ = 1;
	return !c.n_differ ||
	       trace_note(b->trace, NOTE_CONTRADICTORY, copy->note, copy->path, INCORE_NO_OFFSET,
		       c.n_differ,
		       "it has %llu slices, the source that was read has %llu; %llu instructions differ (0x%llx is one)",
		       (unsigned long long)other->n_slices, (unsigned long long)b->n_slices,
		       (unsigned long long)c.n_differ, (unsigned long long)c.example) ||
	       err_nomem(e);
}
