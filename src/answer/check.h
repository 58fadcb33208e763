/* SPDX-License-Identifier: Apache-2.0 */
/* check.h: the answer of answer/check.c: can this capture be trusted? */
#pragma once

#include "analysis/check/check.h"
#include "answer/answer.h"

struct finding_row {
	const char *capture, *verdict; /* the capture it is about, and its verdict */
	const char *id, *severity, *message, *advice;
	enum note_weight level;
	struct rows evidence; /* fact_row */
	const char *evidence_text;
};
extern const struct record finding_record;

struct check_part {
	const char *verdict;
	struct rows findings; /* finding_row, the worst first */
};
extern const struct record check_part_record;
/* v: room for the findings. Strings are borrowed from the check, which must live as long. */
bool check_part_make(struct answer *a, const struct check *k, const char *capture,
	struct finding_row *v, struct check_part *out, struct incore_error *e);
/* The text of check_health(), owned by the answer; NULL on lack of memory. */
const char *check_health_text(struct answer *a, const struct check *k, struct incore_error *e);

struct noted_row { /* a note of the reader about which something can be done */
	const char *code, *kind, *message, *path, *advice; /* path: or NULL */
	uint64_t count;
};

struct checked_row {
	const char *path;
	bool is_chosen; /* the capture that its path stands for */
	enum verdict verdict;
	struct check_part check;
	const char *health; /* in one line */
	struct rows notes;  /* noted_row */
};

struct check_answer {
	const char *evidence;
	struct check_part worst;   /* of the chosen capture with the worst verdict */
	struct rows notes;	   /* noted_row, of that capture */
	struct rows captures;	   /* checked_row, where there are several */
	struct rows checked;	   /* checked_row, also where there is only one */
	struct rows every_finding; /* finding_row, of all captures */
};
