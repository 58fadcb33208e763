/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option.h: the options of questions: one table per question and one for what all have in common.
 * The command line, a URL and a library call all set the same fields through it, so that nothing
 * behind a request sees where its options came from. Help, completions and the check of the man
 * pages come from the same tables.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "answer/option_names.h"
#include "base/error.h"
#include "base/str.h"

enum option_type {
	OPTION_FLAG,   /* bool */
	OPTION_TEXT,   /* const char *; NULL: not given */
	OPTION_COUNT,  /* uint64_t; NO_COUNT: not given, and no default */
	OPTION_CHOICE, /* unsigned: which of the choices; NO_CHOICE: not given, and no default */
	OPTION_MANY,   /* struct text_list: TEXT that may be repeated */
	OPTION_TOP,    /* uint64_t: "N" or "all"; NO_COUNT: not given */
};

struct text_list {
	const char **v;
	size_t n, cap;
};

#define NO_COUNT UINT64_MAX
#define NO_CHOICE UINT32_MAX
#define TOP_ALL (UINT64_MAX - 1)

/*
 * Who may use an option, or ask a question, besides the terminal and the library. Nobody else may
 * unless the table says so: nothing new is offered to strangers by accident.
 */
enum reach {
	REACH_HTTP = 1,	 /* a request to the viewer: it names no file */
	REACH_AGENT = 2, /* incore mcp: files it names lie below its roots */
	REACH_SQL = 4,	 /* incore sql */
	REACH_ALL = REACH_HTTP | REACH_AGENT | REACH_SQL,
};

/* What the value of an option names; rows of option_names.h say false and true for the first two. */
enum option_file {
	NAMES_NO_FILE,
	NAMES_FILE,	   /* it is a path, or contains one */
	NAMES_PRODUCT,	   /* the file that the verb makes; "-": standard output */
	NAMES_PRODUCT_DIR, /* the folder that it makes */
};

struct option_def {
	/* A row of option_names.h. */
	char letter;	  /* 0: none */
	const char *name; /* without "--"; NULL ends a table */
	enum option_type type;
	const char *arg;    /* "N", "FILE", ...; NULL for a flag */
	uint8_t names_file; /* enum option_file */
	/* What it means to the verb. */
	const char *choices;  /* "a|b|c" for CHOICE */
	const char *fallback; /* default shown and used; NULL: none */
	const char *help;     /* one line, lower case, no period */
	uint16_t offset;      /* of its field, if is_stored */
	bool is_stored;	      /* stored in the struct that the table belongs to */
	uint8_t reach;	      /* enum reach */
	bool only_named;      /* --help lists only the name */
	const char *alias_of; /* name of an option of the same table, set in its stead; or NULL */
};

/* Prefixes of the help of options that are only named: rarely needed ones, and those that replace
 * something of the capture. */
#define OPTION_RARE "rarely needed: "
#define OPTION_INSTEAD "instead of the capture's "
/* Prefix of the help of risky options: --help lists only their names; the man page warns. */
#define OPTION_RISK "at your own risk: "
/* For every verb that opens a dump; captures have it in request_capture_options. */
#define OPTION_LINKS(S, M)                                                                         \
	{                                                                                          \
		OPT_FOLLOW_LINKS, NULL, NULL,                                                      \
			OPTION_RISK "follow links that lead out of the dump", OPTION_FIELD(S, M),  \
			.only_named = true                                                         \
	}
#define OPTION_END                                                                                 \
	{                                                                                          \
		0, NULL                                                                            \
	}
/* Offset of a field, as the last members of an entry. */
#define OPTION_FIELD(S, M) offsetof(struct S, M), true
/* OPTION_FIELD of an option that everybody may use. */
#define OPTION_ALL(S, M) OPTION_FIELD(S, M), REACH_ALL

/* Does the value fit the type? If not: false with status USAGE and the option's name. */
bool option_check(const struct option_def *d, const char *value, struct incore_error *e);
/* Stores a checked value in its field of *fields, or adds it to a list; strings are borrowed. NULL
 * stands for an option that was not given. May fail: memory, for a list. */
bool option_store(const struct option_def *d, const char *value, void *fields);
/* Sets the fields of a table to their defaults. */
void options_reset(const struct option_def *table, void *fields);
/* Frees the lists among the fields. */
void options_deinit(const struct option_def *table, void *fields);
#define OPTION_TEXT_SIZE 80
/* What it means, in one line; made in buf for an alias. */
const char *option_purpose(const struct option_def *d, char buf[OPTION_TEXT_SIZE]);
/* The word of choice i, without a NUL after it; NULL for NO_CHOICE. */
struct str option_choice(const struct option_def *d, unsigned i);
const struct option_def *option_find(const struct option_def *table, const char *name);
