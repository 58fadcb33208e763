/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.c: notes about losses. Everything the decoder counted becomes one note per kind, with the
 * stream and the byte of the first occurrence; places that are decoded differently from AMD's
 * decoder 0.1.6 become information notes.
 */
#include "import/sqtt/rgp.h"
#include "import/sqtt/sqtt.h"

static const uint8_t kinds[SQTT_FIRST_DIFF] = {
	[SQTT_NOTE_PACKET_LOST] = NOTE_LOST,
	[SQTT_NOTE_TRACE_STALL] = NOTE_INFO,
	[SQTT_NOTE_CUT] = NOTE_TRUNCATED,
	[SQTT_NOTE_UNKNOWN_TOKEN] = NOTE_LOST,
	[SQTT_NOTE_BAD_SLOT] = NOTE_LOST,
	[SQTT_NOTE_CLOCK_RANGE] = NOTE_CLAMPED,
	[SQTT_NOTE_NO_START] = NOTE_MISSING,
	[SQTT_NOTE_UNCONFIRMED] = NOTE_LOST,
	[SQTT_NOTE_STITCH_INCOMPLETE] = NOTE_UNMAPPED,
	[SQTT_NOTE_WAVE_INCOMPLETE] = NOTE_TRUNCATED,
	[SQTT_NOTE_NO_CODE] = NOTE_UNMAPPED,
	[SQTT_NOTE_BAD_OBJECT] = NOTE_CONTRADICTORY,
	[SQTT_NOTE_UNVERIFIED] = NOTE_GUESSED,
	[SQTT_NOTE_REJECTED] = NOTE_LOST,
};

static bool note_decoder(struct sqtt_build *b, enum sqtt_note n)
{
	const struct sqtt_loader *l = b->loader;
	const struct sqtt_engine *first = NULL;
	uint64_t count = 0;
	uint32_t engines = 0;

	EACH (const struct sqtt_engine, g, l->engines, l->n_engines) {
		if (g->is_bad || !g->result.notes[n].count)
			continue;
		first = first ? first : g;
		count += g->result.notes[n].count;
		engines++;
	}
	if (!first)
		return true;
	return trace_note(b->trace, n < SQTT_FIRST_DIFF ? (enum note_kind)kinds[n] : NOTE_INFO,
		sqtt_note_name(n), path_base(first->path),
		first->at + first->result.notes[n].first_off, count,
		"%s: %llu in %u of %u streams, first in %s at byte %llu", sqtt_note_text(n),
		(unsigned long long)count, engines, l->n_engines, path_base(first->path),
		(unsigned long long)(first->at + first->result.notes[n].first_off));
}

static bool note_bad_streams(struct sqtt_build *b)
{
	const struct sqtt_loader *l = b->loader;

	EACH (const struct sqtt_engine, g, l->engines, l->n_engines) {
		struct strbuf text = {0};
		bool ok, is_link;

		if (!g->is_bad)
			continue;
		is_link = err_is(&g->why, "link-outside");
		err_format(&g->why, &text);
		ok = trace_note(b->trace, is_link ? NOTE_MISSING : NOTE_DAMAGED,
			is_link ? "link-outside" : "damaged-stream", path_base(g->path),
			g->why.offset, 1, "shader engine %u is left out: %s", g->se,
			text.p ? text.p : "its stream cannot be read");
		sb_free(&text);
		if (!ok)
			return false;
	}
	return true;
}

/* Real streams have no unknown tokens and are shorter than half a minute. */
static bool is_implausible(const struct sqtt_engine *g)
{
	const int64_t longest_cyc = (int64_t)1 << 36;
	uint64_t unknown = g->result.notes[SQTT_NOTE_UNKNOWN_TOKEN].count;

	return !g->is_bad &&
	       (unknown * 500 > g->result.decoded_bytes || g->result.last_cyc > longest_cyc);
}

static bool note_implausible(struct sqtt_build *b)
{
	const struct sqtt_loader *l = b->loader;
	const struct sqtt_engine *first = NULL;
	uint32_t n = 0;

	for (uint32_t i = l->n_engines; i-- > 0;)
		if (is_implausible(&l->engines[i])) {
			first = &l->engines[i];
			n++;
		}
	return !n ||
	       trace_note(b->trace, NOTE_CONTRADICTORY, "implausible-stream",
		       path_base(first->path), 0, n,
		       "the tokens of %u of %u streams do not make sense as gfx%u, which their headers say (first: %s, %llu unknown tokens, clock at %lld): another generation, or damage",
		       n, l->n_engines, l->gfx_major, path_base(first->path),
		       (unsigned long long)first->result.notes[SQTT_NOTE_UNKNOWN_TOKEN].count,
		       (long long)first->result.last_cyc);
}

/* The addresses of rocprofv3's code objects are only in markers in the streams. */
static bool note_no_markers(struct sqtt_build *b)
{
	const struct sqtt_loader *l = b->loader;
	uint64_t markers = 0;

	for (uint32_t i = 0; i < l->n_engines; i++)
		markers += l->engines[i].result.object_markers;
	return markers || b->container.rgp || !b->objects.v.n || !b->objects.v.v[0].id ||
	       trace_note(b->trace, NOTE_MISSING, "no-load-address", NULL, INCORE_NO_OFFSET,
		       b->objects.v.n,
		       "no marker in the streams says where the code objects were loaded: load addresses are unknown, no instruction gets an address");
}

/* Notes changes made while converting records to a trace. */
static bool note_changes(struct sqtt_build *b)
{
	const struct sqtt_loader *l = b->loader;
	struct trace *t = b->trace;
	uint64_t clamped = 0, unwritten = 0, moved = 0, no_slot = 0;
	bool ok;

	for (uint32_t i = 0; i < l->n_engines; i++) {
		clamped += l->engines[i].n_clamped;
		moved += l->engines[i].n_out_of_order;
		no_slot += l->engines[i].n_no_slot;
	}
	if (clamped && !trace_note(t, NOTE_CLAMPED, "clamped-times", NULL, INCORE_NO_OFFSET,
			       clamped, "%llu times or durations were out of range and are clamped",
			       (unsigned long long)clamped))
		return false;
	if (moved &&
		!trace_note(t, NOTE_INFO, "sorted-instructions", NULL, INCORE_NO_OFFSET, moved,
			"%llu instructions were recorded before the one they follow in the code; they stand in order of time",
			(unsigned long long)moved))
		return false;
	if (no_slot && t->n_code == 0 &&
		!trace_note(t, NOTE_UNMAPPED, "no-known-code", NULL, INCORE_NO_OFFSET, no_slot,
			"none of the %llu instructions lies in a known code object: is it the right one, at the right load address?",
			(unsigned long long)no_slot))
		return false;
	for (uint32_t i = 0; i < t->n_occupancy; i++)
		unwritten += t->occupancy[i].is_start && t->occupancy[i].cu == t->meta.target_cu;
	for (track_idx i = 0; i < t->n_tracks; i++)
		unwritten -= unwritten && t->tracks[i].coord[1] == t->meta.target_cu;
	if (!unwritten)
		return true;
	t->reading = IMPORT_OCCUPANCY;
	ok = trace_note(t, NOTE_INFO, "waves-without-detail", NULL, INCORE_NO_OFFSET, unwritten,
		"%llu waves of the target CU have no instructions in the stream (another SIMD, or instruction tracing was off): occupancy alone has them",
		(unsigned long long)unwritten);
	t->reading = 0;
	return ok;
}

bool sqtt_notes_build(struct sqtt_build *b, struct incore_error *e)
{
	bool ok = note_bad_streams(b) && (!b->container.rgp || rgp_notes(b));

	for (unsigned n = 0; ok && n < SQTT_NOTE_COUNT; n++)
		ok = note_decoder(b, (enum sqtt_note)n);
	ok = ok && note_implausible(b) && note_no_markers(b) && note_changes(b);
	if (ok && b->rules == SQTT_RULES_C16)
		ok = trace_note(b->trace, NOTE_INFO, "decoder-compat", NULL, INCORE_NO_OFFSET, 1,
			"decoded by the rules of AMD's decoder 0.1.6, its errors included");
	return ok || err_nomem(e);
}
