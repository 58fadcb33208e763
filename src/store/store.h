/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h: captures over time, in one SQLite file that several processes may use at once, or in a
 * PostgreSQL database that several hosts do. A capture is kept as the tables of tables/tables.h that are as large as its code (captures, code, causes,
 * producers, findings, notes) with one row of `entries`: when, of which revision, with which labels.
 *
 * Captures of equal kernel, architecture, evidence and labels are one series: figures of it may be
 * compared with each other, in the order of their times.
 *
 * Owner: the caller; store_close(). Rows belong to the arena given. Threads: one at a time.
 * May fail: what is no store with status BAD_INPUT; one that others keep busy for longer than
 * STORE_BUSY_S, a full disk, a server that cannot be reached or goes away with status FAILED;
 * PostgreSQL without libpq with MISSING. A capture is added whole or not at all.
 */
#pragma once

#include "answer/option.h"
#include "base/arena.h"
#include "base/vec.h"
#include "codec/record.h"
#include "trace/trace.h"

#define STORE_BUSY_S 60

struct store;

/* path: a file, or postgresql://[USER[:PASSWORD]@][HOST][:PORT][/DATABASE][?KEY=VALUE...].
 * is_made: one that is not there is made, whole. NULL with *e filled where it fails. */
struct store *store_open(const char *path, bool is_made, struct incore_error *e);
void store_close(struct store *s); /* NULL is fine */
/* The path as it may be shown: of a database host, port and name alone. On the heap; NULL: no
 * memory. */
char *store_shown_path(const char *path);
bool store_is_postgres(const char *path);

/* What is compared over time: cycles, of which more is worse. */
enum store_figure {
	STORE_DURATION, /* from the first begin of a track to the last end */
	STORE_CYCLES,	/* of all tracks; of samples: samples times their period */
	STORE_ISSUE,	/* of which in each bucket */
	STORE_STALL,
	STORE_WAIT,
	STORE_IDLE,
	STORE_DRAIN,
	STORE_PER_TRACK, /* cycles of the mean track: where captures have not equally many */
	STORE_FIGURES
};
#define STORE_FIGURE_CHOICES "duration|cycles|issue|stall|wait|idle|drain|per_track"
extern const char *const store_figures[STORE_FIGURES];

struct store_entry {
	uint64_t capture;
	int64_t at; /* seconds since 1970 */
	const char *kernel, *arch, *evidence, *labels;
	const char *revision, *code, *path, *incore, *time; /* time: of `at`, as people write it */
	const char *format_version, *digest;		    /* in the table alone */
	int64_t figure[STORE_FIGURES];			    /* NO_I64: not known */
};
extern const struct record store_entry_record;

/* --- adding --- */
struct store_identity {
	const char *path;     /* of the capture, from the root on */
	const char *revision; /* of the source; NULL: not said */
	const char *labels;   /* of store_labels() */
	int64_t at;	      /* NO_I64: now */
};
/* "k=v" words in the order of keys, joined by commas, in the arena; "" of none. USAGE of any other. */
const char *store_labels(struct arena *a, const struct text_list *words, struct incore_error *e);
/* "2026-11-18", "2026-11-18T01:02:03Z" or "@SECONDS". */
bool store_time(const char *text, int64_t *out);
/* The second of these, in the arena; NULL: no memory. */
const char *store_time_text(int64_t at, struct arena *a);
struct store_added {
	uint64_t capture; /* its number */
	bool is_there;	  /* was added before: nothing was done */
	uint32_t unread;  /* tracks that could not be read */
};
/* The trace has all tables (IMPORT_ALL). What is already there with the same path, content, labels,
 * revision and (if said) time is not added again. */
bool store_add(struct store *s, const struct trace *t, const struct store_identity *id,
	struct store_added *out, struct incore_error *e);

/* --- asking --- */
struct store_select {
	const char *kernel; /* regular expression; NULL: all */
	const char *arch, *revision;
	struct text_list labels; /* each must be among an entry's */
	const char *since;	 /* a time */
};
struct store_entries {
	VEC(struct store_entry) v; /* series after series, each in the order of time */
	struct rows accepted;	   /* store_acceptance (accept.h): all that the store has */
};
bool store_list(struct store *s, const struct store_select *w, struct arena *a,
	struct store_entries *out, struct incore_error *e);
/* How many from `at` on are of one series. */
size_t store_series(const struct store_entries *x, size_t at);
/* Less than, equal to or greater than 0, as the series of one stands before that of the other. */
int store_compare_series(const struct store_entry *a, const struct store_entry *b);

struct store_mover { /* an instruction whose cycles changed, by cause */
	const char *isa, *line, *cause, *waits_for;
	int64_t row, before, after, change;
};
extern const struct record store_mover_record;
struct store_pair {
	const struct store_entry *before, *after;
	bool is_better; /* what got better is asked for, else what got worse */
	unsigned most;	/* rows */
};
/* Rows of equal code by number, of other code by text; those that changed most first. */
bool store_movers(struct store *s, const struct store_pair *p, struct arena *a, struct rows *out,
	struct incore_error *e);

struct store_finding {
	const char *severity, *id, *message;
};
extern const struct record store_finding_record;
bool store_findings(struct store *s, uint64_t capture, struct arena *a, struct rows *out,
	struct incore_error *e);

/* --- keeping order --- */
bool store_remove(struct store *s, const uint64_t *captures, size_t n, struct incore_error *e);
/* A copy as of now, also while others write, with these captures alone; put in its place whole. */
bool store_copy(struct store *s, const char *to, const uint64_t *captures, size_t n,
	struct incore_error *e);
