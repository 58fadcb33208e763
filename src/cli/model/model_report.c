/* SPDX-License-Identifier: Apache-2.0 */
/* model_report.c: results of the engine as text and as JSON. */
#include "cli/model/model_report.h"

#include "cli/draw.h"
#include "cli/options.h"
#include "page/say.h"

/* --- rows --- */

struct lane_row {
	const char *pipe, *status;
	uint64_t ops, busy_cycles, wait_cycles, stall_cycles;
	/* only in tables: figures of its core */
	const char *core;
	uint64_t block, cycles;
	double us, busy_pct;
};
static const struct column lane_columns[] = {
	COLUMN(lane_row, pipe, UNIT_NONE, "name of the pipe", .words = MODEL_PIPES),
	COLUMN(lane_row, ops, UNIT_COUNT, "ops that the pipe executed"),
	COLUMN(lane_row, busy_cycles, UNIT_CYCLES, "cycles in which at least one op was running",
		.title = "busy", .csv = "busy_cycles"),
	COLUMN(lane_row, wait_cycles, UNIT_CYCLES,
		"cycles at a flag or a barrier while nothing was running", .title = "wait",
		.csv = "wait_cycles"),
	COLUMN(lane_row, stall_cycles, UNIT_CYCLES,
		"scalar pipe: cycles in which a full queue held it up", .title = "stall",
		.csv = "stall_cycles"),
	COLUMN(lane_row, status, UNIT_NONE, "the weakest basis among the constants that were used",
		.words = MODEL_STATUS),
	COLUMN(lane_row, core, UNIT_NONE, "core of the pipe", NO_JSON),
	COLUMN(lane_row, block, UNIT_NONE, "number of the block", NO_JSON),
	COLUMN(lane_row, cycles, UNIT_CYCLES, "cycles of the core", NO_JSON),
	COLUMN(lane_row, us, UNIT_US, "cycles as time", .digits = 2, NO_JSON),
	COLUMN(lane_row, busy_pct, UNIT_PERCENT, "busy cycles as a share of the core's cycles",
		.title = "%", .csv = "busy_pct", .digits = 1, NO_JSON),
};
static const struct record lane_record = RECORD_OF(lane_row, RECORD_LINE, lane_columns);

static struct lane_row lane_row_of(
	const struct model_report *r, const struct timed_core *k, unsigned pipe)
{
	const struct timed_lane *l = &k->lanes[pipe];

	return (struct lane_row){.pipe = op_pipe_name(pipe),
		.status = prof_status_name((enum prof_status)l->status),
		.ops = l->n_ops,
		.busy_cycles = l->busy_cyc,
		.wait_cycles = l->wait_cyc,
		.stall_cycles = l->stall_cyc,
		.core = opstream_core_name(&r->set->v.v[k->stream]),
		.block = k->block,
		.cycles = k->end_cyc,
		.us = (double)k->end_cyc * PROF_ONE / (double)r->profile->k[K_CLOCK_MHZ].e4,
		.busy_pct = percent(l->busy_cyc, k->end_cyc)};
}

struct core_row {
	const char *core;
	uint64_t block, cycles;
	bool complete;
	struct rows pipes;
	/* source of the row */
	const struct model_report *report;
	struct lane_row lanes[ENGINE_PIPES];
};
static const struct column core_columns[] = {
	COLUMN(core_row, core, UNIT_NONE, "name of the core", .words = MODEL_CORES),
	COLUMN(core_row, block, UNIT_NONE, "number of the block"),
	COLUMN(core_row, cycles, UNIT_CYCLES, "cycle at which the last op of the core ended"),
	COLUMN(core_row, complete, UNIT_NONE, "all ops of the core were timed"),
	LIST(core_row, pipes, &lane_record, "pipes of the core that executed ops"),
};
static const struct record core_record = RECORD_OF(core_row, RECORD_BLOCK, core_columns);

static const void *core_at(const void *v, size_t i)
{
	struct core_row *x = (struct core_row *)v;
	const struct timed_core *k = &x->report->timed->cores.v[i];

	x->core = opstream_core_name(&x->report->set->v.v[k->stream]);
	x->block = k->block;
	x->cycles = k->end_cyc;
	x->complete = k->is_complete;
	x->pipes = (struct rows){x->lanes, 0};
	for (unsigned p = 0; p < ENGINE_PIPES; p++)
		if (k->lanes[p].n_ops)
			x->lanes[x->pipes.n++] = lane_row_of(x->report, k, p);
	return x;
}

struct side_row {
	const char *op, *file, *pipe, *core;
	uint32_t seq, line, block;
};
static const struct column side_columns[] = {
	COLUMN(side_row, op, UNIT_NONE, "name of the op"),
	COLUMN(side_row, seq, UNIT_INDEX, "number of the op in the stream"),
	COLUMN(side_row, file, UNIT_NONE, "source file of the op"),
	COLUMN(side_row, line, UNIT_NONE, "source line of the op"),
	COLUMN(side_row, pipe, UNIT_NONE, "pipe that executes the op", .words = MODEL_PIPES),
	COLUMN(side_row, core, UNIT_NONE, "core of the pipe", .words = MODEL_CORES),
	COLUMN(side_row, block, UNIT_NONE, "number of the block"),
};
static const struct record side_record = RECORD_OF(side_row, RECORD_LINE, side_columns);

static const struct column memory_columns[] = {
	COLUMN(model_finding, hazard, UNIT_NONE, "kind of hazard, such as read after write",
		.words = "RAW|WAR|WAW", NULLABLE),
	COLUMN(model_finding, buffer, UNIT_NONE, "memory that both ops access"),
	COLUMN(model_finding, first_byte, UNIT_BYTES, "first byte that both ops access"),
	COLUMN(model_finding, end_byte, UNIT_BYTES, "end of the bytes that both ops access"),
	COLUMN(model_finding, missing, UNIT_NONE,
		"the synchronization that would order the two ops", NULLABLE),
};
static const struct record memory_record = RECORD_OF(model_finding, RECORD_BLOCK, memory_columns);

struct finding_row {
	struct model_finding f;
	const struct side_row *a, *b;
	const struct model_finding *memory; /* NULL: not about memory */
	struct rows lines;
	/* source of the rows */
	const struct model_report *report;
	struct side_row sides[2];
};
static const struct column finding_columns[] = {
	COLUMN_AS(finding_row, f.kind, "kind", UNIT_NONE, "kind of the problem",
		.words = FINDING_WORDS),
	COLUMN_AS(finding_row, f.message, "message", UNIT_NONE, "the problem in one sentence"),
	COLUMN_AS(finding_row, f.count, "count", UNIT_COUNT,
		"number of occurrences at the same places"),
	POINTER(finding_row, a, &side_record, "the op that the finding is about"),
	POINTER(finding_row, b, &side_record, "the other op, which is later in the program"),
	PART_AT(finding_row, memory, &memory_record, OPTIONAL),
	LIST(finding_row, lines, &text_item_record, "which op waits for which",
		.flags = COLUMN_OPTIONAL | COLUMN_BLOCK),
};
static const struct record finding_record = RECORD_OF(finding_row, RECORD_BLOCK, finding_columns);

static const struct side_row *side_of(
	const struct opstream_set *set, const struct finding_op *o, struct side_row *out)
{
	const struct opstream *s;
	const struct op_exec *x;

	if (o->op == NO_OP)
		return NULL;
	s = &set->v.v[o->stream];
	x = &s->ops.v[o->op];
	*out = (struct side_row){.op = opstream_str(s, s->forms.v[x->form].name),
		.seq = o->op,
		.file = opstream_str(s, s->sites.v[x->site].file),
		.line = s->sites.v[x->site].line,
		.pipe = op_pipe_name(o->pipe),
		.core = opstream_core_name(s),
		.block = s->block_idx};
	return out;
}

static const void *finding_at(const void *v, size_t i)
{
	struct finding_row *x = (struct finding_row *)v;
	const struct model_finding *f = &x->report->timed->findings.v[i];

	x->f = *f;
	x->a = side_of(x->report->set, &f->a, &x->sides[0]);
	x->b = side_of(x->report->set, &f->b, &x->sides[1]);
	x->memory = f->buffer ? f : NULL;
	x->lines = (struct rows){f->n_lines ? f->lines : NULL, f->n_lines};
	return x;
}

/* --- JSON --- */

static const struct column confidence_columns[] = {
	COLUMN(model_confidence, kind, UNIT_NONE, "kind of the kernel",
		.words = "cube|vector|mixed"),
	COLUMN(model_confidence, kernels, UNIT_COUNT,
		"measured kernels of this kind that were not used for fitting"),
	COLUMN(model_confidence, low, UNIT_NONE,
		"lower end of measured / estimated time for four fifths of these kernels",
		.digits = 2),
	COLUMN(model_confidence, high, UNIT_NONE,
		"upper end of measured / estimated time for four fifths of these kernels",
		.digits = 2),
	COLUMN(model_confidence, has_load, UNIT_NONE,
		"the kernels were measured with load on the memory"),
	COLUMN(model_confidence, source, UNIT_NONE, "where the kernels were measured"),
};
static const struct record confidence_record =
	RECORD_OF(model_confidence, RECORD_LINE, confidence_columns);

struct report_data {
	const char *verb, *directory, *evidence, *text;
	struct rows files;
	struct profile_row profile;
	struct timed t;
	struct rows streams, cores, findings;
	const struct model_confidence *confidence;
};
static const struct column report_columns[] = {
	MODEL_VERB(report_data, "run|time"),
	COLUMN(report_data, directory, UNIT_NONE, "directory of the files that were written",
		NULLABLE),
	LIST(report_data, files, &text_item_record, "names of the files that were written"),
	COLUMN(report_data, evidence, UNIT_NONE, "what the figures rest on", .words = "estimate"),
	COLUMN(report_data, text, UNIT_NONE, "the confidence in words"),
	RECORD(report_data, profile, &profile_record, "constants of the machine"),
	COLUMN_AS(report_data, t.is_complete, "complete", UNIT_NONE, "all ops were timed"),
	COLUMN_AS(
		report_data, t.reason, "reason", UNIT_NONE, "why not all ops were timed", NULLABLE),
	COLUMN_AS(report_data, t.n_ops, "ops", UNIT_COUNT, "ops that were timed"),
	COLUMN_AS(report_data, t.n_fallback, "fallback_ops", UNIT_COUNT,
		"ops that were timed with a fallback price"),
	COLUMN_AS(report_data, t.n_unknown, "unknown_ops", UNIT_COUNT, "ops that are unknown"),
	COLUMN_AS(report_data, t.n_external, "external_waits", UNIT_COUNT,
		"waits for an event outside of the kernel"),
	LIST(report_data, streams, &stream_record, "op streams of the cores"),
	LIST(report_data, cores, &core_record, "time of each core"),
	LIST(report_data, findings, &finding_record, "problems found in the kernel"),
	POINTER(report_data, confidence, &confidence_record,
		"how far such estimates were from devices", OPTIONAL),
};
static const struct record report_record = RECORD_OF(report_data, RECORD_BLOCK, report_columns);
const struct record *const model_report_records[] = {&report_record, NULL};

bool model_json_report(struct cli *c, const struct model_report *r, const char *dir)
{
	struct stream_row stream;
	struct core_row core = {.report = r};
	struct finding_row finding = {.report = r};
	struct model_confidence confidence;
	struct report_data x = {.verb = verb_last_word(c->verb),
		.directory = dir,
		.evidence = "estimate",
		.text = MODEL_TEXT,
		.files = model_dir_files(dir),
		.profile = profile_row_of(r->profile),
		.t = *r->timed,
		.streams = stream_rows(r->set, &stream),
		.cores = {&core, r->timed->cores.n, core_at},
		.findings = {&finding, r->timed->findings.n, finding_at},
		.confidence = model_confidence_of(r->set, r->timed, r->profile, &confidence)
				      ? &confidence
				      : NULL};

	return model_json(c, c->args[0], op_arch_name(r->profile->arch), &report_record, &x);
}

/* --- text --- */

/* Lists slots without supplied values; none of these values controlled the kernel. */
static void put_missing(FILE *out, const struct opstream *s)
{
	const char *before = ", no values for slot ";

	for (unsigned i = 0; i < OPSTREAM_SLOTS; i++) {
		if (!(s->missing_slots >> i & 1))
			continue;
		say(out, "%s%u", before, i);
		before = ", ";
	}
}

static void put_head(FILE *out, const struct model_report *r)
{
	const struct profile *p = r->profile;
	const struct opstream *s = &r->set->v.v[0];
	struct model_confidence x;

	say(out, "%s: %s%s\n", opstream_str(s, s->kernel), MODEL_TEXT,
		p->arch == ARCH_A5 ? ", uncalibrated" : "");
	say(out, "profile    %s (%s), %s, %.0f MHz%s%s\n", p->name, op_arch_name(p->arch),
		p->calibration, (double)p->k[K_CLOCK_MHZ].e4 / PROF_ONE,
		p->v_overlap ? ", v_overlap on" : "", p->dma_serial ? ", dma_serial on" : "");
	if (r->is_file)
		say(out, "           SHA-256 %s\n", p->sha256);
	say(out, "arguments  %s", s->args_origin == ARGS_DUMP ? "from a dump" : "synthetic");
	put_missing(out, s);
	fputs("; outputs are not computed\n", out);
	say(out, "ops        %s", U64_TEXT(r->timed->n_ops));
	if (r->timed->n_fallback)
		say(out, ", %s at a price not their own", U64_TEXT(r->timed->n_fallback));
	if (r->timed->n_unknown)
		say(out, ", %s unknown", U64_TEXT(r->timed->n_unknown));
	if (r->timed->n_external)
		say(out, ", %s wait for something outside", U64_TEXT(r->timed->n_external));
	fputc('\n', out);
	if (model_confidence_of(r->set, r->timed, p, &x))
		say(out,
			"devices    took %.2f to %.2f of the estimate for four fifths of %u %s kernels, %s load\n",
			x.low, x.high, x.kernels, x.kind, x.has_load ? "with" : "without");
	if (!r->timed->is_complete)
		say(out, "INCOMPLETE %s\n", r->timed->reason ? r->timed->reason : "");
}

/* The lanes of all cores in one list; lanes are requested in order. */
struct lane_list {
	const struct model_report *report;
	size_t next; /* core * ENGINE_PIPES + pipe */
	struct lane_row row;
};

static const void *lane_at(const void *v, size_t i)
{
	struct lane_list *x = (struct lane_list *)v;

	(void)i;
	for (;; x->next++) {
		const struct timed_core *k = &x->report->timed->cores.v[x->next / ENGINE_PIPES];
		unsigned pipe = (unsigned)(x->next % ENGINE_PIPES);

		if (!k->lanes[pipe].n_ops)
			continue;
		x->row = lane_row_of(x->report, k, pipe);
		x->next++;
		return &x->row;
	}
}

static bool put_lanes(struct cli *c, const struct model_report *r)
{
	static const char *const columns[] = {"block", "core", "cycles", "us", "pipe", "ops",
		"busy_cycles", "busy_pct", "wait_cycles", "stall_cycles", "status", NULL};
	struct lane_list list = {.report = r};
	struct rows rows = {&list, 0, lane_at};

	for (size_t i = 0; i < r->timed->cores.n; i++)
		for (unsigned p = 0; p < ENGINE_PIPES; p++)
			rows.n += r->timed->cores.v[i].lanes[p].n_ops != 0;
	return record_table_print(c, &lane_record, rows, columns);
}

bool model_is_note(const struct model_finding *f)
{
	return f->kind == FIND_BLOCKS_SHARE;
}

static void put_findings(FILE *out, const struct timed *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->findings.n; i++)
		n += !model_is_note(&t->findings.v[i]);
	say(out, "\n%s%zu finding%s\n", n ? "" : "ok: ", n, plural(n));
	for (size_t i = 0; i < t->findings.n; i++) {
		const struct model_finding *f = &t->findings.v[i];

		say(out, "%s%s\n", model_is_note(f) ? "note: " : "", f->message);
		for (uint32_t k = 0; k < f->n_lines; k++)
			say(out, "    %s\n", f->lines[k]);
	}
}

bool model_text_report(struct cli *c, const struct model_report *r)
{
	if (c->use_csv)
		return put_lanes(c, r);
	put_head(c->out, r);
	fputc('\n', c->out);
	if (!put_lanes(c, r))
		return false;
	put_findings(c->out, r->timed);
	return true;
}
