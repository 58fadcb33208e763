/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_log.c: core<i>_summary_log and *_su_perf_summary_log: total ticks, busy cycles per unit,
 * scalar counters. Every "name | number" and "name : number" becomes a row; busy cycles of pipes
 * also become rows of the table that `check` compares with ours.
 */
#include "import/ascend/ascend.h"

bool asc_is_summary_name(struct str name)
{
	return str_ends(name, "summary_log") || str_ends(name, "summary_log.txt");
}

/* "mte2_cubecore0_su_busy_cycle", "cube.cube_cubecore0_busy_cycle", "CCU.scalar_cubecore0_..." */
static enum ascend_pipe busy_pipe(struct str name)
{
	static const struct {
		const char *word;
		enum ascend_pipe pipe;
	} words[] = {{"fixp", PIPE_FIXP}, {"mte1", PIPE_MTE1}, {"mte2", PIPE_MTE2},
		{"mte3", PIPE_MTE3}, {"cube.cube", PIPE_CUBE}, {"cube", PIPE_CUBE},
		{"CCU.scalar", PIPE_SCALAR}, {"vec", PIPE_VECTOR}, {"rvec", PIPE_VECTOR}};

	if (!str_ends(name, "_busy_cycle") || str_has(name, "_mac_"))
		return PIPE_NONE;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i].word);

		if (str_starts(name, words[i].word) && name.n > n && name.p[n] == '_')
			return words[i].pipe;
	}
	return PIPE_NONE;
}

/* "cubecore0" of the name, or an empty string. */
static struct str busy_unit(struct str name)
{
	ptrdiff_t at = str_find(name, "cubecore");
	size_t end;

	if (at < 0)
		at = str_find(name, "veccore");
	if (at < 0)
		return STR("");
	end = (size_t)at;
	while (end < name.n && name.p[end] != '_')
		end++;
	return str_sub(name, (size_t)at, end - (size_t)at);
}

struct log_summary {
	struct asc_build *b;
	uint32_t core;
	struct asc_table all, busy;
};

static void summary_log_put_value(struct log_summary *s, struct str name, struct str value)
{
	struct asc_build *b = s->b;
	enum ascend_pipe pipe = busy_pipe(name);
	struct str unit = busy_unit(name);

	asc_putf(b, &s->all, "%u", s->core);
	asc_put(b, &s->all, name);
	asc_put(b, &s->all, value);
	if (pipe == PIPE_NONE)
		return;
	asc_putf(b, &s->busy, "core%u%s%.*s", s->core, unit.n ? "." : "", STR_ARG(unit));
	asc_put(b, &s->busy, str_of(ascend_lane(pipe)->name));
	asc_put(b, &s->busy, value);
	asc_put(b, &s->busy, name);
}

/* "core: 0, subcore: 0, start: 274, tick: 22951, ..." */
static void put_done_line(struct log_summary *s, struct str line)
{
	struct str part;

	while (line.n && line.p[0] == '+')
		line = str_sub(line, 1, line.n);
	while (str_cut(&line, ",", &part)) {
		struct str name;
		uint64_t v;

		if (!str_cut(&part, ":", &name))
			continue;
		part = str_trim(part);
		if (str_to_u64(part, &v))
			summary_log_put_value(s, str_trim(name), part);
	}
}

static void summary_log_put_line(struct log_summary *s, struct str line)
{
	ptrdiff_t at = str_find(line, "|");
	uint64_t v;
	struct str value;

	if (str_starts(line, "++")) {
		put_done_line(s, line);
		return;
	}
	if (at < 0)
		at = str_find(line, ":");
	if (at <= 0)
		return;
	value = str_trim(str_sub(line, (size_t)at + 1, line.n));
	if (str_to_u64(value, &v))
		summary_log_put_value(s, str_trim(str_sub(line, 0, (size_t)at)), value);
}

bool asc_read_summary(
	struct asc_build *b, struct str bytes, const char *path, struct incore_error *e)
{
	struct log_summary s = {.b = b};
	struct str name = str_of(path_base(path)), line;
	uint64_t v = 0;
	size_t n = 4;
	bool ok;

	/* "core12_summary_log" */
	while (str_starts(name, "core") && n < name.n && name.p[n] >= '0' && name.p[n] <= '9')
		n++;
	if (n > 4 && str_to_u64(str_sub(name, 4, n - 4), &v) && v < UINT32_MAX)
		s.core = (uint32_t)v;
	b->path = path;
	asc_table_open(b, &s.all, ASCEND_TABLE_SUMMARY, path, "core|name|value");
	asc_table_open(b, &s.busy, ASCEND_TABLE_BUSY, path, "unit|pipe|cycles|name");
	while (str_cut(&bytes, "\n", &line))
		summary_log_put_line(&s, str_trim(line));
	if (s.all.cells.n == 0 && !asc_note(b, "empty-summary", INCORE_NO_OFFSET,
					  "a summary log without a number in it"))
		s.all.is_failed = true;
	ok = asc_table_close(b, &s.all);
	ok = asc_table_close(b, &s.busy) && ok;
	return ok || err_nomem(e);
}
