/* SPDX-License-Identifier: Apache-2.0 */
/* rules_pipes.c: the rules for the pipes of a core. Shares are of the critical path. */
#include "analysis/advise/advise_internal.h"
#include "analysis/pipes/pipes.h"

#define APART 0.3	  /* share of the shorter pipe's work; with less overlap they take turns */
#define LEAST_LOST 0.10	  /* of the path */
#define LEAST_BUSY 0.10	  /* of the span, for each of the two */
#define LEAST_TILES 2u	  /* a single tile has nothing to overlap with */
#define SMALL_BYTES 2048u /* bytes per move */
#define SMALL_HITS 8u
#define SMALL_SHARE 0.20 /* of the path */

struct turns { /* two pipes that take turns */
	track_idx move, compute;
	uint64_t both, lost;
};

static uint64_t path_cyc(const struct pipes *p)
{
	return p->path.end_cyc - p->path.begin_cyc;
}

static bool has_work(const struct pipes *p, track_idx i, enum pipe_role role)
{
	const struct pipe_row *r = &p->rows[i];

	return r->is_seen && r->role == role && r->n_work - r->n_config >= LEAST_TILES &&
	       (double)r->busy_cyc >= LEAST_BUSY * (double)r->duration_cyc;
}

static bool rules_pipes_waits_for(const struct pipes *p, track_idx consumer, track_idx producer)
{
	for (size_t i = 0; i < p->rows[consumer].waits.n; i++)
		if (p->rows[consumer].waits.v[i].producer == producer &&
			p->rows[consumer].waits.v[i].cyc)
			return true;
	return false;
}

/* Finds loads that wait until the previously loaded data is used up: there is only one buffer. */
static struct turns find_turns(const struct pipes *p)
{
	struct turns best = {.move = NO_TRACK};

	for (uint32_t c = 0; c < p->n_cores; c++) {
		const struct pipe_core *k = &p->cores[c];

		for (uint32_t m = 0; m < k->n; m++)
			for (uint32_t v = 0; v < k->n; v++) {
				track_idx move = k->first + m, compute = k->first + v;
				uint64_t both = k->overlap[(size_t)m * k->n + v];
				uint64_t least;

				if (!has_work(p, move, ROLE_MOVE) ||
					!has_work(p, compute, ROLE_COMPUTE) ||
					!rules_pipes_waits_for(p, move, compute))
					continue;
				least = p->rows[move].busy_cyc < p->rows[compute].busy_cyc
						? p->rows[move].busy_cyc
						: p->rows[compute].busy_cyc;
				if ((double)both < APART * (double)least &&
					least - both > best.lost)
					best = (struct turns){move, compute, both, least - both};
			}
	}
	return best;
}

static bool waits_on(const struct pipes *p, const struct producer_edge *x, const char *lane)
{
	const char *at = x->wait < p->trace->n_code
				 ? strstr(p->trace->code[x->wait].text, "TRIGGERPIPE:")
				 : NULL;

	return at && strncmp(at + 12, lane, strlen(lane)) == 0;
}

/* Takes the flags the lane waits for, costliest first; without any, the costliest wait of all. */
static void take_waits(
	const struct pipes *p, const char *lane, struct advise_list *l, struct advice *a)
{
	for (size_t i = 0; i < p->edges.n; i++)
		if (waits_on(p, &p->edges.v[i], lane)) {
			a->of = a->n_rows ? a->of : p->edges.v[i].producer;
			advise_add_row(a, p->edges.v[i].wait);
			advise_ask_row(l, a, p->edges.v[i].wait);
		}
	if (!a->n_rows && p->edges.n) {
		a->of = p->edges.v[0].producer;
		advise_add_row(a, p->edges.v[0].wait);
		advise_ask_row(l, a, p->edges.v[0].wait);
	}
	a->code = a->n_rows ? a->rows[0] : NO_CODE;
	a->ask = a->n_rows ? ADVISE_ASK_REMOVE : ADVISE_ASK_NOTHING;
}

static bool serial_pipes(const struct pipes *p, struct advise_list *l)
{
	struct turns t = find_turns(p);
	const char *lane = t.move == NO_TRACK ? "" : pipe_lane_name(&p->trace->tracks[t.move]);
	struct advice a = {.rule = ADVISE_SERIAL_PIPES,
		.cause = lane,
		.code = NO_CODE,
		.of = NO_CODE,
		.exposed_cyc = t.lost,
		.reason = NO_REASON,
		.change = {.faster_milli = WHATIF_PLAIN, .is_removed = true}};
	struct strbuf b = {0};
	bool ok;

	if (t.move == NO_TRACK || (double)t.lost < LEAST_LOST * (double)path_cyc(p))
		return true;
	take_waits(p, lane, l, &a);
	sb_printf(&b,
		"%s works for %llu and %s for %llu cycles, both together for %llu; %s waits for %s before it loads again",
		a.cause, (unsigned long long)p->rows[t.move].busy_cyc,
		pipe_lane_name(&p->trace->tracks[t.compute]),
		(unsigned long long)p->rows[t.compute].busy_cyc, (unsigned long long)t.both,
		a.cause, pipe_lane_name(&p->trace->tracks[t.compute]));
	ok = advise_add(l, &a, &b);
	sb_free(&b);
	return ok;
}

static bool small_moves(const struct pipes *p, struct advise_list *l)
{
	struct advice a = {.rule = ADVISE_SMALL_MOVES,
		.cause = "moves",
		.code = NO_CODE,
		.of = NO_CODE,
		.ask = ADVISE_ASK_FASTER,
		.reason = NO_REASON,
		.change = {.faster_milli = 2000}};
	uint64_t bytes = 0, hits = 0;
	struct strbuf b = {0};
	bool ok;

	for (uint32_t i = 0; i < p->path.n_rows; i++) {
		code_idx row = p->path.rows[i].code;
		uint64_t n = row < p->trace->n_code ? p->row_totals[row].hit : 0;

		if (n < SMALL_HITS || !p->trace->code[row].bytes ||
			p->trace->code[row].bytes / n > SMALL_BYTES)
			continue;
		a.code = a.code == NO_CODE ? row : a.code;
		a.exposed_cyc += p->path.rows[i].cyc;
		bytes += p->trace->code[row].bytes;
		hits += n;
		advise_add_row(&a, row);
		advise_ask_row(l, &a, row);
	}
	if (!hits || (double)a.exposed_cyc < SMALL_SHARE * (double)path_cyc(p))
		return true;
	sb_printf(&b, "%llu moves of %llu bytes on average, %llu cycles of the critical path",
		(unsigned long long)hits, (unsigned long long)(bytes / hits),
		(unsigned long long)a.exposed_cyc);
	ok = advise_add(l, &a, &b);
	sb_free(&b);
	return ok;
}

bool advise_pipes(const struct pipes *p, struct advise_list *l, struct incore_error *e)
{
	bool ok = !p->path.is_known || (serial_pipes(p, l) && small_moves(p, l));

	advise_sort(l);
	return ok || err_nomem(e);
}
