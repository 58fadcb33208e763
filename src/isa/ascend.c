/* SPDX-License-Identifier: Apache-2.0 */
/* ascend.c: pipes, classes and flags of Ascend instructions, see ascend.h. */
#include "isa/ascend.h"

#include <math.h>
#include <stdio.h>

#include "isa/ascend_table.h"

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

static enum ascend_pipe find_name(const struct ascend_name *table, struct str s)
{
	for (; table->name; table++)
		if (str_is(s, table->name))
			return table->pipe;
	return PIPE_NONE;
}

enum ascend_pipe ascend_pipe_of_unit(struct str unit)
{
	enum ascend_pipe p = find_name(ascend_unit_names, unit);

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

static bool is_word(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The key before a ':' or '=', without blanks: "TRIGGER PIPE" reads "TRIGGERPIPE". */
static size_t read_key(struct str s, char *key, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n && n + 1 < cap; i++) {
		char c = s.p[i];

		if (c >= 'a' && c <= 'z')
			c = (char)(c - 32);
		if (is_word(c))
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
	read_key((struct str){field.p, colon}, key, sizeof(key));
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
	while (first < detail.n && is_word(detail.p[first]))
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
static bool take_number(struct str *s, uint32_t *out)
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
	if (!take_number(&pid, &u.core))
		return false;
	if (str_starts(pid, ".cubecore") || str_starts(pid, ".mixcore"))
		u.kind = ASCEND_CUBE;
	else if (str_starts(pid, ".veccore"))
		u.kind = ASCEND_VEC;
	else if (pid.n)
		return false;
	if (pid.n) {
		pid = str_sub(pid, u.kind == ASCEND_VEC || pid.p[1] == 'm' ? 8 : 9, pid.n);
		if (!take_number(&pid, &sub) || pid.n)
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
