/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instr_csv.c: one <core>_instr_exe*.csv (or _code_exe) alone: execution counts of instructions,
 * without a time line.
 */
#include "import/ascend/ascend.h"

static bool is_code_csv(const struct probe *p)
{
	return p->head_size >= 23 && memcmp(p->head, "code,call_count,cycles,", 23) == 0;
}

static int instr_csv_sniff(const struct probe *p)
{
	struct str head = {(const char *)p->head, p->head_size};

	if (p->is_dir)
		return 0;
	if (str_starts(head, "\xef\xbb\xbf"))
		head = str_sub(head, 3, head.n);
	return str_starts(head, "instr,addr,pipe,call_count,cycles") || is_code_csv(p) ? 85 : 0;
}

static bool read_file(
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
	bool ok = asc_init(&b, t, o, e) && read_file(&b, &f, path, e);

	asc_deinit(&b);
	file_unload(&f);
	return ok;
}

static bool instr_csv_lost(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	(void)o;
	return trace_note(t, NOTE_MISSING, "no-time-line", path, INCORE_NO_OFFSET, 1,
		       "a table alone: totals per instruction, nothing about when") ||
	       err_nomem(e);
}

const struct import_ops import_instr_csv = {
	.name = "instr_csv",
	.summary = "Ascend *_instr_exe.csv or *_code_exe.csv of msprof op simulator",
	.looks_for = "an *_instr_exe.csv",
	.sniff = instr_csv_sniff,
	.look = asc_look,
	.read = instr_csv_read,
	.lost = instr_csv_lost,
};
