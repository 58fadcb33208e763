/* SPDX-License-Identifier: Apache-2.0 */
/* att_plan.c: the settings for rocprofv3, at first and after each finding. */
#include "analysis/name_filter.h"
#include "base/file.h"
#include "capture/att.h"

#define FIRST_BUFFER ((uint64_t)96 << 20) /* documented as typical */
#define BUFFER_STEP 4
#define MAX_MIB 2048			   /* documented */
#define LAST_BUFFER ((uint64_t)1536 << 20) /* the next step would be over the limit */
/* Data rate of one shader engine with all SIMDs of one CU: streams of gfx950, gfx1100 and gfx1200
 * have 1.2 to 1.7 bytes per cycle while busy. */
#define BYTES_PER_NS 4
#define MAX_CU 15
#define SOME_ENGINES 0x11111111u
#define ALL_ENGINES 0xffffffffu
#define MAX_NAMES 8

/* --- input.yaml --- */

void att_put_set(const struct number_set *s, const char *range_open, const char *range_close,
	struct strbuf *out)
{
	for (size_t i = 0; i < s->ranges.n; i++) {
		const struct number_range *r = &s->ranges.v[i];

		sb_puts(out, i ? "," : "");
		if (r->first == r->last)
			sb_printf(out, "%llu", (unsigned long long)r->first);
		else
			sb_printf(out, "%s%llu-%llu%s", range_open, (unsigned long long)r->first,
				(unsigned long long)r->last, range_close);
	}
}

/* Checks that the installed release knows a key. */
static bool need_option(
	const struct att *a, const char *option, const char *ours, struct incore_error *e)
{
	if (rocprof_has(&a->tool, option))
		return true;
	return err_set(e, INCORE_USAGE, "tool-too-old",
		"rocprofv3 %s at %s has no %s, which %s needs", a->tool.version, a->tool.path,
		option, ours);
}

static bool att_plan_put_counters(const struct att *a, struct strbuf *out, struct incore_error *e)
{
	const struct att_request *q = a->q;

	if (q->counters && q->activity != NO_COUNT)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--counters and --activity exclude each other");
	if (q->counters) {
		if (!need_option(a, "--att-perfcounters", "--counters", e))
			return false;
		rocprof_put_key(out, "att_perfcounters", q->counters);
		if (rocprof_has(&a->tool, "--att-perfcounter-ctrl"))
			sb_puts(out, "    att_perfcounter_ctrl: 3\n");
	}
	if (q->activity != NO_COUNT) {
		if (q->activity < 1 || q->activity > 16)
			return err_set(
				e, INCORE_USAGE, "bad-option-value", "--activity takes 1 to 16");
		if (!need_option(a, "--att-activity", "--activity", e))
			return false;
		sb_printf(out, "    att_activity: %llu\n", (unsigned long long)q->activity);
	}
	if (q->gpus) {
		if (!need_option(a, "--att-gpu-index", "--gpu", e))
			return false;
		rocprof_put_key(out, "att_gpu_index", q->gpus);
	}
	return true;
}

static bool put_window(
	const struct att *a, const struct att_window *w, struct strbuf *out, struct incore_error *e)
{
	char text[32];

	sb_puts(out, "    advanced_thread_trace: true\n");
	if (w->kernel)
		rocprof_put_key(out, "kernel_include_regex", w->kernel);
	if (a->q->exclude)
		rocprof_put_key(out, "kernel_exclude_regex", a->q->exclude);
	sb_puts(out, "    kernel_iteration_range: \"[");
	att_put_set(&w->launches, "[", "]", out);
	sb_printf(out, "]\"\n    att_target_cu: %llu\n", (unsigned long long)w->cu);
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)w->se_mask);
	rocprof_put_key(out, "att_shader_engine_mask", text);
	if (w->simd != NO_COUNT) {
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)w->simd);
		rocprof_put_key(out, "att_simd_select", text);
	}
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)w->buffer_bytes);
	rocprof_put_key(out, "att_buffer_size", text);
	return att_plan_put_counters(a, out, e);
}

static bool put_yaml(const struct att *a, const struct att_window *w, const struct att_attempt *t,
	struct strbuf *out, struct incore_error *e)
{
	bool ok = true;

	rocprof_put_head(&a->tool, "capture att", a->q->drive.app, t->because, out);
	if (w)
		ok = put_window(a, w, out, e);
	else
		sb_puts(out, "    kernel_trace: true\n");
	rocprof_put_key(out, "output_file", w ? "out_%pid%" : "discover_%pid%");
	rocprof_put_key(out, "output_directory", t->run.raw);
	sb_printf(out, "    output_format: [%s]\n", w ? "json, csv" : "csv");
	return ok && (!out->failed || err_nomem(e));
}

bool att_plan(struct att *a, const struct att_window *w, const char *because,
	struct att_attempt *out, struct incore_error *e)
{
	struct att_attempt t = {.number = w ? a->answer.attempts.n + 1 : 0,
		.because = arena_strdup(&a->arena, because),
		.launches = "",
		.simd = NO_COUNT};
	struct strbuf b = {0};
	char name[32];
	bool ok;

	snprintf(
		name, sizeof(name), w ? "attempt_%llu" : "discovery", (unsigned long long)t.number);
	if (!t.because || !rocprof_run_place(&t.run, a->answer.place.directory, name, &a->arena) ||
		!rocprof_run_command(
			&t.run, &a->tool, a->q->drive.app, a->q->attach_pid, &a->arena))
		return err_nomem(e);
	if (w) {
		att_put_set(&w->launches, "", "", &b);
		t.launches = drive_text(&a->arena, &b);
		t.cu = w->cu;
		t.se_mask = w->se_mask;
		t.simd = w->simd;
		t.buffer_bytes = w->buffer_bytes;
	}
	ok = put_yaml(a, w, &t, &b, e);
	t.run.configuration = drive_text(&a->arena, &b);
	if (!ok)
		return false;
	*out = t;
	return (t.run.configuration && t.launches) || err_nomem(e);
}

/* --- the first window --- */

static bool att_plan_no_such_kernel(struct att *a, struct incore_error *e)
{
	struct strbuf names = {0};

	for (size_t i = 0; i < a->launches.kernels.n && i < MAX_NAMES; i++)
		sb_printf(&names, "%s%s", i ? ", " : "", a->launches.kernels.v[i].name);
	if (!a->launches.kernels.n)
		err_set(e, INCORE_NO, "no-such-kernel",
			"the application launches no kernel: does it use the GPU, and did the discovery run get its arguments?");
	else
		err_set(e, INCORE_NO, "no-such-kernel",
			"no kernel matches '%s'; the application launches %s%s", a->q->kernel,
			names.p ? names.p : "", a->launches.kernels.n > MAX_NAMES ? ", ..." : "");
	sb_free(&names);
	return false;
}

/* A regular expression that matches exactly this name. */
static const char *escaped_name(struct att *a, const char *name)
{
	struct strbuf b = {0};

	sb_putc(&b, '^');
	for (const char *p = name; *p; p++) {
		if (strchr("\\^$.|?*+()[]{}", *p))
			sb_putc(&b, '\\');
		sb_putc(&b, *p);
	}
	sb_putc(&b, '$');
	return drive_text(&a->arena, &b);
}

/* Marks the wanted kernels: those that match, or all with the name that takes most time. */
static bool want_kernels(struct att *a, uint32_t *n_wanted, struct incore_error *e)
{
	struct launches *l = &a->launches;
	struct name_filter f = {0}, excluded = {0};
	bool ok = !a->q->kernel || name_filter_init(&f, a->q->kernel, e);

	*n_wanted = 0;
	ok = ok && (!a->q->exclude || name_filter_init(&excluded, a->q->exclude, e));
	for (size_t i = 0; ok && i < l->kernels.n; i++) {
		const char *name = l->kernels.v[i].name;
		bool does = !a->q->kernel && strcmp(name, l->kernels.v[0].name) == 0,
		     is_out = false;

		if (a->q->kernel)
			ok = name_filter_match(&f, name, &does, e);
		if (ok && a->q->exclude)
			ok = name_filter_match(&excluded, name, &is_out, e);
		a->launches.kernels.v[i].is_chosen = does && !is_out;
		*n_wanted += a->launches.kernels.v[i].is_chosen;
	}
	name_filter_deinit(&f);
	name_filter_deinit(&excluded);
	return ok;
}

/* Chooses the second launch if there is one: the first suffers from cold caches and clocks. */
static bool choose_launch(struct att *a, struct incore_error *e)
{
	uint32_t most = 0;
	uint64_t asked = 0;

	for (size_t i = 0; i < a->launches.kernels.n; i++)
		if (a->launches.kernels.v[i].is_chosen && a->launches.kernels.v[i].launches > most)
			most = a->launches.kernels.v[i].launches;
	if (!a->q->launches)
		return number_set_parse(
			&a->window.launches, str_of(most > 1 ? "2" : "1"), "--launch", e);
	for (size_t i = 0; i < a->window.launches.ranges.n; i++)
		if (a->window.launches.ranges.v[i].last > asked)
			asked = a->window.launches.ranges.v[i].last;
	if (asked > most)
		return err_set(e, INCORE_NO, "no-such-launch",
			"launch %llu was asked for, and no matching kernel has more than %u launches",
			(unsigned long long)asked, most);
	return true;
}

/* Enlarges the buffer while the longest chosen kernel exceeds what one shader engine's share
 * holds. */
static void size_buffer(struct att *a)
{
	uint64_t longest = 0, engines = (uint64_t)__builtin_popcountll(a->window.se_mask);

	for (size_t i = 0; i < a->launches.kernels.n; i++)
		if (a->launches.kernels.v[i].is_chosen &&
			a->launches.kernels.v[i].longest_ns > longest)
			longest = a->launches.kernels.v[i].longest_ns;
	if (a->q->buffer_mib != NO_COUNT)
		return;
	while (a->window.buffer_bytes < LAST_BUFFER &&
		longest > a->window.buffer_bytes / BYTES_PER_NS / engines)
		a->window.buffer_bytes *= BUFFER_STEP;
}

bool att_choose(struct att *a, struct incore_error *e)
{
	uint32_t n_wanted;

	if (!want_kernels(a, &n_wanted, e))
		return false;
	if (!n_wanted)
		return att_plan_no_such_kernel(a, e);
	if (!a->q->kernel)
		a->window.kernel = escaped_name(a, a->launches.kernels.v[0].name);
	if (!a->window.kernel)
		return err_nomem(e);
	size_buffer(a);
	return choose_launch(a, e);
}

bool att_prepare(struct att *a, struct incore_error *e)
{
	const struct att_request *q = a->q;
	struct att_window *w = &a->window;

	if (!rocprof_find(&a->tool, q->tool, &a->arena, e))
		return false;
	a->answer.tool = a->tool.path;
	a->answer.version = a->tool.version;
	if (!rocprof_has(&a->tool, "--att") && !rocprof_has(&a->tool, "--advanced-thread-trace"))
		return err_set(e, INCORE_MISSING, "no-att",
			"rocprofv3 %s at %s has no thread trace (--att)", a->tool.version,
			a->tool.path);
	if (q->attach_pid != NO_COUNT && !need_option(a, "--attach", "--attach", e))
		return false;
	if (!q->has_no_discovery && !need_option(a, "--kernel-trace", "a discovery run", e))
		return false;
	*w = (struct att_window){.kernel = q->kernel,
		.cu = q->cu == NO_COUNT ? 1 : q->cu,
		.se_mask = q->se_mask == NO_COUNT ? 1 : q->se_mask,
		.simd = q->simd,
		.buffer_bytes = FIRST_BUFFER};
	if (w->cu > MAX_CU || !w->se_mask || w->se_mask > ALL_ENGINES)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--cu takes 0 to %d, --se a mask of 32 bits with one set", MAX_CU);
	if (q->buffer_mib != NO_COUNT)
		w->buffer_bytes = q->buffer_mib << 20;
	if (q->buffer_mib != NO_COUNT && (!q->buffer_mib || q->buffer_mib > MAX_MIB))
		return err_set(
			e, INCORE_USAGE, "bad-option-value", "--buffer takes 1 to %d MiB", MAX_MIB);
	if (!q->launches)
		return !q->has_no_discovery ||
		       number_set_parse(&w->launches, STR("1"), "--launch", e);
	if (!number_set_parse(&w->launches, str_of(q->launches), "--launch", e))
		return false;
	if (number_set_has(&w->launches, 0))
		return err_set(
			e, INCORE_USAGE, "bad-option-value", "--launch: the first launch is 1");
	return true;
}

/* --- the next window --- */

/* The longest launch not yet tried; without a discovery run the next one; 0: nothing left. */
static uint64_t other_launch(const struct att *a)
{
	uint64_t best = 0, best_ns = 0, next = 1;

	for (size_t i = 0; a->has_launches && i < a->launches.v.n; i++) {
		const struct seen_launch *x = &a->launches.v.v[i];

		if (a->launches.kernels.v[x->kernel].is_chosen &&
			!number_set_has(&a->tried, x->ordinal) && (!best || x->ns > best_ns)) {
			best = x->ordinal;
			best_ns = x->ns;
		}
	}
	if (a->has_launches)
		return best;
	while (number_set_has(&a->tried, next))
		next++;
	return next;
}

static bool steer_launch(struct att *a, struct strbuf *because)
{
	struct number_set *s = &a->window.launches;
	uint64_t n = other_launch(a);

	if (!n)
		return false;
	s->ranges.n = 0;
	if (!VEC_PUSH(&s->ranges, (struct number_range){n, n}))
		return false;
	sb_printf(because, "no wave did any work: launch %llu instead", (unsigned long long)n);
	return true;
}

static bool steer_place(struct att_window *w, const struct att_sight *s, struct strbuf *because)
{
	if (s->is_placed && s->se < 32 && s->cu <= MAX_CU &&
		(w->se_mask != (uint64_t)1 << s->se || w->cu != s->cu)) {
		sb_printf(because, "no wave ran on CU %llu: they did on CU %u of SE %u",
			(unsigned long long)w->cu, s->cu, s->se);
		w->se_mask = (uint64_t)1 << s->se;
		w->cu = s->cu;
		return true;
	}
	if (w->se_mask != ALL_ENGINES) {
		w->se_mask = (w->se_mask & SOME_ENGINES) == SOME_ENGINES
				     ? ALL_ENGINES
				     : SOME_ENGINES | w->se_mask;
		sb_printf(because, "nothing was traced: shader engines 0x%llx",
			(unsigned long long)w->se_mask);
		return true;
	}
	if (w->cu >= MAX_CU)
		return false;
	w->cu++;
	sb_printf(because, "nothing was traced on any shader engine: CU %llu",
		(unsigned long long)w->cu);
	return true;
}

static bool steer_room(struct att_window *w, const struct att_sight *s, struct strbuf *because)
{
	if (w->buffer_bytes <= LAST_BUFFER / BUFFER_STEP) {
		w->buffer_bytes *= BUFFER_STEP;
		sb_printf(because, "records were lost: a buffer of %llu MiB",
			(unsigned long long)(w->buffer_bytes >> 20));
		return true;
	}
	if (w->se_mask & (w->se_mask - 1)) {
		w->se_mask &= -w->se_mask;
		sb_printf(because,
			"records were lost at the largest buffer: shader engine 0x%llx alone",
			(unsigned long long)w->se_mask);
		return true;
	}
	if (s->gfx_major != 9 || (w->simd != NO_COUNT && !(w->simd & (w->simd - 1))))
		return false;
	w->simd = w->simd == NO_COUNT ? 1 : w->simd & -w->simd;
	sb_printf(because, "records were lost on one shader engine: SIMD mask 0x%llx",
		(unsigned long long)w->simd);
	return true;
}

bool att_steer(struct att *a, const struct att_sight *s, struct strbuf *because)
{
	if (s->is_empty)
		return steer_place(&a->window, s, because);
	if (s->is_early)
		return steer_launch(a, because);
	return s->is_truncated && steer_room(&a->window, s, because);
}

/* --- the command that repeats it --- */

const char *att_repeat(struct att *a)
{
	const struct att_request *q = a->q;
	const struct att_window *w = &a->window;
	struct strbuf b = {0};
	const struct {
		const char *option, *text;
	} texts[] = {{"--kernel", w->kernel}, {"--exclude", q->exclude}, {"--gpu", q->gpus},
		{"--counters", q->counters}, {"--tool", q->tool}};

	sb_puts(&b, "incore capture att");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (!texts[i].text)
			continue;
		sb_printf(&b, " %s ", texts[i].option);
		process_quote((const char *const[]){texts[i].text, NULL}, &b);
	}
	sb_puts(&b, " --launch ");
	att_put_set(&w->launches, "", "", &b);
	sb_printf(&b, " --cu %llu --se 0x%llx", (unsigned long long)w->cu,
		(unsigned long long)w->se_mask);
	if (w->simd != NO_COUNT)
		sb_printf(&b, " --simd 0x%llx", (unsigned long long)w->simd);
	sb_printf(&b, " --buffer %llu", (unsigned long long)(w->buffer_bytes >> 20));
	if (q->activity != NO_COUNT)
		sb_printf(&b, " --activity %llu", (unsigned long long)q->activity);
	sb_printf(&b, "%s --retries 0 -- ", q->has_no_discovery ? " --no-discovery" : "");
	process_quote(q->drive.app, &b);
	return drive_text(&a->arena, &b);
}
