/* SPDX-License-Identifier: Apache-2.0 */
/* compare_pmu.c: compares counters of a run with a trace, by kind of core or task by task.
 */
#include "model_lab/compare.h"

#include "model_lab/measured.h"

struct means { /* for one kind of core, both sides */
	uint64_t n[2], span[2];
	uint64_t busy[2][ENGINE_PIPES];
	bool has[2][ENGINE_PIPES];
};

static uint64_t mean(uint64_t sum, uint64_t n)
{
	return n ? (sum + n / 2) / n : 0;
}

static void add_counters(struct means m[CORE_COUNT], const struct pmu_rows *rows)
{
	EACH (const struct pmu_row, r, rows->v.v, rows->v.n) {
		m[r->core].n[0]++;
		m[r->core].span[0] += r->total_cyc;
		for (unsigned p = 0; p < ENGINE_PIPES; p++) {
			m[r->core].busy[0][p] += r->busy[p];
			m[r->core].has[0][p] |= r->has[p];
		}
	}
}

static void add_trace(struct means m[CORE_COUNT], const struct pipes *p)
{
	EACH (const struct pipe_core, k, p->cores, p->n_cores) {
		enum opstream_core core =
			p->trace->tracks[k->first].coord[1] == 0 ? CORE_AIC : CORE_AIV;

		m[core].n[1]++;
		m[core].span[1] += k->end_cyc - k->begin_cyc;
		for (track_idx t = k->first; t < k->first + k->n; t++) {
			enum op_pipe pipe = measured_pipe(pipe_lane_name(&p->trace->tracks[t]));

			if (pipe == OPP_NONE)
				continue;
			m[core].busy[1][pipe] += p->rows[t].busy_cyc;
			m[core].has[1][pipe] = true;
		}
	}
}

static bool put_means(struct pipe_compare *out, const struct means m[CORE_COUNT])
{
	for (unsigned core = 0; core < CORE_COUNT; core++) {
		const struct means *x = &m[core];
		struct compare_row total = {.core = core == CORE_AIC ? "aic" : "aiv",
			.name = "total",
			.count = {x->n[0], x->n[1]},
			.cyc = {mean(x->span[0], x->n[0]), mean(x->span[1], x->n[1])}};

		if (!x->n[0] && !x->n[1])
			continue;
		if (!VEC_PUSH(&out->pipes, total))
			return false;
		for (unsigned p = 0; p < ENGINE_PIPES; p++) {
			struct compare_row r = {.core = total.core,
				.name = op_pipe_name(p),
				.count = {x->n[0], x->n[1]},
				.cyc = {mean(x->busy[0][p], x->n[0]),
					mean(x->busy[1][p], x->n[1])}};

			/* skip missing counters */
			if (x->has[0][p] && !VEC_PUSH(&out->pipes, r))
				return false;
		}
	}
	return true;
}

static bool put_tasks(
	struct pipe_compare *out, const struct pmu_rows *rows, const struct means m[CORE_COUNT])
{
	EACH (const struct pmu_row, t, rows->v.v, rows->v.n) {
		const struct means *x = &m[t->core];
		struct compare_row r = {.core = t->core == CORE_AIC ? "aic" : "aiv",
			.count = {1, 1},
			.cyc = {t->total_cyc, mean(x->span[1], x->n[1])}};

		r.name = arena_printf(&out->arena, "0x%llx", (unsigned long long)t->task_id);
		if (!r.name || !VEC_PUSH(&out->ops, r))
			return false;
	}
	return true;
}

bool compare_counters(
	const char *path, const struct pipes *p, struct pipe_compare *out, struct incore_error *e)
{
	struct means m[CORE_COUNT] = {{{0}, {0}, {{0}}, {{0}}}};
	struct pmu_rows rows = {0};
	bool ok;

	*out = (struct pipe_compare){.is_same_count = true, .is_same_order = true};
	arena_init(&out->arena);
	if (!pmu_read(&rows, path, e)) {
		pipe_compare_deinit(out);
		return false;
	}
	add_counters(m, &rows);
	add_trace(m, p);
	for (unsigned s = 0; s < 2; s++)
		for (unsigned core = 0; core < CORE_COUNT; core++) {
			uint64_t span = mean(m[core].span[s], m[core].n[s]);

			out->span_cyc[s] = span > out->span_cyc[s] ? span : out->span_cyc[s];
		}
	ok = (put_means(out, m) && put_tasks(out, &rows, m)) || err_nomem(e);
	pmu_deinit(&rows);
	if (!ok)
		pipe_compare_deinit(out);
	return ok;
}
