/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h: captures over time, in one SQLite file that several processes may use at once, or in a
 * PostgreSQL database shared by several hosts. Of a capture a store keeps the tables of
 * tables/tables.h whose size depends on its code only (captures, code, causes, producers, findings,
 * notes) and one row of `entries`: its time, revision and labels.
 *
 * Captures of equal kernel, architecture, evidence and labels form a series: their figures can be
 * compared with each other, in the order of time.
 *
 * Owner: the caller; store_close(). Rows belong to the given arena. Threads: one at a time.
 * May fail: a file that is not a store with status BAD_INPUT; a store kept busy by others for more
 * than STORE_BUSY_S, a full disk, an unreachable or lost server with status FAILED; PostgreSQL
 * without libpq with MISSING. A capture is added completely or not at all.
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
 * is_made: create a missing store, completely. NULL with *e filled on failure. */
struct store *store_open(const char *path, bool is_made, struct incore_error *e);
void store_close(struct store *s); /* NULL is fine */
/* The path in a form that may be shown: only host, port and name of a database. On the heap; NULL:
 * no memory. */
char *store_shown_path(const char *path);

/* Figures compared over time: cycles, where more is worse. */
enum store_figure {
	STORE_DURATION, /* from the first begin of a track to the last end */
	STORE_CYCLES,	/* of all tracks; for samples: samples times their period */
	STORE_ISSUE,	/* STORE_CYCLES split into buckets */
	STORE_STALL,
	STORE_WAIT,
	STORE_IDLE,
	STORE_DRAIN,
	STORE_PER_TRACK, /* mean cycles per track: for captures with different numbers of tracks */
	STORE_FIGURES
};
#define STORE_FIGURE_CHOICES "duration|cycles|issue|stall|wait|idle|drain|per_track"
extern const char *const store_figures[STORE_FIGURES];

struct store_entry {
	uint64_t capture;
	int64_t at; /* seconds since 1970 */
	const char *kernel, *arch, *evidence, *labels;
	const char *revision, *code, *path, *incore, *time; /* time: `at` as text */
	const char *format_version, *digest;		    /* only in the database table */
	int64_t figure[STORE_FIGURES];			    /* NO_I64: not known */
};
extern const struct record store_entry_record;

/* --- adding --- */
struct store_identity {
	const char *path;     /* absolute path of the capture */
	const char *revision; /* of the source; NULL: not given */
	const char *labels;   /* result of store_labels() */
	int64_t at;	      /* NO_I64: now */
};
/* Joins "k=v" words by commas in the order of keys, in the arena; "" for no words. Any other word
 * fails with USAGE. */
const char *store_labels(struct arena *a, const struct text_list *words, struct incore_error *e);
/* Parses "2026-11-18", "2026-11-18T01:02:03Z" or "@SECONDS". */
bool store_time(const char *text, int64_t *out);
/* Formats as "2026-11-18T01:02:03Z", in the arena; NULL: no memory. */
const char *store_time_text(int64_t at, struct arena *a);
struct store_added {
	uint64_t capture; /* its number */
	bool is_there;	  /* was added before: nothing done now */
	uint32_t unread;  /* tracks that could not be read */
};
/* Adds a trace, which must have all tables (IMPORT_ALL). A capture that is already there with the
 * same path, content, labels, revision and (if given) time is not added again. */
bool store_add(struct store *s, const struct trace *t, const struct store_identity *id,
	struct store_added *out, struct incore_error *e);

/* --- reading --- */
struct store_select {
	const char *kernel; /* regular expression; NULL: all */
	const char *arch, *revision;
	struct text_list labels; /* an entry must have all of them */
	const char *since;	 /* a time */
};
struct store_entries {
	VEC(struct store_entry) v; /* series after series, each in the order of time */
	struct rows accepted;	   /* store_acceptance (accept.h): all of the store */
};
bool store_list(struct store *s, const struct store_select *w, struct arena *a,
	struct store_entries *out, struct incore_error *e);
/* Number of entries from `at` on that belong to the same series. */
size_t store_series(const struct store_entries *x, size_t at);
/* Compares the series of two entries for sorting: less than, equal to or greater than 0. */
int store_compare_series(const struct store_entry *a, const struct store_entry *b);

struct store_mover { /* an instruction whose cycles changed, by cause */
	const char *isa, *line, *cause, *waits_for;
	int64_t row, before, after, change;
};
extern const struct record store_mover_record;
struct store_pair {
	const struct store_entry *before, *after;
	bool is_better; /* list what got better; otherwise what got worse */
	unsigned most;	/* maximal number of rows */
};
/* Finds the instructions that changed most, in that order. Matches rows by number if the code is
 * equal, otherwise by text. */
bool store_movers(struct store *s, const struct store_pair *p, struct arena *a, struct rows *out,
	struct incore_error *e);

struct store_finding {
	const char *severity, *id, *message;
};
extern const struct record store_finding_record;
bool store_findings(struct store *s, uint64_t capture, struct arena *a, struct rows *out,
	struct incore_error *e);

/* --- maintenance --- */
bool store_remove(struct store *s, const uint64_t *captures, size_t n, struct incore_error *e);
/* Makes a copy of the current state, even while others write, with only these captures; the file
 * appears complete or not at all. */
bool store_copy(struct store *s, const char *to, const uint64_t *captures, size_t n,
	struct incore_error *e);
