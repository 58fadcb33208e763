/* SPDX-License-Identifier: Apache-2.0 */
/* dump_ls.c: lists a dump record by record, slot by slot or task by task. */
#include <string.h>

#include "verbs/dump/dump_rows.h"

enum ls_by { LS_RECORD, LS_SLOT, LS_TASK };
#define LS_BY "record|slot|task"

struct dump_ls_params {
	struct dump_filter filter;
	struct dump_source source;
	unsigned by;
	uint64_t top;
};
static const struct option_def options[] = {
	{OPT_BY, LS_BY, "record", "one row per record, argument slot or task",
		OPTION_FIELD(dump_ls_params, by)},
	DUMP_FILTER_OPTIONS(dump_ls_params),
	DUMP_RECORDS_OPTIONS(dump_ls_params),
	OPTION_LINKS(dump_ls_params, source.follow_links),
	{OPT_TOP, NULL, "all", "how many rows to show", OPTION_FIELD(dump_ls_params, top)},
	OPTION_END,
};

struct ls_row;

struct ls { /* kept by the answer: makes its rows */
	struct dump *d;
	struct dump_select select;
	record_list list;
	VEC(uint32_t) rows;  /* slots or tasks that have a selected record */
	struct ls_row *made; /* the row made last */
};

/* Collects the slots (index into d->slots) or tasks of the selected records, in order. */
static bool collect(struct ls *l, bool by_task, struct incore_error *e)
{
	struct dump *d = l->d;
	uint8_t *is_in = mem_zalloc(d->records.n ? d->records.n : 1, 1);

	if (!is_in)
		return err_nomem(e);
	for (size_t i = 0; i < l->list.n; i++)
		is_in[l->list.v[i]] = 1;
	for (size_t t = 0; t < (by_task ? d->tasks.n : d->slots.n); t++) {
		uint32_t first = by_task ? d->tasks.v[t].first_copy : d->slots.v[t].first;
		uint32_t n = by_task ? d->tasks.v[t].n_copies : d->slots.v[t].n, i = 0;

		while (i < n && !is_in[d->order[first + i]])
			i++;
		if (i < n && !VEC_PUSH(&l->rows, (uint32_t)t)) {
			mem_free(is_in);
			return err_nomem(e);
		}
	}
	mem_free(is_in);
	return true;
}

/* --- records --- */

struct ls_record {
	struct record_row record;
	const char *func, *copy, *shape_text, *strides_text, *text;
	char func_text[DUMP_MEMBERS_TEXT], copy_text[32], dims[2][DUMP_DIMS_TEXT];
	char scalar[DUMP_SCALAR_TEXT], value[DUMP_SCALAR_TEXT + 16];
};

#define FUNC_TEXT(S)                                                                               \
	COLUMN(S, func, UNIT_NONE, "func ids of the task's members", .csv = "func_id", NO_JSON)

static const struct column ls_record_columns[] = {
	PART(ls_record, record, &record_row_record),
	FUNC_TEXT(ls_record),
	COLUMN(ls_record, copy, UNIT_NONE, "which of several copies before the task, or #block",
		.flags = COLUMN_NO_JSON | COLUMN_RIGHT),
	COLUMN(ls_record, shape_text, UNIT_NONE, "dimensions of the tensor, or scalar",
		.title = "shape", NO_JSON),
	COLUMN(ls_record, strides_text, UNIT_NONE, "strides of the tensor, or dense",
		.title = "strides", NO_JSON),
	COLUMN(ls_record, text, UNIT_NONE, "value of a scalar, and what is wrong with the record",
		.title = "value", .flags = COLUMN_NO_JSON | COLUMN_WIDE),
};
static const struct record ls_record_record = RECORD_OF(ls_record, RECORD_LINE, ls_record_columns);

/* "3/24": the third of 24 before-copies; "#3/24" if the block number is stated. */
static const char *copy_text(const struct dump *d, uint32_t record, char buf[32])
{
	const struct dump_slot *s = dump_slot_of(d, record);
	uint32_t block = dump_block_of(d, record);

	buf[0] = 0;
	if (block != DUMP_NONE) {
		snprintf(buf, 32, "#%u", block);
		return buf;
	}
	if (!s || s->n_before < 2 || d->records.v[record].stage != DUMP_BEFORE)
		return buf;
	/* copies without a block number are in manifest order */
	for (uint32_t lo = 0, hi = s->n_before; lo < hi;) {
		uint32_t mid = lo + (hi - lo) / 2, at = d->order[s->first + mid];

		if (at == record) {
			snprintf(buf, 32, "%u/%u", mid + 1, s->n_before);
			break;
		}
		if (at < record)
			lo = mid + 1;
		else
			hi = mid;
	}
	return buf;
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

/* Fills the texts that are only in tables. */
static void fill_record_texts(struct ls_record *x, const struct dump *d)
{
	const struct dump_record *r = &d->records.v[x->record.index];
	const struct dump_geometry *g = &x->record.geometry;
	const char *flag = flag_text(r), *value = dump_text_scalar(r, x->scalar);
	bool is_scalar = r->kind == DUMP_SCALAR;

	x->func = dump_text_members(d, r->members, x->func_text);
	x->copy = copy_text(d, x->record.index, x->copy_text);
	x->shape_text = is_scalar ? "scalar" : dump_text_dims(g->shape, g->rank, x->dims[0]);
	x->strides_text = is_scalar ? ""
			  : r->flags & DUMP_CONTIGUOUS
				  ? "dense"
				  : dump_text_dims(g->strides, g->rank, x->dims[1]);
	snprintf(x->value, sizeof(x->value), "%s%s%s", value, *value && *flag ? ", " : "", flag);
	x->text = x->value;
}

/* --- slots --- */

struct ls_slot {
	uint64_t task_id;
	uint32_t slot, chosen, writer, after;
	const char *role, *kind, *dtype, *choice;
	struct rows before;
	uint64_t before_contents;
	/* only in tables */
	const char *func, *shape, *why, *value;
	uint64_t copies, buffer;
	char func_text[DUMP_MEMBERS_TEXT], dims[DUMP_DIMS_TEXT], scalar[DUMP_SCALAR_TEXT];
};

struct index_item {
	uint32_t v;
};
static const struct column index_item_columns[] = {
	COLUMN(index_item, v, UNIT_INDEX, "number of a record in the manifest"),
};
static const struct record index_item_record =
	RECORD_OF(index_item, RECORD_SCALAR, index_item_columns);

static const struct column ls_slot_columns[] = {
	DUMP_TASK_ID(ls_slot),
	COLUMN(ls_slot, slot, UNIT_INDEX, "number of the argument", .title = "arg"),
	COLUMN(ls_slot, role, UNIT_NONE, "whether the task reads or writes the argument",
		.words = DUMP_ROLES),
	COLUMN(ls_slot, kind, UNIT_NONE, "kind of the argument", .words = DUMP_KINDS),
	COLUMN(ls_slot, dtype, UNIT_NONE, "type of the argument's elements", .words = DUMP_DTYPES),
	LIST(ls_slot, before, &index_item_record, "records copied before the task"),
	COLUMN(ls_slot, before_contents, UNIT_COUNT,
		"number of different contents in the records copied before the task",
		.title = "contents", .csv = "before_contents"),
	COLUMN(ls_slot, chosen, UNIT_INDEX,
		"index of the record that is taken as the state before the task",
		.csv = "before_index", .flags = COLUMN_NULLABLE | COLUMN_DASH),
	COLUMN(ls_slot, choice, UNIT_NONE, "why this record was chosen",
		.words = "none|only|same|writer|ambiguous"),
	COLUMN(ls_slot, writer, UNIT_INDEX,
		"index of the record of an earlier task that left these bytes", NULLABLE),
	COLUMN(ls_slot, after, UNIT_INDEX, "index of the first record copied after the task",
		.csv = "after_index", .flags = COLUMN_NULLABLE | COLUMN_DASH),
	FUNC_TEXT(ls_slot),
	COLUMN(ls_slot, shape, UNIT_NONE, "dimensions of the argument", NO_JSON),
	COLUMN(ls_slot, copies, UNIT_COUNT, "records copied before the task", .title = "before",
		.csv = "before_copies", NO_JSON),
	COLUMN(ls_slot, why, UNIT_NONE, "why this record was chosen", NO_JSON),
	COLUMN(ls_slot, buffer, UNIT_INDEX, "bytes of its buffer", .csv = "buffer_bytes",
		.flags = COLUMN_NO_JSON | COLUMN_NULLABLE | COLUMN_SOME | COLUMN_DASH),
	COLUMN(ls_slot, value, UNIT_NONE, "value of a scalar",
		.flags = COLUMN_NO_JSON | COLUMN_WIDE),
};
static const struct record ls_slot_record = RECORD_OF(ls_slot, RECORD_BLOCK, ls_slot_columns);

static void fill_slot(struct ls_slot *x, const struct dump *d, const struct dump_slot *s)
{
	uint32_t first = d->order[s->first];
	const struct dump_record *r = &d->records.v[first];
	struct record_buffer b;
	struct dump_geometry g;

	dump_geometry_of(d, r, &g);
	*x = (struct ls_slot){.task_id = r->task_id,
		.slot = s->index,
		.role = dump_role_name(r->role),
		.kind = dump_kind_name(r->kind),
		.dtype = dtype_name(r->dtype),
		.before = {&d->order[s->first], s->n_before},
		.before_contents = s->n_before > 1 ? s->n_distinct : s->n_before,
		.chosen = s->before,
		.choice = dump_choice_name(s->choice),
		.writer = s->writer,
		.after = dump_slot_after(d, s),
		.copies = s->n_before,
		.why = s->before == DUMP_NONE ? "" : dump_choice_name(s->choice),
		.buffer = record_buffer_of(d, first, &b) ? b.size : 0};
	x->func = dump_text_members(d, dump_task_find(d, r->task_id)->members, x->func_text);
	x->shape = dump_text_dims(g.shape, g.rank, x->dims);
	x->value = dump_text_scalar(r, x->scalar);
}

/* --- tasks --- */

struct ls_task {
	uint64_t task_id, ring, local;
	struct rows func_id;
	struct str kernel;
	uint64_t blocks, tensors, scalars, records, bytes;
	const char *place, *func; /* only in tables */
	char place_text[32], func_text[DUMP_MEMBERS_TEXT];
	int64_t func_ids[DUMP_MAX_MEMBERS];
};

static const struct column ls_task_columns[] = {
	DUMP_TASK_ID(ls_task),
	COLUMN(ls_task, ring, UNIT_INDEX, "ring of the task: the high half of its id"),
	COLUMN(ls_task, local, UNIT_INDEX,
		"number of the task in its ring: the low half of its id"),
	LIST(ls_task, func_id, &func_id_record, "functions that the task runs", NULLABLE),
	DUMP_KERNEL(ls_task),
	COLUMN(ls_task, blocks, UNIT_COUNT, "blocks that copied at least one record"),
	COLUMN(ls_task, tensors, UNIT_COUNT, "arguments that are tensors"),
	COLUMN(ls_task, scalars, UNIT_COUNT, "arguments that are scalars"),
	COLUMN(ls_task, records, UNIT_COUNT, "records of the task"),
	COLUMN(ls_task, bytes, UNIT_BYTES, "bytes of the task in the payload file"),
	COLUMN(ls_task, place, UNIT_NONE, "ring and number of the task", .title = "ring:local",
		NO_JSON),
	FUNC_TEXT(ls_task),
};
static const struct record ls_task_record = RECORD_OF(ls_task, RECORD_LINE, ls_task_columns);

static void fill_task(struct ls_task *x, const struct dump *d, const struct dump_task *k)
{
	*x = (struct ls_task){.task_id = k->id,
		.ring = k->id >> 32,
		.local = k->id & UINT32_MAX,
		.kernel = dump_kernel_of(d, d->order[k->first_copy]),
		.blocks = k->n_blocks,
		.records = k->n_copies,
		.place = x->place_text};
	for (uint32_t i = 0; i < k->n_slots; i++) {
		const struct dump_slot *s = &d->slots.v[k->first_slot + i];

		if (d->records.v[d->order[s->first]].kind == DUMP_SCALAR)
			x->scalars++;
		else
			x->tensors++;
	}
	for (uint32_t i = 0; i < k->n_copies; i++)
		x->bytes += d->records.v[d->order[k->first_copy + i]].bin_size;
	x->func_id = func_id_rows(d, k->members, x->func_ids);
	x->func = dump_text_members(d, k->members, x->func_text);
	snprintf(x->place_text, sizeof(x->place_text), "%u:%u", (unsigned)x->ring,
		(unsigned)x->local);
}

/* --- all rows: made one at a time, since a dump may have millions --- */

struct ls_row {
	union {
		struct ls_record record;
		struct ls_slot slot;
		struct ls_task task;
	};
};

static const void *record_at(const void *v, size_t i)
{
	const struct ls *l = v;
	struct ls_record *x = &l->made->record;

	record_row_fill(&x->record, l->d, l->list.v[i]);
	fill_record_texts(x, l->d);
	return x;
}

static const void *slot_at(const void *v, size_t i)
{
	const struct ls *l = v;

	fill_slot(&l->made->slot, l->d, &l->d->slots.v[l->rows.v[i]]);
	return &l->made->slot;
}

static const void *task_at(const void *v, size_t i)
{
	const struct ls *l = v;

	fill_task(&l->made->task, l->d, &l->d->tasks.v[l->rows.v[i]]);
	return &l->made->task;
}

struct ls_data {
	const char *verb, *by;
	uint64_t selected;
	struct rows records, slots, tasks;
	const struct ls *made_by;
};
static const struct column data_columns[] = {
	DUMP_VERB(ls_data, "ls"),
	COLUMN(ls_data, by, UNIT_NONE, "what the rows are", .words = LS_BY),
	COLUMN(ls_data, selected, UNIT_COUNT, "records that were selected"),
	LIST(ls_data, records, &ls_record_record, "the records", OPTIONAL),
	LIST(ls_data, slots, &ls_slot_record, "the arguments of tasks", OPTIONAL),
	LIST(ls_data, tasks, &ls_task_record, "the tasks", OPTIONAL),
};
static const struct record data_record = RECORD_OF(ls_data, RECORD_BLOCK, data_columns);

static void dump_ls_page(const struct answer *a, struct page *p)
{
	static const char *const record_columns[] = {"index", "task_id", "func", "kernel", "copy",
		"stage", "role", "slot", "dtype", "shape_text", "strides_text", "bin_size", "text",
		NULL};
	static const char *const slot_columns[] = {"task_id", "func", "slot", "role", "kind",
		"dtype", "shape", "copies", "before_contents", "chosen", "why", "after", "buffer",
		"value", NULL};
	static const char *const task_columns[] = {"task_id", "place", "func", "kernel", "blocks",
		"tensors", "scalars", "records", "bytes", NULL};
	const struct ls_data *x = a->data;
	const struct dump *d = x->made_by->d;

	p->is_long = true;
	if (!p->is_csv) {
		dump_page_head(p, d);
		if (x->selected != d->records.n)
			page_line(p, "%s of %s records selected", U64_TEXT(x->selected),
				U64_TEXT(d->records.n));
	}
	if (x->records.v)
		page_main_records(p, &ls_record_record, x->records, record_columns);
	else if (x->slots.v)
		page_main_records(p, &ls_slot_record, x->slots, slot_columns);
	else
		page_main_records(p, &ls_task_record, x->tasks, task_columns);
}

static void drop_ls(struct ls *l)
{
	VEC_FREE(&l->list);
	VEC_FREE(&l->rows);
	dump_select_deinit(&l->select);
	mem_free(l->made);
	mem_free(l);
}

static bool put_ls(
	struct answer *a, struct ls *l, const struct dump_ls_params *o, struct incore_error *e)
{
	static const char *const names[] = {"record", "slot", "task"};
	uint64_t n = o->by == LS_RECORD ? l->list.n : l->rows.n;
	struct rows rows = {l, n < o->top ? n : o->top};
	struct ls_data *x = ANSWER_NEW(a, ls_data, e);

	if (!x)
		return false;
	*x = (struct ls_data){
		.verb = "ls", .by = names[o->by], .selected = l->list.n, .made_by = l};
	rows.at = o->by == LS_RECORD ? record_at : o->by == LS_SLOT ? slot_at : task_at;
	*(o->by == LS_RECORD ? &x->records : o->by == LS_SLOT ? &x->slots : &x->tasks) = rows;
	return dump_answer(a, l->d, &data_record, x, e);
}

static bool dump_ls_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct dump_ls_params *o = r->params;
	struct ls *l = mem_zalloc(1, sizeof(*l));

	if (!l)
		return err_nomem(e);
	if (!ANSWER_KEEP(a, l, drop_ls, e))
		return false;
	l->made = mem_zalloc(1, sizeof(*l->made));
	if (!l->made)
		return err_nomem(e);
	return dump_ask_select(r, &o->filter, &l->select, e) &&
	       dump_ask_open(a, r->paths[0], &o->source, &l->d, e) &&
	       dump_select_list(&l->select, l->d, &l->list, e) &&
	       (o->by != LS_SLOT || dump_choose(l->d, e)) &&
	       (o->by == LS_RECORD || collect(l, o->by == LS_TASK, e)) && put_ls(a, l, o, e);
}

const struct question question_dump_ls = {
	.name = "dump ls",
	.summary = "list its records, slots or tasks",
	.args = "DIR",
	.min_paths = 1,
	.max_paths = 1,
	.groups = OPTIONS_CSV,
	.options = options,
	.params_size = sizeof(struct dump_ls_params),
	.records = RECORDS(&data_record),
	.inputs = dump_inputs,
	.ask = dump_ls_ask,
	.page = dump_ls_page,
};
