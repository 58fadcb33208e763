/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h: a question asked of captures and its answer: one value of a described record, whose
 * lists are tables, with the captures it is about and what was lost on the way. One file per
 * question fills it; the faces (text, CSV, JSON, schema, viewer, report, library) only read it.
 *
 * Owner: the asker; answer_deinit() frees all of it. Texts of an answer may stand in its captures,
 * which it keeps alive. Threads: answers are independent of each other; captures are shared.
 * May fail: as the question says; then the answer holds its warnings and nothing else.
 */
#pragma once

#include "analysis/selection.h"
#include "analysis/walk.h"
#include "answer/request.h"
#include "base/arena.h"
#include "codec/record.h"
#include "import/import.h"
#include "trace/trace.h"

_Static_assert(NO_VALUE == NO_I64, "what a capture does not give is nothing in an answer");

struct answer;
struct page;

struct question {
	const char *name;    /* the verb; the schema is incore.<name>/1 */
	const char *summary; /* one line */
	const char *args;    /* "PATH", "A B", ... */
	unsigned min_paths, max_paths;
	unsigned groups;		  /* enum option_group */
	unsigned reach;			  /* enum reach: who asks it besides terminal and library */
	const struct option_def *options; /* own ones, over the struct of params; may be NULL */
	size_t params_size;
	/* What data may be: the first for most captures; NULL ends. An answer says which it has. */
	const struct record *const *records;
	/* Lists that a face of tables calls by the name of the question, as "rows|groups"; NULL: the
	 * single values of the answer have that name. */
	const char *main_lists;
	bool (*ask)(const struct request *r, struct answer *a, struct incore_error *e);
	void (*page)(const struct answer *a, struct page *p); /* the answer for people */
};

extern const struct question *const question_table[]; /* questions.c; NULL ends */
const struct question *question_find(const char *name);
/* The question, if that face (enum reach) may ask it; NULL: it does not exist for it. */
const struct question *question_for(const char *name, unsigned reach);

struct kept_object {
	void *object;
	void (*drop)(void *);
};

struct answer {
	const struct question *question;
	struct arena arena; /* rows and texts made for it */
	const struct record *record;
	const void *data;	      /* of that record */
	VEC(struct trace *) traces;   /* what it is about, in the order of the request */
	unsigned want;		      /* tables of them that it asked for */
	VEC(struct kept_object) kept; /* analyses that its lists stand in */
	VEC(const char *) warnings;   /* in the arena */
	uint32_t n_notes;	      /* told so far, mere information left out */
	uint32_t n_losses;	      /* of which mean loss: --strict makes them an error */
	bool is_no;		      /* a negative answer: exit status 1 */
	bool has_lost_warning;	      /* for lack of memory: then asking fails */
};

/* Asks. *a is initialised here and to be freed with answer_deinit() in any case. */
bool answer_ask(const struct request *r, struct answer *a, struct incore_error *e);
void answer_deinit(struct answer *a);

/* --- for the files that answer --- */
/* Zeroed memory of the answer; NULL with err_nomem. */
void *answer_alloc(struct answer *a, size_t n, size_t size, struct incore_error *e);
#define ANSWER_NEW(a, T, e) ((struct T *)answer_alloc((a), 1, sizeof(struct T), (e)))
/* The same for the rows of a list, which *out becomes; who fills less of them sets out->n. */
void *answer_rows(
	struct answer *a, struct rows *out, size_t n, size_t size, struct incore_error *e);
#define ANSWER_ROWS(a, out, n, T, e)                                                               \
	((struct T *)answer_rows((a), (out), (n), sizeof(struct T), (e)))
/* Frees the object with the answer; at once if that cannot be noted (false). NULL is fine. */
bool answer_keep(struct answer *a, void *object, void (*drop)(void *), struct incore_error *e);
/* The same of an object with its typed free function; evaluates to false on failure. */
#define ANSWER_KEEP(a, object, drop, e) answer_keep((a), (object), (void (*)(void *))(drop), (e))
/* A copy of what was put into b, which is freed; NULL with err_nomem. */
const char *answer_text(struct answer *a, struct strbuf *b, struct incore_error *e);
bool answer_is(const struct answer *a, const struct record *r);
void answer_warn(struct answer *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Notes become warnings, and losses where they mean loss. */
void answer_notes(struct answer *a, const struct note *notes, uint32_t n);
void answer_walk_notes(struct answer *a, const struct walk_result *r);
/* The same after a walk that is over, if it went well; frees *r and returns is_ok. */
bool answer_walked(struct answer *a, struct walk_result *r, bool is_ok);
/* Finds, chooses and reads the capture of a path; its notes become warnings. The answer keeps it. */
bool answer_open(struct answer *a, const struct request *r, const char *path, unsigned want,
	struct trace **out, struct incore_error *e);
/* What to read so that a kernel can be told from others: IMPORT_OCCUPANCY if one is asked for. */
static inline unsigned request_kernel_want(const struct request *r)
{
	return r->kernel || r->kernel_id != NO_KERNEL_ID ? IMPORT_OCCUPANCY : 0;
}
/* The part of it that the request means; freed with the answer's arena and selection_deinit(). */
bool request_selection(const struct request *r, const struct trace *t, struct selection *out,
	struct incore_error *e);
struct walk_options request_walk(const struct request *r, const struct selection *s);
struct import_options request_import(const struct request *r, unsigned want);
/* The agent and dispatch that were asked for. */
struct capture_choice request_choice(const struct request *r);

/* --- faces --- */
/* The whole envelope: {"schema", "incore", "input", "data", "warnings"}. */
void answer_json(const struct answer *a, struct json_writer *w);
/* Schema of that envelope: what `input` and what `data` may be; NULL ends each list. */
void envelope_schema(const char *name, const struct record *const *inputs,
	const struct record *const *data, struct json_writer *w);
extern const struct record
	*const capture_inputs[]; /* what `input` is of verbs that read captures */
/* Its parts, for what is no answer (what pack, export, ... say they did): up to the key "input", and its value. */
void envelope_begin(const char *verb, struct json_writer *w);
void envelope_input(
	const struct trace *const *traces, size_t n, unsigned want, struct json_writer *w);
/* Which capture an answer is about, as the member "input" holds it: what a trace of the wanted tables says. */
void input_json(const struct trace *t, unsigned want, struct json_writer *w);
/* What its tracks and what is on them are called: "wave", "pipe" or "lane"; "instruction" or "slice". */
const char *track_word(const struct trace *t);
const char *slice_word(const struct trace *t);
/* False with an error where a trace has no instructions, which `verb` asks about. */
bool answer_of_code(const struct trace *t, const char *verb, struct incore_error *e);
#define EVIDENCE_TEXT 192
/* "estimate (910b1, published-constants)" where the trace says what made it, else the evidence. */
const char *evidence_text(const struct trace *t, char buf[EVIDENCE_TEXT]);
#define EVIDENCE_WORDS                                                                             \
	"hardware-trace|hardware-sample|vendor-simulator|estimate|synthetic|instrumented|unknown"
#define EVIDENCE_COLUMN(S, DOC) COLUMN(S, evidence, UNIT_NONE, DOC, .words = EVIDENCE_WORDS)
