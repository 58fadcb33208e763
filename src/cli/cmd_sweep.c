/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_sweep.c: incore sweep: what a terminal shows of a running plan. Its subcommands are questions
 * (verbs/sweep.c). */
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/cli.h"
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
static void show_event(void *ctx, const char *line, const void *state)
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

	live = (struct sweep_live){.as_json = c->options.json,
		.is_shown = !c->options.json && c->progress && isatty(STDERR_FILENO)};
	r->tell = show_event;
	r->tell_ctx = &live;
}

extern const struct question question_sweep_run, question_sweep_status, question_sweep_cancel,
	question_sweep_cell;
static const struct verb run_verb = {
	.name = "sweep run", .question = &question_sweep_run, .prepare = watch_sweep};

const struct verb verb_sweep = {
	.name = "sweep",
	.args = "PLAN",
	.summary = "run a plan of many captures over devices or Slurm",
	.subs = (const struct verb *const[]){&run_verb, SUB_VERB("sweep status", sweep_status),
		SUB_VERB("sweep cancel", sweep_cancel), SUB_VERB("sweep cell", sweep_cell), NULL},
	.otherwise = &run_verb,
};
