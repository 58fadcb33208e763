/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h: from a path to a trace. One import_ops per format; registry.c is the only list of them.
 * Adding a format touches one new file (or folder) and one line of registry.c.
 */
#pragma once

#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "base/progress.h"
#include "import/probe.h"
#include "trace/trace.h"

struct capture_cache; /* capture_cache.h */

enum import_want { /* tables that cost time or memory and not every question needs */
	IMPORT_OCCUPANCY = 1,
	IMPORT_STATED_SERIES = 2, /* wstates */
	IMPORT_SIDE_FILES = 4,	  /* agent info, kernel trace, results.json, stats csv */
	IMPORT_COUNTERS = 8,	  /* counters, markers, other-SIMD records */
	IMPORT_SOURCES = 16,	  /* text of source snapshots */
	IMPORT_ALL = 31,
	IMPORT_TEXT = 32, /* where slices stand in a file of trace events (trace_text.h) */
	/* Not a table: tracks are walked more than once, what was loaded of them stays. */
	IMPORT_KEEP_TRACKS = 64,
};

struct import_options {
	unsigned want;		     /* enum import_want */
	struct capture_cache *cache; /* may be NULL: what was opened before is opened again */
	bool is_look;		     /* it will be read again: the cache keeps what is opened */
	struct pool *pool;	     /* may be NULL: the caller's thread */
	struct progress *progress;   /* may be NULL */
	/* Below which its files lie; the file that it is, maybe a link. NULL: import_read() finds them. */
	const char *root, *own;
	/* What the user says where a capture does not: NULL or 0 where nothing is said. */
	const char *soc;	    /* "Ascend910B1": its clock */
	uint64_t clock_hz;	    /* beats soc */
	const char *decoder_compat; /* "0.1.6": the rules of AMD's decoder, not the right ones */
	const char *code;	    /* in place of the capture's code.json */
	const char *const *source_roots; /* "OLD=NEW" (other_sources.h) */
	size_t n_source_roots;
	bool markers;	    /* the markers as a timeline, in place of the waves */
	const char *disasm; /* who writes instruction text (disasm.h): the first that works */
};

/* One capture found at or below a path. Borrowed from its list. */
struct capture {
	const char *path;
	uint32_t position; /* in its list */
	const struct import_ops *ops;
	int64_t agent, dispatch;	     /* of its name, or NO_VALUE */
	bool is_looked_at;		     /* what follows is known; see capture_look() */
	bool is_empty;			     /* recognised, but nothing was traced (a shell) */
	uint64_t n_tracks, n_rows, n_mapped; /* by a quick look: which of several to prefer */
	bool is_uncounted;		     /* only reading it all would tell those counts */
	uint64_t n_bytes;    /* of its files, where that is what there is to compare */
	const char *same_as; /* key of equal code and agent: captures of one kernel share it; NULL
				if not known */
};

struct capture_list {
	struct arena arena;
	struct capture *v;
	uint32_t n;
};

struct import_ops {
	const char *name;    /* also the man page incore-<name>.7, the fuzz target, in `info` */
	const char *summary; /* one line for --help */
	/* What a user should point at, for the message when nothing is found; NULL: the summary. */
	const char *looks_for;
	bool takes_code; /* import_options.code */
	bool reads_gzip; /* a file may be compressed: read() takes import_load_plain() */
	/* 0 no .. 100 sure; sees names and the first 64 KiB; cannot fail */
	int (*sniff)(const struct probe *p);
	/* A recognised directory, with splits_files also a file, may hold several captures: their
	 * paths (in the arena; of a file "file#0" ...). May be NULL, may give none: it is one. */
	bool splits_files;
	void (*split)(const char *path, struct capture_cache *cache, struct arena *a,
		const char ***paths, uint32_t *n);
	/* True: captures may lie several levels below this directory (import_find() stops after two
	 * otherwise); may be NULL. */
	bool (*leads_to)(const char *path);
	/* Fills what the quick look can tell of one capture; may be NULL. Never fails: leave fields
	 * as they are. What it opens goes through the cache. */
	void (*look)(
		const char *path, struct capture_cache *cache, struct arena *a, struct capture *c);
	/* The same of a capture that was read; NULL: a look opens no file. */
	void (*look_at_trace)(const struct trace *t, struct arena *a, struct capture *c);
	bool (*read)(const char *path, const struct import_options *o, struct trace *t,
		struct incore_error *e);
	/* After read: adds a note for everything dropped, truncated, unmapped. May not be NULL. */
	bool (*lost)(const char *path, const struct import_options *o, struct trace *t,
		struct incore_error *e);
};

/* `lost` of importers whose read() made a note of every loss. */
bool import_lost_noted(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e);

extern const struct import_ops *const import_registry[]; /* NULL ends */

/* The bytes of a file of a capture, opened once in the life of the cache. No link leads out of the
 * capture's directory unless the cache says so; a capture that is a file may itself be a link. */
bool import_load(const struct import_options *o, struct file_data *f, const char *path,
	struct incore_error *e);

/* The same, unpacked where it is a gzip file. */
bool import_load_plain(const struct import_options *o, struct file_data *f, const char *path,
	struct incore_error *e);

/*
 * All captures at path: itself if a format knows it, else those in the directory and one level
 * further down, sorted by (agent, dispatch, path). Only where there are several each is looked at.
 * None: error "unknown-format" that says what was looked for.
 */
bool import_find(const char *path, struct capture_cache *k, struct capture_list *out,
	struct incore_error *e);
/* Captures beside path (in its parent directory), itself included; empty list if there are none. */
bool import_siblings(const char *path, struct capture_cache *k, struct capture_list *out,
	struct incore_error *e);
/* Where import_siblings() looks, on the heap: "" is the current directory. NULL on lack of memory. */
char *import_parent(const char *path);
void capture_list_deinit(struct capture_list *l);

struct capture_choice {
	int64_t agent, dispatch; /* NO_VALUE: any */
};
#define ANY_CAPTURE ((struct capture_choice){NO_VALUE, NO_VALUE})

/*
 * Those of the list that are asked for, the best first: not empty, then most tracks, rows, mapped
 * rows, bytes; equals in the order of the list. v has room for l->n; gives how many there are.
 */
uint32_t captures_rank(struct capture_list *l, struct capture_cache *k,
	struct capture_choice choice, const struct capture **v);
bool capture_is(const struct capture *c, struct capture_choice choice);
/* The best of all; NULL: the list is empty. */
const struct capture *capture_choose(const struct capture_list *l);

/* Reads one capture: read, lost, seal. */
bool import_read(const struct capture *c, const struct import_options *o, struct trace **out,
	struct incore_error *e);
/* The same for a path whose format is known, by name: what it looks like is not asked. */
bool import_read_as(const char *format, const char *path, const struct import_options *o,
	struct trace **out, struct incore_error *e);
