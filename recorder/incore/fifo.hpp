/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fifo.hpp: the FIFOs between the cube core and its vector cores. Recorded are pushes, pops and
 * frees with their number; what they wait for is the engine's to say.
 */
#pragma once

#include "incore/ops.hpp"

namespace incore
{
/* The producer's or the consumer's end of a FIFO. */
struct pipe_end {
	uint32_t tile_id = 0;
	int64_t entry_offset = 0;

	uint32_t getTileId() const
	{
		return tile_id;
	}
	template <class I, class... More> void setTileId(I id, More...)
	{
		tile_id = static_cast<uint32_t>(id);
	}
	template <class I> void setEntryOffset(I offset)
	{
		entry_offset = static_cast<int64_t>(offset);
	}
	template <class... A> void setAllocateStatus(A...)
	{
	}
	template <class... A> void setRecordStatus(A...)
	{
	}
	template <class... A> void setFreeStatus(A...)
	{
	}
	template <class... A> void setWaitStatus(A...)
	{
	}
};

struct pipe_base {
	uint16_t flag_id;
	uint8_t dir, flags;
	uint32_t slot_size;
	uint16_t slot_num, local_num;
	uint16_t object;
	void *gm;
	uint64_t c2v_addr, v2c_addr;
	pipe_end prod, cons;
	uint32_t n_push = 0, n_pop = 0, n_free = 0;
	site where;
};

void pipe_begin(pipe_base &p);
void pipe_end_of_life(pipe_base &p);

/* An address on the chip, however it is given. */
template <class T> uint64_t chip_address(T v)
{
	if constexpr (std::is_pointer_v<T>)
		return reinterpret_cast<uintptr_t>(v);
	else
		return static_cast<uint64_t>(v);
}
} // namespace incore

namespace pto
{
template <int FlagID, auto Dir, uint32_t SlotSize, uint32_t SlotNum, uint32_t LocalSlotNum = 2,
	bool NoSplit = false, bool UnitFlag = false>
struct TPipe : incore::pipe_base {
	static constexpr int flagId = FlagID;
	static constexpr uint32_t slotSize = SlotSize, slotNum = SlotNum;

	template <class Gm, class A, class B>
	TPipe(Gm *gm_slot_buffer, A c2v_buf_addr, B v2c_buf_addr, incore::site s = INCORE_HERE)
	{
		init(const_cast<std::remove_cv_t<Gm> *>(gm_slot_buffer),
			incore::chip_address(c2v_buf_addr), incore::chip_address(v2c_buf_addr), s);
	}
	template <class A, class B>
	TPipe(std::nullptr_t, A c2v_buf_addr, B v2c_buf_addr, incore::site s = INCORE_HERE)
	{
		init(nullptr, incore::chip_address(c2v_buf_addr),
			incore::chip_address(v2c_buf_addr), s);
	}
	TPipe(const TPipe &) = delete;
	~TPipe()
	{
		incore::pipe_end_of_life(*this);
	}

      private:
	void init(void *gm_buffer, uint64_t c2v, uint64_t v2c, incore::site s)
	{
		flag_id = FlagID;
		dir = static_cast<uint8_t>(Dir);
		flags = (NoSplit ? 1 : 0) | (UnitFlag ? 2 : 0);
		slot_size = SlotSize;
		slot_num = SlotNum;
		local_num = LocalSlotNum;
		gm = gm_buffer;
		c2v_addr = c2v;
		v2c_addr = v2c;
		where = s;
		incore::pipe_begin(*this);
	}
};

template <int FlagID, auto Dir, uint32_t SlotSize, uint32_t SlotNum, uint32_t LocalSlotNum = 2,
	bool NoSplit = false, bool UnitFlag = false>
struct TMPipe : TPipe<FlagID, Dir, SlotSize, SlotNum, LocalSlotNum, NoSplit, UnitFlag> {
	using base = TPipe<FlagID, Dir, SlotSize, SlotNum, LocalSlotNum, NoSplit, UnitFlag>;
	template <class Gm, class A, class B>
	TMPipe(Gm gm_slot_buffer, A c2v_buf_addr, B v2c_buf_addr, incore::site s = INCORE_HERE)
	    : base(gm_slot_buffer, c2v_buf_addr, v2c_buf_addr, s)
	{
		this->flags |= 4;
	}
};

INCORE_FUNCTION(TPUSH)
INCORE_FUNCTION(TPOP)
INCORE_FUNCTION(TFREE)
INCORE_FUNCTION(TALLOC)
} // namespace pto
