/* SPDX-License-Identifier: Apache-2.0 */
/* dump_ls.c: incore dump ls: what is in a dump, record by record, slot by slot or task by task. */
#include <string.h>

#include "cli/dump/dump_job.h"
#include "cli/text/table.h"
#include "dump/read/deps.h"

static const struct option_def options[] = {
	{0, "by", OPTION_CHOICE, "WHAT", "record|slot|task", "record",
		"one row per record, argument slot or task"},
	DUMP_SELECT_OPTIONS,
	DUMP_RECORDS_OPTION,
	{0, "top", OPTION_TEXT, "N|all", NULL, "all", "how many rows to show"},
	OPTIONS_END,
};

struct ls {
	struct cli *c;
	struct dump *d;
	struct dump_select select;
	record_list list;
	VEC(uint32_t) rows; /* slots or tasks that have a selected record */
};

/* What the rows are: slots (index into d->slots) or tasks, in order, of the selected records. */
static bool collect(struct ls *l, bool by_task)
{
	struct dump *d = l->d;
	uint8_t *is_in = mem_zalloc(d->records.n ? d->records.n : 1, 1);

	if (!is_in)
		return err_nomem(&l->c->error);
	for (size_t i = 0; i < l->list.n; i++)
		is_in[l->list.v[i]] = 1;
	for (size_t t = 0; t < (by_task ? d->tasks.n : d->slots.n); t++) {
		uint32_t first = by_task ? d->tasks.v[t].first_copy : d->slots.v[t].first;
		uint32_t n = by_task ? d->tasks.v[t].n_copies : d->slots.v[t].n, i = 0;

		while (i < n && !is_in[d->order[first + i]])
			i++;
		if (i < n && !VEC_PUSH(&l->rows, (uint32_t)t)) {
			mem_free(is_in);
			return err_nomem(&l->c->error);
		}
	}
	mem_free(is_in);
	return true;
}

static const char *task_text(struct table *t, uint64_t id)
{
	return arena_printf(&t->arena, "0x%016llx", (unsigned long long)id);
}

static const char *number(struct table *t, uint64_t v)
{
	return arena_printf(&t->arena, "%llu", (unsigned long long)v);
}

/* "3/24": the third of 24 before copies; "#3/24" where the block number is stated. */
static const char *copy_text(struct ls *l, struct table *t, uint32_t record)
{
	const struct dump_slot *s = dump_slot_of(l->d, record);
	uint32_t block = dump_block_of(l->d, record);

	if (block != DUMP_NONE)
		return arena_printf(&t->arena, "#%u", block);
	if (!s || s->n_before < 2 || l->d->records.v[record].stage != DUMP_BEFORE)
		return "";
	/* copies without a block number stand in manifest order */
	for (uint32_t lo = 0, hi = s->n_before; lo < hi;) {
		uint32_t mid = lo + (hi - lo) / 2, at = l->d->order[s->first + mid];

		if (at == record)
			return arena_printf(&t->arena, "%u/%u", mid + 1, s->n_before);
		if (at < record)
			lo = mid + 1;
		else
			hi = mid;
	}
	return "";
}

static const char *flag_text(const struct dump_record *r)
{
	return r->flags & DUMP_OUT_OF_FILE   ? "out of file"
	       : r->flags & DUMP_LOST	     ? "lost"
	       : r->flags & DUMP_OVERWRITTEN ? "overwritten"
	       : r->flags & DUMP_TRUNCATED   ? "truncated"
	       : r->flags & DUMP_TORN	     ? "torn"
	       : r->flags & DUMP_AMBIGUOUS   ? "ambiguous"
					     : "";
}

static void put_record(struct ls *l, struct table *t, uint32_t i)
{
	const struct dump_record *r = &l->d->records.v[i];
	struct str kernel = dump_kernel_of(l->d, i);
	struct dump_geometry g;
	const char *flag = flag_text(r), *value = dump_text_scalar(r, &t->arena);

	dump_geometry_of(l->d, r, &g);
	dump_cell(t, number(t, i));
	dump_cell(t, task_text(t, r->task_id));
	dump_cell(t, dump_text_members(l->d, r->members, &t->arena));
	table_str(t, kernel.p ? kernel : STR("-"));
	dump_cell(t, copy_text(l, t, i));
	dump_cell(t, dump_stage_name(r->stage));
	dump_cell(t, dump_role_name(r->role));
	dump_cell(t, number(t, r->slot));
	dump_cell(t, dtype_name(r->dtype));
	dump_cell(
		t, r->kind == DUMP_SCALAR ? "scalar" : dump_text_dims(g.shape, g.rank, &t->arena));
	dump_cell(t, r->kind == DUMP_SCALAR	  ? ""
		     : r->flags & DUMP_CONTIGUOUS ? "dense"
						  : dump_text_dims(g.strides, g.rank, &t->arena));
	table_u64(t, r->bin_size);
	dump_cell(t, *value && *flag ? arena_printf(&t->arena, "%s, %s", value, flag)
		     : *value	     ? value
				     : flag);
}

static bool print_records(struct ls *l)
{
	static const struct table_column columns[] = {
		{"index", NULL, CELL_RIGHT, false},
		{"task", "task_id", CELL_LEFT, false},
		{"func", "func_id", CELL_LEFT, false},
		{"kernel", NULL, CELL_LEFT, true},
		{"copy", NULL, CELL_RIGHT, false},
		{"stage", NULL, CELL_LEFT, false},
		{"role", NULL, CELL_LEFT, false},
		{"arg", NULL, CELL_RIGHT, false},
		{"dtype", NULL, CELL_LEFT, false},
		{"shape", NULL, CELL_LEFT, false},
		{"strides", NULL, CELL_LEFT, false},
		{"bytes", NULL, CELL_RIGHT, false},
		{"value", NULL, CELL_LEFT, true},
	};
	uint64_t top = cli_top(l->c);
	struct table t;
	bool ok;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < l->list.n && i < top; i++)
		put_record(l, &t, l->list.v[i]);
	ok = table_print(&t, l->c);
	table_deinit(&t);
	return ok;
}

static const char *buffer_text(struct ls *l, struct table *t, uint32_t record)
{
	struct record_buffer b;

	return record_buffer_of(l->d, record, &b) && b.size ? number(t, b.size) : "-";
}

static bool print_slots(struct ls *l)
{
	static const struct table_column columns[] = {
		{"task", "task_id", CELL_LEFT, false},
		{"func", "func_id", CELL_LEFT, false},
		{"arg", NULL, CELL_RIGHT, false},
		{"role", NULL, CELL_LEFT, false},
		{"kind", NULL, CELL_LEFT, false},
		{"dtype", NULL, CELL_LEFT, false},
		{"shape", NULL, CELL_LEFT, false},
		{"before", "before_copies", CELL_RIGHT, false},
		{"contents", "before_contents", CELL_RIGHT, false},
		{"chosen", "before_index", CELL_RIGHT, false},
		{"why", NULL, CELL_LEFT, false},
		{"after", "after_index", CELL_RIGHT, false},
		{"buffer", "buffer_bytes", CELL_RIGHT, false},
		{"value", NULL, CELL_LEFT, true},
	};
	uint64_t top = cli_top(l->c);
	struct table t;
	bool ok;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < l->rows.n && i < top; i++) {
		const struct dump_slot *s = &l->d->slots.v[l->rows.v[i]];
		const struct dump_record *r = &l->d->records.v[l->d->order[s->first]];
		uint32_t after = dump_slot_after(l->d, s);
		struct dump_geometry g;

		dump_geometry_of(l->d, r, &g);
		dump_cell(&t, task_text(&t, r->task_id));
		dump_cell(&t, dump_text_members(
				      l->d, dump_task_find(l->d, r->task_id)->members, &t.arena));
		dump_cell(&t, number(&t, s->index));
		dump_cell(&t, dump_role_name(r->role));
		dump_cell(&t, dump_kind_name(r->kind));
		dump_cell(&t, dtype_name(r->dtype));
		dump_cell(&t, dump_text_dims(g.shape, g.rank, &t.arena));
		table_u64(&t, s->n_before);
		table_u64(&t, s->n_before > 1 ? s->n_distinct : s->n_before);
		dump_cell(&t, s->before == DUMP_NONE ? "-" : number(&t, s->before));
		dump_cell(&t, s->before == DUMP_NONE ? "" : dump_choice_name(s->choice));
		dump_cell(&t, after == DUMP_NONE ? "-" : number(&t, after));
		dump_cell(&t, buffer_text(l, &t, l->d->order[s->first]));
		dump_cell(&t, dump_text_scalar(r, &t.arena));
	}
	ok = table_print(&t, l->c);
	table_deinit(&t);
	return ok;
}

/* Tensors, scalars and payload bytes of a task. */
static void task_sums(const struct dump *d, const struct dump_task *k, uint64_t sums[3])
{
	memset(sums, 0, 3 * sizeof(sums[0]));
	for (uint32_t i = 0; i < k->n_slots; i++) {
		const struct dump_slot *s = &d->slots.v[k->first_slot + i];

		sums[d->records.v[d->order[s->first]].kind == DUMP_SCALAR]++;
	}
	for (uint32_t i = 0; i < k->n_copies; i++)
		sums[2] += d->records.v[d->order[k->first_copy + i]].bin_size;
}

static bool print_tasks(struct ls *l)
{
	static const struct table_column columns[] = {
		{"task", "task_id", CELL_LEFT, false},
		{"ring:local", NULL, CELL_LEFT, false},
		{"func", "func_id", CELL_LEFT, false},
		{"kernel", NULL, CELL_LEFT, true},
		{"blocks", NULL, CELL_RIGHT, false},
		{"tensors", NULL, CELL_RIGHT, false},
		{"scalars", NULL, CELL_RIGHT, false},
		{"records", NULL, CELL_RIGHT, false},
		{"bytes", NULL, CELL_RIGHT, false},
	};
	uint64_t top = cli_top(l->c), sums[3];
	struct table t;
	bool ok;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < l->rows.n && i < top; i++) {
		const struct dump_task *k = &l->d->tasks.v[l->rows.v[i]];
		struct str kernel = dump_kernel_of(l->d, l->d->order[k->first_copy]);

		task_sums(l->d, k, sums);
		dump_cell(&t, task_text(&t, k->id));
		dump_cell(&t,
			arena_printf(&t.arena, "%u:%u", (unsigned)(k->id >> 32), (unsigned)k->id));
		dump_cell(&t, dump_text_members(l->d, k->members, &t.arena));
		table_str(&t, kernel.p ? kernel : STR("-"));
		table_u64(&t, k->n_blocks);
		table_u64(&t, sums[0]);
		table_u64(&t, sums[1]);
		table_u64(&t, k->n_copies);
		table_u64(&t, sums[2]);
	}
	ok = table_print(&t, l->c);
	table_deinit(&t);
	return ok;
}

static void json_slot(struct json_writer *w, const struct dump *d, const struct dump_slot *s)
{
	const struct dump_record *r = &d->records.v[d->order[s->first]];
	uint32_t after = dump_slot_after(d, s);

	json_w_object(w);
	dump_json_hex(w, "task_id", r->task_id, 16);
	json_w_kv_u64(w, "slot", s->index);
	json_w_kv_cstr(w, "role", dump_role_name(r->role));
	json_w_kv_cstr(w, "kind", dump_kind_name(r->kind));
	json_w_kv_cstr(w, "dtype", dtype_name(r->dtype));
	json_w_key(w, "before");
	json_w_row(w);
	for (uint32_t i = 0; i < s->n_before; i++)
		json_w_u64(w, d->order[s->first + i]);
	json_w_end(w);
	json_w_key(w, "before_contents");
	if (s->n_before > 1)
		json_w_u64(w, s->n_distinct);
	else
		json_w_u64(w, s->n_before);
	json_w_key(w, "chosen");
	if (s->before == DUMP_NONE)
		json_w_null(w);
	else
		json_w_u64(w, s->before);
	json_w_kv_cstr(w, "choice", dump_choice_name(s->choice));
	json_w_key(w, "writer");
	if (s->writer == DUMP_NONE)
		json_w_null(w);
	else
		json_w_u64(w, s->writer);
	json_w_key(w, "after");
	if (after == DUMP_NONE)
		json_w_null(w);
	else
		json_w_u64(w, after);
	json_w_end(w);
}

static void json_task(struct json_writer *w, const struct dump *d, const struct dump_task *k)
{
	struct str kernel = dump_kernel_of(d, d->order[k->first_copy]);
	int32_t ids[DUMP_MAX_MEMBERS];
	unsigned n = dump_members_of(d, k->members, ids);
	uint64_t sums[3];

	task_sums(d, k, sums);
	json_w_row_object(w);
	dump_json_hex(w, "task_id", k->id, 16);
	json_w_kv_u64(w, "ring", k->id >> 32);
	json_w_kv_u64(w, "local", k->id & UINT32_MAX);
	json_w_key(w, "func_id");
	if (n) {
		json_w_row(w);
		for (unsigned i = 0; i < n; i++)
			json_w_i64(w, ids[i]);
		json_w_end(w);
	} else {
		json_w_null(w);
	}
	json_w_key(w, "kernel");
	if (kernel.p)
		json_w_str(w, kernel);
	else
		json_w_null(w);
	json_w_kv_u64(w, "blocks", k->n_blocks);
	json_w_kv_u64(w, "tensors", sums[0]);
	json_w_kv_u64(w, "scalars", sums[1]);
	json_w_kv_u64(w, "records", k->n_copies);
	json_w_kv_u64(w, "bytes", sums[2]);
	json_w_end(w);
}

static bool print_json(struct ls *l, const char *by)
{
	bool by_record = strcmp(by, "record") == 0, by_slot = strcmp(by, "slot") == 0;
	uint64_t top = cli_top(l->c);
	size_t n = by_record ? l->list.n : l->rows.n;
	struct json_writer w;

	dump_json_begin(l->c, &w, l->d);
	json_w_kv_cstr(&w, "by", by);
	json_w_kv_u64(&w, "selected", l->list.n);
	json_w_key(&w, by_record ? "records" : by_slot ? "slots" : "tasks");
	json_w_array(&w);
	for (size_t i = 0; i < n && i < top; i++) {
		if (by_record) {
			json_w_row_object(&w);
			dump_json_record(&w, l->d, l->list.v[i]);
			json_w_end(&w);
		} else if (by_slot) {
			json_slot(&w, l->d, &l->d->slots.v[l->rows.v[i]]);
		} else {
			json_task(&w, l->d, &l->d->tasks.v[l->rows.v[i]]);
		}
	}
	json_w_end(&w);
	json_w_end(&w);
	return cli_json_end(l->c, &w);
}

static bool print(struct ls *l, const char *by)
{
	bool by_record = strcmp(by, "record") == 0;
	char a[32], b[32];

	if (l->c->use_json)
		return print_json(l, by);
	if (!l->c->use_csv) {
		cli_page(l->c, 0);
		dump_text_head(l->c, l->d);
		if (l->list.n != l->d->records.n)
			fprintf(l->c->out, "%s of %s records selected\n", fmt_u64(a, l->list.n),
				fmt_u64(b, l->d->records.n));
	}
	return by_record		 ? print_records(l)
	       : strcmp(by, "slot") == 0 ? print_slots(l)
					 : print_tasks(l);
}

static int run_dump_ls(struct cli *c)
{
	struct ls l = {.c = c};
	const char *by = cli_text(c, "by");
	int status = INCORE_OK;

	if (!dump_cli_select(c, &l.select) || !dump_cli_open(c, c->args[0], &l.d) ||
		!dump_select_list(&l.select, l.d, &l.list, &c->error) ||
		(strcmp(by, "slot") == 0 && !dump_choose(l.d, &c->error)) ||
		(strcmp(by, "record") != 0 && !collect(&l, strcmp(by, "task") == 0)) ||
		!print(&l, by))
		status = cli_fail(c);
	VEC_FREE(&l.list);
	VEC_FREE(&l.rows);
	dump_select_deinit(&l.select);
	dump_free(l.d);
	return status;
}

const struct verb dump_verb_ls = {
	.name = "dump ls",
	.args = "DIR",
	.summary = "list its records, slots or tasks",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run_dump_ls,
};
