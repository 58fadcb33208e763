/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h: what gates found, as files for CI. A verb with a gate fills one table of results; each
 * format is one writer over it, and none computes a figure. Files appear whole, before anything
 * is printed; the exit status is the verb's. May fail: memory, a file that cannot be written, and
 * with status USAGE where a file is asked for and nothing was judged.
 */
#pragma once

#include "cli/cli.h"
#include "codec/record.h"

#define GATE_REPORT_OPTIONS                                                                        \
	{0, "junit", OPTION_TEXT, "FILE", NULL, NULL,                                              \
		"also write what the gates found as JUnit XML", .names_file = true},               \
		{0, "sarif", OPTION_TEXT, "FILE", NULL, NULL,                                      \
			"also write what failed as SARIF 2.1.0, on its source line",               \
			.names_file = true},                                                       \
	{                                                                                          \
		0, "markdown", OPTION_TEXT, "FILE", NULL, NULL,                                    \
			"also append it as Markdown: \"$GITHUB_STEP_SUMMARY\"", .names_file = true \
	}

enum gate_state { GATE_HELD, GATE_FAILED, GATE_UNTOLD };

struct gate_cause { /* an instruction or the like that a failure comes from */
	const char *what, *figure;
	const char *source; /* "inner.py:3 -> outer.py:5"; NULL or "": not known */
};

struct gate_found {
	enum gate_state state;
	const char *metric;  /* the value that is judged: names the rule */
	const char *name;    /* the condition, or the series: with metric and kernel its identity */
	const char *kernel;  /* NULL: it has no name */
	const char *message; /* the figures, the limit and the noise in words */
	const char *evidence; /* what they rest on */
	const char *input;    /* path to name where no cause has a source line */
	const char *command;  /* looks closer; NULL: none */
	struct rows causes;   /* gate_cause; the largest first */
	const void *row;      /* all its figures, as --json gives them */
};

struct gate_report {
	const char *verb;
	const char *help;	     /* what such a gate is, and what to do */
	const struct record *record; /* of gate_found.row */
	const struct gate_found *v;
	size_t n;
};

/* Can the files that are asked for be written at all? n: things to judge. Asked before any work. */
bool gate_may_write(struct cli *c, size_t n);
/* gate_diff.c: the same of `incore diff`. */
bool gate_may_write_diff(struct cli *c);
/* Is any of the files asked for? */
bool gate_is_asked(const struct cli *c);
/* Writes those that are. */
bool gate_write(struct cli *c, const struct gate_report *r);
/* gate_diff.c: of the answer of `incore diff`. */
bool gate_write_diff(struct cli *c, const struct answer *a);

/* --- one writer a format: appends the whole file --- */
void gate_put_junit(const struct gate_report *r, struct strbuf *out);
void gate_put_sarif(const struct cli *c, const struct gate_report *r, struct strbuf *out);
void gate_put_markdown(const struct gate_report *r, struct strbuf *out);

/* --- what they share --- */
uint64_t gate_count(const struct gate_report *r, enum gate_state s);
/* "incore diff: 1 of 3 gates failed" */
void gate_put_title(const struct gate_report *r, struct strbuf *out);

/* gate_place.c: a source line as a place in the working directory. */
struct gate_place {
	struct str path;
	uint64_t line;
	bool is_found; /* below the working directory, and so relative */
};
/* Of the links of an inline chain the innermost that is there: a path that was absolute elsewhere
 * is looked for by its longest end. Where none is, the innermost. False: no line in it. */
bool gate_place(const char *source, struct gate_place *out);
/* Percent-encoded; what is absolute begins with file://. */
void gate_put_uri(struct strbuf *b, struct str path);
