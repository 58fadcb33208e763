/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.c: values over time for all waves: the clock samples of the shader engines (realtime.json)
 * and the number of waves in each state (wstates<k>.json; all engines pooled, each on its own
 * clock, as the producer does it).
 */
#include "base/search.h"
#include "export/ui_output/writer.h"

__extension__ typedef unsigned __int128 u128;

#define USUAL_HZ UINT64_C(100000000)
#define FIRST_LIMIT (1u << 20)

/* --- realtime.json --- */

/* Frequency of the reference clock, computed from the shader clock in Hz and the samples. */
static uint64_t frequency_of(const struct trace *t)
{
	EACH (const struct clock_domain, c, t->clocks, t->n_clocks) {
		int64_t gfx, rt;
		u128 num, den;

		if (c->n_samples < 2 || !c->hz_den)
			continue;
		gfx = c->samples[c->n_samples - 1][0] - c->samples[0][0];
		rt = c->samples[c->n_samples - 1][1] - c->samples[0][1];
		if (gfx <= 0 || rt <= 0)
			continue;
		num = (u128)c->hz_num * (u128)rt;
		den = (u128)c->hz_den * (u128)gfx;
		if (num % den == 0 && num / den <= UINT64_MAX)
			return (uint64_t)(num / den);
	}
	return USUAL_HZ;
}

static void put_samples(struct json_writer *w, const struct clock_domain *c)
{
	if (!c->n_samples)
		return;
	ui_put_key(w, "SE", c->id);
	json_w_array(w);
	for (uint32_t i = 0; i < c->n_samples; i++)
		ui_put_row(w, c->samples[i], 2);
	json_w_end(w);
}

bool ui_write_realtime(struct ui_writer *u, struct incore_error *e)
{
	const struct trace *t = u->x->trace;
	clock_idx *order = ui_clocks_by_key(t);
	struct json_writer *w = &u->w;

	if (!order)
		return err_nomem(e);
	if (!ui_file_open(u, "realtime.json", e)) {
		mem_free(order);
		return false;
	}
	json_w_object(w);
	for (clock_idx i = 0; i < t->n_clocks; i++)
		put_samples(w, &t->clocks[order[i]]);
	json_w_kv_object(w, "metadata");
	json_w_kv_cstr(w, "descriptor", "[gfx_clock, realtime_clock]");
	json_w_kv_u64(w, "frequency", frequency_of(t));
	json_w_end(w);
	json_w_end(w);
	mem_free(order);
	return ui_file_close(u, e);
}

/* --- wstates<k>.json --- */

ORDER(compare_changes, struct ui_change, UP(time_cyc))

/* Sorts changes by time and merges those at the same time. */
static void merge_changes(struct ui_changes *c)
{
	size_t n = 0;

	if (c->all.n < 2)
		return;
	SORT(c->all.v, c->all.n, compare_changes);
	for (size_t i = 1; i < c->all.n; i++) {
		if (c->all.v[i].time_cyc == c->all.v[n].time_cyc)
			c->all.v[n].delta += c->all.v[i].delta;
		else
			c->all.v[++n] = c->all.v[i];
	}
	c->all.n = n + 1;
}

bool ui_add_change(struct ui_changes *c, uint64_t time_cyc, int64_t delta)
{
	if (c->limit < FIRST_LIMIT)
		c->limit = FIRST_LIMIT;
	if (c->all.n >= c->limit) {
		merge_changes(c);
		if (c->all.n > c->limit / 2)
			c->limit *= 2;
	}
	return VEC_PUSH(&c->all, (struct ui_change){time_cyc, delta});
}

static bool write_series(
	struct ui_writer *u, const char *name, struct ui_changes *c, struct incore_error *e)
{
	struct json_writer *w = &u->w;
	int64_t running = 0;

	merge_changes(c);
	if (!ui_file_open(u, name, e))
		return false;
	json_w_object(w);
	json_w_kv_cstr(w, "name", name);
	json_w_kv_array(w, "state");
	for (size_t i = 0; i < c->all.n; i++)
		json_w_i64(w, running += c->all.v[i].delta);
	json_w_end(w);
	json_w_kv_array(w, "time");
	for (size_t i = 0; i < c->all.n; i++)
		json_w_u64(w, c->all.v[i].time_cyc);
	json_w_end(w);
	json_w_end(w);
	return ui_file_close(u, e);
}

bool ui_write_wstates(struct ui_writer *u, struct incore_error *e)
{
	for (unsigned k = 0; k < STATE_COUNT; k++) {
		char name[] = "wstates0.json";

		name[7] = (char)('0' + k);
		if (u->changes[k].all.n && !write_series(u, name, &u->changes[k], e))
			return false;
	}
	return true;
}
