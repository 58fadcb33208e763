/* SPDX-License-Identifier: Apache-2.0 */
/* intrinsics.cpp: flags, barriers and scalar ops as records; the registers a kernel may read. */
#include "driver/driver.hpp"

namespace incore
{
void flag(bool is_set, int src, int dst, int id, site s)
{
	op_record op(is_set ? OPK_SET : OPK_WAIT, static_cast<op_pipe>(is_set ? src : dst),
		is_set ? "set_flag" : "wait_flag", s);

	op.form.flag_src = static_cast<uint8_t>(src);
	op.form.flag_dst = static_cast<uint8_t>(dst);
	op.form.flag_id = id;
	stream_push(op);
}

void barrier(int pipe, site s)
{
	stream_push(op_record(OPK_BARRIER, static_cast<op_pipe>(pipe), "pipe_barrier", s));
}

void scalar(const char *name, site s, unsigned n, uint64_t v0, uint64_t v1)
{
	op_record op(OPK_SCALAR, OPP_S, name, s);

	for (unsigned i = 0; i < n; i++)
		op.add(OPND_SCALAR, ROLE_VALUE, i ? v1 : v0).bits = 64;
	stream_push(op);
}

void scalar_at(const char *name, site s, const void *p)
{
	op_record op(OPK_SCALAR, OPP_S, name, s);
	int64_t offset = 0;
	slot *at = slot_of(p, &offset);
	op_opnd &o = op.add(OPND_GM, ROLE_VALUE, at ? static_cast<uint64_t>(offset) : 0);

	o.slot = at ? at->rec.slot : OPSTREAM_NO_SLOT;
	o.dtype = DT_U8;
	o.bits = 8;
	stream_push(op);
	forget_lines(p);
}

void cross_set(int pipe, int id, int mode, const char *name, site s)
{
	op_record op(OPK_XSET, static_cast<op_pipe>(pipe), name, s);

	op.form.flag_src = static_cast<uint8_t>(pipe);
	op.form.flag_id = id;
	op.form.flag_mode = static_cast<uint8_t>(mode);
	stream_push(op);
}

void cross_wait(int pipe, int id, int mode, const char *name, site s)
{
	op_record op(OPK_XWAIT, static_cast<op_pipe>(pipe), name, s);

	op.form.flag_dst = static_cast<uint8_t>(pipe);
	op.form.flag_id = id;
	op.form.flag_mode = static_cast<uint8_t>(mode);
	stream_push(op);
}

int block_idx()
{
	return static_cast<int>(the_run.block_idx);
}

int block_num()
{
	return static_cast<int>(the_run.block_num);
}

int lane()
{
	return static_cast<int>(the_run.lane);
}

int lane_count()
{
	return the_run.mixed ? static_cast<int>(the_run.mixed) : 1;
}

/* Loops that wait for a time must end: every look is a millisecond later. */
uint64_t sys_cnt()
{
	static uint64_t now;

	return now += 1000000;
}
} // namespace incore
