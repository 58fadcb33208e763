/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pto_read.h: the reader of one function of a .pto file, between pto.c (module and functions) and
 * pto_view.c (what a view reaches). Internal to these files.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "replay/source/pto.h"
#include "replay/source/pto_lex.h"
#include "replay/source/pto_range.h"

#define PTO_MAX_PARAMS 64 /* an argument array has 50 slots */
#define PTO_MAX_RANK 8
#define PTO_NO_VALUE UINT32_MAX

enum pto_value_kind { PTO_UNKNOWN, PTO_INTEGER, PTO_POINTER };

struct pto_value { /* what an SSA name stands for */
	enum pto_value_kind kind;
	struct pto_range range; /* of an integer; of a pointer: elements past the parameter */
	uint32_t param;		/* of a pointer */
	uint64_t bounds;	/* bit i: the bound of scalar parameter i went into it */
	struct str op;		/* that produced it */
	uint32_t line;
	uint32_t from[3]; /* its operands, or PTO_NO_VALUE */
};

struct pto_reader {
	struct arena *arena;
	const char *path;
	const struct pto_launch *launch;
	struct pto_lexer lex;
	struct intern names; /* of the current function */
	VEC(struct pto_value) values;
	struct pto_func *func;
	struct incore_error *e;
};

/* Sets an error at the given line; always false. */
bool pto_fail(struct pto_reader *r, uint32_t line, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The value of an SSA name, made unknown on first sight; PTO_NO_VALUE on lack of memory. */
uint32_t pto_value_at(struct pto_reader *r, struct str name);
/* Call after the word pto.make_tensor_view: reads its operands and widens the parameter. */
bool pto_read_view(struct pto_reader *r);
