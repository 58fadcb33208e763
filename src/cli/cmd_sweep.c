/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_sweep.c: incore sweep: what a terminal shows of a running plan, and one attempt of one task,
 * which the driver and Slurm start. The rest are questions (verbs/sweep.c). */
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/ask.h"
#include "cli/output.h"
#include "sweep/shim.h"
#include "sweep/sweep.h"

/* --- a table on a terminal, redrawn in place; events as JSON for programs --- */

struct sweep_live {
	bool as_json, is_shown;
	unsigned n_lines; /* on the screen */
	unsigned width;
	uint64_t drawn_ms;
};
#define REDRAW_MS 200
#define MOST_ROWS 16u

static void put_line(struct sweep_live *l, struct strbuf *screen, struct str text)
{
	struct strbuf plain = {0};

	sb_plain(&plain, text);
	sb_puts(screen, "\r\033[K");
	sb_add(screen, plain.p ? plain.p : "", plain.n < l->width ? plain.n : l->width);
	sb_putc(screen, '\n');
	l->n_lines++;
	sb_free(&plain);
}

static void put_task(struct sweep_live *l, struct strbuf *screen, const struct sweep *s, uint64_t i)
{
	const struct sweep_task *t = &s->tasks[i];
	struct strbuf text = {0};
	struct arena a;
	const char *label;

	arena_init(&a);
	label = sweep_label(&s->plan, sweep_cell_of(&s->plan, i), &a);
	sb_printf(&text, "  %-12s %6.1f s  %s", t->where && *t->where ? t->where : "-",
		(double)(sweep_now_ms() - t->began_ms) / 1000, label ? label : "");
	if (t->attempts > 1)
		sb_printf(&text, " (attempt %u)", t->attempts);
	put_line(l, screen, (struct str){text.p ? text.p : "", text.n});
	sb_free(&text);
	arena_deinit(&a);
}

static void draw_live(struct sweep_live *l, const struct sweep *s)
{
	uint64_t total = s->plan.n_tasks - s->n_excluded, rows = 0;
	struct strbuf screen = {0}, head = {0};

	if (l->n_lines)
		sb_printf(&screen, "\033[%uA", l->n_lines);
	l->n_lines = 0;
	sb_printf(&head,
		"%s: %llu of %llu done, %llu failed, %llu running, %llu retried, %zu devices sick",
		s->name, (unsigned long long)(s->counts[SWEEP_OK] + s->counts[SWEEP_FAILED]),
		(unsigned long long)total, (unsigned long long)s->counts[SWEEP_FAILED],
		(unsigned long long)s->counts[SWEEP_RUNNING], (unsigned long long)s->n_retries,
		s->sick.n);
	put_line(l, &screen, (struct str){head.p ? head.p : "", head.n});
	for (uint64_t i = 0; i < s->plan.n_tasks && rows < MOST_ROWS; i++)
		if (s->tasks[i].state == SWEEP_RUNNING) {
			put_task(l, &screen, s, i);
			rows++;
		}
	sb_puts(&screen, "\033[J");
	if (!screen.failed)
		fputs(screen.p, stderr);
	fflush(stderr);
	sb_free(&screen);
	sb_free(&head);
}

static void end_live(struct sweep_live *l)
{
	if (l->n_lines)
		fprintf(stderr, "\033[%uA\033[J", l->n_lines);
	l->n_lines = 0;
}

/* Shows an event of a running sweep, a line of JSON; without one, only how far it is. */
static void show_event(void *ctx, const void *state, const char *line)
{
	struct sweep_live *l = ctx;
	struct winsize size;
	uint64_t now = sweep_now_ms();

	if (!state) {
		end_live(l);
		return;
	}
	if (l->as_json && line)
		fprintf(stderr, "%s\n", line);
	if (!l->is_shown || now - l->drawn_ms < REDRAW_MS)
		return;
	l->drawn_ms = now;
	l->width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20
			   ? size.ws_col - 1u
			   : 79;
	draw_live(l, state);
}

static void watch_sweep(struct cli *c, struct request *r)
{
	static struct sweep_live live;

	live = (struct sweep_live){.as_json = c->use_json,
		.is_shown = !c->use_json && c->progress && isatty(STDERR_FILENO)};
	r->watch = show_event;
	r->watch_ctx = &live;
}

/* --- one attempt --- */

struct cell_params {
	const char *base, *list;
	uint64_t task, attempt, index;
};
#define FIELD(M) OPTION_FIELD(cell_params, M)
static const struct option_def cell_options[] = {
	{OPT_BASE, NULL, ".", "folder of the plan", FIELD(base)},
	{OPT_TASK_NUMBER, NULL, NULL, "number of the task", FIELD(task)},
	{OPT_ATTEMPT, NULL, "1", "number of the attempt", FIELD(attempt)},
	{OPT_LIST_FILE, NULL, NULL, "file with tasks and attempts, one per line", FIELD(list)},
	{OPT_INDEX, NULL, NULL, "line of the list, from 0", FIELD(index)},
	OPTION_END,
};

static bool run_attempt(struct cli *c, const struct cell_params *p)
{
	struct sweep_shim s = {.dir = c->args[0],
		.base = p->base,
		.task = p->task,
		.attempt = (uint32_t)p->attempt,
		.is_cancelled = output_interrupted,
		.cancel_signal = output_signal};
	bool has_task = p->task != NO_COUNT, has_index = p->index != NO_COUNT;

	if (!p->list != !has_index || !p->list != has_task || !s.attempt)
		return err_set(&c->error, INCORE_USAGE, "missing-option",
			"sweep cell needs --task N, or --list FILE with --index N");
	if (p->list && !sweep_shim_pick(&s, p->list, p->index, &c->error))
		return false;
	output_finish_on_signals();
	return sweep_shim_run(&s, &c->error);
}

static bool run_cell(struct cli *c)
{
	struct asked x;
	bool ok = cli_begin(c, &x) && run_attempt(c, x.request.params);

	cli_answered(&x);
	return ok;
}

static const struct verb cell_verb = {
	.name = "sweep cell",
	.args = "DIR",
	.summary = "run one attempt of one task, as the driver and Slurm do",
	.options = cell_options,
	.params_size = sizeof(struct cell_params),
	.min_args = 1,
	.max_args = 1,
	.run = run_cell,
};

extern const struct question question_sweep_run, question_sweep_status, question_sweep_cancel;
static const struct verb run_verb = {
	.name = "sweep run", .question = &question_sweep_run, .prepare = watch_sweep};

const struct verb verb_sweep = {
	.name = "sweep",
	.args = "PLAN",
	.summary = "run a plan of many captures over devices or Slurm",
	.subs = (const struct verb *const[]){&run_verb, SUB_VERB("sweep status", sweep_status),
		SUB_VERB("sweep cancel", sweep_cancel), &cell_verb, NULL},
	.otherwise = &run_verb,
};
