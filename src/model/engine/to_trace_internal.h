/* SPDX-License-Identifier: Apache-2.0 */
/* to_trace_internal.h: what the files of to_trace share. */
#pragma once

#include "base/map.h"
#include "isa/ascend.h"
#include "model/engine/to_trace.h"

struct timed_rows { /* the code table while it grows */
	struct trace *t;
	const struct opstream_set *set;
	VEC(struct code_row) code;
	VEC(struct frame) frames;
	struct intern opcodes, sources, keys;
	struct u64_map *row_at; /* by stream: (form, site, part) -> row + 1 */
	struct strbuf text;
};

bool rows_init(struct timed_rows *r, struct trace *t, const struct opstream_set *set);
void rows_deinit(struct timed_rows *r);
/* The row of a slice; NO_CODE: out of memory. */
code_idx rows_of(struct timed_rows *r, uint32_t stream, const struct timed_slice *s, unsigned pipe);
/* What a slice moved; 0: nothing. */
uint64_t rows_bytes(const struct timed_rows *r, uint32_t stream, const struct timed_slice *s);
/* Moves the tables into the trace. */
bool rows_finish(struct timed_rows *r, struct incore_error *e);

/* enum ascend_pipe of an enum op_pipe. */
unsigned model_lane(unsigned pipe);

/* labels.c: the table, and the notes. */
bool model_labels_put(struct trace *t, const struct opstream_set *set, const struct timed *timed,
	const struct profile *p);
