/* SPDX-License-Identifier: Apache-2.0 */
/*
 * camodel.c: raw dumps of the simulator (dump/, tmp_dump/): exact cycles. A core's logs may be
 * rotated into several files; all of them are read and sorted by tick.
 *
 * Parts: one line; requests of the transfer engines; starts and ends; the files of one core, and
 * the format.
 */
#include "import/ascend/camodel.h"

#include <math.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/search.h"
#include "import/ascend/ascend.h"
#include "import/capture_cache.h"

/* --- one line --------------------------------------------------------------------------------- */

/* Parses a line of a raw dump. */

static bool take_literal(struct str *s, const char *word)
{
	if (!str_starts(*s, word))
		return false;
	*s = str_sub(*s, strlen(word), s->n);
	return true;
}

static void camodel_skip_blanks(struct str *s)
{
	while (s->n && (s->p[0] == ' ' || s->p[0] == '\t'))
		*s = str_sub(*s, 1, s->n);
}

static bool take_decimal(struct str *s, uint64_t *out)
{
	size_t n = 0;
	uint64_t v = 0;

	for (; n < s->n && s->p[n] >= '0' && s->p[n] <= '9'; n++) {
		if (v > UINT64_MAX / 10 - 1)
			return false;
		v = v * 10 + (uint64_t)(s->p[n] - '0');
	}
	*out = v;
	*s = str_sub(*s, n, s->n);
	return n > 0;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

static bool take_hex(struct str *s, uint64_t *out)
{
	size_t n = 0;
	uint64_t v = 0;

	if (!take_literal(s, "0x"))
		return false;
	for (; n < s->n && n < 16 && hex_digit(s->p[n]) >= 0; n++)
		v = v << 4 | (uint64_t)hex_digit(s->p[n]);
	*out = v;
	*s = str_sub(*s, n, s->n);
	return n > 0;
}

static bool is_operand(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr(" _,:=/#-[]|", c));
}

static bool camodel_is_word(char c)
{
	return char_is_word(c) || c == '.';
}

static struct str camodel_take_word(struct str *s)
{
	struct str w = {s->p, 0};

	while (w.n < s->n && camodel_is_word(s->p[w.n]))
		w.n++;
	*s = str_sub(*s, w.n, s->n);
	return w;
}

/* Cuts off the simulator's remarks about its queues. */
static struct str cut_tail(struct str s, struct dump_line *out)
{
	static const char *const tails[] = {", instr ID is:", ". poped from IQ", " pop success"};

	out->is_popped_from_queue = str_has(s, "poped from IQ");
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		ptrdiff_t at = str_find(s, tails[i]);

		if (at >= 0)
			s = str_sub(s, 0, (size_t)at);
	}
	return s;
}

static bool take_head(struct str *s, struct dump_line *out)
{
	uint64_t core;

	take_literal(s, "[info] ");
	if (!take_literal(s, "[") || !take_decimal(s, &out->tick) || !take_literal(s, "]"))
		return false;
	camodel_skip_blanks(s);
	if (!take_literal(s, "(PC: ") || !take_hex(s, &out->pc) || !take_literal(s, ")"))
		return false;
	if (take_literal(s, "@CORE") && !take_decimal(s, &core))
		return false;
	camodel_skip_blanks(s);
	out->unit = camodel_take_word(s);
	camodel_skip_blanks(s);
	if (take_literal(s, "IB ISSUE") || take_literal(s, "ISSUE"))
		camodel_skip_blanks(s);
	return out->unit.n && take_literal(s, ": (Binary: ");
}

/* Instr_log and instr_popped_log; false: not such a line. */
static bool dump_line_parse(struct str s, struct dump_line *out)
{
	ptrdiff_t end;

	*out = (struct dump_line){0};
	if (!take_head(&s, out))
		return false;
	end = str_find(s, ")");
	if (end < 0)
		return false;
	s = str_sub(s, (size_t)end + 1, s.n);
	camodel_skip_blanks(&s);
	if (take_literal(&s, "(ID: ")) {
		out->has_id = take_decimal(&s, &out->id) && take_literal(&s, ")");
		if (!out->has_id)
			return false;
		camodel_skip_blanks(&s);
	}
	s = cut_tail(s, out);
	out->opcode = camodel_take_word(&s);
	while (out->opcode.n && out->opcode.p[out->opcode.n - 1] == '.')
		out->opcode.n--;
	camodel_skip_blanks(&s);
	take_literal(&s, "(");
	out->operands.p = s.p;
	while (out->operands.n < s.n && is_operand(s.p[out->operands.n]))
		out->operands.n++;
	out->operands = str_trim(out->operands);
	return true;
}

/* "[info] 23071: ", "[info] [00000308]: ", "[info] @2355: " */
static bool take_tick(struct str *s, uint64_t *tick)
{
	bool is_boxed;

	take_literal(s, "[info] ");
	is_boxed = take_literal(s, "[");
	take_literal(s, "@");
	if (!take_decimal(s, tick) || (is_boxed && !take_literal(s, "]")) || !take_literal(s, ":"))
		return false;
	camodel_skip_blanks(s);
	return true;
}

static bool address_behind(struct str s, const char *word, uint64_t *address)
{
	ptrdiff_t at = str_find(s, word);

	if (at < 0)
		return false;
	s = str_sub(s, (size_t)at + strlen(word), s.n);
	return take_hex(&s, address);
}

/* A line of an icache or ccu log: tick and address; false: another kind of line. */
static bool dump_event_parse(struct str s, enum dump_event *kind, uint64_t *tick, uint64_t *address)
{
	if (!take_tick(&s, tick))
		return false;
	*kind = DUMP_MISS;
	if (str_has(s, "status is MISS"))
		return address_behind(s, "icache read address is ", address);
	*kind = DUMP_FETCH;
	if (address_behind(s, "lookup_tag is fetch req addr:", address))
		return true;
	*kind = DUMP_ISSUE;
	return address_behind(s, "is_single_issue instr, pc:", address) ||
	       address_behind(s, "issue isa pc :", address);
}

static bool number_behind(struct str s, const char *word, uint64_t *v)
{
	ptrdiff_t at = str_find(s, word);

	if (at < 0)
		return false;
	s = str_sub(s, (size_t)at + strlen(word), s.n);
	camodel_skip_blanks(&s);
	return take_decimal(&s, v);
}

/* "[info] 12: BRIF send_req, addr: 0x40, size: 256, tag_id: 4, instr_id: 4, req_id: 5259": the bus
 * (global memory) reads; "L1W...", "UB0R..." are the other end. */
static bool dump_transfer_parse(struct str s, struct dump_transfer *out)
{
	uint64_t k;

	*out = (struct dump_transfer){.side = DUMP_ELSEWHERE};
	if (!take_tick(&s, &out->tick) || out->tick >= UINT64_C(1) << 53)
		return false;
	if (take_literal(&s, "B"))
		out->side = DUMP_GM;
	else if (take_literal(&s, "L1"))
		out->side = DUMP_L1;
	else if (take_literal(&s, "UB"))
		out->side = DUMP_UB;
	take_decimal(&s, &k);
	out->is_write = s.n && s.p[0] == 'W';
	return number_behind(s, "size:", &out->bytes) && out->bytes < UINT64_C(1) << 32 &&
	       number_behind(s, "instr_id:", &out->instr_id) &&
	       number_behind(s, "req_id:", &out->req_id);
}

/* Takes "core0.veccore1" from the beginning of a name. */
static bool camodel_take_core(struct str *s, struct str *core)
{
	struct str rest = *s;
	uint64_t n;

	if (!take_literal(&rest, "core") || !take_decimal(&rest, &n) || n > UINT32_MAX)
		return false;
	if (take_literal(&rest, ".veccore") || take_literal(&rest, ".cubecore") ||
		take_literal(&rest, ".mixcore"))
		if (!take_decimal(&rest, &n))
			return false;
	*core = (struct str){s->p, (size_t)(rest.p - s->p)};
	*s = rest;
	return true;
}

/* The kind of log by file name; *core is "core0.veccore1". */
static enum dump_log dump_log_of(struct str name, struct str *core)
{
	if (!str_has(name, ".dump") && !str_ends(name, ".log"))
		return DUMP_NONE;
	if (!camodel_take_core(&name, core) || name.n == 0 ||
		(name.p[0] != '.' && name.p[0] != '_'))
		return DUMP_NONE;
	name = str_sub(name, 1, name.n);
	if (str_starts(name, "instr_popped_log"))
		return DUMP_STARTS;
	if (str_starts(name, "instr_log"))
		return DUMP_ENDS;
	if (str_starts(name, "icache_log") || str_starts(name, "ifu.icache_log"))
		return DUMP_ICACHE;
	if (str_starts(name, "ccu_log"))
		return DUMP_CCU;
	if (str_starts(name, "mte_log"))
		return DUMP_MTE;
	return str_has(name, "_log") || str_has(name, "rvec") ? DUMP_OTHER : DUMP_NONE;
}

/* --- requests of the transfer engines --------------------------------------------------------- */

/*
 * Core<i>.mte_log.dump: requests of the transfer engines to the memories. A bus request transfers
 * its bytes at the last tick that names it; the other end of the same instruction shows whether
 * that was the L1 or the unified buffer. Bytes per microsecond become the same counters as in the
 * simulator's export (MB/s).
 */

enum { END_L1 = 1, END_UB = 2 };

static uint64_t camodel_key_of(uint64_t core, uint64_t id, unsigned what)
{
	return hash_mix64(hash_mix64(core << 8 | what) ^ id);
}

static bool add_transfer(struct asc_build *b, uint64_t core, const struct dump_transfer *t)
{
	uint64_t instr = camodel_key_of(core, t->instr_id, 0), *at;
	struct asc_transfer r = {t->tick, instr, (uint32_t)t->bytes, t->is_write};

	if (t->side == DUMP_L1 || t->side == DUMP_UB) {
		at = u64_map_at(&b->transfer_end, instr);
		if (at)
			*at |= t->side == DUMP_L1 ? END_L1 : END_UB;
		return at != NULL;
	}
	if (t->side != DUMP_GM)
		return true;
	at = u64_map_at(&b->transfer_at, camodel_key_of(core, t->req_id, 1 + t->is_write));
	if (!at)
		return false;
	if (*at) {
		struct asc_transfer *had = &b->transfers.v[*at - 1];

		had->tick = had->tick > t->tick ? had->tick : t->tick;
		return true;
	}
	if (!VEC_PUSH(&b->transfers, r))
		return false;
	*at = b->transfers.n;
	return true;
}

bool asc_read_mte_log(struct asc_build *b, struct str bytes, struct str core)
{
	uint64_t key = hash_bytes(core.p, core.n, 0);
	struct dump_transfer t;
	struct str line;

	while (str_cut(&bytes, "\n", &line))
		if (dump_transfer_parse(str_trim(line), &t) && !add_transfer(b, key, &t))
			return false;
	return true;
}

/* --- counters --- */

enum series { TO_UB, TO_L1, FROM_GM, FROM_UB, FROM_L1, TO_GM, SERIES };
static const char *const names[SERIES] = {"MTE Throughput/GM_TO_UB", "MTE Throughput/GM_TO_L1",
	"MTE Throughput/GM_TO_TOTAL", "MTE Throughput/UB_TO_GM", "MTE Throughput/L1_TO_GM",
	"MTE Throughput/TOTAL_TO_GM"};

static bool camodel_is_in(const struct asc_build *b, const struct asc_transfer *t, enum series k)
{
	uint64_t *at = u64_map_find(&b->transfer_end, t->instr);
	uint64_t ends = at ? *at : 0;

	if (t->is_write != (k >= FROM_UB))
		return false;
	if (k == TO_UB || k == FROM_UB)
		return ends & END_UB;
	return k == FROM_GM || k == TO_GM || ends & END_L1;
}

ORDER(by_tick, struct asc_transfer, UP(tick) UP(instr))

static bool camodel_put_sample(struct asc_series *s, uint64_t bucket, double mhz, uint64_t bytes)
{
	/* a byte per microsecond is 1 MB/s */
	return VEC_PUSH(&s->ts, nearbyint((double)bucket * mhz)) &&
	       VEC_PUSH(&s->value, bytes * ASC_COUNTER_SCALE);
}

/* Adds a sample for each microsecond with transfers, and a zero if the next one has none. */
static bool camodel_fill(const struct asc_build *b, struct asc_series *s, enum series k, double mhz)
{
	uint64_t bucket = 0, bytes = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < b->transfers.n; i++) {
		const struct asc_transfer *t = &b->transfers.v[i];
		uint64_t at = (uint64_t)((double)t->tick / mhz);

		if (!camodel_is_in(b, t, k))
			continue;
		if (bytes && at != bucket) {
			ok = camodel_put_sample(s, bucket, mhz, bytes) &&
			     (at == bucket + 1 || camodel_put_sample(s, bucket + 1, mhz, 0));
			bytes = 0;
		}
		bucket = at;
		bytes += t->bytes;
	}
	return ok && (!bytes || (camodel_put_sample(s, bucket, mhz, bytes) &&
					camodel_put_sample(s, bucket + 1, mhz, 0)));
}

bool asc_put_throughput(struct asc_build *b, double mhz)
{
	if (!b->transfers.n || !(mhz > 0) || !b->is_ticks)
		return true;
	SORT(b->transfers.v, b->transfers.n, by_tick);
	for (int k = 0; k < SERIES; k++) {
		struct asc_series s = {.name = names[k], .unit = "MB/s"};
		bool ok = camodel_fill(b, &s, (enum series)k, mhz);

		if (ok && s.ts.n && VEC_PUSH(&b->series, s))
			continue;
		VEC_FREE(&s.ts);
		VEC_FREE(&s.value);
		if (!ok || s.ts.n)
			return false;
	}
	return true;
}

/* --- starts and ends -------------------------------------------------------------------------- */

/*
 * Joins the start (popped log) and the end (instr_log) of each instruction. Starts and ends of one
 * key (PC, or the instruction's id on A5) are joined in tick order; those without a counterpart are
 * counted and named.
 */

#define MAX_NAMED 4
/* If a PC has too many ends, the later one of two within so many ticks counts. */
#define END_SLACK 8

ORDER(rec_cmp, struct dump_rec, UP(key) UP(tick) UP(order))

ORDER(tick_cmp, struct dump_rec, UP(tick) UP(order))

ORDER(time_cmp, struct dump_time, UP(address) UP(tick))

static bool camodel_is_mark(const struct dump_line *l)
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

static uint32_t camodel_lane_of(struct core_dump *c, enum ascend_pipe pipe)
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

static struct track_slice *camodel_add_slice(struct core_dump *c, enum ascend_pipe pipe,
	const struct asc_op *op, uint64_t start, uint64_t end)
{
	uint32_t lane = camodel_lane_of(c, pipe),
		 code = lane == NO_TRACK ? NO_CODE : asc_code(c->b, op);
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
static bool camodel_add_head(
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
	if (camodel_is_mark(&l) || camodel_is_mark(&last))
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
	r = text.failed ? NULL
			: camodel_add_slice(c, pipe_of_line(&l), &op, start->tick, end->tick);
	if (!r) {
		sb_free(&text);
		return false;
	}
	if (c->b->rows.v[r->code].sync != SYNC_NONE && c->b->rows.v[r->code].sync != SYNC_NOP) {
		enum ascend_sync sync = (enum ascend_sync)c->b->rows.v[r->code].sync;
		uint32_t lane = camodel_lane_of(c, pipe_of_line(&l));

		x = asc_extra_of(c->b, r, lane);
		ok = x != NULL;
		if (ok) {
			x->sync = (uint8_t)sync;
			x->key = asc_fifo_key(c->b, lane, sync, op.detail);
		}
	}
	ok = ok && camodel_add_head(c, r, camodel_lane_of(c, pipe_of_line(&l)), l.pc, k);
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

static void camodel_note_alone(struct core_dump *c, int side, const struct dump_rec *r)
{
	struct dump_line l;

	if (!dump_line_parse(r->line, &l) || camodel_is_mark(&l) ||
		ascend_sync_of(l.opcode) == SYNC_NOP)
		return;
	if (c->n_alone[side]++ < MAX_NAMED)
		sb_printf(&c->alone[side], "%s0x%llx at %llu", c->alone[side].n ? ", " : "",
			(unsigned long long)l.pc, (unsigned long long)r->tick);
}

static bool camodel_join_group(
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
		camodel_note_alone(c, 0, &s[i]);
	for (size_t i = n; i < nd; i++)
		camodel_note_alone(c, 1, &d[i]);
	return true;
}

static size_t camodel_same_key(const struct dump_rec *v, size_t from, size_t n)
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
		size_t ie = has_s ? camodel_same_key(c->starts.v, i, c->starts.n) : i;
		size_t ke = has_d ? camodel_same_key(c->ends.v, k, c->ends.n) : k;

		if (!camodel_join_group(c, has_s ? c->starts.v + i : NULL, ie - i,
			    has_d ? c->ends.v + k : NULL, ke - k))
			return false;
		i = ie;
		k = ke;
	}
	return true;
}

/* --- marks and misses --- */

/* 0x8000000k starts mark k, 0xc000000k stops it; -1: neither. */
static int camodel_mark_of(const struct dump_line *l, bool *is_stop)
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
		ok = camodel_add_slice(c, PIPE_USERMARK, &op, m->begin, m->end) != NULL;
	else
		m->n_dropped++;
	*m = (struct marker_state){.open = -1, .n_dropped = m->n_dropped};
	return ok;
}

static bool step_mark(struct core_dump *c, struct marker_state *m, const struct dump_line *l)
{
	bool is_stop, is_nop = ascend_sync_of(l->opcode) == SYNC_NOP;
	int k = camodel_is_mark(l) ? camodel_mark_of(l, &is_stop) : -1;

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
	       trace_note(c->b->trace, "open-marks", c->b->path, INCORE_NO_OFFSET, m.n_dropped,
		       "%llu user marks are nested or never end", (unsigned long long)m.n_dropped);
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
		if (!camodel_add_slice(c, PIPE_CACHEMISS, &op, t->tick, t->tick + 1))
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
		if (c->n_alone[i] &&
			!trace_note(t, codes[i], c->b->path, INCORE_NO_OFFSET, c->n_alone[i],
				"%s: %llu %s: %s%s", c->unit, (unsigned long long)c->n_alone[i],
				what[i], c->alone[i].p ? c->alone[i].p : "",
				c->n_alone[i] > MAX_NAMED ? ", ..." : ""))
			return false;
	if (c->n_bad &&
		!trace_note(t, "bad-dump-line", c->b->path, INCORE_NO_OFFSET, c->n_bad,
			"%s: %llu lines are not understood", c->unit, (unsigned long long)c->n_bad))
		return false;
	return !c->n_backwards ||
	       trace_note(t, "ends-before-start", c->b->path, INCORE_NO_OFFSET, c->n_backwards,
		       "%s: %llu instructions end before they start", c->unit,
		       (unsigned long long)c->n_backwards);
}

bool core_dump_join(struct core_dump *c)
{
	SORT(c->fetches.v, c->fetches.n, time_cmp);
	SORT(c->issues.v, c->issues.n, time_cmp);
	return join_all(c) && add_marks(c) && add_misses(c) && note_core(c);
}

/* --- the files of one core, and the format ---------------------------------------------------- */

/* --- reading the files of one core --- */

/* "XD:X5=0x1,SPR:BLOCKID": the program asks which block it is. */
static void see_block(struct core_dump *c, const struct dump_line *l)
{
	static const char *const words[] = {",SPR:BLOCKID", ",SPR:SUBBLOCKID"};
	uint64_t *const out[] = {&c->block, &c->sub_block};

	if (!str_is(l->opcode, "MOV_XD_SPR"))
		return;
	for (int i = 0; i < 2; i++) {
		ptrdiff_t end = str_find(l->operands, words[i]), eq;
		struct str value;
		uint64_t v;

		if (end < 0)
			continue;
		value = str_sub(l->operands, 0, (size_t)end);
		eq = str_rfind_char(value, '=');
		value = eq < 0 ? STR("") : str_sub(value, (size_t)eq + 1, value.n);
		if (str_to_u64(value, &v) && v < UINT32_MAX)
			*out[i] = v + 1;
	}
}

static bool camodel_add_line(struct core_dump *c, struct str line, enum dump_log log)
{
	struct dump_line l;
	struct dump_rec r = {.line = line};

	if (!dump_line_parse(line, &l) || l.tick >= UINT64_C(1) << 53) {
		c->n_bad++;
		return true;
	}
	if (log == DUMP_STARTS && l.is_popped_from_queue)
		return true;
	if (log == DUMP_STARTS)
		see_block(c, &l);
	/* 310B has ids too, but only A5 (with separate vector and cube cores) is joined by them. */
	c->by_id |= l.has_id && str_has(c->name, ".");
	r.key = c->by_id && l.has_id ? l.id : l.pc;
	r.tick = l.tick;
	r.order = log == DUMP_STARTS ? c->starts.n : c->ends.n;
	return log == DUMP_STARTS ? VEC_PUSH(&c->starts, r) : VEC_PUSH(&c->ends, r);
}

static bool camodel_add_event(struct core_dump *c, struct str line)
{
	enum dump_event kind;
	struct dump_time t;

	if (!dump_event_parse(line, &kind, &t.tick, &t.address) || t.tick >= UINT64_C(1) << 53)
		return true; /* these logs have many other lines */
	if (kind == DUMP_MISS)
		return VEC_PUSH(&c->misses, t);
	return kind == DUMP_FETCH ? VEC_PUSH(&c->fetches, t) : VEC_PUSH(&c->issues, t);
}

bool core_dump_add(struct core_dump *c, struct str bytes, enum dump_log log)
{
	struct str line;

	c->n_logs += bytes.n != 0;
	while (str_cut(&bytes, "\n", &line)) {
		line = str_trim(line);
		if (line.n == 0)
			continue;
		if (!(log == DUMP_STARTS || log == DUMP_ENDS ? camodel_add_line(c, line, log)
							     : camodel_add_event(c, line)))
			return false;
	}
	return true;
}

/* --- a directory of them --- */

struct dump_file {
	char *name;
	struct str core;
	enum dump_log log;
};

struct named_core { /* a vector core, named by the ids that its program reads */
	uint64_t block, sub_block;
	const char *unit;
};

struct dump_dir {
	struct asc_build *b;
	const char *dir;
	VEC(struct dump_file) files, mte, summaries;
	VEC(struct named_core) named;
	uint64_t n_other;
};

bool asc_is_dump_name(struct str name)
{
	struct str core;
	enum dump_log log = dump_log_of(name, &core);

	return log == DUMP_STARTS || log == DUMP_ENDS;
}

static void see_program(struct dump_dir *d, const char *name)
{
	char *path;

	if (strcmp(name, "aicore_binary.o") == 0)
		d->b->binary = arena_printf(&d->b->trace->arena, "%s/%s", d->dir, name);
	if (strcmp(name, "pc_start_addr.txt") != 0)
		return;
	path = path_join(d->dir, name);
	if (path)
		asc_read_start_pc(d->b, path);
	mem_free(path);
}

static bool camodel_see_name(void *ctx, const char *name, struct incore_error *e)
{
	struct dump_dir *d = ctx;
	struct dump_file f = {.name = mem_strndup(name, strlen(name))};

	if (!f.name)
		return err_nomem(e);
	f.log = dump_log_of(str_of(f.name), &f.core);
	if (f.log == DUMP_MTE || asc_is_summary_name(str_of(name))) {
		if (f.log == DUMP_MTE ? VEC_PUSH(&d->mte, f) : VEC_PUSH(&d->summaries, f))
			return true;
		mem_free(f.name);
		return err_nomem(e);
	}
	see_program(d, name);
	if (f.log == DUMP_NONE || f.log == DUMP_OTHER) {
		d->n_other += f.log == DUMP_OTHER;
		mem_free(f.name);
		return true;
	}
	if (VEC_PUSH(&d->files, f))
		return true;
	mem_free(f.name);
	return err_nomem(e);
}

static int file_cmp(const void *pa, const void *pb)
{
	const struct dump_file *a = pa, *c = pb;
	int by_core = str_cmp(a->core, c->core);

	return by_core ? by_core : strcmp(a->name, c->name);
}

void core_dump_deinit(struct core_dump *c)
{
	VEC_FREE(&c->starts);
	VEC_FREE(&c->ends);
	VEC_FREE(&c->misses);
	VEC_FREE(&c->fetches);
	VEC_FREE(&c->issues);
	sb_free(&c->alone[0]);
	sb_free(&c->alone[1]);
}

static bool load_core(struct dump_dir *d, struct core_dump *c, size_t from, size_t end,
	struct file_data *bytes, struct incore_error *e)
{
	for (size_t i = from; i < end; i++) {
		struct file_data *f = &bytes[i - from];
		char *path = path_join(d->dir, d->files.v[i].name);
		bool ok = path ? import_load(d->b->options, f, path, e) : err_nomem(e);

		mem_free(path);
		if (!ok)
			return false;
		if (!core_dump_add(
			    c, (struct str){(const char *)f->data, f->size}, d->files.v[i].log))
			return err_nomem(e);
	}
	return true;
}

/* The simulator's own export merges two vector cores that read the same ids and keeps the last;
 * here each has its physical name. */
static bool name_core(struct dump_dir *d, const struct core_dump *c)
{
	struct named_core k = {c->block, c->sub_block, c->unit};
	struct ascend_unit u;

	if (!c->block || !c->sub_block || !ascend_unit_of(str_of(c->unit), &u) ||
		u.kind != ASCEND_VEC)
		return true;
	for (size_t i = 0; i < d->named.n; i++)
		if (d->named.v[i].block == k.block && d->named.v[i].sub_block == k.sub_block)
			return asc_note(d->b, "core-name-collision", INCORE_NO_OFFSET,
				"%s and %s are both sub-block %llu of block %llu: other exports keep one of them",
				d->named.v[i].unit, k.unit, (unsigned long long)k.sub_block - 1,
				(unsigned long long)k.block - 1);
	return VEC_PUSH(&d->named, k);
}

static bool read_core(
	struct dump_dir *d, size_t from, size_t end, uint32_t *n_cores, struct incore_error *e)
{
	struct core_dump c = {.b = d->b, .name = d->files.v[from].core};
	struct file_data *bytes = mem_zalloc(end - from, sizeof(*bytes));
	bool ok = true;

	c.unit = arena_strndup(&d->b->trace->arena, c.name.p, c.name.n);
	if (!bytes || !c.unit)
		ok = err_nomem(e);
	ok = ok && load_core(d, &c, from, end, bytes, e);
	if (ok && c.n_logs < 2)
		ok = asc_note(d->b, "core-without-logs", INCORE_NO_OFFSET,
			     "%s: fewer than two logs with something in them; not read", c.unit) ||
		     err_nomem(e);
	else if (ok && (!core_dump_join(&c) || !name_core(d, &c)))
		ok = err_nomem(e);
	else
		*n_cores += ok;
	core_dump_deinit(&c);
	for (size_t i = 0; bytes && i < end - from; i++)
		file_unload(&bytes[i]);
	mem_free(bytes);
	return ok;
}

static bool camodel_read_cores(struct dump_dir *d, uint32_t *n_cores, struct incore_error *e)
{
	SORT(d->files.v, d->files.n, file_cmp);
	for (size_t i = 0; i < d->files.n;) {
		size_t end = i;

		while (end < d->files.n && str_eq(d->files.v[end].core, d->files.v[i].core))
			end++;
		if (!read_core(d, i, end, n_cores, e))
			return false;
		i = end;
	}
	if (d->n_other &&
		!trace_note(d->b->trace, "other-dumps", d->dir, INCORE_NO_OFFSET, d->n_other,
			"%llu logs of other kinds are not read", (unsigned long long)d->n_other))
		return err_nomem(e);
	return true;
}

/* Reads files on which no core's time depends: an unreadable one is only a loss. */
static bool read_side(
	struct dump_dir *d, const struct dump_file *k, bool is_mte, struct incore_error *e)
{
	char *path = path_join(d->dir, k->name);
	struct incore_error why = {0};
	struct file_data f = {0};
	struct str bytes;
	bool ok;

	if (!path)
		return err_nomem(e);
	ok = import_load(d->b->options, &f, path, &why);
	bytes = (struct str){(const char *)f.data, f.size};
	if (!ok && err_is(&why, "link-outside"))
		ok = import_note_unread(d->b->trace, NULL, path, NULL, &why) || err_nomem(e);
	else if (!ok)
		ok = trace_note(d->b->trace, "unreadable-part", path, INCORE_NO_OFFSET, 1,
			     "not read") ||
		     err_nomem(e);
	else if (is_mte)
		ok = asc_read_mte_log(d->b, bytes, k->core) || err_nomem(e);
	else
		ok = asc_read_summary(d->b, bytes, path, e);
	incore_error_clear(&why);
	file_unload(&f);
	mem_free(path);
	d->b->path = d->dir;
	return ok;
}

static bool read_sides(struct dump_dir *d, struct incore_error *e)
{
	for (size_t i = 0; i < d->mte.n; i++)
		if (!read_side(d, &d->mte.v[i], true, e))
			return false;
	for (size_t i = 0; i < d->summaries.n; i++)
		if (!read_side(d, &d->summaries.v[i], false, e))
			return false;
	return true;
}

static void free_names(struct dump_file *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mem_free(v[i].name);
	mem_free(v);
}

bool asc_read_dumps(struct asc_build *b, const char *dir, uint32_t *n_cores, struct incore_error *e)
{
	struct dump_dir d = {.b = b, .dir = dir};
	bool ok;

	*n_cores = 0;
	b->path = dir;
	b->is_ticks = true;
	ok = dir_each_in(import_fence(b->options), dir, camodel_see_name, &d, e) &&
	     camodel_read_cores(&d, n_cores, e) && read_sides(&d, e);
	VEC_FREE(&d.named);
	free_names(d.files.v, d.files.n);
	free_names(d.mte.v, d.mte.n);
	free_names(d.summaries.v, d.summaries.n);
	return ok;
}

/* --- ops --- */

static bool has_dumps(void *ctx, const char *name, struct incore_error *e)
{
	int *n = ctx;

	(void)e;
	*n += asc_is_dump_name(str_of(name));
	return *n < 2; /* two are enough to know */
}

static int camodel_sniff(const struct probe *p)
{
	struct incore_error e = {0};
	int n = 0;

	dir_each_in(capture_fence(p->cache), p->path, has_dumps, &n, &e);
	incore_error_clear(&e);
	return n >= 2 ? 50 : 0;
}

static bool camodel_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct asc_build b;
	uint32_t n_cores = 0;
	bool ok = asc_init(&b, t, o, e) && asc_read_dumps(&b, path, &n_cores, e);

	if (ok && n_cores == 0)
		ok = err_file(e, "no-dumps", path, INCORE_NO_OFFSET,
			"no core has both a popped log and an instruction log");
	ok = ok && asc_finish(&b, e);
	asc_deinit(&b);
	return ok;
}

static const struct signature camodel_signs[] = {
	{.entry = "core*instr*log*"},
	{0},
};

const struct import_ops import_camodel = {
	.name = "camodel",
	.summary = "Ascend raw simulator dumps (instr_log, instr_popped_log), cycle-exact",
	.looks_for = "a dump directory of the Ascend simulator (core*.instr_log.dump)",
	.signs = camodel_signs,
	.sniff = camodel_sniff,
	.look = asc_look,
	.read = camodel_read,
	.lost = import_lost_noted,
};
