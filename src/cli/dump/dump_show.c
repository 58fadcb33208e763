/* SPDX-License-Identifier: Apache-2.0 */
/* dump_show.c: incore dump show: the values of records, by shape, with statistics. */
#include <math.h>
#include <string.h>

#include "cli/dump/dump_job.h"
#include "cli/text/table.h"
#include "dump/read/deps.h"
#include "dump/read/diff.h"
#include "dump/read/values.h"

static const struct option_def options[] = {
	DUMP_SELECT_OPTIONS,
	{0, "limit", OPTION_TEXT, "N|all", NULL, "64", "values to print of each record"},
	{0, "hex", OPTION_FLAG, NULL, NULL, NULL, "print the bits of each value"},
	{0, "top", OPTION_TEXT, "N|all", NULL, "10", "how many records to show"},
	DUMP_RECORDS_OPTION,
	OPTIONS_END,
};

struct show {
	struct cli *c;
	struct dump *d;
	struct dump_select select;
	record_list list;
	struct arena arena;
	uint64_t limit;
	bool is_hex;
	bool is_failed; /* no memory for some text */
};

/* Text that was just made, or what stands for it. */
static const char *made(struct show *s, const char *text)
{
	if (!text)
		s->is_failed = true;
	return text ? text : "";
}

/* A tensor's bytes, statistics and, for INOUT, what the task changed. */
struct shown {
	const uint8_t *p;
	uint64_t n; /* elements */
	bool has_stats;
	struct value_stats stats;
	uint32_t partner; /* record at the other stage; DUMP_NONE */
	struct dump_pair change;
};

static bool look(struct show *s, uint32_t record, struct shown *out)
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

static const char *place(struct show *s, const struct dump_geometry *g, uint64_t i)
{
	uint64_t at[DUMP_MAX_RANK] = {0};

	for (unsigned k = g->rank; k-- > 0 && g->shape[k];) {
		at[k] = i % g->shape[k];
		i /= g->shape[k];
	}
	return made(s, dump_text_dims(at, g->rank, &s->arena));
}

/* Rows of the last dimension, each with the index it begins at; long rows go on in the next line.
 */
static void print_values(struct show *s, const struct dump_record *r, const struct shown *x)
{
	uint64_t n = x->n < s->limit ? x->n : s->limit, row, most = 8;
	struct dump_geometry g;
	size_t width = 1;
	char text[VALUE_TEXT];

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

		if (is_start)
			fprintf(s->c->out, "%s  %-12s", i ? "\n" : "", place(s, &g, i));
		fprintf(s->c->out, "  %*s", (int)width,
			element(s, r->dtype, value_bits(r->dtype, x->p, i), text));
		if (is_start && s->arena.total_bytes > 1 << 20)
			arena_reset(&s->arena);
	}
	if (n)
		fputc('\n', s->c->out);
	if (n < x->n) {
		char a[32];

		fprintf(s->c->out, "  ... %s more value%s (--limit all)\n", fmt_u64(a, x->n - n),
			plural(x->n - n));
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
	char lo[64], hi[64], a[32], bar[STATS_BINS + 1];
	uint64_t most = 1;
	FILE *out = s->c->out;

	for (unsigned i = 0; i < STATS_BINS; i++)
		most = v->bins[i] > most ? v->bins[i] : most;
	for (unsigned i = 0; i < STATS_BINS; i++) /* a bin with one value is not blank */
		bar[i] = ramp[v->bins[i] ? 1 + (unsigned)((double)v->bins[i] / (double)most * 8.0)
					 : 0];
	bar[STATS_BINS] = 0;
	fprintf(out, "  %s value%s: ", fmt_u64(a, v->n), plural(v->n));
	if (isnan(v->mean))
		fputs("none finite", out);
	else
		fprintf(out, "min %s, max %s, mean %.9g", stat_text(v, r->dtype, false, lo),
			stat_text(v, r->dtype, true, hi), v->mean);
	fprintf(out, "; %llu zero, %llu nan, %llu inf, %llu -inf\n", (unsigned long long)v->zeros,
		(unsigned long long)v->nans, (unsigned long long)v->pos_infs,
		(unsigned long long)v->neg_infs);
	if (!isnan(v->mean) && v->max > v->min)
		fprintf(out, "  histogram |%s| min to max\n", bar);
}

static void print_change(struct show *s, uint32_t record, const struct shown *x)
{
	const struct dump_record *r = &s->d->records.v[record];
	const struct dump_pair *p = &x->change;
	struct dump_geometry g;
	char a[32], b[32];

	if (x->partner == DUMP_NONE)
		return;
	dump_geometry_of(s->d, r, &g);
	fprintf(s->c->out, "  %s is record %u: ", r->stage == DUMP_BEFORE ? "after" : "before",
		x->partner);
	if (p->state == PAIR_NOT_COMPARED || p->state == PAIR_OTHER_KIND)
		fputs("cannot be compared\n", s->c->out);
	else if (!p->n_differ)
		fprintf(s->c->out, "%s\n",
			p->is_identical ? "no value changed"
					: "only the bits of equal values changed");
	else
		fprintf(s->c->out, "%s of %s value%s changed, first at %s, largest change %.9g\n",
			fmt_u64(a, p->n_differ), fmt_u64(b, p->n), plural(p->n),
			place(s, &g, p->first), p->max_abs);
}

static void print_buffer(struct show *s, uint32_t record)
{
	struct record_buffer b;
	char a[32];

	if (!record_buffer_of(s->d, record, &b))
		return;
	fprintf(s->c->out, "  buffer at 0x%llx, ", (unsigned long long)b.addr);
	if (b.size)
		fprintf(s->c->out, "%s byte%s%s\n", fmt_u64(a, b.size), plural(b.size),
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
	char a[32];

	dump_geometry_of(s->d, r, &g);
	fprintf(out, "%srecord %u%s: task 0x%016llx (%u:%u)", style_on(s->c, CELL_HOT), i,
		style_off(s->c), (unsigned long long)r->task_id, (unsigned)(r->task_id >> 32),
		(unsigned)r->task_id);
	fprintf(out, ", func %s", made(s, dump_text_members(s->d, r->members, &s->arena)));
	if (kernel.p)
		fprintf(out, " (%.*s)", STR_ARG(kernel));
	fprintf(out, ", slot %u, %s, %s\n  %s ", r->slot, dump_role_name(r->role),
		dump_stage_name(r->stage), dtype_name(r->dtype));
	if (r->kind == DUMP_SCALAR) {
		fprintf(out, "scalar = %s, bits 0x%016llx\n",
			made(s, dump_text_scalar(r, &s->arena)), (unsigned long long)r->bits);
		return;
	}
	fputs(made(s, dump_text_dims(g.shape, g.rank, &s->arena)), out);
	if (!(r->flags & DUMP_CONTIGUOUS))
		fprintf(out, ", strides %s", made(s, dump_text_dims(g.strides, g.rank, &s->arena)));
	fprintf(out, ", start %llu, ", (unsigned long long)r->start_offset);
	if (r->bin_size)
		fprintf(out, "%s byte%s at %llu", fmt_u64(a, r->bin_size), plural(r->bin_size),
			(unsigned long long)r->bin_offset);
	else
		fputs("no payload", out);
	if (r->flags & DUMP_TRUNCATED)
		fputs(", truncated", out);
	fputc('\n', out);
	print_buffer(s, i);
	if (slot && r->stage == DUMP_BEFORE && slot->n_before > 1)
		fprintf(out,
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
		arena_reset(&s->arena);
	}
	if (top < s->list.n)
		fprintf(s->c->out, "\n... %zu more record%s (--top all)\n", s->list.n - (size_t)top,
			plural(s->list.n - (size_t)top));
	if (!s->list.n)
		fputs("no record is selected\n", s->c->out);
	return !s->is_failed || err_nomem(&s->c->error);
}

static void json_stats(struct json_writer *w, unsigned dtype, const struct value_stats *v)
{
	json_w_key(w, "statistics");
	json_w_object(w);
	json_w_kv_u64(w, "values", v->n);
	json_w_key(w, "min");
	if (dtype_is_float(dtype))
		json_w_sig(w, v->min, 9);
	else
		dump_json_value(w, dtype == DTYPE_UINT64 ? DTYPE_UINT64 : DTYPE_INT64,
			(uint64_t)v->min_i64);
	json_w_key(w, "max");
	if (dtype_is_float(dtype))
		json_w_sig(w, v->max, 9);
	else
		dump_json_value(w, dtype == DTYPE_UINT64 ? DTYPE_UINT64 : DTYPE_INT64,
			(uint64_t)v->max_i64);
	json_w_key(w, "mean");
	json_w_sig(w, v->mean, 17);
	json_w_kv_u64(w, "zeros", v->zeros);
	json_w_kv_u64(w, "nans", v->nans);
	json_w_kv_u64(w, "infs", v->pos_infs);
	json_w_kv_u64(w, "negative_infs", v->neg_infs);
	json_w_key(w, "histogram");
	json_w_row(w);
	for (unsigned i = 0; i < STATS_BINS; i++)
		json_w_u64(w, v->bins[i]);
	json_w_end(w);
	json_w_end(w);
}

static void json_values(
	struct show *s, struct json_writer *w, const struct dump_record *r, const struct shown *x)
{
	char text[VALUE_TEXT];

	json_w_key(w, "values");
	json_w_row(w);
	for (uint64_t i = 0; i < x->n && i < s->limit; i++) {
		uint64_t bits = value_bits(r->dtype, x->p, i);

		if (s->is_hex)
			json_w_cstr(w, value_text(r->dtype, bits, VALUE_HEX, text));
		else
			dump_json_value(w, r->dtype, bits);
	}
	json_w_end(w);
}

static void json_change(struct json_writer *w, const struct shown *x)
{
	json_w_key(w, "change");
	json_w_object(w);
	json_w_kv_u64(w, "partner", x->partner);
	json_w_kv_cstr(w, "state", pair_state_name(x->change.state));
	json_w_kv_u64(w, "values_changed", x->change.n_differ);
	json_w_kv_u64(w, "first", x->change.first);
	json_w_key(w, "largest");
	json_w_sig(w, x->change.max_abs, 9);
	json_w_end(w);
}

static bool print_json(struct show *s)
{
	uint64_t top = cli_top(s->c);
	struct json_writer w;

	for (size_t i = 0; i < s->list.n && i < top; i++) {
		struct shown x; /* nothing is printed before all can be read */

		if (!look(s, s->list.v[i], &x))
			return false;
	}
	dump_json_begin(s->c, &w, s->d);
	json_w_kv_u64(&w, "selected", s->list.n);
	json_w_key(&w, "records");
	json_w_array(&w);
	for (size_t i = 0; i < s->list.n && i < top; i++) {
		uint32_t record = s->list.v[i];
		const struct dump_record *r = &s->d->records.v[record];
		struct shown x;

		if (!look(s, record, &x))
			return false;
		json_w_object(&w);
		dump_json_record(&w, s->d, record);
		if (x.has_stats)
			json_stats(&w, r->dtype, &x.stats);
		if (x.partner != DUMP_NONE)
			json_change(&w, &x);
		if (r->kind == DUMP_TENSOR)
			json_values(s, &w, r, &x);
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	return cli_json_end(s->c, &w);
}

static bool read_limit(struct show *s)
{
	const char *text = cli_text(s->c, "limit");

	s->limit = UINT64_MAX;
	if (strcmp(text, "all") == 0 || str_to_u64(str_of(text), &s->limit))
		return true;
	return err_set(&s->c->error, INCORE_USAGE, "bad-option-value",
		"--limit wants a whole number or 'all', not '%s'", text);
}

static int run_dump_show(struct cli *c)
{
	struct show s = {.c = c, .is_hex = cli_flag(c, "hex")};
	int status = INCORE_OK;

	arena_init(&s.arena);
	dump_select_init(&s.select);
	if (!read_limit(&s) || !dump_cli_select(c, &s.select) ||
		!dump_cli_open(c, c->args[0], &s.d) ||
		!dump_select_list(&s.select, s.d, &s.list, &c->error) ||
		!dump_choose(s.d, &c->error)) {
		status = cli_fail(c);
	} else {
		if (!c->use_json)
			cli_page(c, 0);
		if (!(c->use_json ? print_json(&s) : print_text(&s)))
			status = cli_fail(c);
	}
	VEC_FREE(&s.list);
	dump_select_deinit(&s.select);
	dump_free(s.d);
	arena_deinit(&s.arena);
	return status;
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
};
