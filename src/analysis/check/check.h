/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h: can the cycles of this capture be trusted to represent the kernel? Each known way in
 * which a capture goes wrong is a rule; a rule that fires is a finding with an id, its evidence and
 * what to do. The verdict is the worst effect of all findings; `ok` without any. A shell (nothing
 * traced) gets one finding only.
 *
 * Alone: check_run() walks the tracks once. Together with other questions: check_new(), its
 * collector in the caller's walk, check_finish(). Owner: the caller; check_free() frees all strings
 * too.
 */
#pragma once

#include "analysis/check/findings.h"
#include "analysis/walk.h"

enum verdict { VERDICT_OK, VERDICT_SUSPECT, VERDICT_UNUSABLE };
const char *verdict_name(enum verdict v); /* "ok", "suspect", "unusable" */

enum evidence_kind { FACT_INT, FACT_REAL, FACT_TEXT };

struct fact { /* one piece of evidence */
	const char *key;
	enum evidence_kind kind;
	int64_t i;
	double d;
	int digits; /* of d */
	const char *text;
};

#define FINDING_MAX_FACTS 12

struct finding {
	struct note note;   /* code "truncated", ...; weight; message */
	const char *advice; /* one line */
	struct fact facts[FINDING_MAX_FACTS];
	unsigned n_facts;
};

/* What is known about a capture of the same code. */
struct check_sibling {
	const char *path;
	int64_t dispatch;
	uint64_t n_tracks;
	double clock_mhz; /* 0: unknown */
	bool is_self;
};

struct check_context {
	/* Captures of the same agent and the same code, this one included; the caller found them.
	 */
	const struct check_sibling *siblings;
	uint32_t n_siblings;
	/* Compare snapshots of the user's source with the files on this machine. */
	bool has_disk;
};

struct check_gather; /* private: what the walk collects */
struct pipes;

struct check {
	struct arena arena;
	const struct trace *trace;
	const struct check_context *ctx; /* may be NULL */
	struct check_gather *gather;	 /* for traces of waves, else NULL */
	struct pipes *pipes;		 /* for traces of pipes, else NULL */
	bool is_shell;
	bool is_nomem; /* latched while findings are written */
	enum verdict verdict;
	struct finding *findings; /* by severity, then in the order of the rules */
	uint32_t n_findings, cap_findings;
	struct finding spare; /* written to when there is no room for another finding */
};

struct check *check_new(
	const struct trace *t, const struct check_context *ctx, struct incore_error *e);
void check_free(struct check *c);
struct collector check_collector(struct check *c);
/* After the walk: runs all rules. `w` is the walk's result (damaged tracks), may be NULL. */
bool check_finish(struct check *c, const struct walk_result *w, struct incore_error *e);

/* All in one; walk_out (zeroed by the callee) holds the walk's notes, the caller frees it. */
struct check *check_run(const struct trace *t, const struct check_context *ctx,
	const struct walk_options *o, struct walk_result *walk_out, struct incore_error *e);

const struct finding *check_find(const struct check *c, const char *id);
/* "suspect: source-collapsed, underfilled" (errors and warnings; "ok" alone): health in one line.
 */
bool check_health(const struct check *c, struct strbuf *out);
/* "waves 32, cut_waves 16" */
bool finding_put_evidence(const struct finding *f, struct strbuf *out);
