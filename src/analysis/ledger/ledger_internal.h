/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_internal.h: what the files of the ledger share. */
#pragma once

#include <math.h>

#include "analysis/ledger/ledger.h"

static inline double lesser(double a, double b)
{
	return a < b ? a : b;
}

static inline double greater(double a, double b)
{
	return a > b ? a : b;
}

/* --- ledger_read.c: figures of the report --- */

struct stated_figure {
	const char *name;
	double value;
};
struct ledger_figures { /* sorted by name */
	struct stated_figure *v;
	size_t n;
};

bool ledger_read_figures(struct ledger *l, struct ledger_figures *f, struct incore_error *e);
bool ledger_read_rows(struct ledger *l, struct incore_error *e);
/* NaN: not counted. */
double ledger_stated(const struct ledger_figures *f, const char *name);
/* 0 if it was not counted. */
double ledger_counted(const struct ledger_figures *f, const char *name);
/* A share of the peak, 0..1, of a counter's .avg or .max; NaN: not counted. */
double ledger_share(const struct ledger_figures *f, const char *counter, const char *of);

/* --- rows --- */

/* Is it an instruction of that name? "MUFU" is one of "MUFU.RCP", "MUFU.RCP" only itself. */
bool ledger_is_op(const struct ledger_row *r, const char *name);
/* Executions of all rows of the names, separated by blanks. */
double ledger_count(const struct ledger *l, const char *names);
bool ledger_is_any(const struct ledger_row *r, const char *names);

/* --- changes --- */

struct change_maker {
	struct ledger *l;
	const struct ledger_figures *f;
	struct ledger_change c; /* being made */
	bool has_tree;		/* shared memory holds a tree of partial sums */
	bool is_failed;
};
/* The share of the latency that is left which is due to that reason, 0..1. */
double ledger_latency_of(const struct ledger *l, enum ledger_wait_id w);
double ledger_ratio(double part, double whole); /* 0 if the whole is 0 */
/* `factor` if the queue belongs to that owner, else 1. */
double ledger_queue_of(const struct ledger *l, enum ledger_owner o, double factor);
void change_begin(struct change_maker *m, enum ledger_change_id id, enum ledger_evidence evidence);
void change_counted(struct change_maker *m, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Adds rows for which cost() is above 0, the costliest first. */
typedef double (*row_cost_fn)(const struct ledger_row *r);
void change_rows(struct change_maker *m, row_cost_fn cost);
void change_end(struct change_maker *m); /* estimates it and adds it to the ledger */
struct ledger_effect effect_none(void);	 /* leaves everything */
/* Scales all units of an SM, and the queue if it is theirs. */
void effect_scale_sm(struct ledger_effect *x, double factor);
bool unit_is_of_sm(enum machine_unit u);

/* The effects of steps that a rule and a question have in common. */
void effect_grid(const struct ledger *l, double blocks, struct ledger_change *c);
bool effect_blocks(const struct ledger *l, double by, struct ledger_change *c);
void effect_reuse(const struct ledger *l, double side, struct ledger_change *c);
void effect_tile(const struct ledger *l, double side, struct ledger_change *c);
void effect_in_flight(const struct ledger *l, double by, struct ledger_change *c);
/* Are values read from shared memory, or operands of matrix instructions? */
bool ledger_has_reuse(const struct ledger *l);
bool ledger_has_tile(const struct ledger *l);

/* Sets has_tree. */
void ledger_find_tree(struct change_maker *m);
void ledger_memory_changes(struct change_maker *m);
void ledger_compute_changes(struct change_maker *m);
void ledger_latency_changes(struct change_maker *m);
void ledger_launch_changes(struct change_maker *m);
void ledger_rank(struct ledger *l); /* sorts the changes */
