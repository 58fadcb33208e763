/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instr_csv.c: one <core>_instr_exe*.csv (or _code_exe) alone: execution counts of instructions,
 * without a time line.
 *
 * Parts: rows of the tables; the format.
 */
#include "import/ascend/ascend.h"

/* --- rows of the tables ----------------------------------------------------------------------- */

/*
 * <core>_instr_exe*.csv and <core>_code_exe*.csv: a row per PC, or per line, with calls and summed
 * cycles. Addresses are decimal in new files and hex in old ones; old files do not quote the
 * operands, so everything after the sixth comma belongs to them.
 */

/* A line of the file: the CSV reader cannot split an unquoted detail with commas, nor one with
 * quotes inside that are not doubled. */
struct line_fields {
	struct str v[7];
	size_t n;
};

static void split_line(struct str line, size_t max, struct line_fields *f)
{
	f->n = 0;
	while (f->n + 1 < max) {
		size_t end = 0;

		while (end < line.n && line.p[end] != ',')
			end++;
		f->v[f->n++] = str_trim(str_sub(line, 0, end));
		if (end == line.n)
			return;
		line = str_sub(line, end + 1, line.n);
	}
	line = str_trim(line);
	if (line.n >= 2 && line.p[0] == '"' && line.p[line.n - 1] == '"')
		line = str_sub(line, 1, line.n - 2);
	f->v[f->n++] = line;
}

static struct str instr_csv_next_line(struct str *rest)
{
	struct str line;
	size_t n = 0;

	while (n < rest->n && rest->p[n] != '\n')
		n++;
	line = str_sub(*rest, 0, n);
	*rest = str_sub(*rest, n + 1, rest->n);
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

/* Parses decimal, or hex with 0x or with a letter digit. */
static bool parse_address(struct str s, uint64_t *out)
{
	char buf[24] = "0x";

	if (str_to_u64(s, out))
		return true;
	if (s.n == 0 || s.n > 16)
		return false;
	memcpy(buf + 2, s.p, s.n);
	buf[2 + s.n] = '\0';
	return str_to_u64(str_of(buf), out);
}

static struct str instr_csv_keep(struct asc_build *b, struct str s)
{
	char *p = arena_strndup(&b->trace->arena, s.n ? s.p : "", s.n);

	return (struct str){p, p ? s.n : 0};
}

static struct str keep_two(struct asc_build *b, struct str a, struct str c)
{
	char *p = arena_printf(
		&b->trace->arena, "%.*s%s%.*s", STR_ARG(a), c.n ? " " : "", STR_ARG(c));

	return str_of(p);
}

struct csv_job {
	struct asc_build *b;
	const char *core;
	enum ascend_core kind;
	bool is_kind_known;
	struct asc_table table;
	uint64_t n_bad;
};

static bool instr_csv_add_stated(struct csv_job *j, const struct line_fields *f)
{
	struct asc_stated s = {.kind = j->kind, .is_kind_known = j->is_kind_known};
	double cycles;
	uint64_t calls;

	if (f->n < 5 || !parse_address(f->v[1], &s.pc) || !str_to_u64(f->v[3], &calls) ||
		!trace_event_number(f->v[4], &cycles) || cycles < 0 || cycles > 9e15 ||
		calls > INT64_MAX) {
		j->n_bad++;
		return true;
	}
	s.calls = (int64_t)calls;
	s.cycles = (int64_t)(cycles + 0.5);
	s.text = keep_two(j->b, f->v[0], f->n > 6 ? f->v[6] : STR(""));
	s.source = STR("");
	s.pipe = instr_csv_keep(j->b, f->v[2]);
	return s.text.p && s.pipe.p && VEC_PUSH(&j->b->csv, s);
}

static bool instr_csv_read_lines(struct csv_job *j, struct str rest, bool is_instr)
{
	size_t n_cols = is_instr ? 7 : 4;
	struct line_fields f;

	instr_csv_next_line(&rest);
	while (rest.n) {
		struct str line = instr_csv_next_line(&rest);

		if (str_trim(line).n == 0)
			continue;
		split_line(line, n_cols, &f);
		if (is_instr && !instr_csv_add_stated(j, &f))
			return false;
		asc_put(j->b, &j->table, j->core ? str_of(j->core) : (struct str){NULL, 0});
		for (size_t i = 0; i < n_cols; i++)
			asc_put(j->b, &j->table, i < f.n ? f.v[i] : (struct str){NULL, 0});
	}
	return !j->table.is_failed;
}

static bool read_csv(struct csv_job *j, struct str bytes, const char *path, bool is_instr,
	struct incore_error *e)
{
	static const char *const heads[2] = {"code,call_count,cycles,running_time(us)",
		"instr,addr,pipe,call_count,cycles,running_time(us),detail"};
	struct str rest = bytes, head;
	struct ascend_unit u;
	bool ok;

	if (str_starts(rest, "\xef\xbb\xbf"))
		rest = str_sub(rest, 3, rest.n);
	bytes = rest;
	head = str_trim(instr_csv_next_line(&rest));
	if (!str_starts(head,
		    is_instr ? "instr,addr,pipe,call_count,cycles" : "code,call_count,cycles"))
		return err_file(
			e, "bad-csv", path, 0, "expected the header \"%s\"", heads[is_instr]);
	j->b->path = path;
	j->is_kind_known = j->core && ascend_unit_of(str_of(j->core), &u);
	j->kind = j->is_kind_known ? u.kind : ASCEND_PLAIN;
	asc_table_open(j->b, &j->table, is_instr ? ASCEND_TABLE_INSTR_CSV : ASCEND_TABLE_CODE_CSV,
		path,
		is_instr ? "Core|instr|addr|pipe|call_count|cycles|running_time(us)|detail"
			 : "Core|code|call_count|cycles|running_time(us)");
	ok = instr_csv_read_lines(j, bytes, is_instr);
	if (ok && j->n_bad)
		ok = trace_note(j->b->trace, "bad-csv-row", path, INCORE_NO_OFFSET, j->n_bad,
			"%llu rows have no address, calls or cycles", (unsigned long long)j->n_bad);
	ok = asc_table_close(j->b, &j->table) && ok;
	return ok || err_nomem(e);
}

bool asc_read_instr_csv(struct asc_build *b, struct str bytes, const char *path, const char *core,
	struct incore_error *e)
{
	struct csv_job j = {.b = b, .core = core};

	return read_csv(&j, bytes, path, true, e);
}

bool asc_read_code_csv(struct asc_build *b, struct str bytes, const char *path, const char *core,
	struct incore_error *e)
{
	struct csv_job j = {.b = b, .core = core};

	return read_csv(&j, bytes, path, false, e);
}

/* --- the format ------------------------------------------------------------------------------- */

static bool instr_csv_read_file(
	struct asc_build *b, struct file_data *f, const char *path, struct incore_error *e)
{
	const char *unit = asc_unit_of_path(&b->trace->arena, path);
	struct str bytes;

	if (!import_load(b->options, f, path, e))
		return false;
	bytes = (struct str){(const char *)f->data, f->size};
	if (str_starts(bytes, "code,"))
		return asc_read_code_csv(b, bytes, path, unit, e) && asc_finish(b, e);
	return asc_read_instr_csv(b, bytes, path, unit, e) && asc_finish(b, e);
}

static bool instr_csv_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct asc_build b;
	struct file_data f = {0};
	bool ok = asc_init(&b, t, o, e) && instr_csv_read_file(&b, &f, path, e);

	asc_deinit(&b);
	file_unload(&f);
	return ok;
}

static bool instr_csv_lost(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	(void)o;
	return trace_note(t, "no-time-line", path, INCORE_NO_OFFSET, 1,
		       "a table alone: totals per instruction, nothing about when") ||
	       err_nomem(e);
}

#define INSTR_HEAD "instr,addr,pipe,call_count,cycles"

static const struct signature instr_csv_signs[] = {
	{.begins = INSTR_HEAD, .score = 85},
	{.begins = "\xef\xbb\xbf" INSTR_HEAD, .score = 85},
	{.begins = "code,call_count,cycles,", .score = 85},
	{0},
};

const struct import_ops import_instr_csv = {
	.name = "instr_csv",
	.summary = "Ascend *_instr_exe.csv or *_code_exe.csv of msprof op simulator",
	.looks_for = "an *_instr_exe.csv",
	.signs = instr_csv_signs,
	.look = asc_look,
	.read = instr_csv_read,
	.lost = instr_csv_lost,
};
