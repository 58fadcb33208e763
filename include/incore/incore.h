/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incore.h: questions about captures of accelerator kernels, for programs. The verbs of the command
 * line are the questions; an answer is JSON, and tables of typed columns, which Arrow can take.
 *
 *	struct incore_error e = {0};
 *	struct incore *x = incore_new(0, &e);
 *	struct incore_answer *a = incore_ask(x, "hot", "capture/", "{\"by\": \"line\"}", &e);
 *	for (size_t i = 0; a && i < incore_table_count(a); i++) ...
 *	incore_answer_free(a);
 *	incore_free(x);
 *
 * Ownership: a pointer to const that a function returns belongs to the object passed in and lives
 * as long as it. Everything else is the caller's, to be freed with the matching *_free() or
 * release().
 * Failure: NULL or false, and *e says why; clear it with incore_error_clear(). Nothing is printed, no
 * signal handler (unless incore_map_files() is called), locale or environment variable is changed,
 * nothing ends the process.
 * Threads: calls on different struct incore may run beside each other. On one struct incore one
 * question runs at a time (others wait), incore_cancel() may be called beside it from any thread, and
 * answers may be read, and freed, by any one thread each, also after other questions. An error object
 * belongs to one thread. A struct incore must outlive its answers and streams.
 */
#ifndef INCORE_INCORE_H
#define INCORE_INCORE_H

#include <stddef.h>

#include "incore/arrow.h"
#include "incore/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct incore;
struct incore_answer;

/* "0.2.0" */
const char *incore_version(void);

/* threads: 0: one per processor. Captures that were read stay open until incore_free(). */
struct incore *incore_new(unsigned threads, struct incore_error *e);
void incore_free(struct incore *x);
/* Ends the running question, or the stream being read, with the error "cancelled". */
void incore_cancel(struct incore *x);

/*
 * Captures are read into memory, since a mapped file that shrinks, or whose disk fails, would end
 * the process with SIGBUS. This permanently installs a handler of that signal for the whole
 * process; from then on large files are mapped, which needs less memory, and a question about a
 * file that shrinks or fails ends with the error "changed-file". A SIGBUS at any other address ends
 * the process as before. False: the handler could not be installed.
 */
bool incore_map_files(void);

/* Name of question i, in order; NULL after the last. */
const char *incore_question(size_t i);
/* JSON Schema of the answer to a question, or NULL. Freed with incore_text_free(). */
char *incore_schema(const char *question, struct incore_error *e);
void incore_text_free(char *text);

/*
 * Asks. `path` is a capture, or several with a line feed between them (two for "diff"). `options`
 * is NULL or a JSON object whose keys are the long names of the verb's options ({"top": 5, "by":
 * "line"}): a number or a text for an option with a value, true or false for a flag, an array of
 * texts for an option that may be repeated.
 */
struct incore_answer *incore_ask(struct incore *x, const char *question, const char *path,
	const char *options, struct incore_error *e);
void incore_answer_free(struct incore_answer *a);

/* INCORE_OK, or INCORE_NO for a negative answer (a capture that cannot be trusted, a gate). */
enum incore_status incore_answer_status(const struct incore_answer *a);
/* What `incore QUESTION --json` prints; *n (may be NULL): its length. NULL: out of memory. */
const char *incore_answer_json(struct incore_answer *a, size_t *n, struct incore_error *e);
size_t incore_warning_count(const struct incore_answer *a);
const char *incore_warning(const struct incore_answer *a, size_t i);

/* --- tables --- */

enum incore_type {
	INCORE_UNSIGNED = 1,
	INCORE_SIGNED = 2,
	INCORE_REAL = 3,
	INCORE_BOOL = 4,
	INCORE_TEXT = 5
};

struct incore_column {
	const char *name; /* names of nested JSON objects are joined by '_' */
	const char *unit; /* "cycles", "%", ...; "": no unit */
	const char *doc;  /* one sentence */
	enum incore_type type;
};

/*
 * Table 0, named "", has one row: the answer's single values. The others are the lists of its JSON,
 * named by path ("rows", "producers.edges"); a list nested in the rows of another ("pipes.waits")
 * becomes one table, whose first column "parent" is the row that each entry belongs to.
 */
size_t incore_table_count(const struct incore_answer *a);
const char *incore_table_name(const struct incore_answer *a, size_t table);
/* Number of the table with this name, or SIZE_MAX. */
size_t incore_table_find(const struct incore_answer *a, const char *name);
size_t incore_row_count(const struct incore_answer *a, size_t table);
size_t incore_column_count(const struct incore_answer *a, size_t table);
struct incore_column incore_column(const struct incore_answer *a, size_t table, size_t column);

/* Values. False: the value is null, or the column has another type. */
bool incore_get_unsigned(
	const struct incore_answer *a, size_t table, size_t row, size_t column, uint64_t *out);
bool incore_get_signed(
	const struct incore_answer *a, size_t table, size_t row, size_t column, int64_t *out);
bool incore_get_real(
	const struct incore_answer *a, size_t table, size_t row, size_t column, double *out);
bool incore_get_bool(
	const struct incore_answer *a, size_t table, size_t row, size_t column, bool *out);
/* *n: length in bytes; the text need not end in a zero byte. */
bool incore_get_text(const struct incore_answer *a, size_t table, size_t row, size_t column,
	const char **out, size_t *n);

/* --- Arrow --- */

/* Copies a table into a struct array, which outlives the answer. */
bool incore_table_arrow(const struct incore_answer *a, size_t table, struct ArrowSchema *schema,
	struct ArrowArray *array, struct incore_error *e);

/*
 * All slices of a capture, one batch per track: track (its number), start, duration, stall (cycles
 * of the track's clock), row (of the listing; null: unknown code), class. `options` as in
 * incore_ask(), only those that select tracks. A stream may be released at any time.
 */
bool incore_slices(struct incore *x, const char *path, const char *options,
	struct ArrowArrayStream *out, struct incore_error *e);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
