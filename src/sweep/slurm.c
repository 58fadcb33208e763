/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm.c: tasks as job arrays. Slurm schedules; we submit, query the state of jobs, and gather
 * results from the folder, which all nodes share. A submission is journaled by the name of its jobs
 * before sbatch runs: a driver that is killed in between finds them again by that name.
 */
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "sweep/sweep.h"

#define ASK_MS 60000
#define TICK_MS 200
#define DEFAULT_MAX_ARRAY 1001u /* Slurm's default */
#define MISSES 2 /* queries before a job without a result is given up: a shared folder may lag */
#define SPARE_MINUTES 2u /* Slurm's time limit exceeds that of the task by this */

static bool slurm_run_tool(
	const char *const *argv, struct strbuf *out, bool *does_work, struct incore_error *e)
{
	struct process_result r;

	if (!process_run(
		    &(struct process_spec){.argv = argv, .output = out, .limit_ms = ASK_MS}, &r, e))
		return false;
	if (r.end == PROCESS_NOT_STARTED)
		return err_set(e, INCORE_FAILED, "no-slurm",
			"%s cannot be started: Slurm's commands must be in PATH", argv[0]);
	*does_work = r.end == PROCESS_EXITED && r.code == 0;
	return true;
}

/* --- submitting --- */

/* Writes one line per job of the array: its task and attempt. */
static bool slurm_write_list(const struct sweep *s, const char *path, const uint32_t *tasks,
	size_t n, struct incore_error *e)
{
	struct strbuf text = {0};
	bool ok;

	for (size_t i = 0; i < n; i++)
		sb_printf(&text, "%u %u\n", tasks[i], s->tasks[tasks[i]].attempts + 1);
	ok = (!text.failed || err_nomem(e)) && out_file_text(path, (struct str){text.p, text.n}, e);
	sb_free(&text);
	return ok;
}

static bool slurm_write_script(
	struct sweep *s, const char *path, const char *list, struct incore_error *e)
{
	const char *program = sweep_own_program(&s->arena);
	const char *const argv[] = {
		program, "sweep", "cell", "--base", s->base, "--list", list, s->dir, NULL};
	struct strbuf text = {0};
	bool ok;

	sb_puts(&text, "#!/bin/sh\nexec ");
	process_quote(argv, &text);
	sb_puts(&text, " --index \"$SLURM_ARRAY_TASK_ID\"\n");
	ok = ((program && !text.failed) || err_nomem(e)) &&
	     out_file_text(path, (struct str){text.p, text.n}, e);
	sb_free(&text);
	return ok;
}

struct slurm_words {
	VEC(const char *) v;
	struct arena *arena;
	bool failed;
};

static void slurm_add(struct slurm_words *w, const char *word)
{
	w->failed |= !word || !VEC_PUSH(&w->v, word);
}

#define ADD(W, ...) slurm_add((W), arena_printf((W)->arena, __VA_ARGS__))

static void put_needs(const struct sweep_plan *p, struct slurm_words *w)
{
	if (p->slurm.partition)
		ADD(w, "--partition=%s", p->slurm.partition);
	if (p->slurm.gres)
		ADD(w, "--gres=%s", p->slurm.gres);
	else if (p->needs.devices)
		ADD(w, "--gres=gpu:%llu", (unsigned long long)p->needs.devices);
	ADD(w, "--cpus-per-task=%llu", (unsigned long long)p->needs.cpus);
	if (p->needs.memory_bytes)
		ADD(w, "--mem=%lluK", (unsigned long long)(p->needs.memory_bytes + 1023) >> 10);
	if (p->needs.is_exclusive)
		slurm_add(w, "--exclusive");
	if (p->timeout_ms)
		ADD(w, "--time=%llu",
			(unsigned long long)(p->timeout_ms + 59999) / 60000 + SPARE_MINUTES);
	for (size_t i = 0; i < p->slurm.options.n; i++)
		slurm_add(w, p->slurm.options.v[i].text);
}

/* Submits an array and reads its id from sbatch --parsable: "12" or "12;cluster". */
static bool submit_array(struct sweep *s, const char *name, const char *stem, size_t n,
	const char **id, struct incore_error *e)
{
	struct slurm_words w = {.arena = &s->arena};
	struct strbuf out = {0};
	struct str line = {NULL, 0};
	bool does_work = false, ok;

	slurm_add(&w, "sbatch");
	slurm_add(&w, "--parsable");
	slurm_add(&w, "--no-requeue"); /* we decide about retries and count them */
	ADD(&w, "--job-name=%s", name);
	if (s->plan.slurm.throttle)
		ADD(&w, "--array=0-%zu%%%llu", n - 1, (unsigned long long)s->plan.slurm.throttle);
	else
		ADD(&w, "--array=0-%zu", n - 1);
	ADD(&w, "--output=%s-%%a.log", stem);
	ADD(&w, "--chdir=%s", s->base);
	put_needs(&s->plan, &w);
	ADD(&w, "%s.sh", stem);
	ok = (!w.failed && VEC_PUSH(&w.v, NULL)) || err_nomem(e);
	ok = ok && slurm_run_tool(w.v.v, &out, &does_work, e);
	if (ok) {
		line = str_trim((struct str){out.p ? out.p : "", out.n});
		*id = arena_strndup(&s->arena, line.p, strcspn(line.p, ";\n"));
	}
	if (ok && !does_work)
		ok = err_set(e, INCORE_FAILED, "sbatch-failed", "sbatch: %.*s", STR_ARG(line));
	ok = ok && (*id || err_nomem(e));
	VEC_FREE(&w.v);
	sb_free(&out);
	return ok;
}

static bool submit(struct sweep *s, const uint32_t *tasks, size_t n, struct incore_error *e)
{
	static const struct sweep_result none = {
		.outcome = "cancelled", .how = "sbatch did not take it", .status = 1};
	unsigned number = (unsigned)s->submissions.n + 1;
	const char *folder = arena_printf(&s->arena, "%s/slurm", s->dir);
	const char *stem = arena_printf(&s->arena, "%s/slurm/%u", s->dir, number);
	const char *list = arena_printf(&s->arena, "%s/slurm/%u.list", s->dir, number);
	const char *script = arena_printf(&s->arena, "%s/slurm/%u.sh", s->dir, number);
	const char *name =
		arena_printf(&s->arena, "incore-%llx-%u", (unsigned long long)s->begun_ms, number);
	const char *id = NULL;

	if (!folder || !stem || !list || !script || !name)
		return err_nomem(e);
	if (!sweep_make_folders(folder, e) || !slurm_write_list(s, list, tasks, n, e) ||
		!slurm_write_script(s, script, list, e) || !sweep_note_submit(s, name, tasks, n, e))
		return false;
	if (submit_array(s, name, stem, n, &id, e))
		return sweep_note_job(s, number, id, e);
	for (size_t i = 0; i < n; i++)
		if (!sweep_settle(s, tasks[i], &none, NULL, NULL))
			break;
	return false;
}

/* Maximum number of jobs in an array. */
static bool max_array(size_t *most, struct incore_error *e)
{
	static const char *const argv[] = {"scontrol", "show", "config", NULL};
	struct strbuf out = {0};
	struct str rest, line, word;
	bool does_work = false, ok = slurm_run_tool(argv, &out, &does_work, e);
	uint64_t n = DEFAULT_MAX_ARRAY;

	for (rest = (struct str){out.p, out.n}; ok && str_cut(&rest, "\n", &line);)
		if (str_starts(line, "MaxArraySize") && str_cut(&line, "=", &word))
			str_to_u64(str_trim(line), &n);
	sb_free(&out);
	*most = n > 1 ? (size_t)n - 1 : 1; /* the largest index is one less */
	return ok;
}

static bool submit_waiting(struct sweep *s, struct incore_error *e)
{
	VEC(uint32_t) v = {0};
	size_t most = 0;
	bool ok = true;

	for (uint32_t i = 0; ok && i < s->plan.n_tasks; i++)
		if (s->tasks[i].state == SWEEP_WAITING && !s->tasks[i].is_excluded)
			ok = VEC_PUSH(&v, i) || err_nomem(e);
	ok = ok && (!v.n || max_array(&most, e));
	for (size_t at = 0; ok && at < v.n; at += most)
		ok = submit(s, v.v + at, v.n - at < most ? v.n - at : most, e);
	VEC_FREE(&v);
	return ok;
}

/* --- job states --- */

enum { JOB_GONE, JOB_ACTIVE, JOB_LOST, JOB_CANCELLED, JOB_TIMEOUT, JOB_OVER };

static uint8_t slurm_state_of(struct str word)
{
	static const struct {
		const char *word;
		uint8_t state;
	} STATES[] = {{"NODE_FAIL", JOB_LOST}, {"PREEMPTED", JOB_LOST}, {"BOOT_FAIL", JOB_LOST},
		{"REVOKED", JOB_LOST}, {"CANCELLED", JOB_CANCELLED}, {"TIMEOUT", JOB_TIMEOUT},
		{"DEADLINE", JOB_TIMEOUT}, {"COMPLETED", JOB_OVER}, {"FAILED", JOB_OVER},
		{"OUT_OF_MEMORY", JOB_OVER}};

	for (size_t i = 0; i < sizeof(STATES) / sizeof(*STATES); i++)
		if (str_starts(word, STATES[i].word))
			return STATES[i].state;
	return JOB_ACTIVE; /* pending, running, and what a later release may add */
}

struct answer_row {
	uint8_t state;
	char word[20];
};

/* Reported states of the jobs of one submission. */
struct said {
	uint32_t submission;
	struct answer_row *rows; /* by its number in the array */
	const char *id;
};

static void take_state(struct said *x, size_t n, struct str id, struct str word)
{
	ptrdiff_t at = str_rfind_char(id, '_');
	uint64_t i;

	if (at < 0 || !str_to_u64(str_sub(id, (size_t)at + 1, id.n), &i) || i >= n)
		return;
	x->rows[i].state = slurm_state_of(word);
	snprintf(x->rows[i].word, sizeof(x->rows[i].word), "%.*s", STR_ARG(word));
}

static struct said *said_of(const struct sweep *s, struct said *v, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (str_is(name, s->submissions.v[v[i].submission].name))
			return &v[i];
	return NULL;
}

/* Reads squeue's lines "name|12_3|RUNNING"; *does_work false: the controller does not answer. */
static bool ask_queue(
	struct sweep *s, struct said *v, size_t n, bool *does_work, struct incore_error *e)
{
	struct strbuf names = {0}, out = {0};
	const char *argv[] = {
		"squeue", "-h", "-r", "--me", "--states=all", NULL, "-o", "%j|%i|%T", NULL};
	struct str rest, line, name, id;
	bool ok;

	sb_puts(&names, "--name=");
	for (size_t i = 0; i < n; i++)
		sb_printf(&names, "%s%s", i ? "," : "", s->submissions.v[v[i].submission].name);
	argv[5] = names.p;
	ok = (!names.failed || err_nomem(e)) && slurm_run_tool(argv, &out, does_work, e);
	for (rest = (struct str){out.p, out.n}; ok && *does_work && str_cut(&rest, "\n", &line);) {
		struct said *x;

		if (!str_cut(&line, "|", &name) || !str_cut(&line, "|", &id))
			continue;
		x = said_of(s, v, n, name);
		if (!x)
			continue;
		take_state(x, s->submissions.v[x->submission].tasks.n, id, str_trim(line));
		if (!x->id)
			x->id = arena_strndup(&s->arena, id.p, strcspn(id.p, "_"));
	}
	sb_free(&names);
	sb_free(&out);
	return ok;
}

/* Asks accounting about jobs that the queue has forgotten; many clusters have no accounting. */
static bool ask_accounting(struct sweep *s, struct said *x, struct incore_error *e)
{
	const struct sweep_submission *u = &s->submissions.v[x->submission];
	const char *argv[] = {
		"sacct", "-n", "-X", "-P", "-j", u->job_id, "-o", "JobID,State", NULL};
	struct strbuf out = {0};
	struct str rest, line, id;
	bool does_work = false, ok;

	if (!u->job_id)
		return true;
	ok = slurm_run_tool(argv, &out, &does_work, e);
	if (!ok && err_is(e, "no-slurm")) {
		incore_error_clear(e);
		ok = true;
	}
	for (rest = (struct str){out.p, out.n}; ok && does_work && str_cut(&rest, "\n", &line);)
		if (str_cut(&line, "|", &id))
			take_state(x, u->tasks.n, id, str_trim(line));
	sb_free(&out);
	return ok;
}

/* --- gathering --- */

static bool settle_lost(
	struct sweep *s, uint32_t task, const struct answer_row *row, struct incore_error *e)
{
	static const char *const OUTCOMES[] = {[JOB_GONE] = "cut",
		[JOB_LOST] = "machine",
		[JOB_CANCELLED] = "cancelled",
		[JOB_TIMEOUT] = "timeout",
		[JOB_OVER] = "cut"};
	char how[96];

	snprintf(how, sizeof(how), "Slurm: %s, and no result",
		row->state == JOB_GONE ? "the job is not known any more" : row->word);
	return sweep_settle(s, task,
		&(struct sweep_result){.outcome = OUTCOMES[row->state], .how = how, .status = 1},
		NULL, e);
}

/* Takes the results that exist; *n_doubtful counts those that may still come. */
static bool slurm_gather(
	struct sweep *s, struct said *x, size_t *n_doubtful, struct incore_error *e)
{
	const struct sweep_submission *u = &s->submissions.v[x->submission];
	struct arena a;
	bool ok = true;

	arena_init(&a);
	for (size_t i = 0; ok && i < u->tasks.n; i++) {
		struct sweep_task *t = &s->tasks[u->tasks.v[i]];
		const char *dir;
		struct sweep_result r;
		bool is_there = false;

		if (t->state != SWEEP_RUNNING || t->submission != x->submission + 1)
			continue;
		dir = sweep_dir_of(s, u->tasks.v[i], t->attempts, &a);
		ok = (dir || err_nomem(e)) && sweep_result_read(dir, &a, &r, &is_there, e);
		if (ok && is_there)
			ok = sweep_note_end(s, u->tasks.v[i], &r, e);
		else if (x->rows[i].state == JOB_ACTIVE)
			t->missed = 0;
		else if (ok && ++t->missed < MISSES)
			++*n_doubtful;
		else if (ok)
			ok = settle_lost(s, u->tasks.v[i], &x->rows[i], e);
		arena_reset(&a);
	}
	arena_deinit(&a);
	return ok;
}

/* Queries Slurm about all open tasks, and takes the finished ones. */
static bool slurm_look(struct sweep *s, size_t *n_doubtful, struct incore_error *e)
{
	VEC(struct said) v = {0};
	bool ok = true, does_work = false;

	*n_doubtful = 0;
	for (uint32_t i = 0; ok && i < s->submissions.n; i++) {
		struct said x = {.submission = i};

		if (!s->submissions.v[i].n_open)
			continue;
		x.rows = mem_zalloc(s->submissions.v[i].tasks.n, sizeof(*x.rows));
		ok = (x.rows && VEC_PUSH(&v, x)) || err_nomem(e);
	}
	ok = ok && (!v.n || ask_queue(s, v.v, v.n, &does_work, e));
	for (size_t i = 0; ok && does_work && i < v.n; i++) {
		bool is_forgotten = false;

		for (size_t k = 0; k < s->submissions.v[v.v[i].submission].tasks.n; k++)
			is_forgotten |= v.v[i].rows[k].state == JOB_GONE;
		if (v.v[i].id && !s->submissions.v[v.v[i].submission].job_id)
			ok = sweep_note_job(s, v.v[i].submission + 1, v.v[i].id, e);
		ok = ok && (!is_forgotten || ask_accounting(s, &v.v[i], e)) &&
		     slurm_gather(s, &v.v[i], n_doubtful, e);
	}
	*n_doubtful += v.n && !does_work; /* the controller is away: states are unknown */
	for (size_t i = 0; i < v.n; i++)
		mem_free(v.v[i].rows);
	VEC_FREE(&v);
	return ok;
}

bool sweep_cancel_slurm(struct sweep *s, struct incore_error *e)
{
	static const struct sweep_result gone = {
		.outcome = "cancelled", .how = "cancelled", .status = 1};
	bool ok = true;

	for (size_t i = 0; ok && i < s->submissions.n; i++) {
		const struct sweep_submission *u = &s->submissions.v[i];
		struct strbuf out = {0};
		bool does_work;
		const char *argv[] = {"scancel", "--me", "-n", u->name, NULL};

		ok = !u->n_open || slurm_run_tool(argv, &out, &does_work, e);
		sb_free(&out);
		for (size_t k = 0; ok && k < u->tasks.n; k++) {
			const struct sweep_task *t = &s->tasks[u->tasks.v[k]];

			if (t->state == SWEEP_RUNNING && t->submission == i + 1)
				ok = sweep_settle(s, u->tasks.v[k], &gone, NULL, e);
		}
	}
	return ok;
}

/* --- main loop --- */

/* True if we are to stop following; *is_cancel: the whole sweep is to end, too. */
static bool wait_a_turn(struct sweep *s, const char *marker, bool *is_cancel)
{
	const struct sweep_request *q = s->q;

	for (uint64_t ms = 0; ms < s->plan.slurm.poll_ms; ms += TICK_MS) {
		*is_cancel = access(marker, F_OK) == 0;
		if (*is_cancel || (q->is_cancelled && q->is_cancelled(q->ctx)))
			return true;
		if (q->on_event)
			q->on_event(q->ctx, s, NULL);
		usleep(TICK_MS * 1000);
	}
	return false;
}

bool sweep_run_slurm(struct sweep *s, struct incore_error *e)
{
	const char *marker = arena_printf(&s->arena, "%s/" SWEEP_CANCEL, s->dir);
	bool is_cancel = false;
	size_t n_doubtful;

	if (!marker)
		return err_nomem(e);
	unlink(marker);
	if (!sweep_note_driver(s, e))
		return false;
	for (;;) {
		if (!slurm_look(s, &n_doubtful, e) || !submit_waiting(s, e))
			return false;
		if (sweep_is_done(s) || (!s->q->follows && !n_doubtful))
			return true;
		if (wait_a_turn(s, marker, &is_cancel))
			break;
	}
	if (is_cancel && !sweep_cancel_slurm(s, e))
		return false;
	return err_set(e, INCORE_FAILED, "interrupted", "%s; continue with incore sweep --resume",
		is_cancel ? "cancelled" : "interrupted, and Slurm continues with the jobs it has");
}
