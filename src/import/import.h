/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h: from a path to a trace. One import_ops per format; registry.c is the only list of them.
 * Adding a format touches one new file (or folder) and one line of registry.c.
 *
 * More than 150 lines because what a format offers, what it is given and what is found are one
 * interface.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "base/progress.h"
#include "trace/trace.h"

/* --- what a sniff sees ------------------------------------------------------------------------ */

/* The data by which a format decides whether a path is one of its captures. */

struct capture_cache; /* capture_cache.h */

/* Number of bytes of a file that are read to recognise its format; a shorter head is the whole
 * file, if it is JSON. */
#define PROBE_HEAD 65536

/* Input of sniff(). */
struct probe {
	const char *path;
	bool is_dir;
	bool is_named;		     /* named by the user, not found in a directory */
	bool is_packed;		     /* gzip or zstd: head is the unpacked content */
	struct capture_cache *cache; /* for the files of a directory; or NULL */
	struct incore_error *error;  /* of a directory: why it could not be searched; or NULL */
	const uint8_t *head; /* at most PROBE_HEAD first bytes of a file; NULL for a directory */
	size_t head_size;
};

/* --- formats ---------------------------------------------------------------------------------- */

struct capture_cache; /* capture_cache.h */

enum import_want { /* tables that cost time or memory and are not always needed */
	IMPORT_OCCUPANCY = 1,
	IMPORT_STATED_SERIES = 2, /* wstates */
	IMPORT_SIDE_FILES = 4,	  /* agent info, kernel trace, results.json, stats csv */
	IMPORT_COUNTERS = 8,	  /* counters, markers, other-SIMD records */
	IMPORT_SOURCES = 16,	  /* text of source snapshots */
	IMPORT_ALL = 31,
	IMPORT_TEXT = 32, /* where slices are in a file of trace events (trace_text.h) */
	/* Not a table: tracks are walked more than once, so loaded data is kept. */
	IMPORT_KEEP_TRACKS = 64,
};

struct import_options {
	unsigned want;		     /* enum import_want */
	struct capture_cache *cache; /* may be NULL: files are opened again each time */
	bool is_look;		     /* it will be read again: the cache keeps opened files */
	struct pool *pool;	     /* may be NULL: the caller's thread */
	struct progress *progress;   /* may be NULL */
	/* Directory of its files; the file that it is, maybe a link. NULL: import_read() finds
	 * them. */
	const char *root, *own;
	/* Set by the user where the capture lacks it; NULL or 0: not set. */
	const char *soc;		 /* "Ascend910B1": its clock */
	uint64_t clock_hz;		 /* overrides soc */
	const char *decoder_compat;	 /* "0.1.6": as that version of AMD's decoder */
	const char *code;		 /* replaces the capture's code.json */
	const char *const *source_roots; /* "OLD=NEW" (other_sources.h) */
	size_t n_source_roots;
	bool markers;	    /* show the markers as a timeline instead of the waves */
	const char *disasm; /* disassemblers to try in turn (disasm.h) */
};

/* One capture found at or below a path; owned by its list. */
struct capture {
	const char *path;
	uint32_t position; /* in its list */
	const struct import_ops *ops;
	int64_t agent, dispatch;	     /* from its name, or NO_VALUE */
	bool is_looked_at;		     /* the fields below are known; see capture_look() */
	bool is_empty;			     /* recognised, but nothing was traced (a shell) */
	uint64_t n_tracks, n_rows, n_mapped; /* from a quick look, to choose among several */
	bool is_uncounted;		     /* these counts need a full read */
	uint64_t n_bytes;    /* size of its files, if nothing better can be compared */
	const char *same_as; /* key of code and agent, one per kernel; NULL: unknown */
};

struct capture_list {
	struct arena arena;
	struct capture *v;
	uint32_t n;
};

/*
 * What a capture looks like from outside: all conditions that are set must hold. `entry` is about
 * directories, everything else about files. Most formats are recognised by this alone, so that a
 * path is read and listed once, whatever the number of formats.
 */
struct signature {
	const char *begins; /* the bytes at `at`, n_bytes of them, or up to the NUL of the text */
	uint8_t n_bytes, at;
	bool after_blanks;  /* `at` counts from the first byte that is not white space */
	uint32_t min_bytes; /* of the head */
	const char *says;   /* text somewhere in the head */
	const char *name;   /* suffix of the file name */
	const char *entry;  /* a directory has an entry of this name; with `*`: as in fnmatch() */
	int score;	    /* as that of sniff(); 0: sniff() decides */
};

struct import_ops {
	const char *name;    /* also the man page incore-<name>.7, the fuzz target, in `info` */
	const char *summary; /* one line for --help */
	/* What to point at, for the message when nothing is found; NULL: the summary. */
	const char *looks_for;
	bool takes_code;   /* import_options.code */
	bool reads_packed; /* a file may be compressed: read() uses import_load_plain() */
	/* How its captures are recognised: a list that ends with an empty one. */
	const struct signature *signs;
	/* 0: no .. 100: certain; sees names and the first 64 KiB; cannot fail. Asked where a
	 * signature without a score holds; NULL if all have one. */
	int (*sniff)(const struct probe *p);
	/* Lists the captures of a recognised directory (or file, with splits_files) that may hold
	 * several; paths ("file#0" in a file) are in the arena. NULL or an empty list: it is
	 * one. */
	bool splits_files;
	void (*split)(const char *path, struct capture_cache *cache, struct arena *a,
		const char ***paths, uint32_t *n);
	/* True: captures may lie several levels below this directory (import_find() stops after two
	 * otherwise); may be NULL. */
	bool (*leads_to)(const char *path);
	/* Fills in the fields of a capture that a quick look can find; may be NULL. Never fails:
	 * unknown fields are left unchanged. Files are opened through the cache. */
	void (*look)(
		const char *path, struct capture_cache *cache, struct arena *a, struct capture *c);
	/* Fills in the same fields from a trace that was read; NULL: a look opens no file. */
	void (*look_at_trace)(const struct trace *t, struct arena *a, struct capture *c);
	bool (*read)(const char *path, const struct import_options *o, struct trace *t,
		struct incore_error *e);
	/* After read: adds a note for everything dropped, truncated, unmapped. May not be NULL. */
	bool (*lost)(const char *path, const struct import_options *o, struct trace *t,
		struct incore_error *e);
};

static inline bool signature_is_set(const struct signature *s)
{
	return s->begins || s->says || s->name || s->entry;
}

/* `lost` for importers whose read() already notes every loss. */
bool import_lost_noted(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e);

extern const struct import_ops *const import_registry[]; /* NULL-terminated */

/* Loads a file of a capture, opened once in the life of the cache. Links out of its directory are
 * followed only if the cache allows it; a capture that is a file may itself be a link. */
bool import_load(const struct import_options *o, struct file_data *f, const char *path,
	struct incore_error *e);

/* import_load(), and unpacks a file of gzip or zstd. */
bool import_load_plain(const struct import_options *o, struct file_data *f, const char *path,
	struct incore_error *e);

/*
 * All captures at path: itself if a format knows it, else those in the directory and one level
 * further down, sorted by (agent, dispatch, path). Only if there are several, each is looked at.
 * If there are none, the error "unknown-format" says what was searched for.
 */
bool import_find(const char *path, struct capture_cache *k, struct capture_list *out,
	struct incore_error *e);
/* Captures beside path (in its parent directory), itself included; empty list if there are none. */
bool import_siblings(const char *path, struct capture_cache *k, struct capture_list *out,
	struct incore_error *e);
/* The directory of import_siblings(), on the heap: "" is the current one. NULL: out of memory. */
char *import_parent(const char *path);
void capture_list_deinit(struct capture_list *l);

struct capture_choice {
	int64_t agent, dispatch; /* NO_VALUE: any */
};
#define ANY_CAPTURE ((struct capture_choice){NO_VALUE, NO_VALUE})

/*
 * The requested captures of the list, best first: not empty, then most tracks, rows, mapped rows,
 * bytes; ties in list order. v has room for l->n; returns their number.
 */
uint32_t captures_rank(struct capture_list *l, struct capture_cache *k,
	struct capture_choice choice, const struct capture **v);
bool capture_is(const struct capture *c, struct capture_choice choice);
/* The best capture of the list; NULL if it is empty. */
const struct capture *capture_choose(const struct capture_list *l);

/* Reads one capture: read, lost, seal. */
bool import_read(const struct capture *c, const struct import_options *o, struct trace **out,
	struct incore_error *e);
/* Reads a path with the importer of that name, without sniffing. */
bool import_read_as(const char *format, const char *path, const struct import_options *o,
	struct trace **out, struct incore_error *e);
