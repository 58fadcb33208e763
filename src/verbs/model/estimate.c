/* SPDX-License-Identifier: Apache-2.0 */
/*
 * estimate.c: incore model run and time: how long cores and pipes take, what is wrong with the
 * kernel, and the directory of a run. `run` begins with the kernel's source, `time` with its op
 * streams. Parts: rows; the page; the directory; the answer; the questions.
 */
#include "export/export.h"
#include "model/engine/engine.h"
#include "model/engine/to_trace.h"
#include "page/page.h"
#include "page/write.h"
#include "trace/packed.h"
#include "verbs/model/options.h"

struct model_timed { /* kept by the answer */
	struct opstream_set set;
	struct profile profile;
	struct timed timed;
};

struct estimate_params {
	struct model_kernel kernel; /* not of an op stream */
	struct model_machine machine;
	struct model_load load;
	const char *directory; /* that is written; NULL: none */
};

/* --- rows ------------------------------------------------------------------------------------- */

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
	const struct model_timed *r, const struct timed_core *k, unsigned pipe)
{
	const struct timed_lane *l = &k->lanes[pipe];

	return (struct lane_row){.pipe = op_pipe_name(pipe),
		.status = prof_status_name((enum prof_status)l->status),
		.ops = l->n_ops,
		.busy_cycles = l->busy_cyc,
		.wait_cycles = l->wait_cyc,
		.stall_cycles = l->stall_cyc,
		.core = opstream_core_name(&r->set.v.v[k->stream]),
		.block = k->block,
		.cycles = k->end_cyc,
		.us = (double)k->end_cyc * PROF_ONE / (double)r->profile.k[K_CLOCK_MHZ].e4,
		.busy_pct = percent(l->busy_cyc, k->end_cyc)};
}

struct core_row {
	const char *core;
	uint64_t block, cycles;
	bool complete;
	struct rows pipes; /* a part of the lanes of the whole report */
};
static const struct column core_columns[] = {
	COLUMN(core_row, core, UNIT_NONE, "name of the core", .words = MODEL_CORES),
	COLUMN(core_row, block, UNIT_NONE, "number of the block"),
	COLUMN(core_row, cycles, UNIT_CYCLES, "cycle at which the last op of the core ended"),
	COLUMN(core_row, complete, UNIT_NONE, "all ops of the core were timed"),
	LIST(core_row, pipes, &lane_record, "pipes of the core that executed ops"),
};
static const struct record core_record = RECORD_OF(core_row, RECORD_BLOCK, core_columns);

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
	struct side_row sides[2];
};
static const struct column finding_columns[] = {
	COLUMN_AS(finding_row, f.kind, "kind", UNIT_NONE, "kind of the problem",
		.words = FINDING_WORDS),
	COLUMN_AS(finding_row, f.note.message, "message", UNIT_NONE, "the problem in one sentence"),
	COLUMN_AS(finding_row, f.note.count, "count", UNIT_COUNT,
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

struct estimate_data {
	const char *verb, *directory, *evidence, *text;
	struct rows files;
	struct machine_row profile;
	struct timed t;
	struct rows streams, cores, findings;
	const struct model_confidence *confidence;
	struct rows lanes; /* of all cores, for the table */
};
static const struct column estimate_columns[] = {
	MODEL_VERB(estimate_data, "run|time"),
	COLUMN(estimate_data, directory, UNIT_NONE, "directory of the files that were written",
		NULLABLE),
	LIST(estimate_data, files, &text_item_record, "names of the files that were written"),
	COLUMN(estimate_data, evidence, UNIT_NONE, "what the figures rest on", .words = "estimate"),
	COLUMN(estimate_data, text, UNIT_NONE, "the confidence in words"),
	RECORD(estimate_data, profile, &machine_record, "constants of the machine"),
	COLUMN_AS(estimate_data, t.is_complete, "complete", UNIT_NONE, "all ops were timed"),
	COLUMN_AS(estimate_data, t.reason, "reason", UNIT_NONE, "why not all ops were timed",
		NULLABLE),
	COLUMN_AS(estimate_data, t.n_ops, "ops", UNIT_COUNT, "ops that were timed"),
	COLUMN_AS(estimate_data, t.n_fallback, "fallback_ops", UNIT_COUNT,
		"ops that were timed with a fallback price"),
	COLUMN_AS(estimate_data, t.n_unknown, "unknown_ops", UNIT_COUNT, "ops that are unknown"),
	COLUMN_AS(estimate_data, t.n_external, "external_waits", UNIT_COUNT,
		"waits for an event outside of the kernel"),
	LIST(estimate_data, streams, &stream_record, "op streams of the cores"),
	LIST(estimate_data, cores, &core_record, "time of each core"),
	LIST(estimate_data, findings, &finding_record, "problems found in the kernel"),
	POINTER(estimate_data, confidence, &confidence_record,
		"how far such estimates were from devices", OPTIONAL),
};
static const struct record estimate_record =
	RECORD_OF(estimate_data, RECORD_BLOCK, estimate_columns);
static const struct record *const estimate_records[] = {&estimate_record, NULL};

/* Fills the cores and, in their order, the lanes of all of them. */
static bool put_cores(const struct model_timed *r, struct estimate_data *x, struct answer *a,
	struct incore_error *e)
{
	const struct timed *t = &r->timed;
	struct core_row *v = ANSWER_ROWS(a, &x->cores, t->cores.n, core_row, e);
	struct lane_row *lanes =
		v ? ANSWER_ROWS(a, &x->lanes, t->cores.n * ENGINE_PIPES, lane_row, e) : NULL;

	if (!lanes)
		return false;
	x->lanes.n = 0;
	for (size_t i = 0; i < t->cores.n; i++) {
		const struct timed_core *k = &t->cores.v[i];

		v[i] = (struct core_row){.core = opstream_core_name(&r->set.v.v[k->stream]),
			.block = k->block,
			.cycles = k->end_cyc,
			.complete = k->is_complete,
			.pipes = {lanes + x->lanes.n, 0}};
		for (unsigned p = 0; p < ENGINE_PIPES; p++)
			if (k->lanes[p].n_ops) {
				lanes[x->lanes.n++] = lane_row_of(r, k, p);
				v[i].pipes.n++;
			}
	}
	return true;
}

static bool put_findings(const struct model_timed *r, struct estimate_data *x, struct answer *a,
	struct incore_error *e)
{
	const struct timed *t = &r->timed;
	struct finding_row *v = ANSWER_ROWS(a, &x->findings, t->findings.n, finding_row, e);

	for (size_t i = 0; v && i < t->findings.n; i++) {
		const struct model_finding *f = &t->findings.v[i];

		v[i].f = *f;
		v[i].a = side_of(&r->set, &f->a, &v[i].sides[0]);
		v[i].b = side_of(&r->set, &f->b, &v[i].sides[1]);
		v[i].memory = f->buffer ? f : NULL;
		v[i].lines = (struct rows){f->n_lines ? f->lines : NULL, f->n_lines};
		a->n_losses += note_is_loss(&f->note);
	}
	return v != NULL;
}

/* --- the page --------------------------------------------------------------------------------- */

/* Lists slots without supplied values; none of these values controlled the kernel. */
static void say_missing(struct page *p, const struct stream_row *s)
{
	const uint64_t *slots = s->missing_slots.v;
	const char *before = ", no values for slot ";

	for (size_t i = 0; i < s->missing_slots.n; i++) {
		page_say(p, "%s%u", before, (unsigned)slots[i]);
		before = ", ";
	}
}

/* is_file: it is kept as a file: state exactly which profile was used. */
static void head_page(const struct estimate_data *x, bool is_file, struct page *p)
{
	const struct machine_row *m = &x->profile;
	const struct stream_row *s = x->streams.v;
	const struct model_confidence *c = x->confidence;

	page_line(p, "%s: %s%s", s->kernel, MODEL_TEXT,
		strcmp(m->arch, "a5") == 0 ? ", uncalibrated" : "");
	page_line(p, "profile    %s (%s), %s, %.0f MHz%s%s", m->name, m->arch, m->calibration,
		m->clock_mhz, m->v_overlap ? ", v_overlap on" : "",
		m->dma_serial ? ", dma_serial on" : "");
	if (is_file)
		page_line(p, "           SHA-256 %s", m->sha256);
	page_say(p, "arguments  %s",
		strcmp(s->args_origin, "dump") == 0 ? "from a dump" : "synthetic");
	say_missing(p, s);
	page_line(p, "; outputs are not computed");
	page_say(p, "ops        %s", U64_TEXT(x->t.n_ops));
	if (x->t.n_fallback)
		page_say(p, ", %s at a price not their own", U64_TEXT(x->t.n_fallback));
	if (x->t.n_unknown)
		page_say(p, ", %s unknown", U64_TEXT(x->t.n_unknown));
	if (x->t.n_external)
		page_say(p, ", %s wait for something outside", U64_TEXT(x->t.n_external));
	page_line(p, "%s", "");
	if (c)
		page_line(p,
			"devices    took %.2f to %.2f of the estimate for four fifths of %u %s kernels, %s load",
			c->low, c->high, c->kernels, c->kind, c->has_load ? "with" : "without");
	if (!x->t.is_complete)
		page_line(p, "INCOMPLETE %s", x->t.reason ? x->t.reason : "");
}

static void findings_page(const struct rows *findings, struct page *p)
{
	const struct finding_row *v = findings->v;
	size_t n = 0;

	for (size_t i = 0; i < findings->n; i++)
		n += note_is_loss(&v[i].f.note);
	page_gap(p);
	page_line(p, "%s%zu finding%s", n ? "" : "ok: ", n, plural(n));
	for (size_t i = 0; i < findings->n; i++) {
		const struct model_finding *f = &v[i].f;

		page_line(p, "%s%s", note_is_loss(&f->note) ? "" : "note: ", f->note.message);
		for (uint32_t k = 0; k < f->n_lines; k++)
			page_line(p, "    %s", f->lines[k]);
	}
}

static void report_page(const struct estimate_data *x, bool is_file, struct page *p)
{
	static const char *const columns[] = {"block", "core", "cycles", "us", "pipe", "ops",
		"busy_cycles", "busy_pct", "wait_cycles", "stall_cycles", "status", NULL};

	if (!p->is_csv) {
		head_page(x, is_file, p);
		page_gap(p);
	}
	page_main_records(p, &lane_record, x->lanes, columns);
	if (!p->is_csv)
		findings_page(&x->findings, p);
}

static void estimate_page(const struct answer *a, struct page *p)
{
	const struct estimate_data *x = a->data;

	report_page(x, false, p);
	if (x->directory && !p->is_csv) {
		page_gap(p);
		page_line(p, "written to %s; see incore hot %s/trace.incore", x->directory,
			x->directory);
	}
}

/* --- the directory ---------------------------------------------------------------------------- */

/* The trace packed and in all export formats, the op stream, the report. */

#define PACK_LEVEL 3

static const struct {
	const char *format, *name;
} EXPORTS[] = {
	{"chrome", "trace.chrome.json"},
	{"json", "trace.json"},
	{"csv", "trace.csv"},
	{"insight", "simulator"},
};

static const struct text_item FILES[] = {{"trace.incore"}, {"ops.opstream"}, {"report.txt"},
	{"trace.chrome.json"}, {"trace.json"}, {"trace.csv"}, {"simulator"}};

static bool write_packed(
	const struct request *r, struct out_dir *d, const struct trace *t, struct incore_error *e)
{
	struct packed_options o = {.pool = r->pool, .progress = r->progress, .level = PACK_LEVEL};
	FILE *f = out_dir_file(d, "trace.incore", e);
	struct packed_result result;
	bool ok;

	if (!f)
		return false;
	ok = packed_write(t, f, &o, &result, e);
	if (ok && result.n_failed)
		ok = err_nomem(e); /* nothing else can fail for a trace in memory */
	return out_dir_done(d, f, "trace.incore", ok ? e : NULL) && ok;
}

static bool write_stream(const struct opstream_set *set, struct out_dir *d, struct incore_error *e)
{
	FILE *f = out_dir_file(d, "ops.opstream", e);
	bool ok;

	if (!f)
		return false;
	ok = opstream_write_binary(set, f, e);
	return out_dir_done(d, f, "ops.opstream", ok ? e : NULL) && ok;
}

static bool write_report(const struct estimate_data *x, struct out_dir *d, struct incore_error *e)
{
	FILE *f = out_dir_file(d, "report.txt", e);
	const struct text_medium plain = {.out = f};
	struct page p;
	bool ok;

	if (!f)
		return false;
	page_init(&p);
	report_page(x, true, &p);
	ok = page_is_whole(&p, e);
	if (ok)
		page_write_text(&p, &plain);
	page_deinit(&p);
	return out_dir_done(d, f, "report.txt", ok ? e : NULL) && ok;
}

static bool write_exports(
	const struct request *r, struct out_dir *d, const struct trace *t, struct incore_error *e)
{
	for (size_t i = 0; i < sizeof(EXPORTS) / sizeof(EXPORTS[0]); i++) {
		const struct export_ops *ops = export_find(EXPORTS[i].format);
		struct export_options o = {
			.walk = {.pool = r->pool, .progress = r->progress}, .is_strict = true};
		char *path = path_join(d->tmp_path, EXPORTS[i].name);
		struct export_result result;
		bool ok;

		if (!path)
			return err_nomem(e);
		ok = export_run(t, ops, path, &o, &result, e);
		mem_free(path);
		if (!ok)
			return err_wrap(e, "cannot write %s", EXPORTS[i].name);
		export_result_deinit(&result);
	}
	return true;
}

/* The directory appears whole or not at all. */
static bool write_directory(const struct request *r, const struct model_timed *m,
	const struct estimate_data *x, struct incore_error *e)
{
	struct out_dir d = {.fd = -1};
	struct trace *t = NULL;
	bool ok = timed_to_trace(&m->set, &m->timed, &m->profile, &t, e) &&
		  out_dir_open(&d, x->directory, 0666, e) && write_packed(r, &d, t, e) &&
		  write_stream(&m->set, &d, e) && write_report(x, &d, e) &&
		  write_exports(r, &d, t, e) && out_dir_commit(&d, e);

	out_dir_abort(&d);
	trace_free(t);
	return ok;
}

/* --- the answer ------------------------------------------------------------------------------- */

static bool set_answer(const struct model_timed *m, const char *path, struct estimate_data *x,
	struct answer *a, struct incore_error *e)
{
	struct model_confidence *confidence = ANSWER_NEW(a, model_confidence, e);

	if (!confidence)
		return false;
	x->evidence = "estimate";
	x->text = MODEL_TEXT;
	x->profile = machine_row_of(&m->profile);
	x->t = m->timed;
	if (model_confidence_of(&m->set, &m->timed, &m->profile, confidence))
		x->confidence = confidence;
	if (!model_streams(a, &m->set, &x->streams, e) || !put_cores(m, x, a, e) ||
		!put_findings(m, x, a, e) ||
		!model_about(a, path, op_arch_name(m->profile.arch), e))
		return false;
	answer_set(a, &estimate_record, x);
	return true;
}

/* Takes the load from --active-cores, and from --cached which arguments are cached. */
static bool take_load(const struct model_load *load, struct engine_options *o,
	uint16_t cold_permille[OPSTREAM_SLOTS], struct incore_error *e)
{
	uint64_t cores = load->active_cores, slot;

	for (unsigned i = 0; i < OPSTREAM_SLOTS; i++)
		cold_permille[i] = 1000;
	for (size_t i = 0; i < load->cached.n; i++) {
		if (!str_to_u64(str_of(load->cached.v[i]), &slot) || slot >= OPSTREAM_SLOTS)
			return err_set(e, INCORE_USAGE, "bad-option-value",
				"--cached: expected a slot, 0 to %d, found '%s'",
				OPSTREAM_SLOTS - 1, load->cached.v[i]);
		cold_permille[slot] = 0;
	}
	if (cores < 1 || cores > 1000)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--active-cores: expected 1 to 1000, found %llu",
			(unsigned long long)cores);
	o->active_permille = (uint32_t)(1000 * cores);
	o->cold_permille = cold_permille;
	return true;
}

static bool same_arch(const char *path, const struct opstream_set *set, struct incore_error *e)
{
	if (!set->v.n)
		return err_set(
			e, INCORE_BAD_INPUT, "empty-opstream", "%s: no op stream is in it", path);
	for (size_t i = 1; i < set->v.n; i++)
		if (set->v.v[i].arch != set->v.v[0].arch)
			return err_set(e, INCORE_BAD_INPUT, "mixed-arch",
				"%s: its streams are of different architectures", path);
	return true;
}

static void drop_timed(struct model_timed *m)
{
	timed_deinit(&m->timed);
	profile_deinit(&m->profile);
	opstream_set_deinit(&m->set);
	mem_free(m);
}

/* An empty one, kept by the answer; NULL with err_nomem. The caller fills `set`. */
static struct model_timed *timed_new(struct answer *a, struct incore_error *e)
{
	struct model_timed *m = mem_zalloc(1, sizeof(*m));

	if (!m)
		return err_nomem_null(e);
	opstream_set_init(&m->set);
	return ANSWER_KEEP(a, m, drop_timed, e) ? m : NULL;
}

/* Times m->set as the parameters say, fills the answer and writes the directory. */
static bool time_streams(const struct request *r, const struct estimate_params *p,
	struct model_timed *m, struct answer *a, struct incore_error *e)
{
	uint16_t cold_permille[OPSTREAM_SLOTS];
	struct engine_options o = {.profile = &m->profile,
		.keep_slices = p->directory != NULL,
		.find_races = true,
		.allow_unknown = p->load.allow_unknown};
	struct estimate_data *x = ANSWER_NEW(a, estimate_data, e);

	if (!x || !take_load(&p->load, &o, cold_permille, e) ||
		!same_arch(r->paths[0], &m->set, e) ||
		!model_profile(
			&p->machine, &p->load.switches, m->set.v.v[0].arch, &m->profile, e) ||
		!engine_run(&m->set, &o, &m->timed, e))
		return false;
	x->verb = strchr(r->question->name, ' ') + 1;
	if (!set_answer(m, r->paths[0], x, a, e))
		return false;
	if (!p->directory || (r->is_strict && a->n_losses)) /* it leaves nothing then */
		return true;
	x->directory = p->directory;
	x->files = (struct rows){FILES, sizeof(FILES) / sizeof(FILES[0])};
	a->is_written = write_directory(r, m, x, e);
	return a->is_written;
}

/* --- the questions ---------------------------------------------------------------------------- */

#define DIRECTORY_OPTION                                                                           \
	{                                                                                          \
		OPT_OUTPUT_FOLDER, NULL, NULL,                                                     \
			"folder for trace, op stream and report; new or empty",                    \
			OPTION_FIELD(estimate_params, directory)                                   \
	}

static const struct option_def run_options[] = {
	MODEL_KERNEL_OPTIONS(estimate_params),
	MODEL_ARCH_OPTION(estimate_params),
	MODEL_TIMING_OPTIONS(estimate_params),
	DIRECTORY_OPTION,
	OPTION_END,
};

static bool run_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct estimate_params *p = r->params;
	struct model_timed *m = timed_new(a, e);
	enum opstream_arch arch;

	return m && model_arch(&p->machine, &arch, e) &&
	       model_record(&p->kernel, r->paths[0], arch, a, &m->set, e) &&
	       time_streams(r, p, m, a, e);
}

const struct question question_model_run = {
	.name = "model run",
	.args = "KERNEL.cpp",
	.summary = "record and time a kernel: a trace, and what is wrong with it",
	.groups = OPTIONS_CSV,
	.min_paths = 1,
	.max_paths = 1,
	.options = run_options,
	.params_size = sizeof(struct estimate_params),
	.records = estimate_records,
	.inputs = model_inputs,
	.ask = run_ask,
	.page = estimate_page,
};

static const struct option_def time_options[] = {
	MODEL_TIMING_OPTIONS(estimate_params),
	DIRECTORY_OPTION,
	OPTION_END,
};

static bool time_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct estimate_params p = *(const struct estimate_params *)r->params;
	struct model_timed *m = timed_new(a, e);

	p.machine.arch = NO_CHOICE; /* the stream says it */
	return m && opstream_load(&m->set, r->paths[0], e) && time_streams(r, &p, m, a, e);
}

const struct question question_model_time = {
	.name = "model time",
	.args = "OPSTREAM",
	.summary = "time an op stream: a trace, and what is wrong with it",
	.groups = OPTIONS_CSV,
	.min_paths = 1,
	.max_paths = 1,
	.options = time_options,
	.params_size = sizeof(struct estimate_params),
	.records = estimate_records,
	.inputs = model_inputs,
	.ask = time_ask,
	.page = estimate_page,
};
