/* SPDX-License-Identifier: Apache-2.0 */
/* pipe_compare.c: where do two traces of one kernel differ? */
#include "analysis/pipes/pipe_compare.h"
#include "base/search.h"

#include "base/map.h"

struct comparing {
	const struct pipes *side[2];
	uint32_t *ids[2]; /* by opcode of the trace: equal names have equal numbers */
	struct intern names;
	struct pipe_compare *out;
};

/* Is it filler, in which the scalar unit only dispatches ops? Their number depends on timing. */
static bool is_filler(const char *opcode)
{
	return strcmp(opcode, "ISSUE") == 0;
}

static bool is_work(const struct pipes *p, code_idx i)
{
	return i < p->trace->n_code && pipe_kind_is_work((enum pipe_kind)p->kinds[i]) &&
	       !is_filler(p->trace->opcodes[p->trace->code[i].opcode]);
}

static bool number_opcodes(struct comparing *x, unsigned side, struct incore_error *e)
{
	const struct trace *t = x->side[side]->trace;

	x->ids[side] = mem_zalloc(t->n_opcodes ? t->n_opcodes : 1, sizeof(*x->ids[side]));
	if (!x->ids[side])
		return err_nomem(e);
	for (uint32_t i = 0; i < t->n_opcodes; i++) {
		x->ids[side][i] = intern_add(&x->names, str_of(t->opcodes[i]));
		if (x->ids[side][i] == INTERN_NONE)
			return err_nomem(e);
	}
	return true;
}

/* Finds or adds the row of that name; NULL on lack of memory. Linear search: pipes are few. */
static struct compare_row *pipe_compare_row_of(
	struct pipe_compare *c, struct str core, const char *name)
{
	struct compare_row r = {0};

	for (size_t i = 0; i < c->pipes.n; i++)
		if (str_is(core, c->pipes.v[i].core) && strcmp(name, c->pipes.v[i].name) == 0)
			return &c->pipes.v[i];
	r.core = arena_strndup(&c->arena, core.p, core.n);
	r.name = arena_strdup(&c->arena, name);
	if (!r.core || !r.name || !VEC_PUSH(&c->pipes, r))
		return NULL;
	return &c->pipes.v[c->pipes.n - 1];
}

static bool add_pipes(struct comparing *x, unsigned side, struct incore_error *e)
{
	const struct pipes *p = x->side[side];
	uint64_t begin = UINT64_MAX, end = 0;

	for (track_idx i = 0; i < p->n_tracks; i++) {
		const struct track *k = &p->trace->tracks[i];
		struct compare_row *r;

		if (!p->rows[i].is_seen || p->rows[i].role == ROLE_MARK)
			continue;
		r = pipe_compare_row_of(x->out, pipe_core_name(k), pipe_lane_name(k));
		if (!r)
			return err_nomem(e);
		r->count[side] += p->rows[i].n_work;
		r->cyc[side] += p->rows[i].busy_cyc;
	}
	for (uint32_t i = 0; i < p->n_cores; i++) {
		begin = p->cores[i].begin_cyc < begin ? p->cores[i].begin_cyc : begin;
		end = p->cores[i].end_cyc > end ? p->cores[i].end_cyc : end;
	}
	x->out->span_cyc[side] = end > begin ? end - begin : 0;
	return true;
}

static bool make_ops(struct comparing *x, struct incore_error *e)
{
	struct pipe_compare *c = x->out;

	for (uint32_t i = 0; i < x->names.n; i++) {
		struct str name = x->names.strs[i];
		struct compare_row r = {
			.core = "", .name = arena_strndup(&c->arena, name.p, name.n)};

		if (!r.name || !VEC_PUSH(&c->ops, r))
			return err_nomem(e);
	}
	for (unsigned side = 0; side < 2; side++) {
		const struct pipes *p = x->side[side];

		for (code_idx i = 0; i < p->trace->n_code; i++) {
			struct compare_row *r;

			if (!is_work(p, i))
				continue;
			r = &c->ops.v[x->ids[side][p->trace->code[i].opcode]];
			r->count[side] += p->row_totals[i].hit;
			r->cyc[side] += p->row_totals[i].latency;
		}
	}
	return true;
}

static uint64_t longer(const struct compare_row *r)
{
	return r->cyc[0] > r->cyc[1] ? r->cyc[0] : r->cyc[1];
}

static int pipe_compare_by_cycles(const void *pa, const void *pb)
{
	const struct compare_row *a = pa, *b = pb;

	if (longer(a) != longer(b))
		return longer(a) > longer(b) ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Drops names without an execution, sorts the others, compares the counts. */
static void finish_ops(struct pipe_compare *c)
{
	size_t n = 0;

	c->is_same_count = true;
	for (size_t i = 0; i < c->ops.n; i++) {
		const struct compare_row r = c->ops.v[i];

		if (!r.count[0] && !r.count[1])
			continue;
		if (r.count[0] != r.count[1])
			c->is_same_count = false;
		c->ops.v[n++] = r;
	}
	c->ops.n = n;
	SORT(c->ops.v, n, pipe_compare_by_cycles);
}

/* Moves *at to the next work instruction at or after it; false at the end. */
static bool next_work(const struct comparing *x, unsigned side, const struct track_data *d,
	uint32_t *at, uint32_t *id)
{
	const struct pipes *p = x->side[side];

	for (; *at < d->n; ++*at) {
		code_idx c = d->code[*at];

		if (!is_work(p, c))
			continue;
		*id = x->ids[side][p->trace->code[c].opcode];
		++*at;
		return true;
	}
	return false;
}

static bool compare_lane(struct comparing *x, track_idx ia, track_idx ib, struct incore_error *e)
{
	struct track_data d[2] = {{0}};
	uint32_t at[2] = {0}, id[2];
	uint64_t n = 0;
	bool ok = trace_load_track(x->side[0]->trace, ia, 0, &d[0], e) &&
		  trace_load_track(x->side[1]->trace, ib, 0, &d[1], e);

	while (ok) {
		bool has_a = next_work(x, 0, &d[0], &at[0], &id[0]);
		bool has_b = next_work(x, 1, &d[1], &at[1], &id[1]);

		if (!has_a && !has_b)
			break;
		if (has_a && has_b && id[0] == id[1]) {
			n++;
			continue;
		}
		x->out->is_same_order = false;
		x->out->order_at = n;
		x->out->order_lane =
			arena_strdup(&x->out->arena, x->side[0]->trace->tracks[ia].name);
		ok = x->out->order_lane || err_nomem(e);
		break;
	}
	track_data_deinit(&d[0]);
	track_data_deinit(&d[1]);
	return ok;
}

static bool same_name(const struct track *a, const struct track *b)
{
	return str_eq(pipe_core_name(a), pipe_core_name(b)) &&
	       strcmp(pipe_lane_name(a), pipe_lane_name(b)) == 0;
}

static bool compare_order(struct comparing *x, struct incore_error *e)
{
	const struct pipes *a = x->side[0], *b = x->side[1];

	x->out->is_same_order = x->out->is_same_count;
	for (track_idx i = 0; i < a->n_tracks; i++) {
		for (track_idx k = 0; k < b->n_tracks; k++) {
			if (!same_name(&a->trace->tracks[i], &b->trace->tracks[k]))
				continue;
			if (!compare_lane(x, i, k, e))
				return false;
			if (x->out->order_lane)
				return true;
			break;
		}
	}
	return true;
}

bool pipe_compare(const struct pipes *a, const struct pipes *b, struct pipe_compare *out,
	struct incore_error *e)
{
	struct comparing x = {.side = {a, b}, .out = out};
	bool ok;

	*out = (struct pipe_compare){0};
	arena_init(&out->arena);
	intern_init(&x.names);
	ok = number_opcodes(&x, 0, e) && number_opcodes(&x, 1, e) && add_pipes(&x, 0, e) &&
	     add_pipes(&x, 1, e) && make_ops(&x, e);
	if (ok)
		finish_ops(out);
	ok = ok && compare_order(&x, e);
	mem_free(x.ids[0]);
	mem_free(x.ids[1]);
	intern_deinit(&x.names);
	if (!ok)
		pipe_compare_deinit(out);
	return ok;
}

void pipe_compare_deinit(struct pipe_compare *c)
{
	VEC_FREE(&c->pipes);
	VEC_FREE(&c->ops);
	arena_deinit(&c->arena);
}
