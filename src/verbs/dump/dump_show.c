/* SPDX-License-Identifier: Apache-2.0 */
/* dump_show.c: the values of records, by shape, with statistics. */
#include <math.h>
#include <string.h>

#include "dump/read/diff.h"
#include "dump/read/values.h"
#include "verbs/dump/dump_rows.h"

struct dump_show_params {
	struct dump_filter filter;
	struct dump_source source;
	const char *limit;
	bool is_hex;
	uint64_t top;
};
static const struct option_def options[] = {
	DUMP_FILTER_OPTIONS(dump_show_params),
	{OPT_LIMIT, NULL, "64", "values to print of each record",
		OPTION_FIELD(dump_show_params, limit)},
	{OPT_HEX, NULL, NULL, "print the bits of each value",
		OPTION_FIELD(dump_show_params, is_hex)},
	{OPT_TOP, NULL, "10", "how many records to show", OPTION_FIELD(dump_show_params, top)},
	DUMP_RECORDS_OPTIONS(dump_show_params),
	OPTION_LINKS(dump_show_params, source.follow_links),
	OPTION_END,
};

struct show { /* kept by the answer: makes its rows */
	struct dump *d;
	struct dump_select select;
	record_list list;
	uint64_t limit;
	bool is_hex;
};

/* A tensor's bytes, statistics and, for INOUT, what the task changed. */
struct shown {
	const uint8_t *p;
	uint64_t n; /* elements */
	bool has_stats;
	struct value_stats stats;
	uint32_t partner; /* record at the other stage; DUMP_NONE */
	struct dump_pair change;
};

static bool look(const struct show *s, uint32_t record, struct shown *out, struct incore_error *e)
{
	static const struct dump_diff_options exact = {.rtol = 0, .atol = 0};
	const struct dump_record *r = &s->d->records.v[record];
	const struct dump_slot *slot = dump_slot_of(s->d, record);
	unsigned size = dtype_bytes(r->dtype);
	uint64_t bytes;

	*out = (struct shown){.partner = DUMP_NONE};
	if (r->kind == DUMP_SCALAR)
		return true;
	if (!dump_payload(s->d, record, &out->p, &bytes, e))
		return false;
	out->n = size ? bytes / size : 0;
	if (out->n) {
		value_stats_of(r->dtype, out->p, out->n, &out->stats);
		out->has_stats = true;
	}
	if (r->role != DUMP_INOUT || !out->n)
		return true;
	out->partner = r->stage == DUMP_BEFORE ? dump_slot_after(s->d, slot) : slot->before;
	if (out->partner == DUMP_NONE)
		return true;
	return r->stage == DUMP_BEFORE
		       ? dump_compare(s->d, record, s->d, out->partner, &exact, &out->change, e)
		       : dump_compare(s->d, out->partner, s->d, record, &exact, &out->change, e);
}

struct stats_row {
	struct value_stats k;
	struct any min, max;
	struct rows histogram;
};
static const struct column stats_columns[] = {
	COLUMN_AS(stats_row, k.n, "values", UNIT_COUNT, "number of values that were examined"),
	COLUMN(stats_row, min, UNIT_NONE, "smallest finite value", .words = "number", NULLABLE),
	COLUMN(stats_row, max, UNIT_NONE, "largest finite value", .words = "number", NULLABLE),
	COLUMN_AS(stats_row, k.mean, "mean", UNIT_NONE, "mean of the finite values", .digits = -17),
	COLUMN_AS(stats_row, k.zeros, "zeros", UNIT_COUNT, "values that are zero"),
	COLUMN_AS(stats_row, k.nans, "nans", UNIT_COUNT, "values that are NaN"),
	COLUMN_AS(stats_row, k.pos_infs, "infs", UNIT_COUNT, "values that are positive infinity"),
	COLUMN_AS(stats_row, k.neg_infs, "negative_infs", UNIT_COUNT,
		"values that are negative infinity"),
	LIST(stats_row, histogram, &number_item_record,
		"number of finite values in equal steps from the smallest to the largest",
		.digits = STATS_BINS),
};
static const struct record stats_record = RECORD_OF(stats_row, RECORD_BLOCK, stats_columns);

static const struct column change_columns[] = {
	COLUMN(shown, partner, UNIT_INDEX,
		"index of the record of the same argument at the other stage"),
	COLUMN_AS(shown, change.state, "state", UNIT_NONE, "how the records of both stages compare",
		.words = DUMP_PAIR_STATES),
	COLUMN_AS(shown, change.n_differ, "values_changed", UNIT_COUNT,
		"number of values that the task changed"),
	COLUMN_AS(shown, change.first, "first", UNIT_INDEX,
		"index of the first element that changed"),
	COLUMN_AS(shown, change.max_abs, "largest", UNIT_NONE, "largest change of a value",
		.digits = -9),
};
static const struct record change_record = RECORD_OF(shown, RECORD_BLOCK, change_columns);

struct value_item {
	struct any v;
};
static const struct column value_columns[] = {
	COLUMN(value_item, v, UNIT_NONE, "value of an element, or its bits with --hex",
		.words = DUMP_VALUE_TYPES),
};
static const struct record value_record = RECORD_OF(value_item, RECORD_SCALAR, value_columns);

/* A record with its values; made one at a time. */
struct shown_row {
	struct record_row record;
	const struct stats_row *statistics;
	const struct shown *change;
	struct rows values;
	/* storage that the pointers point to */
	const struct show *show;
	struct shown shown;
	struct stats_row stats;
	struct value_item value;
	char text[ELEMENT_TEXT];
};
static const struct column shown_columns[] = {
	PART(shown_row, record, &record_row_record),
	POINTER(shown_row, statistics, &stats_record, "statistics of the values", OPTIONAL),
	POINTER(shown_row, change, &change_record,
		"how the task changed an argument that it writes", OPTIONAL),
	LIST(shown_row, values, &value_record, "the first values of a tensor", OPTIONAL),
};
static const struct record shown_record = RECORD_OF(shown_row, RECORD_BLOCK, shown_columns);

struct show_data {
	const char *verb;
	uint64_t selected;
	struct rows records;
	const struct show *show;
};
static const struct column data_columns[] = {
	DUMP_VERB(show_data, "show"),
	COLUMN(show_data, selected, UNIT_COUNT, "records that were selected"),
	LIST(show_data, records, &shown_record, "the records with their values"),
};
static const struct record data_record = RECORD_OF(show_data, RECORD_BLOCK, data_columns);

static struct any stat_of(unsigned dtype, double as_float, int64_t as_integer)
{
	if (dtype_is_float(dtype))
		return (struct any){.type = COLUMN_F64, .digits = -9, .d = as_float};
	return dump_value(dtype == DTYPE_UINT64 ? DTYPE_UINT64 : DTYPE_INT64, (uint64_t)as_integer);
}

static const void *value_at(const void *v, size_t i)
{
	struct shown_row *x = (struct shown_row *)v;
	unsigned dtype = x->show->d->records.v[x->record.index].dtype;
	uint64_t bits = value_bits(dtype, x->shown.p, i);

	x->value.v = x->show->is_hex ? (struct any){.type = COLUMN_TEXT,
					       .text = value_text(dtype, bits, VALUE_HEX, x->text)}
				     : dump_value(dtype, bits);
	return &x->value;
}

static const void *shown_at(const void *v, size_t i)
{
	struct shown_row *x = (struct shown_row *)v;
	const struct show *s = x->show;
	uint32_t record = s->list.v[i];
	const struct dump_record *r = &s->d->records.v[record];
	const struct value_stats *k = &x->shown.stats;
	struct incore_error unused = {0};

	if (!look(s, record, &x->shown, &unused)) /* it was readable before */
		incore_error_clear(&unused);
	record_row_fill(&x->record, s->d, record);
	x->stats = (struct stats_row){*k, stat_of(r->dtype, k->min, k->min_i64),
		stat_of(r->dtype, k->max, k->max_i64), {k->bins, STATS_BINS}};
	x->statistics = x->shown.has_stats ? &x->stats : NULL;
	x->change = x->shown.partner != DUMP_NONE ? &x->shown : NULL;
	x->values = (struct rows){r->kind == DUMP_TENSOR ? x : NULL,
		x->shown.n < s->limit ? x->shown.n : s->limit, value_at};
	return x;
}

/* --- the page --- */

static const char *element(
	const struct show *s, unsigned dtype, uint64_t bits, char buf[ELEMENT_TEXT])
{
	return value_text(dtype, bits, s->is_hex ? VALUE_HEX : VALUE_ROUND_TRIP, buf);
}

static const char *place(const struct dump_geometry *g, uint64_t i, char buf[DUMP_DIMS_TEXT])
{
	uint64_t at[DUMP_MAX_RANK] = {0};

	for (unsigned k = g->rank; k-- > 0 && g->shape[k];) {
		at[k] = i % g->shape[k];
		i /= g->shape[k];
	}
	return dump_text_dims(at, g->rank, buf);
}

/* Lines of the last dimension, each with its first index; long ones are wrapped. */
static void page_values(
	struct page *p, const struct show *s, const struct dump_record *r, const struct shown *x)
{
	uint64_t n = x->n < s->limit ? x->n : s->limit, row, most = 8;
	struct dump_geometry g;
	size_t width = 1;
	char text[ELEMENT_TEXT], dims[DUMP_DIMS_TEXT];

	dump_geometry_of(s->d, r, &g);
	row = g.rank && g.shape[g.rank - 1] ? g.shape[g.rank - 1] : 1;
	if (g.rank == 1 && row == 1)
		row = n;
	for (uint64_t i = 0; i < n; i++) {
		size_t w = strlen(element(s, r->dtype, value_bits(r->dtype, x->p, i), text));

		width = w > width ? w : width;
	}
	for (uint64_t i = 0; i < n && !p->is_failed; i++) {
		const char *value = element(s, r->dtype, value_bits(r->dtype, x->p, i), text);

		if (i % row % most == 0)
			page_say(p, "  %-12s", place(&g, i, dims));
		if (i + 1 == n || (i + 1) % row % most == 0)
			page_line(p, "  %*s", (int)width, value);
		else
			page_say(p, "  %*s", (int)width, value);
	}
	if (n < x->n)
		page_line(p, "  ... %s (--limit all)", COUNTED(x->n - n, "more value"));
}

static const char *stat_text(const struct value_stats *v, unsigned dtype, bool is_max, char buf[64])
{
	if (dtype_is_float(dtype))
		snprintf(buf, 64, "%.9g", is_max ? v->max : v->min);
	else
		value_text(dtype == DTYPE_UINT64 ? DTYPE_UINT64 : DTYPE_INT64,
			(uint64_t)(is_max ? v->max_i64 : v->min_i64), VALUE_ROUND_TRIP, buf);
	return buf;
}

static void page_stats(struct page *p, const struct dump_record *r, const struct value_stats *v)
{
	static const char ramp[] = " .:-=+*#%@";
	char lo[64], hi[64], bar[STATS_BINS + 1];
	uint64_t most = 1;

	for (unsigned i = 0; i < STATS_BINS; i++)
		most = v->bins[i] > most ? v->bins[i] : most;
	for (unsigned i = 0; i < STATS_BINS; i++) /* a bin with one value must not be blank */
		bar[i] = ramp[v->bins[i] ? 1 + (unsigned)((double)v->bins[i] / (double)most * 8.0)
					 : 0];
	bar[STATS_BINS] = 0;
	page_say(p, "  %s: ", COUNTED(v->n, "value"));
	if (isnan(v->mean))
		page_say(p, "none finite");
	else
		page_say(p, "min %s, max %s, mean %.9g", stat_text(v, r->dtype, false, lo),
			stat_text(v, r->dtype, true, hi), v->mean);
	page_line(p, "; %llu zero, %llu nan, %llu inf, %llu -inf", (unsigned long long)v->zeros,
		(unsigned long long)v->nans, (unsigned long long)v->pos_infs,
		(unsigned long long)v->neg_infs);
	if (!isnan(v->mean) && v->max > v->min)
		page_line(p, "  histogram |%s| min to max", bar);
}

static void page_change(
	struct page *p, const struct show *s, const struct dump_record *r, const struct shown *x)
{
	const struct dump_pair *c = &x->change;
	struct dump_geometry g;
	char dims[DUMP_DIMS_TEXT];

	if (x->partner == DUMP_NONE)
		return;
	dump_geometry_of(s->d, r, &g);
	page_say(
		p, "  %s is record %u: ", r->stage == DUMP_BEFORE ? "after" : "before", x->partner);
	if (c->state == PAIR_NOT_COMPARED || c->state == PAIR_OTHER_KIND)
		page_line(p, "cannot be compared");
	else if (!c->n_differ)
		page_line(p, "%s",
			c->is_identical ? "no value changed"
					: "only the bits of equal values changed");
	else
		page_line(p, "%s of %s changed, first at %s, largest change %.9g",
			U64_TEXT(c->n_differ), COUNTED(c->n, "value"), place(&g, c->first, dims),
			c->max_abs);
}

static void page_buffer(struct page *p, const struct show *s, uint32_t record)
{
	struct record_buffer b;

	if (!record_buffer_of(s->d, record, &b))
		return;
	page_say(p, "  buffer at 0x%llx, ", (unsigned long long)b.addr);
	if (b.size)
		page_line(p, "%s%s", COUNTED(b.size, "byte"), b.is_from_deps ? " (deps.json)" : "");
	else
		page_line(p, "size not stated");
}

static void page_tensor(struct page *p, const struct show *s, const struct dump_record *r)
{
	struct dump_geometry g;
	char dims[DUMP_DIMS_TEXT];

	dump_geometry_of(s->d, r, &g);
	page_say(p, "%s", dump_text_dims(g.shape, g.rank, dims));
	if (!(r->flags & DUMP_CONTIGUOUS))
		page_say(p, ", strides %s", dump_text_dims(g.strides, g.rank, dims));
	page_say(p, ", start %llu, ", (unsigned long long)r->start_offset);
	if (r->bin_size)
		page_say(p, "%s at %llu", COUNTED(r->bin_size, "byte"),
			(unsigned long long)r->bin_offset);
	else
		page_say(p, "%s",
			r->flags & DUMP_LOST	      ? "payload lost"
			: r->flags & DUMP_OVERWRITTEN ? "payload overwritten"
						      : "no payload");
	page_line(p, "%s", r->flags & DUMP_TRUNCATED ? ", truncated" : "");
}

static void page_record(struct page *p, const struct show *s, uint32_t i)
{
	const struct dump_record *r = &s->d->records.v[i];
	const struct dump_slot *slot = dump_slot_of(s->d, i);
	struct str kernel = dump_kernel_of(s->d, i);
	char func[DUMP_MEMBERS_TEXT], scalar[DUMP_SCALAR_TEXT];

	page_say(p, "%srecord %u%s: task 0x%016llx (%u:%u)", style_mark(CELL_HOT), i,
		style_mark_end, (unsigned long long)r->task_id, (unsigned)(r->task_id >> 32),
		(unsigned)r->task_id);
	page_say(p, ", func %s", dump_text_members(s->d, r->members, func));
	if (kernel.p)
		page_say(p, " (%.*s)", STR_ARG(kernel));
	page_line(p, ", slot %u, %s, %s", r->slot, dump_role_name(r->role),
		dump_stage_name(r->stage));
	page_say(p, "  %s ", dtype_name(r->dtype));
	if (r->kind == DUMP_SCALAR) {
		page_line(p, "scalar = %s, bits 0x%016llx", dump_text_scalar(r, scalar),
			(unsigned long long)r->bits);
		return;
	}
	page_tensor(p, s, r);
	page_buffer(p, s, i);
	if (slot && r->stage == DUMP_BEFORE && slot->n_before > 1)
		page_line(p,
			"  one of %u before copies with %u content%s; state before the task: record %u (%s)",
			slot->n_before, slot->n_distinct, plural(slot->n_distinct), slot->before,
			dump_choice_name(slot->choice));
}

static void dump_show_page(const struct answer *a, struct page *p)
{
	const struct show_data *data = a->data;
	const struct show *s = data->show;
	uint64_t left = data->selected - data->records.n;

	p->is_long = true;
	for (size_t i = 0; i < data->records.n; i++) {
		const struct shown_row *x = rows_at(&shown_record, &data->records, i);
		const struct dump_record *r = &s->d->records.v[x->record.index];

		if (i)
			page_gap(p);
		page_record(p, s, x->record.index);
		if (x->shown.has_stats)
			page_stats(p, r, &x->shown.stats);
		page_change(p, s, r, &x->shown);
		page_values(p, s, r, &x->shown);
	}
	if (left) {
		page_gap(p);
		page_line(p, "... %llu more record%s (--top all)", (unsigned long long)left,
			plural(left));
	}
	if (!data->selected)
		page_line(p, "no record is selected");
}

/* --- the question --- */

static bool take_limit(const char *text, struct show *s, struct incore_error *e)
{
	s->limit = UINT64_MAX;
	return strcmp(text, "all") == 0 || str_to_u64(str_of(text), &s->limit) ||
	       err_set(e, INCORE_USAGE, "bad-option-value",
		       "--limit expects a whole number or 'all', not '%s'", text);
}

static void drop_show(struct show *s)
{
	VEC_FREE(&s->list);
	dump_select_deinit(&s->select);
	mem_free(s);
}

static bool put_show(struct answer *a, const struct show *s, uint64_t top, struct incore_error *e)
{
	uint64_t n = s->list.n < top ? s->list.n : top;
	struct shown_row *row = ANSWER_NEW(a, shown_row, e);
	struct show_data *x = ANSWER_NEW(a, show_data, e);

	if (!row || !x)
		return false;
	for (size_t i = 0; i < n; i++) {
		struct shown unused; /* nothing is answered unless all can be read */

		if (!look(s, s->list.v[i], &unused, e))
			return false;
	}
	row->show = s;
	*x = (struct show_data){"show", s->list.n, {row, n, shown_at}, s};
	return dump_answer(a, s->d, &data_record, x, e);
}

static bool dump_show_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct dump_show_params *o = r->params;
	struct show *s = mem_zalloc(1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	s->is_hex = o->is_hex;
	return ANSWER_KEEP(a, s, drop_show, e) && take_limit(o->limit, s, e) &&
	       dump_ask_select(r, &o->filter, &s->select, e) &&
	       dump_ask_open(a, r->paths[0], &o->source, &s->d, e) &&
	       dump_select_list(&s->select, s->d, &s->list, e) && dump_choose(s->d, e) &&
	       put_show(a, s, o->top, e);
}

const struct question question_dump_show = {
	.name = "dump show",
	.summary = "values with statistics, by shape",
	.args = "DIR",
	.min_paths = 1,
	.max_paths = 1,
	.options = options,
	.params_size = sizeof(struct dump_show_params),
	.records = RECORDS(&data_record),
	.inputs = dump_inputs,
	.ask = dump_show_ask,
	.page = dump_show_page,
};
