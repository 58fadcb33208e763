/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problems.h: what is wrong with a dump, in words, with the task and slot concerned. However often
 * a code occurs, only PROBLEMS_KEPT texts and the total count are kept.
 * Owner: whoever holds the struct; problems_deinit() frees it. May fail: problems_add() when out of
 * memory.
 */
#pragma once

#include "base/arena.h"
#include "base/note.h"
#include "base/vec.h"

#define PROBLEMS_KEPT 200

struct problem {
	struct note note; /* the offset is a byte of the manifest; UINT64_MAX: none */
	uint64_t task_id;
	uint32_t slot;	 /* UINT32_MAX: the task as a whole */
	uint32_t record; /* manifest index; UINT32_MAX: none */
	bool has_task;
};

struct problem_count {
	const char *code;
	enum note_weight weight;
	uint64_t n;
};

struct problems {
	struct arena arena;
	VEC(struct problem) v;		  /* in the order found */
	VEC(struct problem_count) counts; /* per code, in order of first occurrence */
	bool is_failed;			  /* latched lack of memory */
};

void problems_init(struct problems *p);
void problems_deinit(struct problems *p);
/* `at` states the subject; code, weight and message are filled in. */
void problems_add(struct problems *p, enum note_weight weight, const char *code, struct problem at,
	const char *fmt, ...) PRINTF_LIKE(5, 6);
uint64_t problems_count(const struct problems *p, enum note_weight weight);
/* Number of problems with one code, including those not kept. */
uint64_t problems_of(const struct problems *p, const char *code);
const char *problem_weight_name(enum note_weight weight); /* "note", "warning", "defect" */

/* What a problem is about. */
#define PROBLEM_DUMP                                                                               \
	((struct problem){.note.offset = UINT64_MAX, .slot = UINT32_MAX, .record = UINT32_MAX})
