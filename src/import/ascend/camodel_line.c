/* SPDX-License-Identifier: Apache-2.0 */
/* camodel_line.c: parses a line of a raw dump. */
#include "import/ascend/camodel_line.h"

static bool take_literal(struct str *s, const char *word)
{
	if (!str_starts(*s, word))
		return false;
	*s = str_sub(*s, strlen(word), s->n);
	return true;
}

static void skip_blanks(struct str *s)
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

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

static struct str take_word(struct str *s)
{
	struct str w = {s->p, 0};

	while (w.n < s->n && is_word(s->p[w.n]))
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
	skip_blanks(s);
	if (!take_literal(s, "(PC: ") || !take_hex(s, &out->pc) || !take_literal(s, ")"))
		return false;
	if (take_literal(s, "@CORE") && !take_decimal(s, &core))
		return false;
	skip_blanks(s);
	out->unit = take_word(s);
	skip_blanks(s);
	if (take_literal(s, "IB ISSUE") || take_literal(s, "ISSUE"))
		skip_blanks(s);
	return out->unit.n && take_literal(s, ": (Binary: ");
}

bool dump_line_parse(struct str s, struct dump_line *out)
{
	ptrdiff_t end;

	*out = (struct dump_line){0};
	if (!take_head(&s, out))
		return false;
	end = str_find(s, ")");
	if (end < 0)
		return false;
	s = str_sub(s, (size_t)end + 1, s.n);
	skip_blanks(&s);
	if (take_literal(&s, "(ID: ")) {
		out->has_id = take_decimal(&s, &out->id) && take_literal(&s, ")");
		if (!out->has_id)
			return false;
		skip_blanks(&s);
	}
	s = cut_tail(s, out);
	out->opcode = take_word(&s);
	while (out->opcode.n && out->opcode.p[out->opcode.n - 1] == '.')
		out->opcode.n--;
	skip_blanks(&s);
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
	skip_blanks(s);
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

bool dump_event_parse(struct str s, enum dump_event *kind, uint64_t *tick, uint64_t *address)
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
	skip_blanks(&s);
	return take_decimal(&s, v);
}

/* "[info] 12: BRIF send_req, addr: 0x40, size: 256, tag_id: 4, instr_id: 4, req_id: 5259": the bus
 * (global memory) reads; "L1W...", "UB0R..." are the other end. */
bool dump_transfer_parse(struct str s, struct dump_transfer *out)
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
static bool take_core(struct str *s, struct str *core)
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

enum dump_log dump_log_of(struct str name, struct str *core)
{
	if (!str_has(name, ".dump") && !str_ends(name, ".log"))
		return DUMP_NONE;
	if (!take_core(&name, core) || name.n == 0 || (name.p[0] != '.' && name.p[0] != '_'))
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
