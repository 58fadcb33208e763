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

#include "analysis/walk.h"

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_INFO, SEVERITY_COUNT };
enum verdict { VERDICT_OK, VERDICT_SUSPECT, VERDICT_UNUSABLE };
const char *severity_name(enum severity s); /* "error", ... */
const char *verdict_name(enum verdict v);   /* "ok", "suspect", "unusable" */

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
	const char *id; /* "truncated", ...; stable */
	enum severity severity;
	const char *message; /* one line */
	const char *advice;  /* one line */
	struct fact facts[FINDING_MAX_FACTS];
	unsigned n_facts;
};

/* The ids of all findings: the words of that column. */
#define FINDING_WORDS                                                                              \
	"empty-shell|missed-cu|not-executed|damaged-file|link-outside|"                            \
	"implausible-stream|no-code|missed-se|truncated|"                                          \
	"missing-wave|unlisted-wave|inconsistent-waves|repeated-capture|"                          \
	"several-kernel-ids|no-source|source-partial|source-collapsed|stale-source|"               \
	"toolkit-source|"                                                                          \
	"early-exit|no-matrix-work|underfilled|partial-coverage|throttled-clock|"                  \
	"unaligned-clocks|vgpr-count-halved|short-sample|no-counters|inconsistent-totals|"         \
	"inconsistent-states|inconsistent-waits|no-timeline|no-compute|"                           \
	"data-movement-only|near-empty|one-side-empty|no-loop|zero-byte-moves|sync-bound|"         \
	"no-flag-events|sub-block-collision|unmatched-flags|reused-flags|model-race|"              \
	"model-deadlock|model-unmatched-wait|model-double-set|model-flag-left-set|"                \
	"model-bad-flag|model-counter-full|model-missing-barrier|model-more-findings|"             \
	"model-incomplete|"                                                                        \
	"quantised-time|clock-unknown|inconsistent-busy|few-samples|no-samples|dropped-samples|"   \
	"short-kernel|clock-not-locked|different-clocks|replayed|no-line-info|"                    \
	"unmapped-addresses"

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
