/* SPDX-License-Identifier: Apache-2.0 */
/* dump_show.c: incore dump show: the values of records, by shape, with statistics. */
#include <math.h>
#include <string.h>

#include "cli/draw.h"
#include "cli/dump/dump_rows.h"
#include "dump/read/diff.h"
#include "dump/read/values.h"
#include "page/say.h"

static const struct option_def options[] = {
	DUMP_SELECT_OPTIONS,
	{OPT_LIMIT, NULL, "64", "values to print of each record"},
	{OPT_HEX, NULL, NULL, "print the bits of each value"},
	{OPT_TOP, NULL, "10", "how many records to show"},
	DUMP_RECORDS_OPTION,
	LINKS_OPTION,
	OPTION_END,
};

struct show {
	struct cli *c;
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

static bool look(const struct show *s, uint32_t record, struct shown *out)
{
	static const struct dump_diff_options exact = {.rtol = 0, .atol = 0};
	const struct dump_record *r = &s->d->records.v[record];
	const struct dump_slot *slot = dump_slot_of(s->d, record);
	unsigned size = dtype_bytes(r->dtype);
	uint64_t bytes;

	*out = (struct shown){.partner = DUMP_NONE};
	if (r->kind == DUMP_SCALAR)
		return true;
	if (!dump_payload(s->d, record, &out->p, &bytes, &s->c->error))
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
	return r->stage == DUMP_BEFORE ? dump_compare(s->d, record, s->d, out->partner, &exact,
						 &out->change, &s->c->error)
				       : dump_compare(s->d, out->partner, s->d, record, &exact,
						 &out->change, &s->c->error);
}

static const char *element(struct show *s, unsigned dtype, uint64_t bits, char buf[VALUE_TEXT])
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

/* Prints rows of the last dimension, each with its first index; long rows are wrapped. */
static void print_values(struct show *s, const struct dump_record *r, const struct shown *x)
{
	uint64_t n = x->n < s->limit ? x->n : s->limit, row, most = 8;
	struct dump_geometry g;
	size_t width = 1;
	char text[VALUE_TEXT], dims[DUMP_DIMS_TEXT];

	dump_geometry_of(s->d, r, &g);
	row = g.rank && g.shape[g.rank - 1] ? g.shape[g.rank - 1] : 1;
	if (g.rank == 1 && row == 1)
		row = n;
	for (uint64_t i = 0; i < n; i++) {
		size_t w = strlen(element(s, r->dtype, value_bits(r->dtype, x->p, i), text));

		width = w > width ? w : width;
	}
	for (uint64_t i = 0; i < n && !ferror(s->c->out); i++) {
		bool is_start = i % row % most == 0;

		if (is_start && i)
			fputc('\n', s->c->out);
		if (is_start)
			say(s->c->out, "  %-12s", place(&g, i, dims));
		say(s->c->out, "  %*s", (int)width,
			element(s, r->dtype, value_bits(r->dtype, x->p, i), text));
	}
	if (n)
		fputc('\n', s->c->out);
	if (n < x->n) {
		say(s->c->out, "  ... %s (--limit all)\n", COUNTED(x->n - n, "more value"));
	}
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

static void print_stats(struct show *s, const struct dump_record *r, const struct value_stats *v)
{
	static const char ramp[] = " .:-=+*#%@";
	char lo[64], hi[64], bar[STATS_BINS + 1];
	uint64_t most = 1;
	FILE *out = s->c->out;

	for (unsigned i = 0; i < STATS_BINS; i++)
		most = v->bins[i] > most ? v->bins[i] : most;
	for (unsigned i = 0; i < STATS_BINS; i++) /* a bin with one value must not be blank */
		bar[i] = ramp[v->bins[i] ? 1 + (unsigned)((double)v->bins[i] / (double)most * 8.0)
					 : 0];
	bar[STATS_BINS] = 0;
	say(out, "  %s: ", COUNTED(v->n, "value"));
	if (isnan(v->mean))
		fputs("none finite", out);
	else
		say(out, "min %s, max %s, mean %.9g", stat_text(v, r->dtype, false, lo),
			stat_text(v, r->dtype, true, hi), v->mean);
	say(out, "; %llu zero, %llu nan, %llu inf, %llu -inf\n", (unsigned long long)v->zeros,
		(unsigned long long)v->nans, (unsigned long long)v->pos_infs,
		(unsigned long long)v->neg_infs);
	if (!isnan(v->mean) && v->max > v->min)
		say(out, "  histogram |%s| min to max\n", bar);
}

static void print_change(struct show *s, uint32_t record, const struct shown *x)
{
	const struct dump_record *r = &s->d->records.v[record];
	const struct dump_pair *p = &x->change;
	struct dump_geometry g;
	char dims[DUMP_DIMS_TEXT];

	if (x->partner == DUMP_NONE)
		return;
	dump_geometry_of(s->d, r, &g);
	say(s->c->out, "  %s is record %u: ", r->stage == DUMP_BEFORE ? "after" : "before",
		x->partner);
	if (p->state == PAIR_NOT_COMPARED || p->state == PAIR_OTHER_KIND)
		fputs("cannot be compared\n", s->c->out);
	else if (!p->n_differ)
		say(s->c->out, "%s\n",
			p->is_identical ? "no value changed"
					: "only the bits of equal values changed");
	else
		say(s->c->out, "%s of %s changed, first at %s, largest change %.9g\n",
			U64_TEXT(p->n_differ), COUNTED(p->n, "value"), place(&g, p->first, dims),
			p->max_abs);
}

static void print_buffer(struct show *s, uint32_t record)
{
	struct record_buffer b;

	if (!record_buffer_of(s->d, record, &b))
		return;
	say(s->c->out, "  buffer at 0x%llx, ", (unsigned long long)b.addr);
	if (b.size)
		say(s->c->out, "%s%s\n", COUNTED(b.size, "byte"),
			b.is_from_deps ? " (deps.json)" : "");
	else
		fputs("size not stated\n", s->c->out);
}

static void print_head(struct show *s, uint32_t i)
{
	const struct dump_record *r = &s->d->records.v[i];
	const struct dump_slot *slot = dump_slot_of(s->d, i);
	struct str kernel = dump_kernel_of(s->d, i);
	struct dump_geometry g;
	FILE *out = s->c->out;
	char func[DUMP_MEMBERS_TEXT], dims[DUMP_DIMS_TEXT], scalar[DUMP_SCALAR_TEXT];

	dump_geometry_of(s->d, r, &g);
	say(out, "%srecord %u%s: task 0x%016llx (%u:%u)", style_on(s->c, CELL_HOT), i,
		style_off(s->c), (unsigned long long)r->task_id, (unsigned)(r->task_id >> 32),
		(unsigned)r->task_id);
	say(out, ", func %s", dump_text_members(s->d, r->members, func));
	if (kernel.p)
		say(out, " (%.*s)", STR_ARG(kernel));
	say(out, ", slot %u, %s, %s\n  %s ", r->slot, dump_role_name(r->role),
		dump_stage_name(r->stage), dtype_name(r->dtype));
	if (r->kind == DUMP_SCALAR) {
		say(out, "scalar = %s, bits 0x%016llx\n", dump_text_scalar(r, scalar),
			(unsigned long long)r->bits);
		return;
	}
	fputs(dump_text_dims(g.shape, g.rank, dims), out);
	if (!(r->flags & DUMP_CONTIGUOUS))
		say(out, ", strides %s", dump_text_dims(g.strides, g.rank, dims));
	say(out, ", start %llu, ", (unsigned long long)r->start_offset);
	if (r->bin_size)
		say(out, "%s at %llu", COUNTED(r->bin_size, "byte"),
			(unsigned long long)r->bin_offset);
	else
		fputs(r->flags & DUMP_LOST	      ? "payload lost"
			: r->flags & DUMP_OVERWRITTEN ? "payload overwritten"
						      : "no payload",
			out);
	if (r->flags & DUMP_TRUNCATED)
		fputs(", truncated", out);
	fputc('\n', out);
	print_buffer(s, i);
	if (slot && r->stage == DUMP_BEFORE && slot->n_before > 1)
		say(out,
			"  one of %u before copies with %u content%s; state before the task: record %u (%s)\n",
			slot->n_before, slot->n_distinct, plural(slot->n_distinct), slot->before,
			dump_choice_name(slot->choice));
}

static bool print_text(struct show *s)
{
	uint64_t top = cli_top(s->c);

	for (size_t i = 0; i < s->list.n && i < top; i++) {
		uint32_t record = s->list.v[i];
		struct shown x;

		if (!look(s, record, &x))
			return false;
		if (i)
			fputc('\n', s->c->out);
		print_head(s, record);
		if (x.has_stats)
			print_stats(s, &s->d->records.v[record], &x.stats);
		print_change(s, record, &x);
		print_values(s, &s->d->records.v[record], &x);
	}
	if (top < s->list.n)
		say(s->c->out, "\n... %zu more record%s (--top all)\n", s->list.n - (size_t)top,
			plural(s->list.n - (size_t)top));
	if (!s->list.n)
		fputs("no record is selected\n", s->c->out);
	return true;
}

/* --- JSON --- */

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
	char text[VALUE_TEXT];
	bool is_failed; /* the error is set */
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

	if (!look(s, record, &x->shown))
		x->is_failed = true;
	record_row_fill(&x->record, s->d, record);
	x->stats = (struct stats_row){*k, stat_of(r->dtype, k->min, k->min_i64),
		stat_of(r->dtype, k->max, k->max_i64), {k->bins, STATS_BINS}};
	x->statistics = x->shown.has_stats ? &x->stats : NULL;
	x->change = x->shown.partner != DUMP_NONE ? &x->shown : NULL;
	x->values = (struct rows){r->kind == DUMP_TENSOR ? x : NULL,
		x->shown.n < s->limit ? x->shown.n : s->limit, value_at};
	return x;
}

static bool print_json(struct show *s)
{
	uint64_t top = cli_top(s->c), n = s->list.n < top ? s->list.n : top;
	struct shown_row row = {.show = s};
	struct show_data x = {"show", s->list.n, {&row, n, shown_at}};

	for (size_t i = 0; i < n; i++) {
		struct shown unused; /* print nothing unless all can be read */

		if (!look(s, s->list.v[i], &unused))
			return false;
	}
	return dump_json(s->c, s->d, &data_record, &x) && !row.is_failed;
}

static bool read_limit(struct show *s)
{
	const char *text = cli_text(s->c, "limit");

	s->limit = UINT64_MAX;
	if (strcmp(text, "all") == 0 || str_to_u64(str_of(text), &s->limit))
		return true;
	return err_set(&s->c->error, INCORE_USAGE, "bad-option-value",
		"--limit expects a whole number or 'all', not '%s'", text);
}

static bool run_dump_show(struct cli *c)
{
	struct show s = {.c = c, .is_hex = cli_flag(c, "hex")};
	bool ok;

	dump_select_init(&s.select);
	ok = read_limit(&s) && dump_cli_select(c, &s.select) &&
	     dump_cli_open(c, c->args[0], &s.d) &&
	     dump_select_list(&s.select, s.d, &s.list, &c->error) && dump_choose(s.d, &c->error);
	if (ok) {
		cli_page(c, 0);
		ok = c->use_json ? print_json(&s) : print_text(&s);
	}
	VEC_FREE(&s.list);
	dump_select_deinit(&s.select);
	dump_free(s.d);
	return ok;
}

const struct verb dump_verb_show = {
	.name = "dump show",
	.args = "DIR",
	.summary = "values with statistics, by shape",
	.groups = OPTIONS_OUTPUT,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run_dump_show,
	.records = RECORDS(&data_record),
	.inputs = dump_inputs,
};
