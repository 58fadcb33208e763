/* SPDX-License-Identifier: Apache-2.0 */
/*
 * att.c: thread traces of the kernels of an application: which kernels it launches, a window for
 * each, what came back and whether it is good. Parts: launches of the application; what came back;
 * the answer; the driver.
 */
#include "capture/att.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "analysis/name_filter.h"
#include "answer/check.h"
#include "base/file.h"
#include "base/search.h"
#include "capture/before.h"
#include "capture/folder.h"
#include "capture/pack.h"
#include "codec/csv.h"
#include "import/sqtt/container.h"

/* --- launches of the application -------------------------------------------------------------- */

/*
 * Reading the kernel traces of a discovery run.
 */

struct csv_places {
	int dispatch, kernel_id, name, start, end;
};

static void launches_init(struct launches *l)
{
	*l = (struct launches){0};
	arena_init(&l->arena);
}

static void launches_deinit(struct launches *l)
{
	VEC_FREE(&l->kernels);
	VEC_FREE(&l->v);
	arena_deinit(&l->arena);
}

/* The kernel of this process and id, added if it is new; UINT32_MAX: no memory. */
static uint32_t launches_kernel_of(struct launches *l, uint64_t id, struct str name)
{
	struct seen_kernel k = {
		.id = id, .process = l->n_processes, .index = (uint32_t)l->kernels.n};

	for (size_t i = 0; i < l->kernels.n; i++)
		if (l->kernels.v[i].process == k.process && l->kernels.v[i].id == id)
			return (uint32_t)i;
	k.name = arena_strndup(&l->arena, name.p, name.n);
	return k.name && VEC_PUSH(&l->kernels, k) ? (uint32_t)l->kernels.n - 1 : UINT32_MAX;
}

static bool launches_add_row(struct launches *l, const struct csv_reader *c,
	const struct csv_places *p, struct incore_error *e)
{
	struct seen_launch x = {.process = l->n_processes};
	uint64_t id, start, end;

	if (!str_to_u64(csv_field(c, p->dispatch), &x.dispatch) ||
		!str_to_u64(csv_field(c, p->kernel_id), &id) ||
		!str_to_u64(csv_field(c, p->start), &start) ||
		!str_to_u64(csv_field(c, p->end), &end) || end < start)
		return err_set(e, INCORE_BAD_INPUT, "bad-kernel-trace",
			"%s:%u: expected numbers for Dispatch_Id, Kernel_Id, Start_Timestamp and End_Timestamp",
			c->path, c->line);
	x.ns = end - start;
	x.kernel = launches_kernel_of(l, id, csv_field(c, p->name));
	return (x.kernel != UINT32_MAX && VEC_PUSH(&l->v, x)) || err_nomem(e);
}

static bool launches_read_file(struct launches *l, const char *path, struct incore_error *e)
{
	struct file_data f = {0};
	struct csv_reader c;
	struct csv_places p;
	bool at_end = false, ok;

	if (!file_load(&f, path, e))
		return false;
	csv_init(&c, f.data, f.size, path);
	ok = csv_header(&c, e);
	p = (struct csv_places){csv_column(&c, "Dispatch_Id"), csv_column(&c, "Kernel_Id"),
		csv_column(&c, "Kernel_Name"), csv_column(&c, "Start_Timestamp"),
		csv_column(&c, "End_Timestamp")};
	if (ok && (p.dispatch < 0 || p.kernel_id < 0 || p.name < 0 || p.start < 0 || p.end < 0))
		ok = err_file(e, "bad-kernel-trace", path, INCORE_NO_OFFSET,
			"a kernel trace has the columns Dispatch_Id, Kernel_Id, Kernel_Name, Start_Timestamp and End_Timestamp");
	while (ok && csv_row(&c, &at_end, e))
		ok = launches_add_row(l, &c, &p, e);
	ok = ok && at_end;
	csv_deinit(&c);
	file_unload(&f);
	l->n_processes += ok;
	return ok;
}

struct launches_listing {
	struct launches *l;
	const char *dir;
	unsigned depth;
};

static bool launches_look_at(void *ctx, const char *name, struct incore_error *e)
{
	struct launches_listing *x = ctx;
	char *path = path_join(x->dir, name);
	struct launches_listing below = {x->l, path, x->depth + 1};
	bool ok = true;

	if (!path)
		return err_nomem(e);
	if (str_ends(str_of(name), "_kernel_trace.csv"))
		ok = launches_read_file(x->l, path, e);
	else if (x->depth < 2 && file_is_dir(path))
		ok = dir_each(path, launches_look_at, &below, e);
	mem_free(path);
	return ok;
}

ORDER(by_dispatch, struct seen_launch, UP(process) UP(dispatch))
ORDER(by_time, struct seen_kernel, DOWN(total_ns) UP(index))

static void count_launches(struct launches *l)
{
	double all = 0;

	for (size_t i = 0; i < l->v.n; i++) {
		struct seen_launch *x = &l->v.v[i];
		struct seen_kernel *k = &l->kernels.v[x->kernel];

		if (!k->launches)
			k->first_dispatch = x->dispatch;
		x->ordinal = (uint32_t)++k->launches;
		k->total_ns += x->ns;
		k->longest_ns = x->ns > k->longest_ns ? x->ns : k->longest_ns;
		all += (double)x->ns;
	}
	EACH (struct seen_kernel, k, l->kernels.v, l->kernels.n) {
		k->total_us = (double)k->total_ns / 1000;
		k->mean_us = k->total_us / (double)k->launches;
		k->longest_us = (double)k->longest_ns / 1000;
		k->share = all > 0 ? 100 * (double)k->total_ns / all : 0;
	}
}

/* Reads the files of a directory and its subdirectories. Call it once. */
static bool launches_read(struct launches *l, const char *dir, struct incore_error *e)
{
	uint32_t *place;

	if (!dir_each(dir, launches_look_at, &(struct launches_listing){l, dir, 0}, e))
		return false;
	place = arena_zalloc(&l->arena, l->kernels.n + 1, sizeof(*place));
	if (!place)
		return err_nomem(e);
	SORT(l->v.v, l->v.n, by_dispatch);
	count_launches(l);
	SORT(l->kernels.v, l->kernels.n, by_time);
	for (uint32_t i = 0; i < l->kernels.n; i++)
		place[l->kernels.v[i].index] = i;
	for (size_t i = 0; i < l->v.n; i++)
		l->v.v[i].kernel = place[l->v.v[i].kernel];
	return true;
}

/* --- what came back --------------------------------------------------------------------------- */

/*
 * Reads, checks and packs the files of an attempt, and decides whether they are what was requested.
 */

#define MAX_DEPTH                                                                                  \
	2	   /* folder depth of the output: rocprofv3 may add a folder with the host's name */
#define MAX_SE 32u /* of a mask */
#define MAX_CU 16u

struct att_judge_judging {
	struct att *a;
	struct att_attempt *attempt;
	struct att_sight *sight;
	const char *dir;
	unsigned depth;
};

/* --- is it what was requested? --- */

/* Does one of the names hold the plain part of the other? */
static bool names_agree(const char *a, const char *b)
{
	struct str x = kernel_plain_name(a), y = kernel_plain_name(b);
	char shorter[256];

	snprintf(shorter, sizeof(shorter), "%.*s", STR_ARG(x.n < y.n ? x : y));
	return str_has(x.n < y.n ? y : x, shorter);
}

/* The launch with this dispatch of a wanted kernel; else any launch with it; else NULL. */
static const struct seen_launch *att_judge_launch_of(const struct att *a, int64_t dispatch)
{
	const struct seen_launch *any = NULL;

	for (size_t i = 0; a->has_launches && i < a->launches.v.n; i++) {
		const struct seen_launch *x = &a->launches.v.v[i];

		if ((int64_t)x->dispatch != dispatch)
			continue;
		if (a->launches.kernels.v[x->kernel].is_chosen &&
			number_set_has(&a->window.launches, x->ordinal))
			return x;
		any = x;
	}
	return any;
}

static bool check_launch(struct att *a, struct att_capture *c, struct incore_error *e)
{
	const struct seen_launch *x = att_judge_launch_of(a, c->dispatch);
	const char *name = x ? a->launches.kernels.v[x->kernel].name : NULL;
	struct strbuf asked = {0};
	bool ok = true;

	if (!x)
		return true;
	c->launch = x->ordinal;
	att_put_set(&a->window.launches, "", "", &asked);
	if (!a->launches.kernels.v[x->kernel].is_chosen)
		ok = err_set(e, INCORE_NO, "wrong-kernel",
			"dispatch %lld was captured, which is launch %u of %s; --kernel asks for %s",
			(long long)c->dispatch, x->ordinal, name, a->window.kernel);
	else if (!number_set_has(&a->window.launches, x->ordinal))
		ok = err_set(e, INCORE_NO, "wrong-launch",
			"dispatch %lld was captured, which is launch %u of %s; launch %s was asked for",
			(long long)c->dispatch, x->ordinal, name, asked.p ? asked.p : "");
	sb_free(&asked);
	return ok;
}

/* Checks the kernel name found in the code itself. */
static bool check_name(const struct att *a, const struct att_capture *c, struct incore_error *e)
{
	const struct seen_launch *x = att_judge_launch_of(a, c->dispatch);
	struct name_filter f;
	bool does = false, ok;

	if (!c->kernel || (x && names_agree(c->kernel, a->launches.kernels.v[x->kernel].name)))
		return true;
	if (!a->window.kernel)
		return true;
	if (!name_filter_init(&f, a->window.kernel, e))
		return false;
	ok = name_filter_match(&f, c->kernel, &does, e);
	name_filter_deinit(&f);
	if (!ok || does || (!x && names_agree(c->kernel, a->window.kernel)))
		return ok;
	return err_set(e, INCORE_NO, "wrong-kernel",
		"the code that ran is %s; --kernel asks for %s", c->kernel, a->window.kernel);
}

/* --- results of check --- */

/* Finds where most waves ran, for a capture whose target CU had none. */
static void att_judge_find_place(const struct trace *t, struct att_sight *s)
{
	uint32_t counts[MAX_SE][MAX_CU] = {{0}}, best = 0;

	for (uint32_t i = 0; i < t->n_occupancy; i++) {
		const struct occupancy_event *x = &t->occupancy[i];
		uint32_t se = x->clock < t->n_clocks ? t->clocks[x->clock].id : MAX_SE;

		if (!x->is_start || se >= MAX_SE || x->cu >= MAX_CU || ++counts[se][x->cu] <= best)
			continue;
		best = counts[se][x->cu];
		s->is_placed = true;
		s->se = se;
		s->cu = x->cu;
	}
}

static void take_findings(
	struct att_judge_judging *j, const struct check_answer *c, const struct trace *t)
{
	const struct check_part *p = &c->worst;
	struct att_sight *s = j->sight;

	s->gfx_major = t->meta.gfx_major;
	for (size_t i = 0; i < p->findings.n; i++) {
		const struct finding_row *f = (const struct finding_row *)p->findings.v + i;
		struct str id = str_of(f->id);

		if (str_is(id, "empty-shell") || str_is(id, "missed-cu") ||
			str_is(id, "not-executed")) {
			s->is_empty = true;
			att_judge_find_place(t, s);
		} else if (str_is(id, "truncated")) {
			s->is_truncated = true;
			j->attempt->n_truncated++;
		} else if (str_is(id, "early-exit") && f->level == WEIGHT_ERROR) {
			s->is_early = true;
		}
	}
}

/* --- one dispatch --- */

struct dispatch {
	struct att_judge_judging *j;
	const struct sqtt_container *from;
	struct att_capture c;
};

/* "kernel_dispatch_3.incore", with what distinguishes it from others of the attempt. */
static const char *file_name(
	struct att_judge_judging *j, const struct sqtt_container *c, const char *kernel)
{
	struct arena *a = &j->a->arena;
	const char *tail = c->dispatch == NO_VALUE
				   ? ""
				   : arena_printf(a, "_dispatch_%lld", (long long)c->dispatch);

	return tail ? folder_file_name(a, j->attempt->run.folder, kernel, tail) : NULL;
}

/* A stream that cannot be read at all is an empty one: all zeros, or nothing. */
static bool note_unreadable(
	struct att_judge_judging *j, struct att_capture *c, struct incore_error *e)
{
	struct strbuf why = {0};

	if (e->status != INCORE_BAD_INPUT)
		return false;
	err_format(e, &why);
	incore_error_clear(e);
	c->verdict = "unreadable";
	c->health = arena_strndup(&j->a->arena, why.p ? why.p : "", why.n);
	sb_free(&why);
	j->sight->is_empty = true;
	return c->health || err_nomem(e);
}

static bool att_judge_take_answer(void *ctx, const struct answer *got, struct incore_error *e)
{
	struct dispatch *x = ctx;
	struct att_judge_judging *j = x->j;
	struct att_capture *c = &x->c;
	const struct check_answer *k = got->data;
	const struct trace *t = got->traces.v[0];
	struct att *a = j->a;
	const struct checked_row *row = k->checked.v;

	c->kernel = t->meta.kernel ? arena_strdup(&a->arena, t->meta.kernel) : NULL;
	c->waves = t->n_tracks;
	c->verdict = k->worst.verdict; /* a word of the program */
	c->health = arena_strdup(&a->arena, row->health);
	c->file = file_name(j, x->from, t->meta.kernel);
	if (!c->health || !c->file || (t->meta.kernel && !c->kernel))
		return err_nomem(e);
	take_findings(j, k, t);
	j->attempt->n_usable += strcmp(c->verdict, "unusable") != 0;
	return folder_pack(c->file, t, &a->q->drive, e) && check_launch(a, c, e) &&
	       check_name(a, c, e);
}

static bool judge_dispatch(
	struct att_judge_judging *j, const struct sqtt_container *from, struct incore_error *e)
{
	struct dispatch x = {.j = j,
		.from = from,
		.c = {.agent = from->agent,
			.dispatch = from->dispatch,
			.launch = NO_VALUE,
			.stream_bytes = from->n_bytes}};
	bool ok = pack_check(from->first, &j->a->q->drive, att_judge_take_answer, &x, e);

	if (!ok && !x.c.verdict)
		ok = note_unreadable(j, &x.c, e);
	if (!VEC_PUSH(&j->attempt->captures, x.c))
		return err_nomem(e);
	return ok;
}

/* --- the directory --- */

static bool judge_folder(void *ctx, const char *name, struct incore_error *e);

/* The first error about a wrong capture is reported after all captures were packed. */
static bool judge_streams(struct att_judge_judging *j, struct incore_error *e)
{
	struct sqtt_container *v;
	struct incore_error wrong = {0};
	uint32_t n = 0;

	if (!sqtt_containers(NULL, j->dir, &j->a->arena, &v, &n, e)) {
		if (!err_is(e, "no-stream"))
			return false;
		incore_error_clear(e);
		n = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (judge_dispatch(j, &v[i], e))
			continue;
		if (e->status != INCORE_NO) {
			incore_error_clear(&wrong);
			return false;
		}
		err_move(&wrong, e);
	}
	if (wrong.status != INCORE_OK) {
		err_move(e, &wrong);
		return false;
	}
	return j->depth == MAX_DEPTH || dir_each(j->dir, judge_folder, j, e);
}

static bool judge_folder(void *ctx, const char *name, struct incore_error *e)
{
	struct att_judge_judging below = *(struct att_judge_judging *)ctx;
	char *path;
	bool ok;

	if (str_starts(str_of(name), "ui_output")) /* decoded by the tool; we do our own decoding */
		return true;
	path = path_join(below.dir, name);
	if (!path)
		return err_nomem(e);
	below.dir = path;
	below.depth++;
	ok = !file_is_dir(path) || judge_streams(&below, e);
	mem_free(path);
	return ok;
}

/* Reads, checks and packs the files in the directory of an attempt. */
static bool att_judge(
	struct att *a, struct att_attempt *t, struct att_sight *s, struct incore_error *e)
{
	struct att_judge_judging j = {.a = a, .attempt = t, .sight = s, .dir = t->run.raw};
	bool ok = judge_streams(&j, e);

	if (ok && !t->captures.n)
		s->is_empty = true;
	return ok;
}

/* --- the answer ------------------------------------------------------------------------------- */

/*
 * The fields of the answer of a thread-trace capture.
 */

#define HEX .flags = COLUMN_HEX

static const struct column capture_columns[] = {
	COLUMN(att_capture, file, UNIT_NONE, "packed capture; null: it could not be read",
		NULLABLE),
	COLUMN(att_capture, kernel, UNIT_NONE, "kernel that its code names", NULLABLE),
	COLUMN(att_capture, agent, UNIT_INDEX, "handle of the agent that the kernel ran on",
		NULLABLE),
	COLUMN(att_capture, dispatch, UNIT_INDEX,
		"number of the dispatch, counted over the process", NULLABLE),
	COLUMN(att_capture, launch, UNIT_INDEX,
		"number of the launch of its kernel id, from 1, in the discovery run", NULLABLE),
	COLUMN(att_capture, waves, UNIT_WAVES, "waves with instruction detail"),
	COLUMN(att_capture, stream_bytes, UNIT_BYTES, "size of the raw streams"),
	COLUMN(att_capture, verdict, UNIT_NONE, "verdict of incore check on the capture",
		.words = "ok|suspect|unusable|unreadable"),
	COLUMN(att_capture, health, UNIT_NONE, "verdict of incore check with errors and warnings"),
};
static const struct record att_capture_record =
	RECORD_OF(att_capture, RECORD_BLOCK, capture_columns);

static const struct column attempt_columns[] = {
	COLUMN(att_attempt, number, UNIT_INDEX,
		"number of the attempt, from 1; 0: the discovery run"),
	COLUMN(att_attempt, because, UNIT_NONE, "reason for the settings of this attempt"),
	COLUMN(att_attempt, launches, UNIT_NONE,
		"launches that the attempt asks for, per kernel id"),
	COLUMN(att_attempt, cu, UNIT_INDEX,
		"number of the CU (WGP on RDNA) with instruction detail"),
	COLUMN(att_attempt, se_mask, UNIT_NONE, "mask of the traced shader engines", HEX),
	COLUMN(att_attempt, simd, UNIT_NONE,
		"SIMDs in the tool's notation; null: the tool's default",
		.flags = COLUMN_HEX | COLUMN_NULLABLE),
	COLUMN(att_attempt, buffer_bytes, UNIT_BYTES,
		"size of the buffer that all shader engines share"),
	PART(att_attempt, run, &rocprof_run_record),
	VECTOR(att_attempt, captures, "captures", &att_capture_record,
		"captures that the attempt produced"),
};
static const struct record att_attempt_record =
	RECORD_OF(att_attempt, RECORD_BLOCK, attempt_columns);

static const struct column kernel_columns[] = {
	COLUMN(seen_kernel, name, UNIT_NONE, "name of the kernel", .title = "kernel",
		.flags = COLUMN_WIDE),
	COLUMN(seen_kernel, id, UNIT_INDEX, "id of the kernel in its process", .title = "id"),
	COLUMN(seen_kernel, process, UNIT_INDEX,
		"number of the process of the application, from 0"),
	COLUMN(seen_kernel, launches, UNIT_COUNT, "number of launches of this kernel id"),
	COLUMN(seen_kernel, first_dispatch, UNIT_INDEX, "dispatch of the first launch"),
	COLUMN(seen_kernel, total_us, UNIT_US, "total time of all launches", .digits = 3),
	COLUMN(seen_kernel, mean_us, UNIT_US, "mean time of one launch", .digits = 3),
	COLUMN(seen_kernel, longest_us, UNIT_US, "time of the longest launch", .digits = 3),
	COLUMN(seen_kernel, share, UNIT_PERCENT, "share of the time of all kernels", .title = "%",
		.digits = 1),
	COLUMN(seen_kernel, is_chosen, UNIT_NONE, "the kernel is captured"),
};
const struct record att_kernel_record = RECORD_OF(seen_kernel, RECORD_BLOCK, kernel_columns);

static const struct column att_columns[] = {
	COLUMN(att_answer, tool, UNIT_NONE, "path of the rocprofv3 that was used"),
	COLUMN(att_answer, version, UNIT_NONE, "release of rocprofv3"),
	PART(att_answer, place, &folder_record),
	COLUMN(att_answer, verdict, UNIT_NONE, "whether a capture can be trusted",
		.words = "usable|unusable|wrong|listed|planned"),
	COLUMN(att_answer, chosen, UNIT_INDEX,
		"number of the attempt whose captures are the result; 0: none"),
	COLUMN(att_answer, repeat, UNIT_NONE, "command that takes the same capture again",
		NULLABLE),
	LIST(att_answer, kernels, &att_kernel_record,
		"kernels found by the discovery run, longest total time first"),
	VECTOR(att_answer, attempts, "attempts", &att_attempt_record, "all attempts"),
};
const struct record att_record = RECORD_OF(att_answer, RECORD_BLOCK, att_columns);

/* --- the driver ------------------------------------------------------------------------------- */

/*
 * Runs discovery and attempts until one can be trusted, and tidies the directory.
 */

#define DISCOVERY_REASON "which kernels are launched, and how often"
#define FIRST_REASON "the first attempt"
#define SPARE_BYTES ((uint64_t)64 << 20) /* disk space, besides the buffer */

void att_init(struct att *a, const struct att_request *q)
{
	*a = (struct att){.q = q, .answer = {.place = {.directory = q->dir}}};
	arena_init(&a->arena);
	launches_init(&a->launches);
}

void att_deinit(struct att *a)
{
	for (size_t i = 0; i < a->answer.attempts.n; i++)
		VEC_FREE(&a->answer.attempts.v[i].captures);
	VEC_FREE(&a->answer.attempts);
	VEC_FREE(&a->answer.warnings);
	VEC_FREE(&a->window.launches.ranges);
	VEC_FREE(&a->tried.ranges);
	journal_close(&a->journal);
	launches_deinit(&a->launches);
	arena_deinit(&a->arena);
}

/* --- files --- */

static bool check_room(const struct att *a, struct incore_error *e)
{
	struct statvfs fs;
	uint64_t need = a->window.buffer_bytes + SPARE_BYTES, room;

	if (statvfs(a->answer.place.directory, &fs) != 0)
		return true; /* unknown here: writing will show it */
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (room >= need)
		return true;
	return err_set(e, INCORE_FAILED, "no-room",
		"%s has room for %llu MiB, and a buffer of %llu MiB may fill %llu", a->q->dir,
		(unsigned long long)(room >> 20),
		(unsigned long long)(a->window.buffer_bytes >> 20),
		(unsigned long long)(need >> 20));
}

/* --- one run of rocprofv3 --- */

static bool att_run_tool(struct att *a, struct att_attempt *t, struct incore_error *e)
{
	return rocprof_run_start(&t->run, &a->q->drive, a->q->limit_s, &a->journal, e);
}

static bool att_app_failed(struct att *a, const struct att_attempt *t, struct incore_error *e)
{
	a->app_status = (int)t->run.status;
	return rocprof_run_failed(&t->run, a->q->limit_s, e);
}

static void end_run(struct att *a, struct att_attempt *t)
{
	rocprof_run_clear(&t->run, a->q->keeps_raw);
	rocprof_run_deinit(&t->run);
}

static bool discover(struct att *a, struct incore_error *e)
{
	struct att_attempt t = {0};
	bool ok = att_plan(a, NULL, DISCOVERY_REASON, &t, e) && att_run_tool(a, &t, e) &&
		  (!t.run.status || att_app_failed(a, &t, e)) &&
		  launches_read(&a->launches, t.run.raw, e);

	a->has_launches = ok;
	a->answer.kernels = (struct rows){a->launches.kernels.v, a->launches.kernels.n};
	a->answer.verdict = "listed";
	end_run(a, &t);
	return ok;
}

/* --- attempts --- */

static bool att_warn(struct att *a, struct incore_error *e, const char *text)
{
	return (text && VEC_PUSH(&a->answer.warnings, text)) || err_nomem(e);
}

/* Warns of environment variables that would change what the tool does. */
static bool warn_of_environment(struct att *a, struct incore_error *e)
{
	static const char *const STARTS[] = {"ROCPROF_ATT_",
		"ROCPROF_ADVANCED_THREAD_TRACE=", "ROCPROFILER_SQTT_", "HSA_CU_MASK="};
	bool ok = true;

	for (char **p = environ; ok && *p; p++)
		for (size_t i = 0; ok && i < sizeof(STARTS) / sizeof(*STARTS); i++)
			if (strncmp(*p, STARTS[i], strlen(STARTS[i])) == 0)
				ok = att_warn(a, e,
					arena_printf(&a->arena,
						"%.*s is set in the environment and may change what is traced",
						(int)strcspn(*p, "="), *p));
	for (const struct rocprof_fault *f = rocprof_faults; ok && f->id; f++)
		if (rocprof_has_fault(&a->tool, f))
			ok = att_warn(a, e,
				arena_printf(&a->arena, "rocprofv3 %s %s: %s", a->tool.version,
					f->what, f->fix));
	return ok;
}

/* Says what can be known before anything runs: counters that no agent has, missing debug info. */
static bool look_ahead(struct att *a, struct incore_error *e)
{
	static const char *const nothing[] = {NULL};
	const char *const *app = a->q->drive.app ? a->q->drive.app : nothing;
	bool is_nomem = false;
	const char *text = before_no_lines(app, &a->arena, &is_nomem);

	if (is_nomem)
		return err_nomem(e);
	if (text && !att_warn(a, e, text))
		return false;
	return !a->q->counters ||
	       before_check_counters(&a->tool, a->q->counters, true, a->q->is_dry, &a->arena, e);
}

static bool has_lost(struct str said)
{
	return str_has(said, "Thread trace buffer full") || str_has(said, "Data Lost") ||
	       str_has(said, "STITCH_INCOMPLETE");
}

static bool note_tried(struct att *a, struct incore_error *e)
{
	EACH (const struct number_range, r, a->window.launches.ranges.v,
		a->window.launches.ranges.n)
		if (!VEC_PUSH(&a->tried.ranges, *r))
			return err_nomem(e);
	return true;
}

static const char *att_outcome_of(const struct att_attempt *t, const struct att_sight *s)
{
	if (!t->captures.n)
		return "no stream was written";
	if (s->is_empty)
		return "a dispatch has no wave on the target CU";
	if (s->is_early)
		return "no wave did any work";
	if (s->is_truncated)
		return "records were lost";
	return t->n_usable == t->captures.n ? "usable" : "check says that it cannot be trusted";
}

/* Does one run and judges it. *s shows what to change; the row stays even after a failure. */
static bool attempt(struct att *a, const char *because, struct att_sight *s, struct incore_error *e)
{
	struct att_attempt t;
	bool ok;

	if (!check_room(a, e) || !att_plan(a, &a->window, because, &t, e))
		return false;
	t.run.outcome = "not finished";
	ok = note_tried(a, e) && att_run_tool(a, &t, e);
	if (ok) {
		ok = att_judge(a, &t, s, e);
		s->is_truncated |= has_lost(rocprof_run_said(&t.run));
		t.n_truncated += has_lost(rocprof_run_said(&t.run));
		t.run.outcome = ok ? att_outcome_of(&t, s) : "not what was asked for";
	}
	if (ok && t.run.status)
		ok = att_app_failed(a, &t, e);
	end_run(a, &t);
	if (!VEC_PUSH(&a->answer.attempts, t)) {
		VEC_FREE(&t.captures);
		return err_nomem(e);
	}
	return ok;
}

static bool is_better(const struct att_attempt *a, const struct att_attempt *b)
{
	return a->n_usable != b->n_usable ? a->n_usable > b->n_usable
					  : a->n_truncated < b->n_truncated;
}

/* Moves the captures of the best attempt into the directory itself and removes those of others. */
static bool att_place_files(struct att *a, struct incore_error *e)
{
	struct att_attempt *v = a->answer.attempts.v, *best = NULL;

	for (size_t i = 0; i < a->answer.attempts.n; i++)
		if (v[i].captures.n && (!best || is_better(&v[i], best)))
			best = &v[i];
	a->answer.chosen = best ? best->number : 0;
	for (size_t i = 0; i < a->answer.attempts.n; i++)
		for (size_t k = 0; k < v[i].captures.n; k++) {
			struct att_capture *c = &v[i].captures.v[k];
			const char *to;

			if (!c->file)
				continue;
			if (&v[i] != best) {
				unlink(c->file);
				c->file = NULL;
				continue;
			}
			to = arena_printf(&a->arena, "%s/%s", a->q->dir, path_base(c->file));
			if (!to)
				return err_nomem(e);
			if (rename(c->file, to) != 0)
				return err_output(e, errno, to, "cannot put in place");
			c->file = to;
		}
	a->is_no = !best || !best->n_usable;
	a->answer.verdict = a->is_no ? "unusable" : "usable";
	return true;
}

/* Makes attempts until one is good, nothing is left to try, or the limit is reached. */
static bool try_attempts(struct att *a, struct incore_error *e)
{
	struct strbuf because = {0};
	bool ok = true, has_more = true;

	sb_puts(&because, FIRST_REASON);
	progress_begin(a->q->drive.progress, "attempts", a->q->retries + 1);
	for (uint64_t i = 0; ok && has_more && i <= a->q->retries; i++) {
		struct att_sight s = {0};

		a->answer.repeat = att_repeat(a);
		ok = ((!because.failed && a->answer.repeat) || err_nomem(e)) &&
		     attempt(a, because.p, &s, e);
		sb_reset(&because);
		has_more = ok && i < a->q->retries && att_steer(a, &s, &because);
		progress_add(a->q->drive.progress, 1);
	}
	progress_end(a->q->drive.progress);
	sb_free(&because);
	return ok;
}

/* Adds the runs that would be made as rows. */
static bool att_plan_only(struct att *a, struct incore_error *e)
{
	struct att_attempt t;

	a->answer.verdict = "planned";
	if (!a->window.kernel)
		a->window.kernel = "(the kernel that takes most time)";
	if (!a->window.launches.ranges.n && /* as far as is known before the discovery run */
		!number_set_parse(&a->window.launches, STR("2"), "--launch", e))
		return false;
	if (!a->q->is_list) {
		if (!att_plan(a, &a->window, FIRST_REASON, &t, e))
			return false;
		if (!VEC_PUSH(&a->answer.attempts, t))
			return err_nomem(e);
	}
	if (a->q->has_no_discovery)
		return true;
	return att_plan(a, NULL, DISCOVERY_REASON, &t, e) &&
	       (VEC_PUSH(&a->answer.attempts, t) || err_nomem(e));
}

bool att_take(struct att *a, struct incore_error *e)
{
	struct incore_error late = {0};
	bool ok;

	if (!att_prepare(a, e) || !warn_of_environment(a, e) || !look_ahead(a, e))
		return false;
	if (a->q->is_dry)
		return att_plan_only(a, e);
	if (!folder_open(&a->answer.place, a->q->dir, &a->journal, &a->arena, e) ||
		(!a->q->has_no_discovery && !discover(a, e)))
		return false;
	if (a->q->is_list)
		return true;
	if (a->has_launches && !att_choose(a, e))
		return false;
	ok = try_attempts(a, e);
	if (!att_place_files(a, ok ? e : &late))
		ok = false;
	else if (!ok && e->status == INCORE_NO)
		a->answer.verdict = "wrong";
	incore_error_clear(&late);
	return folder_write_result(a->q->dir, &att_record, &a->answer, &a->arena, ok, e);
}
