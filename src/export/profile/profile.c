/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.c: where a selection's cycles went: one line per cause and row of the code. Parts: nested
 * slices of a timeline; lines.
 */
#include "export/profile/profile.h"

#include "analysis/code/hot.h"
#include "analysis/code/samples.h"
#include "analysis/pipes/pipes.h"
#include "base/map.h"
#include "base/mem.h"
#include "export/writer.h"
#include "trace/kind.h"

/* --- nested slices of a timeline -------------------------------------------------------------- */

/*
 * A timeline as a profile: the self cycles of each stack of slices. A slice of a lane lies inside
 * the slice that the lane above in its thread has at that time; its cycles are subtracted from the
 * outer slice. So the stacks of a thread add up to its outermost slices.
 */

#define NO_STACK UINT32_MAX

struct stack {
	uint32_t parent;
	code_idx code;
	uint64_t self_cyc, hits;
};

struct nesting {
	const struct export *x;
	VEC(struct stack) stacks;
	struct u64_map at; /* parent, code -> index + 1 */
	/* Stacks by slice, for the lane above and the current one; swapped after each lane. */
	VEC(uint32_t) above, here;
	struct track_data data[2];
};

static uint32_t nested_stack_of(struct nesting *g, uint32_t parent, code_idx code)
{
	uint64_t *at = u64_map_at(&g->at, (uint64_t)parent << 32 | code);

	if (!at)
		return NO_STACK;
	if (*at == 0) {
		if (g->stacks.n >= NO_STACK ||
			!VEC_PUSH(&g->stacks, (struct stack){.parent = parent, .code = code}))
			return NO_STACK;
		*at = g->stacks.n;
	}
	return (uint32_t)(*at - 1);
}

/* Adds the slices of a lane, each inside a slice of `up`, the lane above; NULL: outermost lane. */
static bool nested_add_lane(
	struct nesting *g, const struct track_data *d, const struct track_data *up)
{
	uint64_t covered = 0; /* cycles before this are already counted */
	uint32_t k = 0;

	g->here.n = 0;
	for (uint32_t i = 0; i < d->n; i++) {
		uint64_t from = d->start_cyc[i] > covered ? d->start_cyc[i] : covered;
		uint64_t end = d->start_cyc[i] + d->dur_cyc[i], up_end = end;
		uint32_t parent = NO_STACK, mine;

		while (up && k + 1 < up->n && up->start_cyc[k + 1] <= d->start_cyc[i])
			k++;
		if (up && up->n && up->start_cyc[k] <= d->start_cyc[i]) {
			parent = g->above.v[k];
			up_end = up->start_cyc[k] + up->dur_cyc[k];
		}
		end = end < up_end ? end : up_end;
		covered = end > from ? end : from;
		mine = nested_stack_of(g, parent, d->code[i]);
		if (mine == NO_STACK || !VEC_PUSH(&g->here, mine))
			return false;
		if (parent != NO_STACK)
			g->stacks.v[parent].self_cyc -= covered - from;
		g->stacks.v[mine].self_cyc += covered - from;
		g->stacks.v[mine].hits++;
	}
	return true;
}

static bool add_thread(
	struct nesting *g, track_idx first, track_idx end, struct export *x, struct incore_error *e)
{
	for (track_idx i = first; i < end; i++) {
		struct track_data *d = &g->data[i & 1], *up = &g->data[~i & 1];

		if (!trace_load_track(x->trace, i, 0, d, e))
			return false;
		if (!nested_add_lane(g, d, i > first ? up : NULL))
			return err_nomem(e);
		VEC_FREE(&g->above);
		g->above.v = g->here.v;
		g->above.n = g->here.n;
		g->above.cap = g->here.cap;
		g->here.v = NULL;
		g->here.n = g->here.cap = 0;
		x->result->n_slices += d->n;
	}
	return true;
}

static bool nested_put_lines(
	struct profile_sums *p, const struct nesting *g, struct incore_error *e)
{
	for (size_t i = 0; i < g->stacks.n; i++) {
		const struct stack *s = &g->stacks.v[i];
		struct profile_line l = {
			.code = s->code, .cause = "self", .cyc = s->self_cyc, .hits = s->hits};

		l.first_caller = (uint32_t)p->callers.n;
		for (uint32_t k = s->parent; k != NO_STACK; k = g->stacks.v[k].parent)
			if (!VEC_PUSH(&p->callers, (struct frame){g->stacks.v[k].code, 0}))
				return err_nomem(e);
		l.n_callers = (uint32_t)p->callers.n - l.first_caller;
		p->total += l.cyc;
		if (!VEC_PUSH(&p->lines, l))
			return err_nomem(e);
	}
	return true;
}

/* Adds the lines of a timeline: the self cycles of each stack of nested slices. */
static bool profile_nested(struct profile_sums *p, struct export *x, struct incore_error *e)
{
	const struct selection *s = x->options->walk.selection;
	const struct trace *t = x->trace;
	struct nesting g = {.x = x};
	bool ok = true;

	if (s && !selection_is_all(s))
		return err_set(e, INCORE_USAGE, "whole-capture",
			"%s of a timeline holds the whole timeline, whose slices are nested: leave out the options that select a part",
			x->ops->name);
	for (track_idx i = 0, end; ok && i < t->n_tracks; i = end) {
		for (end = i + 1; end < t->n_tracks &&
				  t->tracks[end].coord[0] == t->tracks[i].coord[0] &&
				  t->tracks[end].coord[1] == t->tracks[i].coord[1];)
			end++;
		ok = add_thread(&g, i, end, x, e);
	}
	x->result->n_tracks = t->n_tracks;
	ok = ok && nested_put_lines(p, &g, e);
	track_data_deinit(&g.data[0]);
	track_data_deinit(&g.data[1]);
	VEC_FREE(&g.stacks);
	VEC_FREE(&g.above);
	VEC_FREE(&g.here);
	u64_map_deinit(&g.at);
	return ok;
}

/* --- lines ------------------------------------------------------------------------------------ */

static bool export_profile_add_line(
	struct profile_sums *p, struct profile_line l, struct incore_error *e)
{
	if (!l.cyc && !l.hits)
		return true;
	p->total += l.cyc;
	return VEC_PUSH(&p->lines, l) || err_nomem(e);
}

static bool add_cells(struct profile_sums *p, struct incore_error *e)
{
	const struct causes *c = p->causes;

	for (uint32_t i = 0; i < c->n_cells; i++) {
		const struct cause_cell *x = &c->cells[i];
		const struct cause *k = &c->v[x->cause];

		if (!export_profile_add_line(p,
			    (struct profile_line){x->code, k->name, k->bucket, x->cyc, x->hits,
				    p->has_exposed && k->kind != CAUSE_ISSUE
					    ? x->cyc - x->hidden_cyc
					    : 0},
			    e))
			return false;
	}
	return true;
}

/* Adds pipes: rows by bucket, and cycles that belong to no row by lane. */
static bool export_profile_add_pipes(
	struct profile_sums *p, const struct hot *h, struct incore_error *e)
{
	for (uint32_t i = 0; i <= p->trace->n_code; i++) {
		const struct hot_sums *s = &h->rows[i];

		for (unsigned b = 0; b < BUCKET_COUNT; b++) {
			struct profile_line l = {i < p->trace->n_code ? i : NO_CODE,
				bucket_name((enum bucket)b), (enum bucket)b, s->bucket[b],
				b == BUCKET_ISSUE ? s->totals.hit : 0};

			if (!export_profile_add_line(p, l, e))
				return false;
		}
	}
	for (uint32_t i = 0; i < p->causes->n; i++) {
		const struct cause *k = &p->causes->v[i];

		if ((k->bucket == BUCKET_IDLE || k->bucket == BUCKET_DRAIN) &&
			!export_profile_add_line(p,
				(struct profile_line){NO_CODE, k->name, k->bucket, k->cyc, 0}, e))
			return false;
	}
	return true;
}

static bool export_profile_walk_pipes(
	struct profile_sums *p, struct export *x, struct hot *h, struct incore_error *e)
{
	struct pipes *k = pipes_new(p->trace, e);
	struct collector a = hot_collector(h), b;
	const struct collector *list[] = {&a, &b};
	bool ok;

	if (!k)
		return false;
	b = pipes_collector(k);
	ok = export_walk(x, list, 2, e) && pipes_finish(k, e) &&
	     pipes_fill_causes(k, p->causes, e) && export_profile_add_pipes(p, h, e);
	pipes_free(k);
	return ok;
}

static bool walk_waves(
	struct profile_sums *p, struct export *x, struct hot *h, struct incore_error *e)
{
	struct collector a = hot_collector(h), b = causes_collector(p->causes);
	const struct collector *list[] = {&a, &b};

	return export_walk(x, list, 2, e) && causes_finish(p->causes, e) && add_cells(p, e);
}

static bool walk_profile(struct profile_sums *p, struct export *x, struct incore_error *e)
{
	struct hot *h = hot_new(p->trace);
	bool ok;

	if (!h)
		return err_nomem(e);
	ok = p->kind == KIND_PIPES ? export_profile_walk_pipes(p, x, h, e) : walk_waves(p, x, h, e);
	x->result->n_slices += h->n_instructions;
	hot_free(h);
	return ok;
}

static bool add_samples(struct profile_sums *p, struct incore_error *e)
{
	const struct trace *t = p->trace;

	p->unit = "samples";
	for (code_idx i = 0; i < t->n_code; i++) {
		const struct reason_count *r = trace_reasons_of(t, i);
		uint64_t left = t->samples[i].stalled, n = t->samples[i].issued;

		if (t->code[i].is_label)
			continue; /* not counted by any verb */
		if (!export_profile_add_line(
			    p, (struct profile_line){i, "issued", BUCKET_ISSUE, n, n}, e))
			return false;
		for (uint32_t k = 0; k < t->n_reasons; k++) {
			n = r[k].all < left ? r[k].all : left;
			left -= n;
			if (!export_profile_add_line(p,
				    (struct profile_line){i, t->reasons[k], BUCKET_STALL, n, n}, e))
				return false;
		}
		if (!export_profile_add_line(
			    p, (struct profile_line){i, "stalled", BUCKET_STALL, left, left}, e))
			return false;
	}
	return true;
}

/* Adds the totals that the producer states for each row, if there are neither tracks nor
 * samples. */
static bool export_profile_add_stated(struct profile_sums *p, struct incore_error *e)
{
	for (code_idx i = 0; i < p->trace->n_code; i++) {
		const struct code_totals *s = &p->trace->code[i].stated;

		if (!export_profile_add_line(p,
			    (struct profile_line){
				    i, "stated latency", BUCKET_ISSUE, s->latency, s->hit},
			    e) ||
			!export_profile_add_line(p,
				(struct profile_line){i, "stated idle", BUCKET_IDLE, s->idle, 0},
				e))
			return false;
	}
	return true;
}

/* Finds when each SIMD issued, by a walk over all waves: waves of a SIMD hide each other's
 * losses. */
static bool export_profile_find_busy(
	struct profile_sums *p, const struct export *x, struct incore_error *e)
{
	const struct trace *t = p->trace;

	p->has_exposed = trace_has_exposed_samples(t);
	if (!t->n_tracks || p->kind == KIND_PIPES || p->is_nested)
		return true;
	p->busy = busy_new(t, e);
	if (!p->busy || !busy_walk(p->busy, &x->options->walk, e))
		return false;
	p->has_exposed = p->busy->has_groups;
	return true;
}

static bool collect_lines(struct profile_sums *p, struct export *x, struct incore_error *e)
{
	const struct trace *t = p->trace;

	if (!export_profile_find_busy(p, x, e))
		return false;
	p->causes = causes_new(t, p->busy, CAUSES_ROWS, e);
	if (!p->causes)
		return false;
	if (p->is_nested)
		return profile_nested(p, x, e);
	if (t->n_tracks)
		return walk_profile(p, x, e);
	if (p->kind == KIND_SAMPLES)
		return samples_fill_causes(p->causes, e) && add_cells(p, e);
	return t->samples ? add_samples(p, e) : export_profile_add_stated(p, e);
}

static void profile_free(struct profile_sums *p)
{
	if (!p)
		return;
	causes_free(p->causes);
	busy_free(p->busy);
	VEC_FREE(&p->lines);
	VEC_FREE(&p->callers);
	sb_free(&p->text);
	mem_free(p);
}

/* Walks the selection of an export. NULL with *e filled on failure. */
static struct profile_sums *profile_new(struct export *x, struct incore_error *e)
{
	struct profile_sums *p = mem_zalloc(1, sizeof(*p));

	if (!p)
		return err_nomem_null(e);
	p->trace = x->trace;
	p->kind = trace_kind(x->trace);
	p->is_nested = p->kind == KIND_TIMELINE;
	p->unit = "cycles";
	if (collect_lines(p, x, e))
		return p;
	profile_free(p);
	return NULL;
}

/* Walks the selection of an export. NULL with *e filled on failure. */
const char *profile_kernel(const struct profile_sums *p)
{
	return p->trace->meta.kernel ? p->trace->meta.kernel : "kernel";
}

struct str profile_instruction(const struct profile_sums *p, const struct profile_line *l)
{
	const struct code_row *r;

	if (l->code >= p->trace->n_code)
		return STR("(unknown)");
	r = &p->trace->code[l->code];
	return (struct str){r->text, r->text_len};
}

const struct frame *profile_frames(
	const struct profile_sums *p, const struct profile_line *l, uint32_t *n)
{
	const struct trace *t = p->trace;

	if (p->is_nested) {
		*n = l->n_callers;
		return *n ? &p->callers.v[l->first_caller] : NULL;
	}
	*n = l->code < t->n_code ? t->code[l->code].n_frames : 0;
	return *n ? &t->frames[t->code[l->code].first_frame] : NULL;
}

const char *profile_path(const struct profile_sums *p, const struct frame *f)
{
	return f->source < p->trace->n_sources && !p->is_nested ? p->trace->sources[f->source].path
								: "";
}

const char *profile_frame_name(struct profile_sums *p, const struct frame *f)
{
	sb_reset(&p->text);
	if (p->is_nested)
		sb_puts(&p->text, p->trace->code[f->source].text);
	else
		sb_printf(&p->text, "%s:%u", path_base(profile_path(p, f)), f->line);
	return p->text.failed ? NULL : p->text.p;
}

/* --- common to all formats --- */

static uint64_t export_profile_weight_of(const struct profile_line *l, enum export_weight weight)
{
	return weight == WEIGHT_EXPOSED ? l->exposed : l->bucket == BUCKET_ISSUE ? 0 : l->cyc;
}

/* Keeps only the cycles of the given weight, and the lines that have any. */
static bool export_profile_weigh(
	struct profile_sums *p, enum export_weight weight, struct incore_error *e)
{
	const struct trace *t = p->trace;
	bool has_lost = (t->n_tracks && !p->is_nested) || t->samples;
	size_t n = 0;

	if (weight == WEIGHT_CYCLES)
		return true;
	if (weight == WEIGHT_EXPOSED ? !p->has_exposed : !has_lost)
		return err_set(e, INCORE_USAGE, "bad-option",
			"--weight %s: this capture does not tell %s",
			weight == WEIGHT_EXPOSED ? "exposed" : "lost",
			weight == WEIGHT_EXPOSED ? "which lost cycles other waves hid"
						 : "which cycles were lost");
	p->unit = weight == WEIGHT_EXPOSED	    ? "exposed cycles"
		  : strcmp(p->unit, "samples") == 0 ? "lost samples"
						    : "lost cycles";
	p->total = 0;
	for (size_t i = 0; i < p->lines.n; i++) {
		struct profile_line l = p->lines.v[i];

		l.cyc = export_profile_weight_of(&l, weight);
		p->total += l.cyc;
		if (l.cyc)
			p->lines.v[n++] = l;
	}
	p->lines.n = n;
	return true;
}

bool profile_begin(struct export *x, struct incore_error *e)
{
	x->state = profile_new(x, e);
	return x->state && export_profile_weigh(x->state, x->options->weight, e) &&
	       export_cut(
		       x, "times of instructions", "a profile holds sums", x->result->n_slices, e);
}

void profile_end(struct export *x)
{
	profile_free(x->state);
	x->state = NULL;
}
