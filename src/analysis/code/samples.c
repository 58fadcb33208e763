/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.c: PC samples as cycles, causes and edges to the instructions that were waited for.
 * Divisions: waits known from the code alone; samples.
 */
#include "analysis/code/samples.h"

#include <math.h>
#include <stdio.h>

#include "analysis/code/static_waits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

/* --- waits known from the code alone ---------------------------------------------------------- */

#define NO_LIMIT 255u
#define MOST_ROWS 16384u /* rows that a search goes back */
#define MOST_WAYS 2u	 /* predecessors of a block, when searching for the wait before it */

struct samples_path { /* a backward path that enters a block at its end */
	uint32_t block;
	uint8_t skip;  /* newest instances that may still be outstanding */
	uint8_t limit; /* most instances that can be outstanding: an earlier wait let no more
			  pass */
};

struct samples_search {
	const struct cfg *g;
	struct amd_wait_tables amd;
	unsigned counter;
	bool is_first_only; /* a path ends at the first instance it finds */
	struct samples_path queue[STATIC_WAITS_STEPS];
	uint32_t n_queue, rows_left;
	struct u64_map seen;
	code_idx found[STATIC_WAITS_MOST];
	uint32_t n_found;
	VEC(struct code_link) links;
	uint32_t reason;
};

static void add_found(struct samples_search *s, code_idx row)
{
	for (uint32_t i = 0; i < s->n_found; i++)
		if (s->found[i] == row)
			return;
	if (s->n_found < STATIC_WAITS_MOST)
		s->found[s->n_found++] = row;
}

/* Walks back from position `end` of a block to its start; false if the path ends before that. */
static bool walk_block(struct samples_search *s, struct samples_path *p, uint32_t end)
{
	const unsigned c = s->counter;

	for (uint32_t i = end; i-- > s->g->blocks[p->block].first && s->rows_left; s->rows_left--) {
		const struct amd_wait_row *r = &s->amd.row[s->g->rows[i]];

		if (!(r->counters >> c & 1))
			continue;
		if (r->role == AMD_ROLE_WAIT) {
			p->limit = r->value[c] < p->limit ? r->value[c] : p->limit;
		} else if (r->role == AMD_ROLE_PRODUCER) {
			if (p->skip < r->value[c]) {
				add_found(s, s->g->rows[i]);
				p->skip = 0;
				if (s->is_first_only)
					return false;
			} else {
				p->skip = (uint8_t)(p->skip - r->value[c]);
			}
			if (p->limit != NO_LIMIT)
				p->limit = (uint8_t)(p->limit > r->value[c] ? p->limit - r->value[c]
									    : 0);
		}
		if (p->limit <= p->skip)
			return false;
	}
	return s->rows_left;
}

static bool push_before(struct samples_search *s, const struct samples_path *p)
{
	const struct cfg_block *b = &s->g->blocks[p->block];

	for (uint32_t k = 0; k < b->n_preds; k++) {
		uint32_t from = s->g->preds[b->first_pred + k];
		uint64_t *at = u64_map_at(
			&s->seen, (uint64_t)from << 16 | (unsigned)p->skip << 8 | p->limit);

		if (!at)
			return false;
		if (!*at && s->n_queue < STATIC_WAITS_STEPS)
			s->queue[s->n_queue++] = (struct samples_path){from, p->skip, p->limit};
		*at = 1;
	}
	return true;
}

static uint32_t samples_place_of(const struct cfg *g, code_idx row)
{
	const struct cfg_block *b = &g->blocks[g->block_of[row]];

	for (uint32_t i = b->first; i < b->first + b->n; i++)
		if (g->rows[i] == row)
			return i;
	return b->first;
}

/* Finds who raised the counter before the row, except the newest `skip`. */
static bool search_back(struct samples_search *s, code_idx row, unsigned skip, bool is_first_only)
{
	struct samples_path p = {s->g->block_of[row], (uint8_t)skip, NO_LIMIT};
	bool ok = true;

	s->n_queue = s->n_found = 0;
	s->rows_left = MOST_ROWS;
	s->is_first_only = is_first_only;
	if (walk_block(s, &p, samples_place_of(s->g, row)))
		ok = push_before(s, &p);
	for (uint32_t q = 0; ok && q < s->n_queue; q++) {
		p = s->queue[q];
		if (walk_block(s, &p, s->g->blocks[p.block].first + s->g->blocks[p.block].n))
			ok = push_before(s, &p);
	}
	u64_map_deinit(&s->seen);
	return ok;
}

/* Do all found instructions return in the order of issue? */
static bool is_in_order(const struct samples_search *s)
{
	for (uint32_t i = 0; i < s->n_found; i++)
		if (s->amd.row[s->found[i]].order != s->amd.row[s->found[0]].order ||
			amd_order_is_free((enum amd_order)s->amd.row[s->found[i]].order))
			return false;
	return true;
}

/* Turns the candidates of a wait row into links of the sampled row. */
static bool link_wait(struct samples_search *s, code_idx sampled, code_idx wait)
{
	const struct amd_wait_row *r = &s->amd.row[wait];

	for (unsigned c = 0; c < AMD_COUNTERS; c++) {
		if (!(r->counters >> c & 1))
			continue;
		s->counter = c;
		if (!search_back(s, wait, 0, false))
			return false;
		if (s->n_found && is_in_order(s) && !search_back(s, wait, r->value[c], true))
			return false;
		for (uint32_t i = 0; i < s->n_found; i++)
			if (!VEC_PUSH(&s->links, (struct code_link){sampled, s->found[i],
							 CODE_LINK_COUNT, s->reason}))
				return false;
	}
	return true;
}

/* Links the nearest wait with a producer before position `end` of a block, else on the paths that
 * lead to it. */
static bool link_before(
	struct samples_search *s, code_idx sampled, uint32_t block, uint32_t end, unsigned left)
{
	const struct cfg_block *b = &s->g->blocks[block];
	const size_t before = s->links.n;

	for (uint32_t i = end; i-- > b->first && left; left--) {
		if (s->amd.role[s->g->rows[i]] == AMD_ROLE_WAIT &&
			!link_wait(s, sampled, s->g->rows[i]))
			return false;
		if (s->links.n > before)
			return true;
	}
	for (uint32_t k = 0; left && k < b->n_preds && k < MOST_WAYS; k++) {
		uint32_t from = s->g->preds[b->first_pred + k];

		if (!link_before(s, sampled, from, s->g->blocks[from].first + s->g->blocks[from].n,
			    left))
			return false;
	}
	return true;
}

static bool link_row(struct samples_search *s, code_idx row)
{
	size_t before = s->links.n;

	if (s->amd.role[row] == AMD_ROLE_WAIT && !link_wait(s, row, row))
		return false;
	return s->links.n > before || link_before(s, row, s->g->block_of[row],
					      samples_place_of(s->g, row), STATIC_WAITS_SKID);
}

ORDER(compare_links, struct code_link, UP(row) UP(kind) UP(to))

static bool keep_links(struct static_waits *w, struct samples_search *s)
{
	SORT(s->links.v, s->links.n, compare_links);
	w->links = arena_zalloc(&w->arena, s->links.n + 1, sizeof(*w->links));
	for (size_t i = 0; w->links && i < s->links.n; i++)
		if (!w->n_links || compare_links(&w->links[w->n_links - 1], &s->links.v[i]) != 0)
			w->links[w->n_links++] = s->links.v[i];
	return w->links != NULL;
}

/* Rows of a block run equally often; issued samples per row of the block estimate how often. */
static bool weigh_rows(struct static_waits *w, const struct cfg *g)
{
	const struct trace *t = g->trace;
	uint64_t *weight = arena_zalloc(&w->arena, (size_t)t->n_code + 1, sizeof(*weight));

	for (uint32_t b = 0; weight && b < g->n_blocks; b++) {
		const code_idx *row = &g->rows[g->blocks[b].first];
		uint64_t issued = 1;

		for (uint32_t i = 0; i < g->blocks[b].n; i++)
			issued += t->samples[row[i]].issued >> 16 ? UINT16_MAX
								  : t->samples[row[i]].issued;
		for (uint32_t i = 0; i < g->blocks[b].n; i++)
			weight[row[i]] = (issued * 1024 + g->blocks[b].n - 1) / g->blocks[b].n;
	}
	w->weight = weight;
	return weight != NULL;
}

static uint32_t reason_named(const struct trace *t, const char *name)
{
	for (uint32_t k = 0; k < t->n_reasons; k++)
		if (strcmp(t->reasons[k], name) == 0)
			return k;
	return NO_REASON;
}

/* At a barrier a wave waits for the other waves there. */
static bool link_barrier(struct samples_search *s, code_idx row, uint32_t reason)
{
	return reason == NO_REASON || !trace_reasons_of(s->g->trace, row)[reason].all ||
	       VEC_PUSH(&s->links, (struct code_link){row, row, CODE_LINK_BARRIER, reason});
}

static bool samples_find_links(struct static_waits *w, struct samples_search *s)
{
	const struct cfg *g = s->g;
	const uint32_t barrier = reason_named(g->trace, "barrier");

	if (!amd_wait_tables(&w->arena, g->trace, &s->amd))
		return false;
	for (uint32_t i = 0; i < g->n_rows; i++) {
		code_idx row = g->rows[i];

		if (!link_barrier(s, row, barrier) ||
			(trace_reasons_of(g->trace, row)[s->reason].all && !link_row(s, row)))
			return false;
	}
	return keep_links(w, s) && weigh_rows(w, g);
}

bool static_waits_find(struct static_waits *w, const struct trace *t, struct incore_error *e)
{
	struct cfg g = {0};
	struct samples_search *s;
	bool ok;

	*w = (struct static_waits){0};
	arena_init(&w->arena);
	if (!t->samples || t->meta.vendor != VENDOR_AMD || reason_named(t, "waitcnt") == NO_REASON)
		return true;
	if (!cfg_build(&g, t, e))
		return false;
	s = mem_zalloc(1, sizeof(*s));
	if (s) {
		s->g = &g;
		s->reason = reason_named(t, "waitcnt");
	}
	ok = s && samples_find_links(w, s);
	if (s)
		VEC_FREE(&s->links);
	mem_free(s);
	cfg_deinit(&g);
	if (!ok)
		static_waits_deinit(w);
	return ok || err_nomem(e);
}

void static_waits_deinit(struct static_waits *w)
{
	arena_deinit(&w->arena);
	*w = (struct static_waits){0};
}

const struct code_link *static_waits_of(const struct static_waits *w, code_idx row, uint32_t *n)
{
	uint32_t lo = 0, hi = w->n_links, end;

	BISECT(lo, hi, i, w->links[i].row < row);
	for (end = lo; end < w->n_links && w->links[end].row == row; end++)
		;
	*n = end - lo;
	return w->links + lo;
}

/* --- samples ---------------------------------------------------------------------------------- */

#define WAIT(family) CAUSE_WAIT, BUCKET_WAIT, family
#define PIPE_STALL(family) CAUSE_PIPE_STALL, BUCKET_STALL, family, "pipe-stall:*"
static const struct sample_cause table[] = {
	/* AMD, stochastic PC sampling */
	{"none", CAUSE_GAP, BUCKET_IDLE, FAMILY_ARBITER, "gap:other", WHY_UNKNOWN},
	{"fetch", CAUSE_BRANCH, BUCKET_IDLE, FAMILY_FETCH, "gap:branch", WHY_FETCH},
	{"alu-dependency", PIPE_STALL(FAMILY_DEPENDENCY), WHY_REGISTER, true},
	{"waitcnt", WAIT(FAMILY_MEMORY), "wait:*", WHY_WORDS, false, true},
	{"internal", CAUSE_NOP_PADDING, BUCKET_STALL, FAMILY_SCHEDULING, "nop-padding", WHY_HAZARD},
	{"arbiter", PIPE_STALL(FAMILY_ARBITER), WHY_OTHER_WAVE, true},
	{"pipe", PIPE_STALL(FAMILY_PIPE), WHY_QUEUE, true},
	{"other-wait", CAUSE_GAP, BUCKET_IDLE, FAMILY_ARBITER, "gap:other", WHY_UNKNOWN},
	{"sleep", CAUSE_SLEEP, BUCKET_WAIT, FAMILY_SYNC, "sleep", WHY_WORDS},
	/* both */
	{"barrier", CAUSE_BARRIER, BUCKET_WAIT, FAMILY_SYNC, "barrier", WHY_WORDS, false, true},
	/* NVIDIA, warp stall reasons, as the metrics of Nsight Compute spell them */
	{"long_scoreboard", WAIT(FAMILY_MEMORY), "wait:*", WHY_WORDS, false, true},
	{"short_scoreboard", WAIT(FAMILY_MEMORY), "wait:*", WHY_WORDS, false, true},
	{"gmma", WAIT(FAMILY_PIPE), "wait:MATRIX", WHY_WORDS, false, true},
	{"warpgroup_arrive", WAIT(FAMILY_PIPE), "wait:MATRIX", WHY_WORDS, false, true},
	{"membar", WAIT(FAMILY_MEMORY), "wait:VMEM-store", WHY_WORDS},
	{"imc_miss", WAIT(FAMILY_SCALAR), "wait:SMEM", WHY_WORDS},
	{"sleeping", CAUSE_SLEEP, BUCKET_WAIT, FAMILY_SYNC, "sleep", WHY_WORDS},
	{"wait", CAUSE_NOP_PADDING, BUCKET_STALL, FAMILY_SCHEDULING, "fixed-latency", WHY_REGISTER,
		false, true},
	{"math_pipe_throttle", PIPE_STALL(FAMILY_PIPE), WHY_OTHER_WAVE, true},
	{"mio_throttle", PIPE_STALL(FAMILY_PIPE), WHY_QUEUE, true},
	{"lg_throttle", PIPE_STALL(FAMILY_MEMORY), WHY_QUEUE, true},
	{"tex_throttle", PIPE_STALL(FAMILY_MEMORY), WHY_QUEUE, true},
	{"dispatch_stall", CAUSE_PIPE_STALL, BUCKET_STALL, FAMILY_ARBITER, "dispatch",
		WHY_OWN_PIPE},
	{"branch_resolving", CAUSE_BRANCH, BUCKET_IDLE, FAMILY_FETCH, "gap:branch", WHY_FETCH},
	{"no_instructions", CAUSE_BRANCH, BUCKET_IDLE, FAMILY_FETCH, "gap:fetch", WHY_FETCH},
	{"not_selected", CAUSE_GAP, BUCKET_IDLE, FAMILY_ARBITER, "not-selected", WHY_OTHER_WAVE},
	{"misc", CAUSE_GAP, BUCKET_IDLE, FAMILY_ARBITER, "gap:other", WHY_UNKNOWN},
	{"drain", CAUSE_DRAIN, BUCKET_DRAIN, FAMILY_MEMORY, "drain", WHY_WORDS},
};
#undef WAIT
#undef PIPE_STALL

const struct sample_cause *sample_cause_of(const char *reason)
{
	static const struct sample_cause other = {
		"", CAUSE_GAP, BUCKET_IDLE, FAMILY_ARBITER, "gap:other", WHY_UNKNOWN};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].reason[0] == reason[0] && strcmp(table[i].reason, reason) == 0)
			return &table[i];
	return &other;
}

void sample_cause_name(const struct sample_cause *x, const char *of, char name[40])
{
	size_t n = strcspn(x->name, "*");

	snprintf(name, 40, "%.*s%s", (int)n, x->name, x->name[n] ? of : "");
}

void samples_add_buckets(
	const struct trace *t, code_idx i, uint64_t bucket[BUCKET_COUNT], uint64_t *exposed)
{
	const struct reason_count *r = trace_reasons_of(t, i);

	bucket[BUCKET_ISSUE] += t->samples[i].issued * t->sampling.period_cyc;
	for (uint32_t k = 0; k < t->n_reasons; k++) {
		if (!r[k].all)
			continue;
		bucket[sample_cause_of(t->reasons[k])->bucket] += r[k].all * t->sampling.period_cyc;
		*exposed += r[k].not_issued;
	}
}

double samples_error_pct(uint64_t n)
{
	return n ? 100 / sqrt((double)n) : NAN;
}

uint32_t samples_main_reason(const struct trace *t, const struct reason_count *counts)
{
	uint32_t best = NO_REASON;
	uint64_t most = 0;

	for (uint32_t k = 0; k < t->n_reasons; k++) {
		uint64_t n = t->sampling.has_not_issued ? counts[k].not_issued : counts[k].all;

		if (n > most) {
			most = n;
			best = k;
		}
	}
	return best;
}

/* --- who was waited for --------------------------------------------------------------------- */

/* The part of the samples of one reason on one row that is due to one producer. */
struct samples_share {
	code_idx row, producer; /* producer NO_CODE: unknown, or the reason names none */
	uint32_t reason;	/* NO_REASON: samples that issued */
	struct reason_count n;
	bool is_shared; /* shared with other candidates */
};
typedef bool (*share_fn)(void *ctx, const struct samples_share *s);

/* Samples that issued have no reason. A warp that waits for asynchronous matrix work is sampled
 * with the reason for barriers; the producer tells them apart. */
static const struct sample_cause *cause_of_share(
	const struct trace *t, const struct samples_share *s)
{
	static const struct sample_cause issue = {
		"", CAUSE_ISSUE, BUCKET_ISSUE, FAMILY_USEFUL, "issue:*", WHY_WORDS, true};
	const struct sample_cause *x =
		s->reason == NO_REASON ? &issue : sample_cause_of(t->reasons[s->reason]);
	bool is_matrix = s->producer != NO_CODE && s->producer != s->row &&
			 t->code[s->producer].inst_class == CLASS_MATRIX;

	return x->kind == CAUSE_BARRIER && is_matrix ? sample_cause_of("gmma") : x;
}

/* Links from rows to possible producers: made by the importer from the code bytes, or, for AMD,
 * from the text. */
struct samples_blame {
	const struct trace *t;
	struct static_waits amd;
	share_fn fn;
	void *ctx;
};

static const struct code_link *links_of(const struct samples_blame *b, code_idx row, uint32_t *n)
{
	return b->t->n_code_links ? trace_links_of(b->t, row, n) : static_waits_of(&b->amd, row, n);
}

static uint64_t weight_of(const struct samples_blame *b, code_idx i, bool by_hits)
{
	return by_hits ? b->t->code[i].stated.hit : b->amd.weight ? b->amd.weight[i] : 1;
}

/* One part of n things split by weight; all parts add up to n. */
static uint64_t samples_part_of(uint64_t n, double before, double weight, double whole)
{
	double end = (double)n * ((before + weight) / whole), begin = (double)n * (before / whole);
	uint64_t last = before + weight >= whole ? n : (uint64_t)end;

	return last - (begin < (double)last ? (uint64_t)begin : last);
}

/* Candidates share by how often they were executed; if that is unknown, equally. */
static bool each_candidate(const struct samples_blame *b, struct samples_share s,
	const struct code_link *links, uint32_t n)
{
	const struct trace *t = b->t;
	struct reason_count all = s.n;
	double whole = 0, before = 0; /* counts in a file may be anything: their sum must not
					 wrap */
	uint32_t n_used = 0;
	bool by_hits = false;

	for (uint32_t i = 0; i < n; i++)
		by_hits |= t->code[links[i].to].stated.hit > 0;
	for (uint32_t i = 0; i < n; i++) {
		whole += (double)weight_of(b, links[i].to, by_hits);
		n_used += weight_of(b, links[i].to, by_hits) > 0;
	}
	s.is_shared = n_used > 1;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t w = weight_of(b, links[i].to, by_hits);

		s.producer = links[i].to;
		s.n.all = samples_part_of(all.all, before, (double)w, whole);
		s.n.not_issued = samples_part_of(all.not_issued, before, (double)w, whole);
		before += (double)w;
		if (w && (s.n.all || s.n.not_issued) && !b->fn(b->ctx, &s))
			return false;
	}
	return true;
}

static bool each_share_of_row(const struct samples_blame *b, code_idx row)
{
	const struct trace *t = b->t;
	const struct reason_count *counts = trace_reasons_of(t, row);
	uint32_t n_links;
	const struct code_link *links = links_of(b, row, &n_links);
	struct samples_share issued = {row, NO_CODE, NO_REASON, {t->samples[row].issued, 0}, false};

	if (issued.n.all && !b->fn(b->ctx, &issued))
		return false;
	for (uint32_t k = 0; k < t->n_reasons; k++) {
		struct samples_share s = {row, NO_CODE, k, counts[k], false};
		struct code_link of_reason[64];
		uint32_t n = 0;
		bool names;

		if (!counts[k].all)
			continue;
		names = sample_cause_of(t->reasons[k])->has_producer;
		for (uint32_t i = 0; names && i < n_links && n < 64; i++)
			if (links[i].reason == k)
				of_reason[n++] = links[i];
		if (!(n ? each_candidate(b, s, of_reason, n) : b->fn(b->ctx, &s)))
			return false;
	}
	return true;
}

static bool each_share(const struct trace *t, share_fn fn, void *ctx, struct incore_error *e)
{
	struct samples_blame b = {.t = t, .fn = fn, .ctx = ctx};
	bool ok = true;

	if (!static_waits_find(&b.amd, t, e))
		return false;
	for (code_idx i = 0; ok && i < t->n_code; i++)
		ok = each_share_of_row(&b, i);
	static_waits_deinit(&b.amd);
	return ok || err_nomem(e);
}

/* --- causes --------------------------------------------------------------------------------- */

#define MAX_CAUSES 192u /* three kinds by class, and the single ones */

struct causes_fill {
	struct causes *c;
	const struct trace *t;
	VEC(struct cause_cell) cells;
};

static enum cause_family family_of_class(enum inst_class k)
{
	switch (k) {
	case CLASS_LDS_XLANE:
		return FAMILY_CROSS_LANE;
	case CLASS_SMEM:
	case CLASS_SALU:
	case CLASS_MSG:
		return FAMILY_SCALAR;
	case CLASS_VALU:
	case CLASS_TRANS:
		return FAMILY_DEPENDENCY;
	case CLASS_MATRIX:
		return FAMILY_PIPE;
	case CLASS_BARRIER:
	case CLASS_WAIT:
		return FAMILY_SYNC;
	default:
		return FAMILY_MEMORY;
	}
}

/* "wait:VMEM-load", "pipe-stall:VALU", "barrier". */
static struct cause name_share(const struct trace *t, const struct samples_share *s, char name[40])
{
	const struct sample_cause *x = cause_of_share(t, s);
	enum inst_class k = (enum inst_class)t->code[s->row].inst_class;
	struct cause out = {.kind = x->kind, .bucket = x->bucket, .family = x->family};

	if (x->kind == CAUSE_WAIT && x->has_producer && s->producer != NO_CODE) {
		k = (enum inst_class)t->code[s->producer].inst_class;
		out.family = strchr(x->name, '*') ? family_of_class(k) : x->family;
	}
	out.inst_class = k;
	sample_cause_name(
		x, x->has_class || s->producer != NO_CODE ? class_name(k) : "(unknown)", name);
	return out;
}

static uint32_t find_cause(struct causes *c, const struct cause *x, const char *name)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i].name, name) == 0)
			return i;
	if (c->n == MAX_CAUSES)
		return UINT32_MAX;
	c->v[c->n] = *x;
	c->v[c->n].name = arena_strdup(&c->arena, name);
	return c->v[c->n].name ? c->n++ : UINT32_MAX;
}

static bool take_share(void *ctx, const struct samples_share *s)
{
	struct causes_fill *f = ctx;
	const struct trace *t = f->t;
	uint64_t period = t->sampling.period_cyc;
	char name[40];
	struct cause x = name_share(t, s, name);
	struct cause_cell cell = {.code = s->row, .cyc = s->n.all * period, .hits = s->n.all};

	/* While another warp of the scheduler issued, the wait cost nothing. */
	if (t->sampling.has_not_issued && x.kind != CAUSE_ISSUE)
		cell.hidden_cyc = (s->n.all - s->n.not_issued) * period;
	cell.cause = find_cause(f->c, &x, name);
	if (cell.cause == UINT32_MAX)
		return false;
	f->c->v[cell.cause].cyc += cell.cyc;
	f->c->v[cell.cause].hidden_cyc += cell.hidden_cyc;
	f->c->v[cell.cause].hits += cell.hits;
	return VEC_PUSH(&f->cells, cell);
}

ORDER(compare_causes, struct cause, DOWN(cyc) A_TO_Z(name))
ORDER(compare_cells, struct cause_cell, UP(code) UP(cause))
ORDER(compare_costs, struct cause_cell, UP(code) DOWN(cyc) UP(cause))

/* Merges shares of one cause on one row into one cell and sorts causes by cost. */
static bool finish_cells(struct causes_fill *f)
{
	struct causes *c = f->c;
	struct cause *sorted = arena_memdup(&c->arena, c->v, c->n * sizeof(*sorted));
	uint32_t place[MAX_CAUSES] = {0};

	if (c->n && !sorted)
		return false;
	SORT(sorted, c->n, compare_causes);
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < c->n; k++)
			if (sorted[k].name == c->v[i].name)
				place[i] = k;
	c->v = sorted;
	for (size_t i = 0; i < f->cells.n; i++)
		f->cells.v[i].cause = place[f->cells.v[i].cause];
	SORT(f->cells.v, f->cells.n, compare_cells);
	c->cells = arena_zalloc(&c->arena, f->cells.n + 1, sizeof(*c->cells));
	if (!c->cells)
		return false;
	for (size_t i = 0; i < f->cells.n; i++) {
		const struct cause_cell *x = &f->cells.v[i];
		struct cause_cell *to = c->n_cells ? &c->cells[c->n_cells - 1] : NULL;

		if (!to || to->code != x->code || to->cause != x->cause) {
			c->cells[c->n_cells++] = *x;
			continue;
		}
		to->cyc += x->cyc;
		to->hidden_cyc += x->hidden_cyc;
		to->hits += x->hits;
	}
	SORT(c->cells, c->n_cells, compare_costs);
	return true;
}

bool samples_fill_causes(struct causes *c, struct incore_error *e)
{
	struct causes_fill f = {.c = c, .t = c->trace};
	bool ok;

	c->v = arena_zalloc(&c->arena, MAX_CAUSES, sizeof(*c->v));
	ok = (c->v || err_nomem(e)) && each_share(f.t, take_share, &f, e) &&
	     (finish_cells(&f) || err_nomem(e));
	VEC_FREE(&f.cells);
	for (uint32_t i = 0; ok && i < c->n; i++) {
		c->bucket[c->v[i].bucket] += c->v[i].cyc;
		c->family[c->v[i].family].cyc += c->v[i].cyc;
		c->family[c->v[i].family].hidden_cyc += c->v[i].hidden_cyc;
		c->duration_cyc += c->v[i].cyc;
	}
	return ok;
}

/* --- producers ------------------------------------------------------------------------------ */

struct producers_fill {
	struct producers *p;
	const struct trace *t;
	struct u64_map edges;			       /* producer << 32 | wait -> position + 1 */
	struct producer_group groups[CLASS_COUNT + 1]; /* by class; the last: unknown */
};

static bool add_edge(struct producers_fill *f, const struct samples_share *s, bool is_fixed)
{
	uint64_t *at = u64_map_at(&f->edges, (uint64_t)s->producer << 32 | s->row);
	uint64_t cyc = s->n.all * f->t->sampling.period_cyc;
	struct producer_edge *x;

	if (!at)
		return false;
	if (!*at) {
		if (!VEC_PUSH(&f->p->edges,
			    (struct producer_edge){
				    .producer = s->producer, .wait = s->row, .is_fixed = true}))
			return false;
		*at = f->p->edges.n;
	}
	x = &f->p->edges.v[*at - 1];
	x->is_fixed &= is_fixed;
	x->count += s->n.all;
	x->n_blocked += s->n.not_issued;
	x->n_inexact += s->is_shared ? s->n.all : 0;
	*(s->is_shared ? &x->shared_cyc : &x->stall_cyc) += cyc;
	return true;
}

static bool samples_add_producer(void *ctx, const struct samples_share *s)
{
	struct producers_fill *f = ctx;
	const struct sample_cause *c = cause_of_share(f->t, s);
	uint64_t cyc = s->n.all * f->t->sampling.period_cyc;
	struct producer_group *g;

	if (c->kind == CAUSE_BARRIER)
		f->p->blocking.barrier_cyc += cyc;
	else if (c->kind == CAUSE_SLEEP)
		f->p->blocking.sleep_cyc += cyc;
	if (!c->has_producer)
		return true;
	f->p->n_waits += s->n.all;
	f->p->n_blocked += s->n.not_issued;
	f->p->n_unresolved += s->producer == NO_CODE ? s->n.all : 0;
	f->p->n_group += s->is_shared ? s->n.all : 0;
	/* barriers are not part of the groups; a row that waits for itself gives no edge */
	if (c->kind != CAUSE_BARRIER) {
		g = &f->groups[s->producer == NO_CODE ? CLASS_COUNT
						      : f->t->code[s->producer].inst_class];
		g->wait_cyc += cyc;
		g->n_waits += s->n.all;
		g->n_blocked += s->n.not_issued;
		f->p->blocking.wait_cyc += cyc;
	}
	return s->producer == NO_CODE || s->producer == s->row ||
	       add_edge(f, s, c->kind == CAUSE_NOP_PADDING);
}

static bool samples_finish_groups(struct producers_fill *f)
{
	for (unsigned k = 0; k <= CLASS_COUNT; k++) {
		f->groups[k].key = k == CLASS_COUNT ? WAIT_KEY_UNKNOWN : wait_key_of_class(k);
		if (f->groups[k].n_waits && !VEC_PUSH(&f->p->blocking.groups, f->groups[k]))
			return false;
	}
	return true;
}

bool samples_fill_producers(struct producers *p, struct incore_error *e)
{
	struct producers_fill f = {.p = p, .t = p->trace};
	bool ok = each_share(f.t, samples_add_producer, &f, e) &&
		  (samples_finish_groups(&f) || err_nomem(e));

	u64_map_deinit(&f.edges);
	p->n_exact = p->n_waits - p->n_unresolved - p->n_group;
	p->n_free = p->n_waits - p->n_blocked;
	producers_sort(p);
	return ok;
}
