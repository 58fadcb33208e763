/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend.c: pipes, classes and flags of Ascend instructions, see ascend.h.
 *
 * Parts: lanes, opcodes, clocks; keys and hashes; pipes, classes and flags.
 */
#include "isa/ascend.h"

#include <math.h>
#include <stdio.h>

#include "base/hash.h"

struct ascend_name {
	const char *name; /* NULL ends a table */
	enum ascend_pipe pipe;
};

struct ascend_sync_name {
	const char *name; /* NULL ends the table */
	enum ascend_sync sync;
};

/* --- lanes, opcodes, clocks ------------------------------------------------------------------- */

/* Lanes, opcodes that synchronise, clocks: the tables behind ascend.h. */

/* pipe, name, cname, label, dataflow, per-core pid, is_work, is_compute, is_a5 */
static const struct ascend_lane ascend_lane_table[] = {
	{PIPE_SCALAR, "SCALAR", "startup", "scalar unit", 60, 10, false, false, false},
	{PIPE_FLOWCTRL, "FLOWCTRL", "cq_build_passed", "branches", 70, 90, false, false, false},
	{PIPE_MTE1, "MTE1", "thread_state_running", "load L1->L0", 2, 50, true, false, false},
	{PIPE_CUBE, "CUBE", "background_memory_dump", "matmul", 3, 40, true, true, false},
	{PIPE_FIXP, "FIXP", "thread_state_unknown", "store L0C->GM/L1", 40, 80, true, false, false},
	{PIPE_MTE2, "MTE2", "thread_state_iowait", "load GM->L1/UB", 1, 60, true, false, false},
	{PIPE_VECTOR, "VECTOR", "cq_build_failed", "vector compute", 4, 30, true, true, false},
	{PIPE_MTE3, "MTE3", "rail_response", "store UB/L1->GM", 50, 70, true, false, false},
	{PIPE_CACHEMISS, "CACHEMISS", "thread_state_runnable", "instruction cache misses", 80, 110,
		false, false, false},
	{PIPE_SCALARLDST, "SCALARLDST", "startup", "scalar load and store", 61, 20, false, false,
		false},
	{PIPE_ALL, "ALL", "good", "all pipes", 90, 100, false, false, false},
	{PIPE_USERMARK, "USERMARK", "rail_load", "marked ranges", 91, 120, false, false, false},
	{PIPE_EVENT, "EVENT", "rail_animation", "issue events", 92, 0, false, false, false},
	{PIPE_RVECEX, "RVECEX", "thread_state_running", "register-vector execute", 6, 0, true, true,
		true},
	{PIPE_RVECLP, "RVECLP", "thread_state_iowait", "register-vector loop", 8, 0, true, true,
		true},
	{PIPE_RVECST, "RVECST", "thread_state_runnable", "register-vector store", 7, 0, true, true,
		true},
	{PIPE_RVECLD, "RVECLD", "startup", "register-vector load", 5, 0, true, true, true},
	{PIPE_PUSHQ, "PUSHQ", "thread_state_unknown", "VF and SIMT launches", 10, 0, true, true,
		true},
	{PIPE_RVECSU, "RVECSU", "yellow", "register-vector scalar", 9, 0, true, true, true},
};
static const size_t ascend_lane_count = sizeof(ascend_lane_table) / sizeof(ascend_lane_table[0]);

static const struct ascend_lane ascend_warp_lane = {
	PIPE_WARP0, "WARP", "thread_state_unknown", "SIMT warp", 11, 0, true, true, true};
static const struct ascend_lane ascend_other_lane = {
	PIPE_OTHER0, "?", "thread_state_stopped", "unknown lane", 95, 0, true, false, false};

static const struct ascend_name ascend_unit_names[] = {
	{"VECTOR0", PIPE_VECTOR},
	{"VEC0", PIPE_VECTOR},
	{"VEC", PIPE_VECTOR},
	{"FC", PIPE_FLOWCTRL},
	{"FIX_PIPE", PIPE_FIXP},
	{"ISSUE", PIPE_EVENT},
	{NULL, PIPE_NONE},
};

static const struct ascend_sync_name ascend_sync_names[] = {
	{"SET_FLAG", SYNC_SET},
	{"set_event", SYNC_SET},
	{"WAIT_FLAG", SYNC_WAIT},
	{"wait_event", SYNC_WAIT},
	{"SET_FLAGI", SYNC_SET},
	{"WAIT_FLAGI", SYNC_WAIT},
	{"SET_INTRA_BLOCK", SYNC_SET_CROSS},
	{"SET_INTRA_BLOCKI", SYNC_SET_CROSS},
	{"WAIT_INTRA_BLOCK", SYNC_WAIT_CROSS},
	{"WAIT_INTRA_BLOCKI", SYNC_WAIT_CROSS},
	{"SET_CROSS_CORE", SYNC_SET_CROSS},
	{"FFTS_CROSS_CORE_SYNC", SYNC_SET_CROSS},
	{"WAIT_FLAG_DEV", SYNC_WAIT_CROSS},
	{"WAIT_FLAG_DEVI", SYNC_WAIT_CROSS},
	{"BAR", SYNC_BARRIER},
	{"BARRIER", SYNC_BARRIER},
	{"PIPE_BARRIER", SYNC_BARRIER},
	{"GET_BUF", SYNC_GET_BUF},
	{"GET_BUFI", SYNC_GET_BUF},
	{"RLS_BUF", SYNC_RLS_BUF},
	{"RLS_BUFI", SYNC_RLS_BUF},
	{"NOP_PIPE", SYNC_NOP},
	{NULL, SYNC_NONE},
};

static const struct ascend_soc ascend_soc_table[] = {
	{"910B1", 1850, ASCEND_A2A3},
	{"910B2", 1800, ASCEND_A2A3},
	{"910B2C", 1800, ASCEND_A2A3},
	{"910B3", 1800, ASCEND_A2A3},
	{"910B4", 1650, ASCEND_A2A3},
	{"9591", 1800, ASCEND_A5},
	{"9592", 1800, ASCEND_A5},
	{"9595", 1800, ASCEND_A5},
	{"9596", 1800, ASCEND_A5},
	{"9599", 1800, ASCEND_A5},
	{"95A1", 1800, ASCEND_A5},
	{"95A2", 1800, ASCEND_A5},
	{"950X", 1650, ASCEND_A5},
	{"950Y", 1650, ASCEND_A5},
	{"950Z", 1650, ASCEND_A5},
	{"957", 1650, ASCEND_A5}, /* 957x */
	{"958", 1650, ASCEND_A5}, /* 958x */
	{"310P1", 1060, ASCEND_310P},
	{"310P2", 1060, ASCEND_310P},
	{"310P3", 1060, ASCEND_310P},
	{"310P4", 1060, ASCEND_310P},
	{"310P5", 800, ASCEND_310P},
	{"310P7", 550, ASCEND_310P},
	{"310B1", 1224, ASCEND_310B},
	{"310B2", 1224, ASCEND_310B},
	{"310B3", 1224, ASCEND_310B},
	{"310B4", 500, ASCEND_310B},
};
static const size_t ascend_soc_count = sizeof(ascend_soc_table) / sizeof(ascend_soc_table[0]);

/* --- keys and hashes -------------------------------------------------------------------------- */

/* Keys of code rows and hashes of pipes. */

uint64_t ascend_row_key(unsigned kind, uint64_t pc, struct str opcode, struct str text)
{
	uint64_t key = hash_bytes(opcode.p, opcode.n, hash_mix64(pc) ^ (uint64_t)kind << 1);
	struct str operands = text.n > opcode.n ? str_sub(text, opcode.n + 1, text.n) : STR("");

	if (ascend_sync_of(opcode) != SYNC_NONE)
		key = hash_bytes(operands.p, operands.n, key);
	return key;
}

uint64_t ascend_slice_hash(uint64_t hash, const struct ascend_slice *s)
{
	hash = hash_mix64(hash ^ s->start);
	hash = hash_mix64(hash ^ ((uint64_t)s->dur << 32 | s->stall));
	return hash_mix64(hash ^ s->code) + 1;
}

/* --- pipes, classes and flags ----------------------------------------------------------------- */

/* --- lanes --- */

const struct ascend_lane *ascend_lanes(size_t *n)
{
	*n = ascend_lane_count;
	return ascend_lane_table;
}

const struct ascend_lane *ascend_lane(unsigned pipe)
{
	if (ascend_is_warp(pipe))
		return &ascend_warp_lane;
	for (size_t i = 0; i < ascend_lane_count; i++)
		if (ascend_lane_table[i].pipe == pipe)
			return &ascend_lane_table[i];
	return &ascend_other_lane;
}

/* "MTE2#1" and "MTE2 (load GM->UB)" of a cleaned file mean MTE2. */
static struct str strip_lane(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '#' || (s.p[i] == ' ' && i > 0))
			return (struct str){s.p, i};
	return s;
}

static enum ascend_pipe pipe_of_warp(struct str s)
{
	uint64_t n;

	if (!str_starts(s, "WARP_") || !str_to_u64(str_sub(s, 5, s.n), &n) || n >= ASCEND_WARPS)
		return PIPE_NONE;
	return (enum ascend_pipe)(PIPE_WARP0 + n);
}

enum ascend_pipe ascend_pipe_of_lane(struct str tid)
{
	struct str s = strip_lane(tid);

	for (size_t i = 0; i < ascend_lane_count; i++)
		if (str_is(s, ascend_lane_table[i].name))
			return ascend_lane_table[i].pipe;
	if (str_is(s, "FIXPIPE"))
		return PIPE_FIXP;
	if (str_is(s, "USEMASK"))
		return PIPE_USERMARK;
	return pipe_of_warp(s);
}

const char *ascend_pipe_name(unsigned pipe, char buf[16])
{
	if (ascend_is_warp(pipe)) {
		snprintf(buf, 16, "WARP_%u", pipe - PIPE_WARP0);
		return buf;
	}
	return ascend_lane(pipe)->name;
}

static enum ascend_pipe ascend_find_name(const struct ascend_name *table, struct str s)
{
	for (; table->name; table++)
		if (str_is(s, table->name))
			return table->pipe;
	return PIPE_NONE;
}

enum ascend_pipe ascend_pipe_of_unit(struct str unit)
{
	enum ascend_pipe p = ascend_find_name(ascend_unit_names, unit);

	if (p == PIPE_NONE)
		p = ascend_pipe_of_lane(unit);
	return p == PIPE_NONE ? PIPE_ALL : p;
}

/* --- synchronisation --- */

static struct str before_dot(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '.')
			return (struct str){s.p, i};
	return s;
}

enum ascend_sync ascend_sync_of(struct str opcode)
{
	struct str s = before_dot(opcode);

	/* This test rejects nearly all opcodes. */
	if (s.n < 3 || !strchr("SsWwFBPGRN", s.p[0]))
		return SYNC_NONE;
	for (const struct ascend_sync_name *k = ascend_sync_names; k->name; k++)
		if (str_is(s, k->name))
			return k->sync;
	return SYNC_NONE;
}

bool ascend_is_config(struct str opcode)
{
	struct str s = before_dot(opcode);

	return str_is(s, "MOV_SPR_XN") || str_is(s, "MOV_XD_SPR") || str_is(s, "MOV_SPR_IMM") ||
	       str_starts(s, "SET_") || str_is(s, "MOVEMASK");
}

/* The key before a ':' or '=', without blanks: "TRIGGER PIPE" reads "TRIGGERPIPE". */
static size_t ascend_read_key(struct str s, char *key, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n && n + 1 < cap; i++) {
		char c = s.p[i];

		if (c >= 'a' && c <= 'z')
			c = (char)(c - 32);
		if (char_is_word(c))
			key[n++] = c;
	}
	key[n] = '\0';
	return n;
}

static void take_field(struct ascend_flag *f, struct str field)
{
	char key[32];
	size_t colon = 0;
	struct str value;

	while (colon < field.n && field.p[colon] != ':' && field.p[colon] != '=')
		colon++;
	if (colon == field.n)
		return;
	ascend_read_key((struct str){field.p, colon}, key, sizeof(key));
	value = str_trim(str_sub(field, colon + 1, field.n));
	if (str_ends(str_of(key), "TRIGGERPIPE") || str_ends(str_of(key), "TRIGGER_PIPE") ||
		str_ends(str_of(key), "TIGGER_PIPE") || str_ends(str_of(key), "WAITPIPE"))
		f->consumer = value;
	else if (strcmp(key, "PIPE") == 0 || strcmp(key, "PIPE_TYPE") == 0)
		f->producer = value;
	else if (strcmp(key, "FLAGID") == 0 || strcmp(key, "FLAG_ID") == 0 ||
		 strcmp(key, "EVENT_ID") == 0 || strcmp(key, "EVENTID") == 0 ||
		 strcmp(key, "SYNC_ID") == 0 || strcmp(key, "SYNCID") == 0 ||
		 strcmp(key, "ID") == 0)
		f->id = value;
}

struct ascend_flag ascend_flag_of(struct str detail)
{
	struct ascend_flag f = {{"", 0}, {"", 0}, {"", 0}};
	size_t first = 0;

	/* A row's text begins with the opcode and a blank. */
	while (first < detail.n && char_is_word(detail.p[first]))
		first++;
	if (first < detail.n && detail.p[first] == ' ' && ascend_sync_of(str_sub(detail, 0, first)))
		detail = str_sub(detail, first + 1, detail.n);
	while (detail.n) {
		size_t end = 0;

		while (end < detail.n && detail.p[end] != ',')
			end++;
		take_field(&f, str_trim(str_sub(detail, 0, end)));
		detail = str_sub(detail, end + 1, detail.n);
	}
	return f;
}

static enum inst_class class_of_pipe(unsigned pipe)
{
	if (ascend_is_warp(pipe))
		return CLASS_SIMT;
	switch (pipe) {
	case PIPE_SCALAR:
	case PIPE_SCALARLDST:
		return CLASS_SCALAR;
	case PIPE_FLOWCTRL:
		return CLASS_FLOWCTRL;
	case PIPE_MTE1:
	case PIPE_MTE2:
	case PIPE_MTE3:
		return CLASS_MTE;
	case PIPE_CUBE:
		return CLASS_CUBE;
	case PIPE_FIXP:
		return CLASS_FIXP;
	case PIPE_VECTOR:
	case PIPE_RVECEX:
	case PIPE_RVECLP:
	case PIPE_RVECST:
	case PIPE_RVECLD:
	case PIPE_PUSHQ:
	case PIPE_RVECSU:
		return CLASS_VECTOR;
	case PIPE_CACHEMISS:
		return CLASS_CACHE_MISS;
	case PIPE_USERMARK:
		return CLASS_USERMARK;
	default:
		return CLASS_OTHER;
	}
}

enum inst_class ascend_class(unsigned pipe, struct str opcode)
{
	enum ascend_sync s = ascend_sync_of(opcode);

	if (ascend_is_set(s))
		return CLASS_FLAG_SET;
	if (ascend_is_wait(s))
		return CLASS_FLAG_WAIT;
	return s != SYNC_NONE ? CLASS_SYNC : class_of_pipe(pipe);
}

/* --- cores and clocks --- */

/* Takes a decimal number off the front. */
static bool ascend_take_number(struct str *s, uint32_t *out)
{
	uint64_t v = 0;
	size_t n = 0;

	while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9' && n < 9)
		v = v * 10 + (uint64_t)(s->p[n++] - '0');
	if (n == 0)
		return false;
	*out = (uint32_t)v;
	*s = str_sub(*s, n, s->n);
	return true;
}

bool ascend_unit_of(struct str pid, struct ascend_unit *out)
{
	struct ascend_unit u = {0, 0, ASCEND_PLAIN};
	uint32_t sub;

	if (!str_starts(pid, "core"))
		return false;
	pid = str_sub(pid, 4, pid.n);
	if (!ascend_take_number(&pid, &u.core))
		return false;
	if (str_starts(pid, ".cubecore") || str_starts(pid, ".mixcore"))
		u.kind = ASCEND_CUBE;
	else if (str_starts(pid, ".veccore"))
		u.kind = ASCEND_VEC;
	else if (pid.n)
		return false;
	if (pid.n) {
		pid = str_sub(pid, u.kind == ASCEND_VEC || pid.p[1] == 'm' ? 8 : 9, pid.n);
		if (!ascend_take_number(&pid, &sub) || pid.n)
			return false;
		u.unit = u.kind == ASCEND_VEC ? sub + 1 : sub;
	}
	*out = u;
	return true;
}

const struct ascend_soc *ascend_soc_find(struct str name)
{
	const struct ascend_soc *best = NULL;
	size_t best_n = 0;
	ptrdiff_t cut = str_rfind_char(name, '_');

	if (cut >= 0)
		name = str_sub(name, (size_t)cut + 1, name.n);
	if (str_starts(name, "Ascend"))
		name = str_sub(name, 6, name.n);
	for (size_t i = 0; i < ascend_soc_count; i++) {
		size_t n = strlen(ascend_soc_table[i].name);

		if (n > best_n && str_starts(name, ascend_soc_table[i].name)) {
			best = &ascend_soc_table[i];
			best_n = n;
		}
	}
	return best;
}

unsigned ascend_snap_mhz(double mhz)
{
	unsigned best = 0;
	double least = 0;

	for (size_t i = 0; i < ascend_soc_count; i++) {
		double off = fabs(mhz - ascend_soc_table[i].mhz) / ascend_soc_table[i].mhz;

		if (off <= 0.005 && (best == 0 || off < least)) {
			best = ascend_soc_table[i].mhz;
			least = off;
		}
	}
	return best;
}
