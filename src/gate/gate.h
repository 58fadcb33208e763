/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h: results of gates as files for CI. A question with a gate fills one table of results; each
 * format has one writer for it, and no writer computes a figure. Files appear whole, before the
 * answer is printed; the question says whether the answer is negative. May fail: memory, a file
 * that cannot be written, and with status USAGE if a file is requested but nothing was judged.
 */
#pragma once

#include "base/error.h"
#include "codec/record.h"

struct gate_files { /* to be written; NULL: not requested */
	const char *junit, *sarif, *markdown;
};

/* M: the struct gate_files among the parameters S of the question. */
#define GATE_REPORT_OPTIONS(S, M)                                                                  \
	{OPT_JUNIT, NULL, NULL, "also write what the gates found as JUnit XML",                    \
		OPTION_FIELD(S, M.junit)},                                                         \
		{OPT_SARIF, NULL, NULL,                                                            \
			"also write what failed as SARIF 2.1.0, on its source line",               \
			OPTION_FIELD(S, M.sarif)},                                                 \
	{                                                                                          \
		OPT_MARKDOWN, NULL, NULL,                                                          \
			"also append the results as Markdown: \"$GITHUB_STEP_SUMMARY\"",           \
			OPTION_FIELD(S, M.markdown)                                                \
	}

enum gate_state { GATE_HELD, GATE_FAILED, GATE_UNTOLD };

struct gate_cause { /* an instruction or the like that causes a failure */
	const char *what, *figure;
	const char *source; /* "inner.py:3 -> outer.py:5"; NULL or "": not known */
};

struct gate_outcome {
	enum gate_state state;
	const char *metric;  /* the judged value; it names the rule */
	const char *name;    /* condition or series; with metric and kernel the result's identity */
	const char *kernel;  /* NULL: it has no name */
	const char *message; /* the figures, the limit and the noise in words */
	const char *evidence; /* what the figures rest on */
	const char *input;    /* path to report if no cause has a source line */
	const char *command;  /* for a closer look; NULL: none */
	struct rows causes;   /* gate_cause; the largest first */
	const void *row;      /* all its figures, as in --json */
};

struct gate_report {
	const char *verb;
	const char *help;	     /* explains the gate and what to do if it fails */
	const struct record *record; /* of gate_outcome.row */
	const struct gate_outcome *v;
	size_t n;
	const char *const *warnings; /* of the answer that the gates are part of */
	size_t n_warnings;
};

/* Can the requested files be written at all? n: things to judge. Call it before any work. */
bool gate_may_write(const struct gate_files *f, size_t n, struct incore_error *e);
/* Is any of these files requested? */
bool gate_is_asked(const struct gate_files *f);
/* Writes the requested files. */
bool gate_write(const struct gate_files *f, const struct gate_report *r, struct incore_error *e);

/* --- one writer per format; each appends the whole file --- */
void gate_put_junit(const struct gate_report *r, struct strbuf *out);
void gate_put_sarif(const struct gate_report *r, struct strbuf *out);
void gate_put_markdown(const struct gate_report *r, struct strbuf *out);

/* --- shared by the writers --- */
uint64_t gate_count(const struct gate_report *r, enum gate_state s);
/* "incore diff: 1 of 3 gates failed" */
void gate_put_title(const struct gate_report *r, struct strbuf *out);

/* gate_place.c: maps a source line to a file in the working directory. */
struct gate_place {
	struct str path;
	uint64_t line;
	bool is_found; /* found below the working directory; path is then relative */
};
/* The innermost place of an inline chain whose file is found, else the innermost place. A path that
 * was absolute on another machine is searched by its longest suffix. False: no line in `source`. */
bool gate_place(const char *source, struct gate_place *out);
/* Appends a percent-encoded URI; absolute paths get file://. */
void gate_put_uri(struct strbuf *b, struct str path);
