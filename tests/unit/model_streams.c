/* SPDX-License-Identifier: Apache-2.0 */
/* model_streams.c: see model_streams.h. */
#include "model_streams.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct opstream *ms_new(struct opstream_set *set, enum opstream_core core, uint32_t lane)
{
	struct opstream *s = opstream_set_new(set, NULL);

	assert_non_null(s);
	s->core = core;
	s->lane = lane;
	s->block_num = 1;
	s->is_complete = true;
	for (uint8_t i = 0; i < 3; i++)
		assert_true(VEC_PUSH(&s->slots, (struct op_slot){.slot = i,
							.flags = SLOT_TENSOR | SLOT_SIZE_KNOWN,
							.dtype = DT_F16,
							.alloc = i,
							.bytes = 1 << 20,
							.ndims = 1,
							.shapes = {1 << 19},
							.strides = {1}}));
	return s;
}

void ms_push(struct opstream *s, const struct op_desc *d)
{
	assert_true(opstream_push(s, d, NULL));
}

void ms_load(
	struct opstream *s, uint32_t line, uint32_t rows, uint32_t cols, uint64_t ub, unsigned slot)
{
	struct op_desc d = op_desc_of(OPK_OP, OPP_MTE2, "TLOAD", line);
	uint32_t shape[5] = {1, 1, 1, rows, cols};

	op_desc_tile(&d, ROLE_DST, DT_F16, rows, cols, ub);
	op_desc_gm(&d, ROLE_SRC, DT_F16, shape, slot, 0);
	ms_push(s, &d);
}

void ms_store(
	struct opstream *s, uint32_t line, uint32_t rows, uint32_t cols, uint64_t ub, unsigned slot)
{
	struct op_desc d = op_desc_of(OPK_OP, OPP_MTE3, "TSTORE", line);
	uint32_t shape[5] = {1, 1, 1, rows, cols};

	op_desc_gm(&d, ROLE_DST, DT_F16, shape, slot, 0);
	op_desc_tile(&d, ROLE_SRC, DT_F16, rows, cols, ub);
	ms_push(s, &d);
}

void ms_vec(struct opstream *s, uint32_t line, const char *name, uint32_t rows, uint32_t cols,
	const uint64_t dab[3])
{
	struct op_desc d = op_desc_of(OPK_OP, OPP_V, name, line);

	op_desc_tile(&d, ROLE_DST, DT_F16, rows, cols, dab[0]);
	op_desc_tile(&d, ROLE_SRC, DT_F16, rows, cols, dab[1]);
	if (dab[2] != UINT64_MAX)
		op_desc_tile(&d, ROLE_SRC, DT_F16, rows, cols, dab[2]);
	ms_push(s, &d);
}

void ms_set(struct opstream *s, uint32_t line, enum op_pipe src, enum op_pipe dst, int id)
{
	struct op_desc d = op_desc_flag(OPK_SET, src, dst, id, line);

	ms_push(s, &d);
}

void ms_wait(struct opstream *s, uint32_t line, enum op_pipe src, enum op_pipe dst, int id)
{
	struct op_desc d = op_desc_flag(OPK_WAIT, src, dst, id, line);

	ms_push(s, &d);
}

void ms_barrier(struct opstream *s, uint32_t line, enum op_pipe pipe)
{
	struct op_desc d = op_desc_of(OPK_BARRIER, pipe, "pipe_barrier", line);

	ms_push(s, &d);
}

void ms_x(struct opstream *s, uint32_t line, enum op_kind kind, enum op_pipe pipe, int id, int mode)
{
	struct op_desc d = op_desc_of(
		kind, pipe, kind == OPK_XSET ? "ffts_cross_core_sync" : "wait_flag_dev", line);

	d.form.flag_src = d.form.flag_dst = (uint8_t)pipe;
	d.form.flag_id = id;
	d.form.flag_mode = (uint8_t)mode;
	ms_push(s, &d);
}

void ms_fifo(struct opstream *s, uint32_t line, enum op_kind kind, const struct op_form *fifo,
	uint32_t t)
{
	static const char *const names[] = {"TPUSH", "TPOP", "TFREE"};
	struct op_desc d = op_desc_of(
		kind, OPP_S, kind == OPK_FIFO_END ? "TPIPE_END" : names[kind - OPK_PUSH], line);

	d.form.fifo_flag_id = fifo->fifo_flag_id;
	d.form.fifo_dir = fifo->fifo_dir;
	d.form.fifo_slot_num = fifo->fifo_slot_num;
	d.form.fifo_local_num = fifo->fifo_local_num;
	d.form.fifo_slot_size = fifo->fifo_slot_size;
	d.aux = t;
	if (kind == OPK_PUSH || kind == OPK_POP)
		op_desc_tile(
			&d, kind == OPK_PUSH ? ROLE_SRC : ROLE_DST, DT_F16, 16, 64, t % 2 * 2048)
			->loc = s->core == CORE_AIV ? LOC_VEC
				: kind == OPK_PUSH  ? LOC_ACC
						    : LOC_MAT;
	ms_push(s, &d);
}

void ms_seal(struct opstream_set *set)
{
	for (size_t i = 0; i < set->v.n; i++)
		assert_true(opstream_seal(&set->v.v[i], NULL));
}
