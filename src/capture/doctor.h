/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h: would a capture work here? Checks what is installed, rights, devices and free space;
 * each finding says what to do about it. Changes nothing.
 * Owner: struct doctor; doctor_deinit(). May fail: memory; anything missing is a finding.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "codec/record.h"

enum doctor_kind { DOCTOR_ATT = 1, DOCTOR_MSPROF = 2, DOCTOR_CUDA = 4 };

struct doctor_finding {
	const char *kind; /* "att", "msprof", "cuda" */
	const char *
		severity; /* "ok", "info", "warning", "error": with an error a capture would fail */
	const char *id, *message;
	const char *fix; /* NULL: nothing to do */
};

struct doctor {
	struct arena arena;
	const char *root; /* directory used as "/" */
	const char *dir;  /* where captures would go */
	const char *kind; /* kind of capture being checked */
	unsigned n_errors;
	bool is_nomem; /* set once memory has run out */
	struct doctor_answer {
		const char *verdict; /* "ready", "not-ready" */
		VEC(struct doctor_finding) findings;
	} answer;
};
extern const struct record doctor_record, doctor_finding_record;

/* kinds: enum doctor_kind. tool: rocprofv3, or NULL. root: "" but for tests. */
bool doctor_run(struct doctor *d, unsigned kinds, const char *tool, const char *root,
	struct incore_error *e);
void doctor_deinit(struct doctor *d);
