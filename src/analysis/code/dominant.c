/* SPDX-License-Identifier: Apache-2.0 */
/* dominant.c: sums the losses of the instructions of a line by cause and by type. */
#include "analysis/code/dominant.h"

#include "analysis/code/flydsl_hotspot.h"
#include "base/map.h"
#include "base/mem.h"
#include "trace/kind.h"

struct type_sums {
	uint64_t stall[FLYDSL_TYPE_COUNT];
	uint8_t order[FLYDSL_TYPE_COUNT]; /* the types with stall, as they came */
	uint8_t n;
};

struct dominants {
	const struct hot *h;
	struct arena *a;
	struct dominant *v;
	struct intern lines, names;
	struct u64_map cycles;	 /* (line, name) -> lost cycles */
	struct type_sums *types; /* by line */
};

static bool add_loss(struct dominants *d, uint32_t line, const struct hot_loss *loss)
{
	uint32_t name;
	uint64_t *at;

	if (!loss->cyc || !loss->name[0])
		return true;
	name = intern_add(&d->names, str_of(loss->name));
	at = name == INTERN_NONE ? NULL : u64_map_at(&d->cycles, (uint64_t)line << 32 | name);
	if (!at)
		return false;
	*at += loss->cyc;
	d->v[line].lost_cyc += loss->cyc;
	if (*at <= d->v[line].cause_cyc)
		return true;
	d->v[line].cause_cyc = *at;
	d->v[line].cause = d->names.strs[name].p;
	return true;
}

static void add_type(struct dominants *d, uint32_t line, code_idx i)
{
	const struct code_row *r = &d->h->trace->code[i];
	uint64_t stall = d->h->rows[i].totals.stall;
	struct type_sums *s = &d->types[line];
	enum flydsl_type type;

	if (!stall)
		return;
	type = flydsl_type_of((struct str){r->text, r->text_len});
	if (!s->stall[type])
		s->order[s->n++] = (uint8_t)type;
	s->stall[type] += stall;
	d->v[line].stall_cyc += stall;
}

static bool add_row(
	struct dominants *d, const struct producer_edge *edge, code_idx i, uint32_t line)
{
	const struct trace *t = d->h->trace;
	struct hot_group row = {.code = i, .sums = d->h->rows[i]};
	bool is_wave = trace_kind(t) != KIND_PIPES && trace_kind(t) != KIND_SAMPLES;
	struct hot_loss loss;

	if (i < t->n_code && t->meta.gfx_major)
		add_type(d, line, i);
	if (!is_wave) {
		loss = hot_loss(d->h, &row, edge);
		return add_loss(d, line, &loss);
	}
	for (unsigned b = BUCKET_STALL; b < BUCKET_COUNT; b++) {
		loss = hot_loss_in(d->h, &row, edge, (enum bucket)b);
		if (!add_loss(d, line, &loss))
			return false;
	}
	return true;
}

static bool add_rows(struct dominants *d, const struct producer_edge *const *edge_of)
{
	const struct trace *t = d->h->trace;

	for (code_idx i = 0; i <= t->n_code; i++) {
		struct str line = i < t->n_code ? hot_line_of(&t->code[i]) : STR("<unknown>");
		uint32_t k = intern_find(&d->lines, line);

		if ((i < t->n_code && t->code[i].is_label) || k == INTERN_NONE)
			continue;
		if (!add_row(d, i < t->n_code ? edge_of[i] : NULL, i, k))
			return false;
	}
	return true;
}

/* Of equal types the first one counts, as in the script. Names move to the caller's arena. */
static bool choose(struct dominants *d, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		const struct type_sums *s = &d->types[k];

		for (uint8_t i = 0; i < s->n; i++)
			if (s->stall[s->order[i]] > d->v[k].type_stall_cyc) {
				d->v[k].type_stall_cyc = s->stall[s->order[i]];
				d->v[k].type = flydsl_type_name((enum flydsl_type)s->order[i]);
			}
		if (d->v[k].cause)
			d->v[k].cause = arena_strdup(d->a, d->v[k].cause);
		if (d->v[k].cause_cyc && !d->v[k].cause)
			return false;
	}
	return true;
}

bool dominants_make(const struct hot *h, const struct producer_edge *const *edge_of,
	const struct hot_group *groups, uint32_t n, struct arena *a, struct dominant **out,
	struct incore_error *e)
{
	struct dominants d = {.h = h, .a = a};
	bool ok;

	intern_init(&d.lines);
	intern_init(&d.names);
	d.v = arena_zalloc(a, (size_t)n + 1, sizeof(*d.v));
	d.types = mem_zalloc((size_t)n + 1, sizeof(*d.types));
	ok = d.v && d.types;
	for (uint32_t i = 0; ok && i < n; i++)
		ok = intern_add(&d.lines, str_of(groups[i].key)) == i;
	ok = ok && add_rows(&d, edge_of) && choose(&d, n);
	mem_free(d.types);
	u64_map_deinit(&d.cycles);
	intern_deinit(&d.names);
	intern_deinit(&d.lines);
	*out = d.v;
	return ok || err_nomem(e);
}
