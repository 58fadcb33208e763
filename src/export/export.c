/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c: the driver of every export. It loads one track at a time, passes its contents to the
 * writer, and counts what the format cannot hold. Parts: what writers share; the driver.
 */
#include "export/export.h"

#include "analysis/waves/waits.h"
#include "export/writer.h"
#include "trace/account.h"

/* --- what writers share ----------------------------------------------------------------------- */

/*
 * Applies a selection to the side tables.
 */

bool export_has_clock(const struct export *x, clock_idx c)
{
	const struct selection *s = x->options->walk.selection;

	return !s ||
	       number_set_has(&s->level[0], c < x->trace->n_clocks ? x->trace->clocks[c].id : 0);
}

/* Is a time, relative to the origin, inside the window? */
static bool export_has_time(const struct export *x, int64_t time)
{
	const struct selection *s = x->options->walk.selection;

	return !s || (!(s->has_from && (time < 0 || (uint64_t)time < s->from_cyc)) &&
			     !(s->has_to && time >= 0 && (uint64_t)time >= s->to_cyc));
}

void export_each_running(struct export *x, export_running_fn fn)
{
	const struct trace *t = x->trace;
	uint64_t running = 0;

	for (uint32_t i = 0; i < t->n_occupancy; i++) {
		const struct occupancy_event *o = &t->occupancy[i];
		bool is_last = i + 1 == t->n_occupancy || o[1].clock != o->clock ||
			       o[1].time_cyc != o->time_cyc;
		int64_t time = trace_aligned(t, o->clock, o->time_cyc) - x->origin_cyc;

		if (i && o[-1].clock != o->clock)
			running = 0;
		if (o->is_start)
			running++;
		else if (running)
			running--;
		if (is_last && export_has_time(x, time) && export_has_clock(x, o->clock))
			fn(x, o->clock, time, running);
	}
}

/* --- the driver ------------------------------------------------------------------------------- */

struct driver {
	struct export x;
	const struct export_ops *ops;
	struct selection selection;
	struct track_data data;
	struct wait_tables *tables;
	struct waits waits;
	uint64_t next_link_id;
	uint64_t n_waits_cut, n_states_cut, n_slices_cut;
};

void export_result_deinit(struct export_result *r)
{
	arena_deinit(&r->arena);
	*r = (struct export_result){0};
}

bool export_note_told(struct export *x, const struct note *n, struct incore_error *e)
{
	(void)x;
	(void)n;
	(void)e;
	return true;
}

bool export_sample_held(struct export *x, const struct export_sample *s, struct incore_error *e)
{
	(void)x;
	(void)s;
	(void)e;
	return true;
}

bool export_cut(
	struct export *x, const char *what, const char *why, uint64_t count, struct incore_error *e)
{
	struct export_result *r = x->result;
	struct note c = {.kind = NOTE_TRUNCATED,
		.weight = WEIGHT_WARNING,
		.code = what,
		.message = why,
		.offset = INCORE_NO_OFFSET,
		.count = count};

	if (count == 0)
		return true;
	if (r->n_cuts < EXPORT_MAX_CUTS)
		r->cuts[r->n_cuts++] = c;
	return x->ops->truncated(x, &c, e);
}

static int64_t relative(const struct driver *d, clock_idx c, uint64_t cyc)
{
	return trace_aligned(d->x.trace, c, cyc) - d->x.origin_cyc;
}

/* --- one track --- */

static bool send_slices(struct driver *d, const struct walk_track *w, struct incore_error *e)
{
	const struct track_data *k = w->data;
	struct account a;

	for (account_begin(&a, k, w->from_cyc, w->to_cyc); account_next(&a);) {
		uint32_t i = a.i;
		struct export_slice s = {.track = w->idx,
			.index = i,
			.dur_cyc = k->dur_cyc[i],
			.stall_cyc = k->stall_cyc[i],
			.code = k->code[i],
			.inst_class = k->inst_class[i],
			.tag = k->tag[i]};

		if (!a.is_hit)
			continue;
		if (k->inst_class[i] == CLASS_WAIT && !d->ops->link)
			d->n_waits_cut++;
		d->x.result->n_slices++;
		s.start_cyc = relative(d, w->track->clock, k->start_cyc[i]);
		s.own_cyc = relative(d, w->track->clock, a.at.stall);
		s.own_issue_cyc = relative(d, w->track->clock, a.at.issue);
		s.own_end_cyc = relative(d, w->track->clock, a.at.end);
		if (!d->ops->slice)
			d->n_slices_cut++;
		else if (!d->ops->slice(&d->x, &s, e))
			return false;
	}
	return true;
}

static bool send_states(struct driver *d, const struct walk_track *w, struct incore_error *e)
{
	uint64_t at = w->data->begin_cyc;

	for (uint32_t i = 0; i < w->data->n_states; i++) {
		uint64_t from = at, to = at + w->data->state_dur_cyc[i];
		struct export_state s = {.track = w->idx, .state = w->data->state[i]};

		at = to;
		if (from < w->from_cyc)
			from = w->from_cyc;
		if (to > w->to_cyc)
			to = w->to_cyc;
		if (from >= to)
			continue;
		if (!d->ops->state_run) {
			d->n_states_cut++;
			continue;
		}
		d->x.result->n_states++;
		s.start_cyc = relative(d, w->track->clock, from);
		s.dur_cyc = to - from;
		if (!d->ops->state_run(&d->x, &s, e))
			return false;
	}
	return true;
}

static bool send_link(struct driver *d, const struct walk_track *w, uint32_t producer,
	uint32_t wait, struct incore_error *e)
{
	const uint64_t *start = w->data->start_cyc;
	struct export_link l = {.from_track = w->idx,
		.to_track = w->idx,
		.from_slice = producer,
		.to_slice = wait,
		.kind = "wait"};

	if (start[producer] < w->from_cyc || start[wait] < w->from_cyc || start[wait] >= w->to_cyc)
		return true; /* an end that was not written */
	l.from_cyc = relative(d, w->track->clock, start[producer]);
	l.to_cyc = relative(d, w->track->clock, start[wait]);
	l.id = ++d->next_link_id;
	d->x.result->n_links++;
	return d->ops->link(&d->x, &l, e);
}

/* Sends one link per counter of a wait, from the instance that was issued last. */
static bool send_links(struct driver *d, const struct walk_track *w, struct incore_error *e)
{
	if (!d->ops->link || !w->data->n)
		return true;
	if (!waits_resolve(&d->waits, d->tables, w, 0, e))
		return false;
	EACH (const struct wait_event, v, d->waits.events.v, d->waits.events.n) {
		for (uint8_t s = 0; s < v->n_sides; s++) {
			const struct wait_side *side = &d->waits.sides.v[v->first_side + s];

			if (side->youngest < w->data->n &&
				!send_link(d, w, side->youngest, v->slice, e))
				return false;
		}
	}
	return true;
}

bool export_note(struct export *x, const struct note *from, struct incore_error *e)
{
	struct export_result *r = x->result;
	struct note n = *from;

	n.message = arena_strdup(&r->arena, from->message);
	n.path = from->path ? arena_strdup(&r->arena, from->path) : NULL;
	if (!n.message || (from->path && !n.path))
		return err_nomem(e);
	if (r->n_notes < WALK_MAX_NOTES)
		r->notes[r->n_notes++] = n;
	return true;
}

/* Turns the error of an unreadable track into a note; the export goes on. */
static bool export_keep_failure(
	struct driver *d, track_idx i, struct incore_error *why, struct incore_error *e)
{
	struct strbuf text = {0};
	struct note n = {.kind = NOTE_DAMAGED, .code = "damaged-wave-file", .count = 1};
	bool ok;

	err_format(why, &text);
	n.message = text.p ? text.p : "could not be read";
	n.path = d->x.trace->tracks[i].name;
	n.offset = why->offset;
	d->x.result->n_failed++;
	ok = export_note(&d->x, &n, e);
	sb_free(&text);
	incore_error_clear(why);
	return ok;
}

bool export_walk(struct export *x, const struct collector *const *collectors, size_t n,
	struct incore_error *e)
{
	struct walk_result r = {0};
	bool ok = walk_tracks(x->trace, &x->options->walk, collectors, n, &r, e);

	x->result->n_tracks += r.n_tracks;
	x->result->n_failed += r.n_failed;
	for (uint32_t i = 0; ok && i < r.n_notes; i++)
		ok = export_note(x, &r.notes[i], e);
	walk_result_deinit(&r);
	return ok;
}

static bool send_track(struct driver *d, track_idx i, struct incore_error *e)
{
	const struct trace *t = d->x.trace;
	struct walk_track w = {.trace = t, .idx = i, .track = &t->tracks[i], .data = &d->data};
	struct export_track k = {.index = i, .track = w.track, .data = &d->data};
	struct incore_error why = {0};
	struct account a;
	bool is_first = d->ops->links_first;

	if (!trace_load_track(t, i, TRACK_STATES, &d->data, &why)) {
		if (!track_error_is_fatal(&why))
			return export_keep_failure(d, i, &why, e);
		err_move(e, &why);
		return false;
	}
	selection_window(&d->selection, t, w.track, &w.from_cyc, &w.to_cyc);
	k.begin_cyc = relative(d, w.track->clock, d->data.begin_cyc);
	k.end_cyc = relative(d, w.track->clock, d->data.end_cyc);
	account_begin(&a, &d->data, w.from_cyc, w.to_cyc);
	k.from_cyc = relative(d, w.track->clock, a.lo);
	k.to_cyc = relative(d, w.track->clock, a.hi);
	d->x.result->n_tracks++;
	if (d->ops->takes_tracks) {
		d->x.result->n_slices += d->data.n;
		d->x.result->n_states += d->data.n_states;
		return d->ops->track(&d->x, &k, e);
	}
	return (!d->ops->track || d->ops->track(&d->x, &k, e)) &&
	       (!is_first || send_links(d, &w, e)) && send_slices(d, &w, e) &&
	       send_states(d, &w, e) && (is_first || send_links(d, &w, e)) &&
	       (!d->ops->track_end || d->ops->track_end(&d->x, e));
}

static bool send_tracks(struct driver *d, struct incore_error *e)
{
	const struct trace *t = d->x.trace;
	struct progress *p = d->x.options->walk.progress;
	bool ok = true;

	progress_begin(p, "waves", t->n_tracks);
	for (track_idx i = 0; ok && i < t->n_tracks; i++) {
		progress_add(p, 1);
		if (selection_has(&d->selection, t, &t->tracks[i]))
			ok = send_track(d, i, e);
	}
	progress_end(p);
	return ok;
}

/* --- the rest --- */

static bool send_counters(struct driver *d, struct incore_error *e)
{
	const struct trace *t = d->x.trace;

	EACH (const struct counter_series, c, t->counters, t->n_counters) {
		for (uint32_t k = 0; k < c->n && d->ops->counter; k++) {
			struct export_sample s = {.series = c,
				.time_cyc = relative(d, c->clock, c->time_cyc[k]),
				.value = c->value[k]};

			if (!export_has_time(&d->x, s.time_cyc))
				continue;
			d->x.result->n_samples++;
			if (!d->ops->counter(&d->x, &s, e))
				return false;
		}
	}
	return true;
}

static bool send_losses(struct driver *d, struct incore_error *e)
{
	const struct trace *t = d->x.trace;

	for (uint32_t i = 0; i < t->n_notes; i++)
		if (!d->ops->lost(&d->x, &t->notes[i], e))
			return false;
	for (uint32_t i = 0; i < d->x.result->n_notes; i++)
		if (!d->ops->lost(&d->x, &d->x.result->notes[i], e))
			return false;
	return true;
}

static bool send_cuts(struct driver *d, struct incore_error *e)
{
	const struct trace *t = d->x.trace;
	struct export *x = &d->x;
	unsigned holds = d->ops->holds;
	const char *why = "this format has no place for them";
	uint64_t n_samples = 0, n_pcs = 0;

	for (uint32_t i = 0; i < t->n_counters; i++)
		n_samples += t->counters[i].n;
	for (code_idx i = 0; t->samples && !(holds & EXPORT_SAMPLES) && i < t->n_code; i++)
		n_pcs += t->samples[i].issued + t->samples[i].stalled;
	if (!(holds & EXPORT_CODE) && /* formats with EXPORT_CODE store whole tables */
		(!export_cut(x, "markers", why, t->n_markers, e) ||
			!export_cut(x, "issue records of other SIMDs", why, t->n_other_issues, e) ||
			!export_cut(x, "dispatch events", why, t->n_dispatch_events, e) ||
			!export_cut(x, "links between tracks", why,
				holds & EXPORT_TRACK_LINKS ? 0 : t->n_links, e)))
		return false;
	return export_cut(x, "instructions", why, d->n_slices_cut, e) &&
	       export_cut(x, "wave states", why, d->n_states_cut, e) &&
	       export_cut(x, "producers of waits", why, d->n_waits_cut, e) &&
	       export_cut(x, "PC samples", why, n_pcs, e) &&
	       export_cut(x, "counter samples", why, d->ops->counter ? 0 : n_samples, e) &&
	       export_cut(x, "occupancy events", why, holds & EXPORT_OCCUPANCY ? 0 : t->n_occupancy,
		       e) &&
	       export_cut(x, "notes", why, holds & EXPORT_NOTES ? 0 : t->n_notes, e);
}

static bool export_drive(struct driver *d, struct incore_error *e)
{
	struct export *x = &d->x;

	if (d->ops->takes_time && x->options->is_real_time && !x->trace->meta.clock_hz_num)
		return err_set(e, INCORE_USAGE, "no-clock",
			"--time us: this capture does not give its clock; use --time cycles");
	if (d->ops->link) {
		d->tables = wait_tables_new(x->trace, e);
		if (!d->tables)
			return false;
	}
	return d->ops->begin(x, e) && (d->ops->takes_sums || send_tracks(d, e)) &&
	       send_counters(d, e) && send_losses(d, e) && send_cuts(d, e) && d->ops->end(x, e);
}

/* Writers do not check each write; this reports a full disk better than they can. */
static bool explain_write(const struct export *x, struct incore_error *e)
{
	if (x->file.f && ferror(x->file.f))
		err_write(e);
	return false;
}

static bool check_strict(const struct export *x, struct incore_error *e)
{
	uint32_t n = x->result->n_failed;

	if (!x->options->is_strict || n == 0)
		return true;
	return err_set(e, INCORE_PARTIAL, "partial-input",
		"%u wave%s could not be read, and --strict was asked for: %s", n, n == 1 ? "" : "s",
		x->result->notes[0].message);
}

static bool open_target(struct export *x, struct incore_error *e)
{
	if (!x->ops->needs_name)
		return out_file_open(&x->file, x->path, e);
	if (!x->path || strcmp(x->path, "-") == 0)
		return err_set(e, INCORE_USAGE, "missing-option",
			"--to %s needs -o FILE: it cannot be written to standard output",
			x->ops->name);
	return out_file_open_named(&x->file, x->path, e);
}

bool export_run(const struct trace *t, const struct export_ops *ops, const char *path,
	const struct export_options *o, struct export_result *out, struct incore_error *e)
{
	struct driver d = {.ops = ops};
	bool ok = false;

	*out = (struct export_result){0};
	arena_init(&out->arena);
	d.x = (struct export){.trace = t, .ops = ops, .path = path, .options = o, .result = out};
	d.x.origin_cyc = trace_origin(t);
	if (o->walk.selection)
		d.selection = *o->walk.selection; /* borrowed, not freed here */
	out->notes = arena_zalloc(&out->arena, WALK_MAX_NOTES, sizeof(*out->notes));
	if (!out->notes) {
		err_nomem(e);
		goto out;
	}
	if (!ops->is_directory && !open_target(&d.x, e))
		goto out;
	ok = export_drive(&d, e) || explain_write(&d.x, e);
	ok = ok && check_strict(&d.x, e) && (!ops->commit || ops->commit(&d.x, e));
	if (ops->abort)
		ops->abort(&d.x);
	ok = ok && (ops->is_directory || out_file_commit(&d.x.file, e));
	out_file_abort(&d.x.file);
out:
	track_data_deinit(&d.data);
	waits_deinit(&d.waits);
	wait_tables_free(d.tables);
	if (!ok)
		export_result_deinit(out);
	return ok;
}
