/* SPDX-License-Identifier: Apache-2.0 */
/* info.c: what is this capture? */
#include "analysis/summary/info.h"

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"

#define N_CUS 65536

static bool info_count_rows(struct info *i, struct incore_error *e)
{
	const struct trace *t = i->trace;
	struct u64_map lines = {0};
	bool ok = true;

	for (uint32_t k = 0; ok && k < t->n_code; k++) {
		const struct code_row *r = &t->code[k];

		i->stated.hit += r->stated.hit;
		i->stated.latency += r->stated.latency;
		i->stated.stall += r->stated.stall;
		i->stated.idle += r->stated.idle;
		if (r->is_label)
			continue;
		i->n_instructions++;
		i->n_executed += r->stated.hit > 0 ||
				 (t->samples && t->samples[k].issued + t->samples[k].stalled > 0);
		i->n_mapped += *r->source != '\0';
		if (r->n_frames) {
			const struct frame *f = &t->frames[r->first_frame];

			ok = u64_map_at(&lines, (uint64_t)f->source << 32 | f->line) != NULL;
		}
	}
	i->n_lines = (uint32_t)lines.n;
	u64_map_deinit(&lines);
	for (uint32_t k = 0; k < t->n_sources; k++)
		i->n_snapshots += t->sources[k].snapshot != NULL;
	return ok || err_nomem(e);
}

static bool collect_coords(struct info *i, unsigned level, struct incore_error *e)
{
	const struct trace *t = i->trace;
	struct info_numbers *out = &i->coords[level];
	uint32_t *all = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*all)), n = 0;

	if (!all)
		return err_nomem(e);
	for (uint32_t k = 0; k < t->n_tracks; k++)
		all[k] = t->tracks[k].coord[level];
	SORT(all, t->n_tracks, compare_u32);
	for (uint32_t k = 0; k < t->n_tracks; k++)
		if (!n || all[n - 1] != all[k])
			all[n++] = all[k];
	out->v = arena_memdup(&i->arena, all, n * sizeof(*all));
	out->n = n;
	mem_free(all);
	return out->v || err_nomem(e);
}

static bool count_occupancy(struct info *i, struct incore_error *e)
{
	const struct trace *t = i->trace;
	struct info_domain *d = NULL;
	uint32_t *last =
		mem_zalloc(N_CUS, sizeof(*last)); /* by CU: number + 1 of the domain that last saw
						     it */

	i->domains = arena_zalloc(&i->arena, (size_t)t->n_clocks + 2, sizeof(*i->domains));
	if (!last || !i->domains) {
		mem_free(last);
		return err_nomem(e);
	}
	for (uint32_t k = 0; k < t->n_occupancy; k++) {
		const struct occupancy_event *o = &t->occupancy[k];

		if (!k || o->clock != o[-1].clock) {
			d = &i->domains[i->n_domains++];
			d->id = o->clock < t->n_clocks ? t->clocks[o->clock].id : UINT32_MAX;
		}
		d->events++;
		d->starts += o->is_start;
		d->ends += !o->is_start;
		d->target_cu_starts += o->is_start && o->cu == t->meta.target_cu;
		if (last[o->cu] != i->n_domains) {
			last[o->cu] = i->n_domains;
			d->cus++;
		}
	}
	mem_free(last);
	return true;
}

static void info_find_span(struct info *i)
{
	const struct trace *t = i->trace;

	for (uint32_t k = 0; k < t->n_tracks; k++) {
		int64_t begin = trace_aligned(t, t->tracks[k].clock, t->tracks[k].begin_cyc);
		int64_t end = trace_aligned(t, t->tracks[k].clock, t->tracks[k].end_cyc);

		if (!k || begin < i->begin_cyc)
			i->begin_cyc = begin;
		if (!k || end > i->end_cyc)
			i->end_cyc = end;
	}
}

static uint64_t note_count(const struct trace *t, const char *code)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->n_notes; i++)
		if (!strcmp(t->notes[i].code, code))
			n += t->notes[i].count;
	return n;
}

bool info_make(struct info *i, const struct trace *t, struct incore_error *e)
{
	uint64_t missing = note_count(t, "missing-wave-file");

	*i = (struct info){.trace = t, .dir = path_base(t->meta.origin)};
	arena_init(&i->arena);
	i->n_track_files = t->n_tracks - (missing < t->n_tracks ? missing : t->n_tracks) +
			   note_count(t, "unlisted-wave-file");
	for (unsigned k = 0; k < TRACK_LEVELS && t->levels[k]; k++)
		if (!collect_coords(i, k, e))
			return false;
	info_find_span(i);
	return info_count_rows(i, e) && count_occupancy(i, e);
}

void info_deinit(struct info *i)
{
	arena_deinit(&i->arena);
}

bool info_put_numbers(const struct info_numbers *n, struct strbuf *out)
{
	for (uint32_t i = 0, last; i < n->n; i = last + 1) {
		for (last = i; last + 1 < n->n && n->v[last + 1] == n->v[last] + 1;)
			last++;
		sb_printf(out, "%s%u", i ? "," : "", n->v[i]);
		if (last > i)
			sb_printf(out, "-%u", n->v[last]);
	}
	return !out->failed;
}
