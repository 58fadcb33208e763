/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h: a question and its answer: one value of a described record, whose lists are tables,
 * with the captures it is about and what was lost on the way. A verb that acts (capture, replay,
 * export) is a question too: its answer says what it did. One file per question fills the answer;
 * the front ends (text, CSV, JSON, schema, viewer, report, library) only read it.
 *
 * Owner: the asker; answer_deinit() frees all of it. Strings of an answer may point into its
 * captures, which it keeps alive. Threads: answers are independent of each other; captures are
 * shared. May fail: as each question says; then the answer holds only its warnings.
 */
#pragma once

#include "analysis/selection.h"
#include "analysis/walk.h"
#include "answer/request.h"
#include "base/arena.h"
#include "codec/record.h"
#include "import/import.h"
#include "trace/kind.h"

_Static_assert(NO_VALUE == NO_I64, "what a capture does not give is nothing in an answer");

struct kept_object {
	void *object;
	void (*drop)(void *);
};

struct answer {
	const struct question *question;
	struct arena arena; /* rows and strings made for it */
	const struct record *record;
	const void *data;		   /* laid out as that record says */
	const struct record *input_record; /* of what it is about; NULL: the traces */
	const void *input;
	VEC(struct trace *) traces;   /* what it is about, in the order of the request */
	unsigned want;		      /* tables of the traces that it asked for */
	VEC(struct kept_object) kept; /* analyses that its lists point into */
	VEC(const char *) warnings;   /* in the arena */
	uint32_t n_notes;	      /* reported so far, without mere information */
	uint32_t n_losses;	      /* notes that mean loss: --strict makes them an error */
	bool is_no;		      /* a negative answer: exit status 1 */
	bool is_written; /* its files are in place: that it cannot be drawn is only a warning */
	/* Of a verb that acts: what failed although the answer says what was done; freed by
	 * answer_deinit(). The asker reports it after the answer, and the verb has failed. */
	struct incore_error failure;
	int app_status;	  /* exit status of a user's program that failed; 0: none did */
	bool is_streamed; /* its product went to request.out, or it is shown: print nothing more */
	bool is_served;	  /* given bit by bit, each checked: a file that has changed harms none */
	bool has_lost_warning; /* out of memory for a warning: answer_ask() fails */
};

/* Initialises *a and asks the question. Call answer_deinit() in any case. */
bool answer_ask(const struct request *r, struct answer *a, struct incore_error *e);
void answer_deinit(struct answer *a);

/* --- for the files that make answers --- */
/* Zeroed memory that lives as long as the answer; NULL with err_nomem. */
void *answer_alloc(struct answer *a, size_t n, size_t size, struct incore_error *e);
#define ANSWER_NEW(a, T, e) ((struct T *)answer_alloc((a), 1, sizeof(struct T), (e)))
/* Allocates n zeroed rows and makes *out their list; a caller that fills fewer sets out->n. */
void *answer_rows(
	struct answer *a, struct rows *out, size_t n, size_t size, struct incore_error *e);
#define ANSWER_ROWS(a, out, n, T, e)                                                               \
	((struct T *)answer_rows((a), (out), (n), sizeof(struct T), (e)))
/* Has the object freed with the answer. Out of memory: frees it at once, false. NULL is fine. */
bool answer_keep(struct answer *a, void *object, void (*drop)(void *), struct incore_error *e);
/* answer_keep() with a typed free function; evaluates to false on failure. */
#define ANSWER_KEEP(a, object, drop, e) answer_keep((a), (object), (void (*)(void *))(drop), (e))
/* Copies the text of b into the answer and frees b; NULL with err_nomem. */
const char *answer_text(struct answer *a, struct strbuf *b, struct incore_error *e);
bool answer_is(const struct answer *a, const struct record *r);
/* Sets the answer's value, or what it is about instead of captures; it lives as long as a. */
void answer_set(struct answer *a, const struct record *r, const void *data);
void answer_about(struct answer *a, const struct record *r, const void *input);
void answer_warn(struct answer *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
void answer_move_warnings(struct answer *a, struct answer *from); /* with the losses */
void answer_warn_unread(struct answer *a, uint64_t n);		  /* n tracks could not be read */
/* To be asked before anything is written: false with status PARTIAL if the request is strict and
 * something was lost. */
bool answer_may_write(const struct request *r, const struct answer *a, struct incore_error *e);
/* Turns notes into warnings and counts as losses those that mean loss. */
void answer_notes(struct answer *a, const struct note *notes, uint32_t n);
void answer_walk_notes(struct answer *a, const struct walk_result *r);
/* After a walk: reports its notes if is_ok, frees *r and returns is_ok. */
bool answer_walked(struct answer *a, struct walk_result *r, bool is_ok);
/* Finds, chooses and reads the capture at a path; its notes become warnings. The answer keeps it.
 */
bool answer_open(struct answer *a, const struct request *r, const char *path, unsigned want,
	struct trace **out, struct incore_error *e);
/* What must be read to distinguish kernels: IMPORT_OCCUPANCY if the request names a kernel. */
static inline unsigned request_kernel_want(const struct request *r)
{
	return r->kernel || r->kernel_id != NO_KERNEL_ID ? IMPORT_OCCUPANCY : 0;
}
/* The part of the trace that the request selects; free it with selection_deinit(). */
bool request_selection(const struct request *r, const struct trace *t, struct selection *out,
	struct incore_error *e);
struct walk_options request_walk(const struct request *r, const struct selection *s);
struct import_options request_import(const struct request *r, unsigned want);
/* The agent and dispatch that the request names. */
struct capture_choice request_choice(const struct request *r);

/* --- output --- */
/* Writes the whole envelope: {"schema", "incore", "input", "data", "warnings"}. */
void answer_json(const struct answer *a, struct json_writer *w);
/* Writes the schema of that envelope; `inputs` and `data` are NULL-terminated alternatives. The
 * name is that of a verb, without its subcommand. */
void envelope_schema(const char *name, const struct record *const *inputs,
	const struct record *const *data, struct json_writer *w);
extern const struct record *const capture_inputs[]; /* the `input` of verbs that read captures */
/* Parts of the envelope, for verbs without a question (pack, export, ...): all up to the key
 * "input", and the value of that key. */
void envelope_begin(const char *verb, struct json_writer *w);
void envelope_input(
	const struct trace *const *traces, size_t n, unsigned want, struct json_writer *w);
/* Writes which capture an answer is about, as in "input": what a trace with these tables says. */
void input_json(const struct trace *t, unsigned want, struct json_writer *w);
/* False with an error where a trace has no instructions although `verb` needs them. */
bool answer_of_code(const struct trace *t, const char *verb, struct incore_error *e);
#define EVIDENCE_TEXT 192
/* "estimate (910b1, published-constants)" where the trace says what made it, else the evidence. */
const char *evidence_text(const struct trace *t, char buf[EVIDENCE_TEXT]);
#define EVIDENCE_WORDS                                                                             \
	"hardware-trace|hardware-sample|vendor-simulator|estimate|synthetic|instrumented|unknown"
#define EVIDENCE_COLUMN(S, DOC) COLUMN(S, evidence, UNIT_NONE, DOC, .words = EVIDENCE_WORDS)
