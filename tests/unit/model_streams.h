/* SPDX-License-Identifier: Apache-2.0 */
/* model_streams.h: op streams for tests of the engine, one call an op. */
#ifndef TESTS_UNIT_MODEL_STREAMS_H
#define TESTS_UNIT_MODEL_STREAMS_H

#include "model/engine/engine.h"

/* A new stream with three 1 MiB tensors in slots 0 to 2. */
struct opstream *ms_new(struct opstream_set *set, enum opstream_core core, uint32_t lane);
void ms_load(struct opstream *s, uint32_t line, uint32_t rows, uint32_t cols, uint64_t ub,
	unsigned slot);
void ms_store(struct opstream *s, uint32_t line, uint32_t rows, uint32_t cols, uint64_t ub,
	unsigned slot);
/* A vector op of half tiles: dst at d, sources at a (and b unless UINT64_MAX). */
void ms_vec(struct opstream *s, uint32_t line, const char *name, uint32_t rows, uint32_t cols,
	const uint64_t dab[3]);
void ms_set(struct opstream *s, uint32_t line, enum op_pipe src, enum op_pipe dst, int id);
void ms_wait(struct opstream *s, uint32_t line, enum op_pipe src, enum op_pipe dst, int id);
void ms_barrier(struct opstream *s, uint32_t line, enum op_pipe pipe);
void ms_x(
	struct opstream *s, uint32_t line, enum op_kind kind, enum op_pipe pipe, int id, int mode);
/* TPUSH, TPOP, TFREE or the end of FIFO `flag_id`, number t. */
void ms_fifo(struct opstream *s, uint32_t line, enum op_kind kind, const struct op_form *fifo,
	uint32_t t);
void ms_push(struct opstream *s, const struct op_desc *d);
void ms_seal(struct opstream_set *set);

#endif
