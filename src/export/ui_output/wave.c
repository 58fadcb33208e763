/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wave.c: one track -> one wave file, se<SE>_sm<SIMD>_sl<slot>_wv<n>.json. A wave without records
 * and with fewer than three states gets no file, and its number goes to the next wave of its slot.
 */
#include "export/ui_output/writer.h"

#define MIN_STATES 3u
#define COORD_SE 0
#define COORD_CU 1
#define COORD_SIMD 2
#define COORD_SLOT 3
#define COORD_WAVE 4

static int64_t line_of(const struct trace *t, code_idx code)
{
	return code == NO_CODE ? 0 : t->code[code].number;
}

static void put_instructions(struct ui_writer *u, const struct track_data *d)
{
	const struct trace *t = u->x->trace;
	struct json_writer *w = &u->w;

	json_w_key(w, "instructions");
	if (!d->n) {
		json_w_null(w);
		return;
	}
	json_w_array(w);
	for (uint32_t i = 0; i < d->n; i++) {
		int64_t row[] = {(int64_t)d->start_cyc[i], d->tag[i], d->stall_cyc[i],
			d->dur_cyc[i], line_of(t, d->code[i])};

		ui_put_row(w, row, 5);
	}
	json_w_end(w);
}

static void put_timeline(struct ui_writer *u, const struct track_data *d)
{
	struct json_writer *w = &u->w;

	json_w_key(w, "timeline");
	if (!d->n_states) {
		json_w_null(w);
		return;
	}
	json_w_array(w);
	for (uint32_t i = 0; i < d->n_states; i++) {
		int64_t row[] = {d->state[i], d->state_dur_cyc[i]};

		ui_put_row(w, row, 2);
	}
	json_w_end(w);
}

/* Writes [[wait_line,[[producer_line,0],...]],...] by the viewer's own model. */
static void put_waits(struct ui_writer *u, const struct track_data *d)
{
	const struct trace *t = u->x->trace;
	struct json_writer *w = &u->w;

	json_w_key(w, "waitcnt");
	if (!u->waits.stated.n || !d->n) {
		json_w_null(w);
		return;
	}
	json_w_array(w);
	EACH (const struct stated_like, s, u->waits.stated.v, u->waits.stated.n) {
		json_w_array(w);
		json_w_i64(w, line_of(t, d->code[s->slice]));
		json_w_array(w);
		for (uint32_t k = 0; k < s->n; k++) {
			code_idx code = u->waits.viewer_producers.v[s->first + k];
			int64_t row[] = {line_of(t, code), 0};

			ui_put_row(w, row, 2);
		}
		json_w_end(w);
		json_w_end(w);
		u->x->result->n_links += s->n;
	}
	json_w_end(w);
}

/* Adds to the totals of code rows by the producer's own rule; skips records of unknown code. */
static void add_totals(struct ui_writer *u, const struct track_data *d)
{
	uint64_t prev = d->begin_cyc;

	for (uint32_t i = 0; i < d->n; i++) {
		uint64_t end = d->start_cyc[i] + d->dur_cyc[i];
		struct code_totals *sum;

		if (d->code[i] == NO_CODE) {
			u->n_unknown_code++;
			continue;
		}
		sum = &u->totals[d->code[i]];
		sum->hit++;
		sum->latency += d->dur_cyc[i];
		sum->stall += d->stall_cyc[i];
		sum->idle += d->start_cyc[i] > prev ? d->start_cyc[i] - prev : 0;
		prev = end > prev ? end : prev;
	}
}

static bool add_changes(struct ui_writer *u, const struct track_data *d)
{
	uint64_t at = d->begin_cyc;

	for (uint32_t i = 0; i < d->n_states; i++) {
		struct ui_changes *c = &u->changes[d->state[i]];

		if (!ui_add_change(c, at, 1) || !ui_add_change(c, at + d->state_dur_cyc[i], -1))
			return false;
		at += d->state_dur_cyc[i];
	}
	return true;
}

static bool is_same_slot(const struct track *a, const struct track *b)
{
	return a->coord[COORD_SE] == b->coord[COORD_SE] &&
	       a->coord[COORD_CU] == b->coord[COORD_CU] &&
	       a->coord[COORD_SIMD] == b->coord[COORD_SIMD] &&
	       a->coord[COORD_SLOT] == b->coord[COORD_SLOT];
}

static void put_wave(
	struct ui_writer *u, const struct export_track *k, const struct ui_wave_place *p)
{
	const struct track_data *d = k->data;
	struct json_writer *w = &u->w;
	char name[16];

	snprintf(name, sizeof(name), "SE%u", p->se);
	json_w_object(w);
	json_w_kv_u64(w, "duration", p->end_cyc - p->begin_cyc);
	json_w_kv_cstr(w, "name", name);
	json_w_kv_u64(w, "num_insts", d->n);
	json_w_kv_u64(w, "num_stitched", d->n - d->n_unknown_code);
	json_w_kv_object(w, "wave");
	json_w_kv_u64(w, "begin", p->begin_cyc);
	json_w_kv_u64(w, "cu", k->track->coord[COORD_CU]);
	json_w_kv_u64(w, "end", p->end_cyc);
	json_w_kv_u64(w, "id", p->wave);
	put_instructions(u, d);
	json_w_kv_u64(w, "simd", p->simd);
	json_w_kv_u64(w, "slot", p->slot);
	put_timeline(u, d);
	put_waits(u, d);
	json_w_end(w);
	json_w_end(w);
}

bool ui_write_wave(struct ui_writer *u, const struct export_track *k, struct incore_error *e)
{
	const struct trace *t = u->x->trace;
	const struct track_data *d = k->data;
	const uint32_t *c = k->track->coord;
	struct ui_wave_place p = {
		c[COORD_SE], c[COORD_SIMD], c[COORD_SLOT], c[COORD_WAVE], d->begin_cyc, d->end_cyc};
	struct walk_track walk = {t, k->index, k->track, d, 0, UINT64_MAX};
	char name[80];

	if (u->last == NO_TRACK || !is_same_slot(&t->tracks[u->last], k->track))
		u->n_skipped_in_slot = 0;
	u->last = k->index;
	if (d->n == 0 && d->n_states < MIN_STATES) {
		u->n_skipped_in_slot++;
		u->n_skipped++;
		return true;
	}
	p.wave -= u->n_skipped_in_slot;
	add_totals(u, d);
	if (!add_changes(u, d) || !VEC_PUSH(&u->places, p))
		return err_nomem(e);
	if (d->n && !waits_resolve(&u->waits, u->tables, &walk, WAITS_VIEWER, e))
		return false;
	snprintf(name, sizeof(name), "se%u_sm%u_sl%u_wv%u.json", p.se, p.simd, p.slot, p.wave);
	if (!ui_file_open(u, name, e))
		return false;
	put_wave(u, k, &p);
	return ui_file_close(u, e);
}
