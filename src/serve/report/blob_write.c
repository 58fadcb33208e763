/* SPDX-License-Identifier: Apache-2.0 */
/* blob_write.c: encodes a view as a blob. */
#include "base/mem.h"
#include "codec/varint.h"
#include "serve/report/blob_internal.h"

/* Converts a slice's number to that in the kept part of its track. False: the slice is left out. */
static bool renumber(const struct blob_options *o, track_idx track, uint32_t *slice)
{
	if (!o->parts)
		return true;
	if (*slice - o->parts[track].first >= o->parts[track].n)
		return false;
	*slice -= o->parts[track].first;
	return true;
}

/* The links between slices that are kept; the caller frees them. NULL on lack of memory. */
static struct link *blob_write_keep_links(
	const struct trace *t, const struct blob_options *o, uint32_t *n)
{
	struct link *kept = mem_zalloc((size_t)t->n_links + 1, sizeof(*kept));

	*n = 0;
	for (uint32_t i = 0; kept && i < t->n_links; i++) {
		struct link x = t->links[i];

		if (renumber(o, x.from_track, &x.from_slice) &&
			renumber(o, x.to_track, &x.to_slice))
			kept[(*n)++] = x;
	}
	return kept;
}

static bool blob_write_put_tables(
	const struct view *v, const struct blob_options *o, struct strbuf *out)
{
	struct trace shallow = *v->trace; /* an empty array in it becomes NULL */
	struct link *links = blob_write_keep_links(v->trace, o, &shallow.n_links);
	struct view head = *v;
	struct fields f;
	bool ok;

	shallow.links = links;
	fields_init_write(&f, FORMAT_BLOB, out);
	ok = links && blob_move_tables(&f, &head, &shallow, o->no_source);
	fields_deinit(&f);
	mem_free(links);
	return ok;
}

/* --- columns --- */

static void blob_write_put_lane(const struct view *v, const struct lane *l,
	const struct blob_part *part, struct blob_streams *s)
{
	uint32_t from = 0, to = l->n, end = 0, code = 0;
	struct strbuf *b = s->stream;

	if (part) { /* the portion of the part in this lane */
		from = part->first > l->first ? part->first - l->first : 0;
		to = part->first + part->n > l->first ? part->first + part->n - l->first : 0;
		to = to < l->n ? to : l->n;
		from = from < to ? from : to;
	}
	bytes_put_varint(&b[BLOB_LANES], l->track);
	bytes_put_varint(&b[BLOB_LANES], to - from);
	bytes_put_varint(&b[BLOB_LANES], l->n_sub);
	bytes_put_varint(&b[BLOB_LANES], l->base_cyc);
	/* omitted slices are not idle time: the track then lives as long as its kept slices */
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

static bool blob_write_put_columns(
	const struct view *v, const struct blob_options *o, struct strbuf *out)
{
	const struct trace *t = v->trace;
	struct blob_streams s = {0};
	bool ok = blob_streams_init(&s, t);

	bytes_put_varint(out, v->columns->n_lanes);
	for (uint32_t i = 0; ok && i < v->columns->n_lanes; i++) {
		const struct lane *l = &v->columns->lanes[i];

		blob_write_put_lane(v, l, o->parts ? &o->parts[l->track] : NULL, &s);
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
	return blob_write_put_tables(v, o, out) && blob_write_put_columns(v, o, out) &&
	       !out->failed;
}
