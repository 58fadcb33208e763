/* SPDX-License-Identifier: Apache-2.0 */
/* blob_write.c: a view into bytes. */
#include "base/mem.h"
#include "codec/varint.h"
#include "serve/report/blob_internal.h"

static void put_texts(struct strbuf *b, const char *s)
{
	bytes_put_str(b, str_of(s ? s : ""));
}

static void put_head(const struct view *v, struct strbuf *b)
{
	const struct trace_meta *m = &v->trace->meta;
	unsigned n = 0;

	sb_add(b, BLOB_MAGIC, BLOB_MAGIC_LEN);
	put_texts(b, v->hash);
	bytes_put_zigzag(b, v->origin_cyc);
	bytes_put_u8(b, v->has_pipes);
	bytes_put_u8(b, (uint8_t)m->vendor);
	bytes_put_u8(b, (uint8_t)m->evidence);
	bytes_put_varint(b, m->gfx_major);
	bytes_put_varint(b, m->clock_quantum);
	put_texts(b, m->arch);
	while (n < TRACK_LEVELS && v->trace->levels[n])
		n++;
	bytes_put_varint(b, n);
	for (unsigned i = 0; i < n; i++)
		put_texts(b, v->trace->levels[i]);
}

static void put_code(const struct trace *t, bool no_source, struct strbuf *b)
{
	uint64_t address = 0;
	int64_t number = 0;

	bytes_put_varint(b, t->n_sources);
	for (uint32_t i = 0; i < t->n_sources; i++) {
		const struct source_file *s = &t->sources[i];

		put_texts(b, s->path);
		bytes_put_varint(b, s->n_lines);
		bytes_put_u8(b, s->text && !no_source);
		if (s->text && !no_source)
			bytes_put_str(b, (struct str){s->text, s->text_len});
	}
	bytes_put_varint(b, t->n_frames);
	for (uint32_t i = 0; i < t->n_frames; i++) {
		bytes_put_varint(b, (uint64_t)t->frames[i].source + 1 > UINT32_MAX
					    ? 0
					    : (uint64_t)t->frames[i].source + 1);
		bytes_put_varint(b, t->frames[i].line);
	}
	bytes_put_varint(b, t->n_code);
	for (uint32_t i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];

		bytes_put_str(b, (struct str){r->text, r->text_len});
		bytes_put_zigzag(b, r->number - number);
		bytes_put_zigzag(b, (int64_t)(r->address - address));
		bytes_put_u8(b, r->is_label);
		bytes_put_u8(b, r->inst_class);
		bytes_put_varint(b, r->n_frames);
		bytes_put_varint(b, r->n_frames ? r->first_frame : 0);
		number = r->number;
		address = r->address;
	}
}

static void put_tracks(const struct trace *t, struct strbuf *b)
{
	bytes_put_varint(b, t->n_clocks);
	for (uint32_t i = 0; i < t->n_clocks; i++) {
		bytes_put_varint(b, t->clocks[i].id);
		bytes_put_u8(b, t->clocks[i].is_aligned);
		bytes_put_zigzag(b, t->clocks[i].offset_cyc);
	}
	bytes_put_varint(b, t->n_tracks);
	for (uint32_t i = 0; i < t->n_tracks; i++) {
		const struct track *k = &t->tracks[i];

		for (unsigned n = 0; n < TRACK_LEVELS; n++)
			bytes_put_varint(b, k->coord[n]);
		bytes_put_varint(b, k->clock < t->n_clocks ? (uint64_t)k->clock + 1 : 0);
		bytes_put_varint(b, k->kernel_id == UINT32_MAX ? 0 : (uint64_t)k->kernel_id + 1);
		put_texts(b, k->name);
	}
	bytes_put_varint(b, t->n_kernel_names);
	for (uint32_t i = 0; i < t->n_kernel_names; i++) {
		bytes_put_varint(b, t->kernel_names[i].id);
		put_texts(b, t->kernel_names[i].name);
	}
	bytes_put_varint(b, t->n_markers);
	for (uint32_t i = 0; i < t->n_markers; i++) {
		bytes_put_varint(b, t->markers[i].time_cyc);
		bytes_put_varint(b, t->markers[i].value);
		bytes_put_varint(b,
			t->markers[i].clock < t->n_clocks ? (uint64_t)t->markers[i].clock + 1 : 0);
	}
}

static void put_counters(const struct trace *t, struct strbuf *b)
{
	bytes_put_varint(b, t->n_counters);
	for (uint32_t i = 0; i < t->n_counters; i++) {
		const struct counter_series *s = &t->counters[i];
		uint64_t last = 0;

		put_texts(b, s->name);
		bytes_put_varint(b, s->clock < t->n_clocks ? (uint64_t)s->clock + 1 : 0);
		bytes_put_varint(b, s->cu == UINT32_MAX ? 0 : (uint64_t)s->cu + 1);
		put_texts(b, s->unit);
		bytes_put_varint(b, s->per_unit);
		bytes_put_varint(b, s->n);
		for (uint32_t k = 0; k < s->n; k++) {
			bytes_put_zigzag(b, (int64_t)(s->time_cyc[k] - last));
			bytes_put_varint(b, s->value[k]);
			last = s->time_cyc[k];
		}
	}
}

/* What is kept of a slice's track; its number there. False: it is left out. */
static bool renumber(const struct blob_options *o, track_idx track, uint32_t *slice)
{
	if (!o->parts)
		return true;
	if (*slice - o->parts[track].first >= o->parts[track].n)
		return false;
	*slice -= o->parts[track].first;
	return true;
}

static void put_links(const struct trace *t, const struct blob_options *o, struct strbuf *b)
{
	struct strbuf kept = {0};
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->n_links; i++) {
		struct link x = t->links[i];

		if (!renumber(o, x.from_track, &x.from_slice) ||
			!renumber(o, x.to_track, &x.to_slice))
			continue;
		bytes_put_varint(&kept, x.from_track);
		bytes_put_varint(&kept, x.from_slice);
		bytes_put_varint(&kept, x.to_track);
		bytes_put_varint(&kept, x.to_slice);
		bytes_put_u8(&kept, (uint8_t)x.kind);
		n++;
	}
	bytes_put_varint(b, n);
	if (kept.n)
		sb_add(b, kept.p, kept.n);
	b->failed |= kept.failed;
	sb_free(&kept);
}

/* --- columns --- */

static void put_lane(const struct view *v, const struct lane *l, const struct blob_part *part,
	struct blob_streams *s)
{
	uint32_t from = 0, to = l->n, end = 0, code = 0;
	struct strbuf *b = s->stream;

	if (part) { /* of the part, what lies in this lane */
		from = part->first > l->first ? part->first - l->first : 0;
		to = part->first + part->n > l->first ? part->first + part->n - l->first : 0;
		to = to < l->n ? to : l->n;
		from = from < to ? from : to;
	}
	bytes_put_varint(&b[BLOB_LANES], l->track);
	bytes_put_varint(&b[BLOB_LANES], to - from);
	bytes_put_varint(&b[BLOB_LANES], l->n_sub);
	bytes_put_varint(&b[BLOB_LANES], l->base_cyc);
	/* what was left out is no idle time: the track then lives as long as what is kept */
	bytes_put_varint(&b[BLOB_LANES], from && from < to ? lane_start(l, from) : l->begin_cyc);
	bytes_put_varint(&b[BLOB_LANES], from == to && l->n ? l->begin_cyc
					 : to < l->n	    ? lane_start(l, to - 1) + l->dur[to - 1]
							    : l->end_cyc);
	for (uint32_t i = from; i < to; i++) {
		uint32_t row = l->code[i] < v->trace->n_code ? l->code[i] : v->trace->n_code;
		uint8_t *seen = &s->tag_of[row];

		bytes_put_zigzag(&b[BLOB_START], (int64_t)l->start[i] - end);
		bytes_put_varint(&b[BLOB_DUR], l->dur[i]);
		bytes_put_varint(&b[BLOB_STALL], l->stall[i]);
		bytes_put_zigzag(&b[BLOB_CODE], (int64_t)row - code - 1);
		bytes_put_u8(&b[BLOB_CLASS], l->inst_class[i] ^ s->class_of[row]);
		bytes_put_u8(&b[BLOB_TAG], l->tag[i] ^ *seen);
		if (l->n_sub > 1)
			bytes_put_u8(&b[BLOB_SUB], l->sub ? l->sub[i] : 0);
		*seen = l->tag[i];
		end = l->start[i] + l->dur[i];
		code = row;
	}
}

static bool put_columns(const struct view *v, const struct blob_options *o, struct strbuf *out)
{
	const struct trace *t = v->trace;
	struct blob_streams s = {0};
	bool ok = blob_streams_init(&s, t);

	bytes_put_varint(out, v->columns->n_lanes);
	for (uint32_t i = 0; ok && i < v->columns->n_lanes; i++) {
		const struct lane *l = &v->columns->lanes[i];

		put_lane(v, l, o->parts ? &o->parts[l->track] : NULL, &s);
	}
	for (unsigned i = 0; i < BLOB_STREAMS; i++) {
		ok = ok && !s.stream[i].failed &&
		     bytes_put_str(
			     out, (struct str){s.stream[i].n ? s.stream[i].p : "", s.stream[i].n});
		sb_free(&s.stream[i]);
	}
	blob_streams_deinit(&s);
	return ok;
}

bool blob_write(const struct view *v, const struct blob_options *o, struct strbuf *out)
{
	put_head(v, out);
	put_code(v->trace, o->no_source, out);
	put_tracks(v->trace, out);
	put_counters(v->trace, out);
	put_links(v->trace, o, out);
	return put_columns(v, o, out) && !out->failed;
}
