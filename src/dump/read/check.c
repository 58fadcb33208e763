/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: is each record consistent, and do the manifest's counters match its records? */
#include "dump/read/check.h"

struct problem problem_of_record(const struct dump *d, uint32_t record)
{
	const struct dump_record *r = &d->records.v[record];

	return (struct problem){.task_id = r->task_id,
		.has_task = true,
		.slot = r->slot,
		.record = record,
		.at = r->at};
}

static void check_counter(struct dump *d, const char *what, uint64_t stated, uint64_t counted)
{
	if (stated != UINT64_MAX && stated != counted)
		problems_add(&d->problems, PROBLEM_DEFECT, "counter-differs", PROBLEM_DUMP,
			"the manifest states %llu %s, its records are %llu",
			(unsigned long long)stated, what, (unsigned long long)counted);
}

static void check_counters(struct dump *d)
{
	struct dump_counters n = {0};
	const struct dump_counters *s = &d->counters;

	EACH (const struct dump_record, r, d->records.v, d->records.n) {
		n.before += r->stage == DUMP_BEFORE;
		n.after += r->stage == DUMP_AFTER;
		n.input += r->role == DUMP_INPUT;
		n.output += r->role == DUMP_OUTPUT;
		n.inout += r->role == DUMP_INOUT;
		n.truncated += !!(r->flags & DUMP_TRUNCATED);
	}
	if (d->gen_first == DUMP_X1)
		return; /* its counters cover two arrays */
	check_counter(d, "records", s->total, d->records.n);
	check_counter(d, "records before dispatch", s->before, n.before);
	check_counter(d, "records after completion", s->after, n.after);
	check_counter(d, "inputs", s->input, n.input);
	check_counter(d, "outputs", s->output, n.output);
	check_counter(d, "inouts", s->inout, n.inout);
	check_counter(d, "truncated records", s->truncated, n.truncated);
	if (s->dropped && s->dropped != UINT64_MAX)
		problems_add(&d->problems, PROBLEM_DEFECT, "dropped-records", PROBLEM_DUMP,
			"the producer dropped %llu records", (unsigned long long)s->dropped);
	if (s->overwritten && s->overwritten != UINT64_MAX)
		problems_add(&d->problems, PROBLEM_DEFECT, "overwritten-records", PROBLEM_DUMP,
			"the payload of %llu record%s was overwritten before it was read",
			(unsigned long long)s->overwritten, plural(s->overwritten));
}

static void check_flags(struct dump *d, uint32_t i)
{
	static const struct {
		unsigned flag;
		enum problem_weight weight;
		const char *code, *text;
	} all[] = {
		{DUMP_TRUNCATED, PROBLEM_DEFECT, "truncated",
			"its payload is a prefix of the tensor"},
		{DUMP_OVERWRITTEN, PROBLEM_DEFECT, "overwritten", "its payload was overwritten"},
		{DUMP_LOST, PROBLEM_DEFECT, "payload-lost", "its payload did not reach the file"},
		{DUMP_TORN, PROBLEM_DEFECT, "torn", "it was copied while its task was running"},
		{DUMP_INCOMPLETE, PROBLEM_DEFECT, "incomplete",
			"not all arguments of its task were recorded"},
		{DUMP_AMBIGUOUS, PROBLEM_NOTE, "ambiguous-slot",
			"selected by a value that was added more than once"},
	};
	const struct dump_record *r = &d->records.v[i];
	unsigned flags = r->flags;

	if (flags & DUMP_LOST) /* our own library sets both, for older readers */
		flags &= ~(unsigned)DUMP_OVERWRITTEN;
	if (flags & DUMP_INCOMPLETE && problems_of(&d->problems, "incomplete-task"))
		flags &= ~(unsigned)DUMP_INCOMPLETE; /* reported for the task */
	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
		if (flags & all[k].flag)
			problems_add(&d->problems, all[k].weight, all[k].code,
				problem_of_record(d, i), "record %u (%s, slot %u): %s", i,
				dump_stage_name(r->stage), r->slot, all[k].text);
}

static void check_size(struct dump *d, uint32_t i, const struct dump_geometry *g)
{
	const struct dump_record *r = &d->records.v[i];
	uint64_t full = g->numel * dtype_bytes(r->dtype);
	bool is_short = r->flags & (DUMP_TRUNCATED | DUMP_OVERWRITTEN | DUMP_LOST);
	bool may_lack = d->level == 3 || d->gen_first == DUMP_DEVICE;

	if (r->flags & DUMP_HAS_NUMEL && r->bits != g->numel)
		problems_add(&d->problems, PROBLEM_DEFECT, "numel-differs", problem_of_record(d, i),
			"record %u states numel %llu, its shape has %llu elements", i,
			(unsigned long long)r->bits, (unsigned long long)g->numel);
	if (r->dtype == DTYPE_UNKNOWN)
		problems_add(&d->problems, PROBLEM_WARNING, "unknown-dtype",
			problem_of_record(d, i),
			"record %u has a dtype that is not known: its payload cannot be read", i);
	else if (r->bin_size > full || (r->bin_size && r->bin_size < full && !is_short))
		problems_add(&d->problems, PROBLEM_DEFECT, "size-differs", problem_of_record(d, i),
			"record %u has %llu bytes, its shape and dtype ask for %llu", i,
			(unsigned long long)r->bin_size, (unsigned long long)full);
	else if (!r->bin_size && full && !is_short && !may_lack)
		problems_add(&d->problems,
			d->level == DUMP_LEVEL_UNKNOWN ? PROBLEM_WARNING : PROBLEM_DEFECT,
			"payload-absent", problem_of_record(d, i),
			"record %u has no payload; its %llu bytes are missing", i,
			(unsigned long long)full);
}

static void check_record(struct dump *d, uint32_t i)
{
	const struct dump_record *r = &d->records.v[i];
	struct dump_geometry g;

	check_flags(d, i);
	dump_geometry_of(d, r, &g);
	if (r->kind == DUMP_SCALAR) {
		if (!(r->flags & DUMP_HAS_VALUE))
			problems_add(&d->problems, PROBLEM_DEFECT, "no-value",
				problem_of_record(d, i), "record %u is a scalar without a value",
				i);
		else if (!(r->flags & DUMP_EXACT))
			problems_add(&d->problems, PROBLEM_NOTE, "inexact-scalar",
				problem_of_record(d, i),
				"record %u: the file has 6 digits of a FLOAT32, not its bits", i);
		if (r->bin_size)
			problems_add(&d->problems, PROBLEM_DEFECT, "size-differs",
				problem_of_record(d, i), "record %u is a scalar with payload", i);
		return;
	}
	check_size(d, i, &g);
	if (!!(r->flags & DUMP_CONTIGUOUS) != dump_geometry_is_dense(&g) && g.numel)
		problems_add(&d->problems, PROBLEM_WARNING, "contiguity-differs",
			problem_of_record(d, i),
			"record %u says is_contiguous %s, its strides say otherwise", i,
			r->flags & DUMP_CONTIGUOUS ? "true" : "false");
}

enum dump_verdict dump_verdict_of(const struct dump *d)
{
	if (problems_count(&d->problems, PROBLEM_DEFECT))
		return DUMP_DEFECTIVE;
	return problems_count(&d->problems, PROBLEM_WARNING) ? DUMP_SUSPECT : DUMP_SOUND;
}

const char *dump_verdict_name(enum dump_verdict v)
{
	static const char *const names[] = {"sound", "suspect", "defective"};

	return names[v];
}

bool dump_check(struct dump *d, struct dump_check *out, struct incore_error *e)
{
	*out = (struct dump_check){0};
	if (!dump_choose(d, e))
		return false;
	check_counters(d);
	if (d->is_repaired)
		problems_add(&d->problems, PROBLEM_WARNING, "repaired", PROBLEM_DUMP,
			"the run ended without closing its dump: what it had not flushed is missing");
	for (size_t i = 0; i < d->records.n; i++)
		check_record(d, (uint32_t)i);
	if (!check_slots(d, out, e) || !check_regions(d, out, e) || !check_flow(d, e))
		return false;
	return !d->problems.is_failed || err_nomem(e);
}
