/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda.c: PC samples and exact times of CUDA kernels, taken by libincore-cuda. Parts: the answer;
 * one run and its logs; kernels, times and the period; captures; the driver.
 */
#include "capture/cuda.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/search.h"
#include "capture/pack.h"
#include "codec/demangle.h"

/* --- the answer ------------------------------------------------------------------------------- */

/*
 * The fields of the answer of a PC-sample capture.
 */

static const struct column run_columns[] = {
	COLUMN(cuda_run_row, name, UNIT_NONE, "purpose of the run", .words = "look|samples|exact"),
	COLUMN(cuda_run_row, command, UNIT_NONE, "command line of the application"),
	COLUMN(cuda_run_row, log, UNIT_NONE, "file with the output of the application"),
	COLUMN(cuda_run_row, status, UNIT_NONE, "exit status of the application"),
	COLUMN(cuda_run_row, wall_ms, UNIT_NONE, "duration of the run, in milliseconds"),
	COLUMN(cuda_run_row, processes, UNIT_COUNT, "processes that used CUDA"),
	COLUMN(cuda_run_row, unfinished, UNIT_COUNT, "processes that did not finish"),
};
static const struct record run_record = RECORD_OF(cuda_run_row, RECORD_BLOCK, run_columns);

static const struct column timing_columns[] = {
	COLUMN(cuda_timing, kernel, UNIT_NONE, "name of the kernel", .flags = COLUMN_WIDE),
	COLUMN(cuda_timing, launches, UNIT_COUNT, "number of launches of the kernel"),
	COLUMN(cuda_timing, total_us, UNIT_US, "time of all launches without the sampler",
		.digits = 3),
	COLUMN(cuda_timing, mean_us, UNIT_US, "mean time of one launch without the sampler",
		.digits = 3),
	COLUMN(cuda_timing, sampled_mean_us, UNIT_US, "mean time of one launch with the sampler",
		.digits = 3),
	COLUMN(cuda_timing, overhead, UNIT_PERCENT,
		"how much longer launches took with the sampler, except the first", .digits = 2),
	COLUMN(cuda_timing, is_chosen, UNIT_NONE, "the kernel was requested"),
};
const struct record cuda_timing_record = RECORD_OF(cuda_timing, RECORD_BLOCK, timing_columns);

static const struct column file_columns[] = {
	COLUMN(cuda_file, file, UNIT_NONE, "packed capture"),
	COLUMN(cuda_file, kernel, UNIT_NONE, "name of the kernel"),
	COLUMN(cuda_file, process, UNIT_INDEX, "number of the process of the application, from 0"),
	COLUMN(cuda_file, device, UNIT_INDEX, "number of the GPU in the process"),
	COLUMN(cuda_file, launches, UNIT_COUNT, "launches of the kernel in that process"),
	COLUMN(cuda_file, samples, UNIT_COUNT, "samples in the code of the kernel"),
	COLUMN(cuda_file, dropped, UNIT_COUNT,
		"samples of all kernels that the sampler of that GPU dropped"),
	COLUMN(cuda_file, is_exact, UNIT_NONE, "the capture also has exact counts"),
	COLUMN(cuda_file, verdict, UNIT_NONE, "verdict of incore check on the capture",
		.words = "ok|suspect|unusable"),
	COLUMN(cuda_file, health, UNIT_NONE, "verdict of incore check with errors and warnings"),
};
static const struct record file_record = RECORD_OF(cuda_file, RECORD_BLOCK, file_columns);

static const struct column cuda_columns[] = {
	COLUMN(cuda_result, library, UNIT_NONE, "library that was loaded into the application"),
	COLUMN(cuda_result, cupti, UNIT_NONE,
		"path of the CUPTI offered to the application; null: the application's own",
		NULLABLE),
	PART(cuda_result, place, &folder_record),
	COLUMN(cuda_result, mode, UNIT_NONE, "how samples were taken",
		.words = "continuous|serialised"),
	COLUMN(cuda_result, verdict, UNIT_NONE, "result of the capture",
		.words = "captured|nothing|listed|planned"),
	COLUMN(cuda_result, period_cyc, UNIT_CYCLES,
		"cycles between two samples; 0: no samples were taken"),
	COLUMN(cuda_result, period_because, UNIT_NONE, "reason for this period; null: it was given",
		NULLABLE),
	COLUMN(cuda_result, overhead, UNIT_PERCENT,
		"how much longer requested kernels took with the sampler, except first launches",
		.digits = 2),
	VECTOR(cuda_result, runs, "runs", &run_record, "runs of the application"),
	VECTOR(cuda_result, kernels, "kernels", &cuda_timing_record,
		"kernels that were launched, longest total time first"),
	VECTOR(cuda_result, captures, "captures", &file_record, "captures that were taken"),
};
const struct record cuda_record = RECORD_OF(cuda_result, RECORD_BLOCK, cuda_columns);

/* --- one run and its logs --------------------------------------------------------------------- */

/*
 * One run of the application with our library in it, and the logs of its processes.
 */

#define LIBRARY "libincore-cuda.so"
#define GRACE_MS 30000 /* time for an application to end by itself */
#define MAX_ENV 10
#define MAX_TOLD 8 /* maximum number of warnings from the logs of one run */

static bool cuda_warn(struct cuda *c, struct incore_error *e, const char *text)
{
	return (text && VEC_PUSH(&c->answer.warnings, text)) || err_nomem(e);
}

/* --- tools --- */

static const char *file_in(struct arena *a, const char *dir, const char *name)
{
	const char *path = dir ? arena_printf(a, "%s/%s", dir, name) : NULL;

	return path && file_exists(path) ? path : NULL;
}

const char *cuda_find_library(struct arena *a)
{
	/* installed; a build directory */
	static const char *const places[] = {"../lib/incore", "src/cuda"};
	const char *named = getenv("INCORE_CUDA_LIBRARY"), *path = NULL;

	if (named && *named)
		return file_exists(named) ? arena_strdup(a, named) : NULL;
	for (size_t i = 0; !path && i < sizeof(places) / sizeof(*places); i++) {
		char *dir = file_beside_program(places[i]);

		path = file_in(a, dir, LIBRARY);
		mem_free(dir);
	}
	return path;
}

const char *cuda_find_cupti(struct arena *a)
{
	static const char *const below[] = {"extras/CUPTI/lib64", "lib64", "lib"};
	const char *homes[] = {
		getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda"};
	const char *path = NULL;

	for (size_t i = 0; !path && i < sizeof(homes) / sizeof(*homes); i++)
		for (size_t k = 0; !path && homes[i] && k < sizeof(below) / sizeof(*below); k++)
			path = file_in(
				a, arena_printf(a, "%s/%s", homes[i], below[k]), "libcupti.so");
	return path;
}

/* Finds our library and CUPTI; if no CUPTI is found, the application's is used. */
static bool cuda_find_tools(struct cuda *c, struct incore_error *e)
{
	c->answer.library = cuda_find_library(&c->arena);
	c->answer.cupti = c->q->cupti ? c->q->cupti : cuda_find_cupti(&c->arena);
	if (!c->answer.library)
		return err_set(e, INCORE_FAILED, "no-library",
			"there is no %s beside this program; INCORE_CUDA_LIBRARY names it",
			LIBRARY);
	if (c->q->cupti && !file_exists(c->q->cupti))
		return err_set(
			e, INCORE_USAGE, "no-cupti", "--cupti: there is no file %s", c->q->cupti);
	return true;
}

/* --- a run --- */

struct environment {
	const char *v[MAX_ENV];
	size_t n;
	bool is_nomem;
};

static void PRINTF_LIKE(3, 4)
	cuda_set(struct cuda *c, struct environment *env, const char *fmt, ...)
{
	struct strbuf b = {0};
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&b, fmt, ap);
	va_end(ap);
	if (env->n + 1 < MAX_ENV)
		env->v[env->n++] = b.failed ? NULL : arena_strndup(&c->arena, b.p, b.n);
	env->is_nomem |= b.failed || !env->v[env->n - 1];
	sb_free(&b);
}

static void fill_environment(
	struct cuda *c, struct environment *env, const char *words, const char *folder)
{
	const struct cuda_request *q = c->q;

	cuda_set(c, env, "CUDA_INJECTION64_PATH=%s", c->answer.library);
	cuda_set(c, env, CUDA_ENV_LOG "=%s", folder);
	cuda_set(c, env, CUDA_ENV_CUPTI "=%s", c->answer.cupti ? c->answer.cupti : "");
	cuda_set(c, env, CUDA_ENV_MODE "=%s", words);
	cuda_set(c, env, CUDA_ENV_PERIOD "=%u", c->period_log2);
	cuda_set(c, env, CUDA_ENV_LAUNCHES "=%s", q->launches ? q->launches : "");
	if (q->after_ms || q->for_ms)
		cuda_set(c, env, CUDA_ENV_WINDOW "=%llu:%llu", (unsigned long long)q->after_ms,
			(unsigned long long)(q->for_ms ? q->after_ms + q->for_ms : 0));
}

/* Finds our library and CUPTI; if no CUPTI is found, the application's is used. */
static bool cuda_run(struct cuda *c, enum cuda_mode mode, struct incore_error *e)
{
	static const char *const words[CUDA_MODES] = CUDA_MODE_WORDS;
	static const char *const names[CUDA_MODES] = {"look", "samples", "samples", "exact"};
	struct environment env = {0};
	struct strbuf command = {0};
	struct cuda_run_row r = {.name = names[mode]};
	struct job j = drive_job(&c->q->drive, r.name, c->q->limit_s, &c->journal);

	r.folder = arena_printf(&c->arena, "%s/%s", c->answer.place.directory, r.name);
	r.log = arena_printf(&c->arena, "%s/%s.log", c->q->dir, r.name);
	process_quote(c->q->drive.app, &command);
	r.command = drive_text(&c->arena, &command);
	if (r.folder)
		fill_environment(c, &env, words[mode], r.folder);
	if (!r.folder || !r.log || !r.command || env.is_nomem)
		return err_nomem(e);
	j.env = env.v;
	j.log_path = r.log;
	if (mkdir(r.folder, 0777) != 0)
		return err_output(e, errno, r.folder, "cannot make the directory");
	if (!c->q->keeps_raw)
		leftover_add(r.folder, false);
	if (!job_run(&j, &r.result, e))
		return false;
	r.status = job_exit_status(&r.result.process);
	r.wall_ms = r.result.process.wall_ms;
	if (!VEC_PUSH(&c->answer.runs, r)) {
		job_result_deinit(&r.result);
		return err_nomem(e);
	}
	progress_add(c->q->drive.progress, 1);
	if (r.result.process.end == PROCESS_CANCELLED && mode == CUDA_LOOK)
		return err_set(e, INCORE_FAILED, "interrupted", "interrupted while %s ran; log %s",
			r.name, r.log);
	return true;
}

/* --- logs --- */

static void cuda_processes_deinit(struct cuda_processes *p)
{
	for (size_t i = 0; i < p->v.n; i++) {
		cuda_log_deinit(&p->v.v[i].log);
		file_unload(&p->v.v[i].file);
	}
	VEC_FREE(&p->v);
}

struct opening {
	struct cuda *c;
	struct cuda_run_row *r;
	struct cuda_processes *out;
};

static bool open_one(void *ctx, const char *name, struct incore_error *e)
{
	struct opening *o = ctx;
	struct cuda_process p = {.path = arena_printf(&o->c->arena, "%s/%s", o->r->folder, name)};
	struct incore_error why = {0};
	struct strbuf text = {0};

	if (!p.path)
		return err_nomem(e);
	if (!str_ends(str_of(name), CUDA_LOG_SUFFIX))
		return true;
	if (file_load(&p.file, p.path, &why) &&
		cuda_log_read(&p.log, (struct str){(const char *)p.file.data, p.file.size}, p.path,
			&why)) {
		if (VEC_PUSH(&o->out->v, p))
			return true;
		err_nomem(&why);
	}
	cuda_log_deinit(&p.log);
	file_unload(&p.file);
	if (err_is(&why, "no-memory")) {
		err_move(e, &why);
		return false;
	}
	err_format(&why, &text);
	incore_error_clear(&why);
	return cuda_warn(o->c, e, drive_text(&o->c->arena, &text));
}

ORDER(by_start, struct cuda_process, UP(log.sections.v->start_unix_ns) A_TO_Z(path))

/* Opens the logs of a run. Unreadable ones become warnings. */
static bool cuda_open_logs(
	struct cuda *c, struct cuda_run_row *r, struct cuda_processes *out, struct incore_error *e)
{
	struct opening o = {c, r, out};

	if (!dir_each(r->folder, open_one, &o, e))
		return false;
	SORT(out->v.v, out->v.n, by_start);
	r->processes = out->v.n;
	EACH (const struct cuda_process, p, out->v.v, out->v.n)
		r->unfinished += !p->log.sections.v[0].has_end;
	return true;
}

#define RIGHTS_FIX                                                                                 \
	"the driver lets only root read counters: as root, or set NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d and reload the driver; see incore doctor cuda"

static bool cuda_run_refuse(struct cuda *c, const struct cuda_trouble *t, struct str text,
	const struct cuda_run_row *r, struct incore_error *e)
{
	(void)c;
	if (t->kind == CUDA_NO_CUPTI)
		return err_set(e, INCORE_FAILED, "no-cupti",
			"CUPTI could not be loaded in the application: %.*s; --cupti names libcupti.so, which is part of the CUDA toolkit; log %s",
			STR_ARG(text), r->log);
	if (t->code == 35 || t->code == 40)
		return err_set(e, INCORE_FAILED, "no-rights", "CUPTI refused (%.*s): " RIGHTS_FIX,
			STR_ARG(text));
	if (t->code == 39)
		return err_set(e, INCORE_FAILED, "cupti-refused",
			"CUPTI refused (%.*s): another profiler is in the application; take it out",
			STR_ARG(text));
	return err_set(e, INCORE_FAILED, "cupti-refused", "CUPTI refused (%.*s); log %s",
		STR_ARG(text), r->log);
}

/* Reports problems of one process; fatal if it recorded nothing. */
static bool judge_process(struct cuda *c, const struct cuda_run_row *r,
	const struct cuda_process *p, struct incore_error *e)
{
	const struct cuda_log *l = &p->log;
	bool is_look = !strcmp(r->name, "look");
	bool has_some = is_look ? l->launches.n : l->n_captures + l->counts.n;
	unsigned n = 0;

	EACH (const struct cuda_body, x, l->troubles.v, l->troubles.n) {
		struct cuda_trouble t;
		struct str text = str_sub(x->bytes, sizeof(t), x->bytes.n);

		memcpy(&t, x->bytes.p, sizeof(t));
		if (t.kind > CUDA_REFUSED)
			continue; /* losses become notes of the captures */
		if (!has_some && c->answer.captures.n == 0)
			return cuda_run_refuse(c, &t, text, r, e);
		if (n++ < MAX_TOLD &&
			!cuda_warn(c, e,
				arena_printf(&c->arena, "%s: process %llu: %.*s", r->name,
					(unsigned long long)l->sections.v[0].pid, STR_ARG(text))))
			return false;
	}
	return true;
}

/* For a log without samples: was the buffer too small for them? */
static bool was_full(const struct cuda_log *l)
{
	bool is_full = false;

	EACH (const struct cuda_body, x, l->samples.v, l->samples.n) {
		struct cuda_samples s;

		memcpy(&s, x->bytes.p, sizeof(s));
		is_full |= s.is_full || s.n_dropped;
	}
	return is_full;
}

static bool judge_samples(struct cuda *c, const struct cuda_processes *p, struct incore_error *e)
{
	bool is_full = false;
	uint64_t n = 0;

	EACH (const struct cuda_process, x, p->v.v, p->v.n) {
		n += x->log.n_captures;
		is_full |= was_full(&x->log);
	}
	if (n)
		return true;
	return err_set(e, INCORE_FAILED, "no-samples",
		"the sampler gave no samples with a period of %llu cycles%s",
		(unsigned long long)UINT64_C(1) << c->period_log2,
		is_full ? ": its buffer was full; a longer period (--period) gives fewer samples, which fit"
			: "; with a shorter period (--period) short kernels are hit, too");
}

/* Adds what the logs say went wrong as warnings; false if that is why there is no result. */
static bool cuda_judge_logs(struct cuda *c, const struct cuda_run_row *r,
	const struct cuda_processes *p, struct incore_error *e)
{
	uint64_t n_launches = 0;

	if (!p->v.n && !r->status)
		return err_set(e, INCORE_FAILED, "no-cuda",
			"no process of the application initialised CUDA; log %s", r->log);
	EACH (const struct cuda_process, x, p->v.v, p->v.n) {
		n_launches += x->log.launches.n;
		if (!judge_process(c, r, x, e))
			return false;
	}
	if (!n_launches && !r->status)
		return err_set(e, INCORE_FAILED, "no-kernels",
			"the application launched no kernel; log %s", r->log);
	return strcmp(r->name, "samples") != 0 || judge_samples(c, p, e);
}

/* --- kernels, times and the period ------------------------------------------------------------ */

/*
 * Which kernels ran, how long with and without the sampler, and from that the sampler's period:
 * enough samples of every wanted kernel, and no more than the buffers hold.
 */

#define GOOD_SAMPLES 200000.0 /* for the wanted kernel with the least time */
/* For the whole device, while kernels run. An H200 delivered 10^9 samples a second for 46 ms
 * without dropping any: fewer than MOST_AT_ONCE fit its buffer at any rate. */
#define MOST_PER_SECOND 2e8
#define MOST_AT_ONCE 4e7
/* log2 of cycles. The shares by cause of four kernels were equal for all periods from 4,096 cycles
 * on; at 2,048 those of one kernel were off by a third, at 1,024 and 256 those of others slightly.
 * So shorter periods are only used for kernels that would have just FEW samples otherwise, and
 * 2,048 never. */
#define STEADY 12u
#define UNSTEADY 11u
#define FEW 5000.0
#define SHORTEST 8u
#define LONGEST 20u

static bool cuda_is_wanted(struct cuda *c, const char *mangled, bool *is, struct incore_error *e)
{
	const char *name = demangle(mangled, &c->arena);
	bool does = true, does_not = false;

	if (!name)
		return err_nomem(e);
	name = *name ? name : mangled;
	if (c->q->kernel && !name_filter_match(&c->wanted, name, &does, e))
		return false;
	if (c->q->exclude && !name_filter_match(&c->unwanted, name, &does_not, e))
		return false;
	*is = does && !does_not;
	return true;
}

static struct cuda_timing *timing_of(struct cuda *c, const struct cuda_log *l, uint64_t name)
{
	struct str text;
	struct cuda_timing t = {.name = name, .sampled_mean_us = NAN, .overhead = NAN};
	char *mangled;

	for (size_t i = 0; i < c->answer.kernels.n; i++)
		if (c->answer.kernels.v[i].name == name)
			return &c->answer.kernels.v[i];
	text = cuda_log_text(l, name);
	mangled = arena_strndup(&c->arena, text.p, text.n);
	t.kernel = mangled ? demangle(mangled, &c->arena) : NULL;
	if (!t.kernel)
		return NULL;
	if (!*t.kernel)
		t.kernel = mangled;
	return VEC_PUSH(&c->answer.kernels, t) ? &c->answer.kernels.v[c->answer.kernels.n - 1]
					       : NULL;
}

/* Launches in a log are grouped by kernel, so that one lookup serves many. */
static bool cuda_add_times(
	struct cuda *c, const struct cuda_processes *p, bool is_sampled, struct incore_error *e)
{
	EACH (const struct cuda_process, x, p->v.v, p->v.n) {
		struct cuda_timing *t = NULL;

		EACH (const struct cuda_log_launch, l, x->log.launches.v, x->log.launches.n) {
			uint64_t ns = l->launch.end_ns > l->launch.start_ns
					      ? l->launch.end_ns - l->launch.start_ns
					      : 0;

			if (!t || t->name != l->launch.name)
				t = timing_of(c, &x->log, l->launch.name);
			if (!t)
				return err_nomem(e);
			t->n[is_sampled]++;
			t->ns[is_sampled] += ns;
			t->rest_n[is_sampled] += l->ordinal > 1;
			t->rest_ns[is_sampled] += l->ordinal > 1 ? ns : 0;
		}
	}
	EACH (struct cuda_timing, t, c->answer.kernels.v, c->answer.kernels.n)
		if (!cuda_is_wanted(c, t->kernel, &t->is_chosen, e))
			return false;
	return true;
}

static double mean_us(uint64_t ns, uint64_t n)
{
	return n ? (double)ns / (double)n / 1e3 : NAN;
}

ORDER(by_time, struct cuda_timing, DOWN(total_us) A_TO_Z(kernel))

/* Sorts, sums up, and says which are chosen. */
static bool cuda_end_times(struct cuda *c, struct incore_error *e)
{
	double with = 0, without = 0;
	bool any = false;

	EACH (struct cuda_timing, t, c->answer.kernels.v, c->answer.kernels.n) {
		bool has_look = t->n[0] > 0;

		t->launches = has_look ? t->n[0] : t->n[1];
		t->total_us = (double)t->ns[!has_look] / 1e3;
		t->mean_us = mean_us(t->ns[!has_look], t->launches);
		t->sampled_mean_us = mean_us(t->ns[1], t->n[1]);
		any |= t->is_chosen;
		if (!t->rest_n[0] || !t->rest_n[1] || !t->rest_ns[0])
			continue;
		t->overhead = 100 * (mean_us(t->rest_ns[1], t->rest_n[1]) /
						    mean_us(t->rest_ns[0], t->rest_n[0]) -
					    1);
		if (t->is_chosen && t->rest_n[0] == t->rest_n[1]) {
			with += (double)t->rest_ns[1];
			without += (double)t->rest_ns[0];
		}
	}
	if (without > 0)
		c->answer.overhead = 100 * (with / without - 1);
	SORT(c->answer.kernels.v, c->answer.kernels.n, by_time);
	if (any || !c->answer.kernels.n)
		return true;
	return err_set(e, INCORE_NO, "no-such-kernel",
		"no launched kernel matches --kernel: the one that took the most time is %s",
		c->answer.kernels.v[0].kernel);
}

/* --- the period --- */

static uint32_t log2_of(double v)
{
	return v <= 1 ? 0 : (uint32_t)floor(log2(v));
}

/* SMs times cycles per second: each SM takes one sample per period, so this is the sample rate at a
 * period of one cycle. */
static double sampler_rate(const struct cuda_processes *p)
{
	double rate = 0;

	EACH (const struct cuda_process, x, p->v.v, p->v.n)
		EACH (const struct cuda_log_device, d, x->log.devices.v, x->log.devices.n) {
			double r = (double)d->device.sms * (double)d->device.clock_khz * 1e3;

			rate = r > rate ? r : rate;
		}
	return rate;
}

/* Sorts, sums up, and says which are chosen. */
static bool cuda_choose_period(
	struct cuda *c, const struct cuda_processes *p, struct incore_error *e)
{
	double rate = sampler_rate(p), least_s = INFINITY, all_s = 0;
	uint32_t for_count, for_rate, for_all;

	if (c->q->period != NO_COUNT)
		return true;
	EACH (const struct cuda_timing, t, c->answer.kernels.v, c->answer.kernels.n) {
		all_s += (double)t->ns[0] / 1e9;
		if (t->is_chosen && t->ns[0] && (double)t->ns[0] / 1e9 < least_s)
			least_s = (double)t->ns[0] / 1e9;
	}
	if (rate <= 0 || isinf(least_s)) {
		c->answer.period_because = "nothing was seen that it could follow from";
		return true;
	}
	for_count = log2_of(rate * least_s / GOOD_SAMPLES);
	for_rate = log2_of(rate / MOST_PER_SECOND) + 1;
	for_all = log2_of(rate * all_s / MOST_AT_ONCE) + 1;
	for_rate = for_rate < for_all ? for_rate : for_all;
	c->period_log2 = for_count > for_rate ? for_count : for_rate;
	if (c->period_log2 < STEADY && rate * least_s / (1u << STEADY) >= FEW)
		c->period_log2 = STEADY;
	if (c->period_log2 == UNSTEADY)
		c->period_log2 += for_rate >= UNSTEADY ? 1 : -1;
	c->period_log2 = c->period_log2 < SHORTEST  ? SHORTEST
			 : c->period_log2 > LONGEST ? LONGEST
						    : c->period_log2;
	c->answer.period_because =
		c->period_log2 >= for_rate
			? arena_printf(&c->arena,
				  "the wanted kernel with the least time has %.3f ms, and gets about %.0f samples",
				  least_s * 1e3,
				  rate * least_s / (double)(UINT64_C(1) << c->period_log2))
			: "the shortest that the buffers are known to take";
	return c->answer.period_because || err_nomem(e);
}

/* --- captures --------------------------------------------------------------------------------- */

/*
 * Turns the logs of processes into packed captures and checks each.
 */

/* The n-th process of the sampled run and the n-th of the exact run did the same work if both runs
 * have equally many processes. */
static const struct cuda_process *partner_of(
	const struct cuda_processes *samples, const struct cuda_processes *exact, size_t i)
{
	return exact->v.n == samples->v.n ? &exact->v.v[i] : NULL;
}

static uint64_t cuda_pack_launches_of(const struct cuda_log *l, uint64_t name, uint32_t device)
{
	uint64_t n = 0;

	EACH (const struct cuda_log_launch, x, l->launches.v, l->launches.n)
		n += x->launch.name == name && x->launch.device == device;
	return n;
}

/* An exact run has no activity records, so the kernels of a graph are not known. */
static bool has_graphs(const struct cuda_log *l)
{
	EACH (const struct cuda_log_launch, x, l->launches.v, l->launches.n) {
		if (!cuda_log_text(l, x->launch.name).n)
			return true;
	}
	return false;
}

/* Writes one log with the samples and the exact counts of one process. */
static bool cuda_pack_join(struct cuda *c, const struct cuda_process *a,
	const struct cuda_process *b, const char **path, struct incore_error *e)
{
	struct out_file out = {0};
	bool ok;

	*path = a->path;
	if (!b)
		return true;
	*path = arena_printf(&c->arena, "%s.joined" CUDA_LOG_SUFFIX, a->path);
	if (!*path)
		return err_nomem(e);
	/* data after a damaged record would not be read */
	ok = out_file_open(&out, *path, e) &&
	     (fwrite(a->file.data, 1, a->log.damage ? a->log.damage_at : a->file.size, out.f) ==
			     (a->log.damage ? a->log.damage_at : a->file.size) ||
		     err_write(e)) &&
	     (fwrite(b->file.data, 1, b->file.size, out.f) == b->file.size || err_write(e)) &&
	     out_file_commit(&out, e);
	out_file_abort(&out);
	return ok;
}

static bool pack_kernel(
	struct cuda *c, const char *path, struct cuda_file *f, struct incore_error *e)
{
	struct pack_request r = {
		.path = path, .dir = c->q->dir, .kernel = f->kernel, .drive = &c->q->drive};
	struct pack_result got;

	if (!pack_capture(&r, &c->arena, &got, e))
		return false;
	f->file = got.file;
	f->verdict = got.verdict;
	f->health = got.health;
	f->samples = got.samples;
	f->dropped = got.dropped;
	f->is_exact = got.has_counts;
	c->answer.period_cyc = got.period_cyc;
	return VEC_PUSH(&c->answer.captures, *f) || err_nomem(e);
}

static bool pack_process(struct cuda *c, const struct cuda_process *p,
	const struct cuda_process *partner, size_t number, struct incore_error *e)
{
	const struct cuda_log *l = &p->log;
	const char *path;

	if (!cuda_pack_join(c, p, partner, &path, e))
		return false;
	for (uint32_t i = 0; i < l->n_captures; i++) {
		const struct cuda_kernel *k = &l->kernels.v[i];
		struct str name = cuda_log_text(l, k->name);
		const char *mangled = arena_strndup(&c->arena, name.p, name.n);
		const char *part = arena_printf(&c->arena, "%s#%u", path, i);
		struct cuda_file f = {.process = number,
			.device = k->device,
			.launches = cuda_pack_launches_of(l, k->name, k->device)};
		bool is_wanted = false;

		if (!mangled || !part || !(f.kernel = demangle(mangled, &c->arena)))
			return err_nomem(e);
		f.kernel = *f.kernel ? f.kernel : mangled;
		if (!cuda_is_wanted(c, mangled, &is_wanted, e))
			return false;
		if (!is_wanted)
			continue;
		if (partner &&
			cuda_pack_launches_of(&partner->log, k->name, k->device) != f.launches &&
			!has_graphs(&partner->log) &&
			!cuda_warn(c, e,
				arena_printf(&c->arena,
					"%s: launched %llu times in the run with samples and %llu times in the exact one: counts and samples are of different work",
					f.kernel, (unsigned long long)f.launches,
					(unsigned long long)cuda_pack_launches_of(
						&partner->log, k->name, k->device))))
			return false;
		if (!pack_kernel(c, part, &f, e))
			return false;
	}
	return true;
}

/* --- cuda_pack.c --- */
static bool cuda_pack(struct cuda *c, struct cuda_processes *samples, struct cuda_processes *exact,
	struct incore_error *e)
{
	bool ok = true;

	if (exact->v.n && exact->v.n != samples->v.n)
		ok = cuda_warn(c, e,
			"the exact run had another number of processes: its counts are left out");
	for (size_t i = 0; ok && i < samples->v.n; i++)
		ok = pack_process(c, &samples->v.v[i], partner_of(samples, exact, i), i, e);
	return ok;
}

/* --- the driver ------------------------------------------------------------------------------- */

/*
 * The runs, one after the other, and how their results are combined.
 */

#define USUAL_PERIOD 12u /* log2 of cycles, used if nothing is known */

void cuda_init(struct cuda *c, const struct cuda_request *q)
{
	*c = (struct cuda){.q = q,
		.answer = {.place = {.directory = q->dir}, .mode = q->mode, .overhead = NAN}};
	arena_init(&c->arena);
	while (q->period != NO_COUNT && UINT64_C(1) << c->period_log2 > q->period)
		c->period_log2--;
	while (q->period != NO_COUNT && UINT64_C(1) << c->period_log2 < q->period)
		c->period_log2++;
}

void cuda_deinit(struct cuda *c)
{
	for (size_t i = 0; i < c->answer.runs.n; i++)
		job_result_deinit(&c->answer.runs.v[i].result);
	VEC_FREE(&c->answer.runs);
	VEC_FREE(&c->answer.kernels);
	VEC_FREE(&c->answer.captures);
	VEC_FREE(&c->answer.warnings);
	name_filter_deinit(&c->wanted);
	name_filter_deinit(&c->unwanted);
	journal_close(&c->journal);
	arena_deinit(&c->arena);
}

static struct cuda_run_row *last_run(struct cuda *c)
{
	return &c->answer.runs.v[c->answer.runs.n - 1];
}

static void remove_logs(struct cuda *c)
{
	for (size_t i = 0; i < c->answer.runs.n && !c->q->keeps_raw; i++) {
		remove_tree(c->answer.runs.v[i].folder);
		leftover_drop(c->answer.runs.v[i].folder);
	}
}

/* A run without the sampler. */
static bool cuda_capture_look(struct cuda *c, struct incore_error *e)
{
	struct cuda_processes p = {0};
	bool ok = cuda_run(c, CUDA_LOOK, e) && cuda_open_logs(c, last_run(c), &p, e) &&
		  cuda_judge_logs(c, last_run(c), &p, e) && cuda_add_times(c, &p, false, e) &&
		  cuda_choose_period(c, &p, e);

	cuda_processes_deinit(&p);
	return ok;
}

/* The application's own failure is reported once the captured data is safe. */
static bool cuda_capture_app_failed(struct cuda *c, struct incore_error *e)
{
	const struct cuda_run_row *r = last_run(c);
	struct strbuf how = {0};

	job_describe(&(struct job){.argv = c->q->drive.app, .limit_ms = c->q->limit_s * 1000},
		&r->result.process, &how);
	c->app_status = (int)r->status;
	err_set(e, INCORE_FAILED, "app-failed",
		"%s with the application: %s; %zu capture%s; log %s; it ends: %.*s", r->name,
		how.p ? how.p : "", c->answer.captures.n, plural(c->answer.captures.n), r->log,
		STR_ARG(job_last_line(&r->result)));
	sb_free(&how);
	return false;
}

static bool warn_of_counts(
	struct cuda *c, const struct cuda_processes *exact, struct incore_error *e)
{
	size_t n = 0;

	EACH (const struct cuda_process, p, exact->v.v, exact->v.n)
		n += p->log.counts.n;
	return n || cuda_warn(c, e, "the exact run gave no counts: captures are without them");
}

static bool cuda_capture_take_samples(struct cuda *c, struct incore_error *e)
{
	enum cuda_mode mode = !strcmp(c->q->mode, "serialised") ? CUDA_SERIALISED : CUDA_CONTINUOUS;
	struct cuda_processes samples = {0}, exact = {0};
	struct incore_error late = {0};
	size_t at;
	bool ok = cuda_run(c, mode, e), is_failed;

	at = c->answer.runs.n - 1;
	is_failed = ok && c->answer.runs.v[at].status;
	ok = ok && cuda_open_logs(c, &c->answer.runs.v[at], &samples, e) &&
	     (is_failed || cuda_judge_logs(c, &c->answer.runs.v[at], &samples, e)) &&
	     cuda_add_times(c, &samples, true, e) && cuda_end_times(c, e);
	if (ok && c->q->is_exact && !is_failed)
		ok = cuda_run(c, CUDA_EXACT, e) && cuda_open_logs(c, last_run(c), &exact, e) &&
		     cuda_judge_logs(c, last_run(c), &exact, e) && warn_of_counts(c, &exact, e);
	/* samples are kept even if the exact run failed */
	if (samples.v.n && !cuda_pack(c, &samples, &exact, ok ? e : &late))
		ok = false;
	incore_error_clear(&late);
	cuda_processes_deinit(&samples);
	cuda_processes_deinit(&exact);
	if (ok && (is_failed || last_run(c)->status))
		ok = cuda_capture_app_failed(c, e);
	return ok;
}

static bool cuda_capture_plan_only(struct cuda *c, struct incore_error *e)
{
	(void)e;
	c->answer.verdict = "planned";
	return true;
}

static bool cuda_capture_run_all(struct cuda *c, struct incore_error *e)
{
	bool ok = true;

	progress_begin(c->q->drive.progress, "runs",
		(uint64_t)!c->q->has_no_look + !c->q->is_list + c->q->is_exact);
	if (!c->q->has_no_look)
		ok = cuda_capture_look(c, e) &&
		     (!last_run(c)->status || cuda_capture_app_failed(c, e));
	progress_add(c->q->drive.progress, 1);
	if (ok && c->q->is_list)
		ok = cuda_end_times(c, e);
	else if (ok)
		ok = cuda_capture_take_samples(c, e);
	progress_end(c->q->drive.progress);
	return ok;
}

bool cuda_take(struct cuda *c, struct incore_error *e)
{
	bool ok;

	if ((c->q->kernel && !name_filter_init(&c->wanted, c->q->kernel, e)) ||
		(c->q->exclude && !name_filter_init(&c->unwanted, c->q->exclude, e)) ||
		!cuda_find_tools(c, e))
		return false;
	if (c->q->is_dry)
		return cuda_capture_plan_only(c, e);
	if (!folder_open(&c->answer.place, c->q->dir, &c->journal, &c->arena, e))
		return false;
	ok = cuda_capture_run_all(c, e);
	c->is_no = !c->q->is_list && !c->answer.captures.n;
	c->answer.verdict = c->q->is_list ? "listed" : c->is_no ? "nothing" : "captured";
	remove_logs(c);
	return folder_write_result(c->q->dir, &cuda_record, &c->answer, &c->arena, ok, e);
}
