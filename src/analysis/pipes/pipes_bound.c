/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipes_bound.c: what is the kernel bound by? If the pipe with the largest share of the critical
 * path is also busy for 80 % of its core's span, the kernel is bound by it; if most of the path is
 * waiting, by synchronisation; else by latency. One sentence, with its evidence and the instruction
 * of that pipe to look at first.
 */
#include "analysis/pipes/pipes_internal.h"
#include "analysis/place.h"

#define BUSY_BOUND 0.80

static uint64_t path_span(const struct pipe_path *x)
{
	return x->end_cyc - x->begin_cyc;
}

static track_idx find_pipe(const struct pipes *p)
{
	track_idx best = NO_TRACK;
	uint64_t most = 0;

	for (track_idx i = 0; i < p->trace->n_tracks; i++) {
		uint64_t cyc = p->path.of_track[i][PATH_WORK];

		if (p->rows[i].role == ROLE_MARK || cyc <= most)
			continue;
		most = cyc;
		best = i;
	}
	return best;
}

static bool is_run_on(const struct pipe_lane *l, code_idx row)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->code[i] == row)
			return true;
	return false;
}

/* Finds the first work row of this pipe; the rows of the path are sorted by cycles. */
static void find_row(struct pipes *p)
{
	const struct pipe_lane *l = &p->private->lanes[p->bound.track];
	const struct pipe_path *path = &p->path;

	for (uint32_t i = 0; i < path->n_rows && p->bound.where == NO_CODE; i++) {
		code_idx row = path->rows[i].code;

		if (row == NO_CODE || !pipe_kind_is_work((enum pipe_kind)p->kinds[row]) ||
			!is_run_on(l, row))
			continue;
		p->bound.where = row;
		p->bound.where_share = (double)path->rows[i].cyc / (double)path_span(path);
	}
}

static void put_row(const struct pipes *p, struct strbuf *b)
{
	const struct pipe_bound *x = &p->bound;

	if (x->where == NO_CODE)
		return;
	sb_puts(b, "; its costliest row on the path: ");
	place_put(p->trace, x->where, b);
	sb_printf(b, ", %.1f %%: `%s`", 100 * x->where_share, p->trace->code[x->where].text);
}

static void put_pair(const struct pipes *p, struct strbuf *b)
{
	const struct pipe_pair *x = p->pairs.n ? &p->pairs.v[0] : NULL;

	if (x && x->cyc)
		sb_printf(b, "; most waiting: %s for %s, %llu cycle%s in %llu wait%s", x->consumer,
			x->producer ? x->producer : "nobody known", (unsigned long long)x->cyc,
			plural(x->cyc), (unsigned long long)x->count, plural(x->count));
}

static void put_sentence(const struct pipes *p, struct strbuf *b)
{
	const struct pipe_bound *x = &p->bound;
	const char *name = p->trace->tracks[x->track].name;
	const struct pipe_row *r = &p->rows[x->track];
	double span = (double)path_span(&p->path);

	if (!strcmp(x->kind, "pipe"))
		sb_printf(b, "%s-bound", pipe_lane_name(&p->trace->tracks[x->track]));
	else
		sb_printf(b, "%s-bound", x->kind);
	sb_printf(b,
		": %s holds %.1f %% of the critical path and is busy %.1f %% of its core's span (%llu of %llu cycles)",
		name, 100 * x->path_share, 100 * x->busy_share, (unsigned long long)r->busy_cyc,
		(unsigned long long)r->duration_cyc);
	put_row(p, b);
	if (strcmp(x->kind, "pipe") != 0)
		sb_printf(b, "; of the path waits hold %.1f %%, gaps in issue %.1f %%",
			100 * (double)p->path.part[PATH_WAIT] / span,
			100 * (double)p->path.part[PATH_GAP] / span);
	put_pair(p, b);
}

bool pipes_find_bound(struct pipes *p, struct incore_error *e)
{
	struct pipe_bound *x = &p->bound;
	const struct pipe_path *path = &p->path;
	struct strbuf b = {0};

	x->kind = "none";
	x->where = NO_CODE;
	x->track = path->is_known ? find_pipe(p) : NO_TRACK;
	if (x->track == NO_TRACK) {
		x->sentence = path->is_known ? "no verdict: no pipe did any work"
					     : "no verdict: no critical path in this selection";
		return true;
	}
	x->path_share = (double)path->of_track[x->track][PATH_WORK] / (double)path_span(path);
	x->busy_share = (double)p->rows[x->track].busy_cyc / (double)p->rows[x->track].duration_cyc;
	if (x->busy_share >= BUSY_BOUND)
		x->kind = "pipe";
	else if (2 * path->part[PATH_WAIT] > path_span(path))
		x->kind = "sync";
	else
		x->kind = "latency";
	find_row(p);
	put_sentence(p, &b);
	x->sentence = b.failed ? NULL : arena_strdup(&p->arena, b.p);
	sb_free(&b);
	return x->sentence || err_nomem(e);
}
