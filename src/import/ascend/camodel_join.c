/* SPDX-License-Identifier: Apache-2.0 */
/*
 * camodel_join.c: joins the start (popped log) and the end (instr_log) of each instruction. Starts
 * and ends of one key (PC, or the instruction's id on A5) are joined in tick order; those without
 * a counterpart are counted and named.
 */
#include "base/search.h"
#include "import/ascend/camodel.h"

#include <stdio.h>

#define MAX_NAMED 4
/* If a PC has too many ends, the later one of two within so many ticks counts. */
#define END_SLACK 8

ORDER(rec_cmp, struct dump_rec, UP(key) UP(tick) UP(order))

ORDER(tick_cmp, struct dump_rec, UP(tick) UP(order))

ORDER(time_cmp, struct dump_time, UP(address) UP(tick))

static bool is_mark(const struct dump_line *l)
{
	return str_has(l->operands, "LPCNT") || str_has(l->operands, "SPR:COND,");
}

/* --- slices --- */

static enum ascend_pipe pipe_of_line(const struct dump_line *l)
{
	ptrdiff_t warp = str_find(l->operands, "[warpId:");
	uint64_t n = 0;
	struct str s;

	if (warp >= 0) {
		s = str_sub(l->operands, (size_t)warp + 8, l->operands.n);
		s = str_sub(s, 0, (size_t)(str_find(s, "]") < 0 ? 0 : str_find(s, "]")));
		if (str_to_u64(s, &n) && n < ASCEND_WARPS)
			return (enum ascend_pipe)(PIPE_WARP0 + n);
	}
	if (str_has(l->opcode, "scalar_ld") || str_has(l->opcode, "scalar_st"))
		return PIPE_SCALAR;
	return ascend_pipe_of_unit(l->unit);
}

static uint32_t lane_of(struct core_dump *c, enum ascend_pipe pipe)
{
	char buf[16];

	if (!c->lane_of[pipe]) {
		uint32_t lane =
			asc_lane(c->b, str_of(c->unit), str_of(ascend_pipe_name(pipe, buf)));

		if (lane == NO_TRACK)
			return NO_TRACK;
		c->lane_of[pipe] = lane + 1;
	}
	return c->lane_of[pipe] - 1;
}

static struct track_slice *add_slice(struct core_dump *c, enum ascend_pipe pipe,
	const struct asc_op *op, uint64_t start, uint64_t end)
{
	uint32_t lane = lane_of(c, pipe), code = lane == NO_TRACK ? NO_CODE : asc_code(c->b, op);
	struct track_slice *r = code == NO_CODE ? NULL : asc_add(c->b, lane, code);

	if (!r)
		return NULL;
	r->start = start;
	r->dur = end - start > UINT32_MAX ? UINT32_MAX : (uint32_t)(end - start);
	c->b->counts[ASC_CLAMPED] += end - start > UINT32_MAX;
	c->b->rows.v[code].n++;
	return r;
}

/* The latest fetch of the line of a PC that is not after `tick`. */
static bool find_fetch(const struct core_dump *c, uint64_t pc, uint64_t tick, uint64_t *out)
{
	bool found = false;

	for (uint64_t off = 0; off < 16 && off <= pc; off += 4) {
		struct dump_time key = {pc - off, tick};
		size_t lo = 0, hi = c->fetches.n;

		BISECT(lo, hi, i, time_cmp(&c->fetches.v[i], &key) <= 0);
		if (lo && c->fetches.v[lo - 1].address == pc - off &&
			(!found || c->fetches.v[lo - 1].tick > *out)) {
			*out = c->fetches.v[lo - 1].tick;
			found = true;
		}
	}
	return found;
}

/* The k-th issue of a PC belongs to its k-th start. */
static bool add_head(
	struct core_dump *c, struct track_slice *r, uint32_t lane, uint64_t pc, size_t k)
{
	size_t lo = 0, hi = c->issues.n;
	struct asc_extra *x;
	uint64_t issue, fetch = 0;

	BISECT(lo, hi, i, c->issues.v[i].address < pc);
	if (lo + k >= c->issues.n || c->issues.v[lo + k].address != pc)
		return true;
	issue = c->issues.v[lo + k].tick;
	if (issue > r->start)
		return true;
	x = asc_extra_of(c->b, r, lane);
	if (!x)
		return false;
	x->ccu = (double)(r->start - issue);
	if (find_fetch(c, pc, issue, &fetch))
		x->cache = (double)(issue - fetch);
	return true;
}

/* Blanks in operands are not significant: "TRIGGER PIPE" equals "TRIGGERPIPE". */
static struct str without_blanks(struct strbuf *out, struct str s)
{
	sb_reset(out);
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != ' ')
			sb_putc(out, s.p[i]);
	return (struct str){out->p ? out->p : "", out->n};
}

static bool join_two(
	struct core_dump *c, const struct dump_rec *start, const struct dump_rec *end, size_t k)
{
	struct strbuf text = {0};
	struct ascend_unit u = {0};
	struct dump_line l, last;
	struct asc_op op = {.is_kind_known = true};
	struct track_slice *r;
	struct asc_extra *x;
	bool ok = true;

	dump_line_parse(start->line, &l);
	dump_line_parse(end->line, &last);
	if (is_mark(&l) || is_mark(&last))
		return true;
	if (start->tick > end->tick) {
		c->n_backwards++;
		return true;
	}
	ascend_unit_of(str_of(c->unit), &u);
	op.kind = u.kind;
	op.pc = l.pc;
	op.name = last.opcode.n ? last.opcode : l.opcode;
	op.detail = without_blanks(&text, last.operands.n ? last.operands : l.operands);
	r = text.failed ? NULL : add_slice(c, pipe_of_line(&l), &op, start->tick, end->tick);
	if (!r) {
		sb_free(&text);
		return false;
	}
	if (c->b->rows.v[r->code].sync != SYNC_NONE && c->b->rows.v[r->code].sync != SYNC_NOP) {
		enum ascend_sync sync = (enum ascend_sync)c->b->rows.v[r->code].sync;
		uint32_t lane = lane_of(c, pipe_of_line(&l));

		x = asc_extra_of(c->b, r, lane);
		ok = x != NULL;
		if (ok) {
			x->sync = (uint8_t)sync;
			x->key = asc_fifo_key(c->b, lane, sync, op.detail);
		}
	}
	ok = ok && add_head(c, r, lane_of(c, pipe_of_line(&l)), l.pc, k);
	sb_free(&text);
	return ok;
}

/* --- joining --- */

/* Thins v[0..n) until `want` are left: an item within `slack` after a kept one replaces it. */
static size_t thin(struct dump_rec *v, size_t n, size_t want, uint64_t slack, bool is_exact)
{
	size_t kept = n ? 1 : 0, left = n;

	for (size_t i = 1; i < n; i++) {
		uint64_t gap = v[i].tick - v[kept - 1].tick;
		bool is_near = is_exact ? gap == slack : gap <= slack;

		if (left > want && is_near) {
			v[kept - 1] = v[i];
			left--;
		} else {
			v[kept++] = v[i];
		}
	}
	return kept;
}

static void note_alone(struct core_dump *c, int side, const struct dump_rec *r)
{
	struct dump_line l;

	if (!dump_line_parse(r->line, &l) || is_mark(&l) || ascend_sync_of(l.opcode) == SYNC_NOP)
		return;
	if (c->n_alone[side]++ < MAX_NAMED)
		sb_printf(&c->alone[side], "%s0x%llx at %llu", c->alone[side].n ? ", " : "",
			(unsigned long long)l.pc, (unsigned long long)r->tick);
}

static bool join_group(
	struct core_dump *c, struct dump_rec *s, size_t ns, struct dump_rec *d, size_t nd)
{
	size_t n;

	if (!c->by_id && nd > ns)
		nd = thin(d, nd, ns, END_SLACK, false);
	if (!c->by_id && ns > nd)
		ns = thin(s, ns, nd, 1, true);
	n = ns < nd ? ns : nd;
	for (size_t i = 0; i < n; i++)
		if (!join_two(c, &s[i], &d[i], i))
			return false;
	for (size_t i = n; i < ns; i++)
		note_alone(c, 0, &s[i]);
	for (size_t i = n; i < nd; i++)
		note_alone(c, 1, &d[i]);
	return true;
}

static size_t same_key(const struct dump_rec *v, size_t from, size_t n)
{
	size_t end = from;

	while (end < n && v[end].key == v[from].key)
		end++;
	return end;
}

static bool join_all(struct core_dump *c)
{
	size_t i = 0, k = 0;

	SORT(c->starts.v, c->starts.n, rec_cmp);
	SORT(c->ends.v, c->ends.n, rec_cmp);
	while (i < c->starts.n || k < c->ends.n) {
		bool has_s = i < c->starts.n &&
			     (k >= c->ends.n || c->starts.v[i].key <= c->ends.v[k].key);
		bool has_d = k < c->ends.n &&
			     (i >= c->starts.n || c->ends.v[k].key <= c->starts.v[i].key);
		size_t ie = has_s ? same_key(c->starts.v, i, c->starts.n) : i;
		size_t ke = has_d ? same_key(c->ends.v, k, c->ends.n) : k;

		if (!join_group(c, has_s ? c->starts.v + i : NULL, ie - i,
			    has_d ? c->ends.v + k : NULL, ke - k))
			return false;
		i = ie;
		k = ke;
	}
	return true;
}

/* --- marks and misses --- */

/* 0x8000000k starts mark k, 0xc000000k stops it; -1: neither. */
static int mark_of(const struct dump_line *l, bool *is_stop)
{
	ptrdiff_t at = str_find(l->operands, "0x8000000");
	struct str digit;

	*is_stop = false;
	if (at < 0) {
		at = str_find(l->operands, "0xc000000");
		*is_stop = true;
	}
	if (at < 0)
		return -1;
	digit = str_sub(l->operands, (size_t)at + 9, 1);
	return digit.n && digit.p[0] >= '0' && digit.p[0] <= '9' ? digit.p[0] - '0' : -1;
}

struct marker_state {
	int open;	 /* number of the open mark, or -1 */
	bool is_closing; /* its stop was seen: the run of NOP_PIPE ends it */
	bool has_begin;
	uint64_t begin, end;
	uint64_t n_dropped;
};

static bool end_mark(struct core_dump *c, struct marker_state *m)
{
	char name[24];
	struct ascend_unit u = {0};
	struct asc_op op = {.is_kind_known = true, .detail = STR(""), .code = STR("")};
	bool ok = true;

	if (m->open < 0)
		return true;
	snprintf(name, sizeof(name), "Mark 0x%x", (unsigned)m->open);
	ascend_unit_of(str_of(c->unit), &u);
	op.kind = u.kind;
	op.name = str_of(name);
	if (m->has_begin && m->is_closing && m->begin <= m->end)
		ok = add_slice(c, PIPE_USERMARK, &op, m->begin, m->end) != NULL;
	else
		m->n_dropped++;
	*m = (struct marker_state){.open = -1, .n_dropped = m->n_dropped};
	return ok;
}

static bool step_mark(struct core_dump *c, struct marker_state *m, const struct dump_line *l)
{
	bool is_stop, is_nop = ascend_sync_of(l->opcode) == SYNC_NOP;
	int k = is_mark(l) ? mark_of(l, &is_stop) : -1;

	if (m->is_closing && !is_nop && !end_mark(c, m))
		return false;
	if (k >= 0 && !is_stop) {
		m->n_dropped += m->open >= 0; /* nested */
		*m = (struct marker_state){.open = k, .n_dropped = m->n_dropped};
	} else if (k >= 0 && k == m->open) {
		m->is_closing = true;
		m->end = l->tick;
	} else if (is_nop && m->open >= 0 && !m->is_closing && !m->has_begin) {
		m->has_begin = true;
		m->begin = l->tick;
	} else if (is_nop && m->is_closing) {
		m->end = l->tick;
	}
	return true;
}

static bool add_marks(struct core_dump *c)
{
	struct marker_state m = {.open = -1};
	struct dump_line l;

	SORT(c->ends.v, c->ends.n, tick_cmp);
	for (size_t i = 0; i < c->ends.n; i++)
		if (dump_line_parse(c->ends.v[i].line, &l) && !step_mark(c, &m, &l))
			return false;
	if (!end_mark(c, &m))
		return false;
	return !m.n_dropped ||
	       trace_note(c->b->trace, NOTE_LOST, "open-marks", c->b->path, INCORE_NO_OFFSET,
		       m.n_dropped, "%llu user marks are nested or never end",
		       (unsigned long long)m.n_dropped);
}

static bool add_misses(struct core_dump *c)
{
	struct ascend_unit u = {0};

	ascend_unit_of(str_of(c->unit), &u);
	EACH (const struct dump_time, t, c->misses.v, c->misses.n) {
		struct asc_op op = {.kind = u.kind,
			.is_kind_known = true,
			.pc = t->address,
			.name = STR("CACHEMISS"),
			.code = STR("")};
		char text[24];

		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)t->address);
		op.detail = str_of(text);
		if (!add_slice(c, PIPE_CACHEMISS, &op, t->tick, t->tick + 1))
			return false;
	}
	return true;
}

static bool note_core(struct core_dump *c)
{
	static const char *const codes[2] = {"start-without-end", "end-without-start"};
	static const char *const what[2] = {"starts without an end", "ends without a start"};
	struct trace *t = c->b->trace;

	for (int i = 0; i < 2; i++)
		if (c->n_alone[i] && !trace_note(t, NOTE_UNMAPPED, codes[i], c->b->path,
					     INCORE_NO_OFFSET, c->n_alone[i], "%s: %llu %s: %s%s",
					     c->unit, (unsigned long long)c->n_alone[i], what[i],
					     c->alone[i].p ? c->alone[i].p : "",
					     c->n_alone[i] > MAX_NAMED ? ", ..." : ""))
			return false;
	if (c->n_bad && !trace_note(t, NOTE_DAMAGED, "bad-dump-line", c->b->path, INCORE_NO_OFFSET,
				c->n_bad, "%s: %llu lines are not understood", c->unit,
				(unsigned long long)c->n_bad))
		return false;
	return !c->n_backwards ||
	       trace_note(t, NOTE_LOST, "backwards", c->b->path, INCORE_NO_OFFSET, c->n_backwards,
		       "%s: %llu instructions end before they start", c->unit,
		       (unsigned long long)c->n_backwards);
}

bool core_dump_join(struct core_dump *c)
{
	SORT(c->fetches.v, c->fetches.n, time_cmp);
	SORT(c->issues.v, c->issues.n, time_cmp);
	return join_all(c) && add_marks(c) && add_misses(c) && note_core(c);
}
