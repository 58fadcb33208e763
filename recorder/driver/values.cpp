/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.cpp: the few values that are known without computing any. A tile that was loaded from
 * supplied memory, or set element by element, can be read by scalar code; whatever a tile op made
 * cannot, on the chip or in global memory. Only the last writers of the vector buffer are kept:
 * what they did not write is not known.
 */
#include <cstdio>

#include "driver/driver.hpp"

namespace incore
{
namespace
{
struct writer {
	uint64_t from, to; /* bytes of the vector buffer */
	op_opnd tile, gm;  /* gm.shape[0] is 0 unless it was a load from a slot */
	int64_t offset;	   /* of the view in its slot */
	bool is_set;	   /* one element, `value` */
	uint64_t value;
};

constexpr unsigned WRITERS = 256;
writer writers[WRITERS];
uint64_t n_writers;

writer &next_writer(const op_opnd &tile, uint64_t from, uint64_t to)
{
	writer &w = writers[n_writers++ % WRITERS];

	w.from = from;
	w.to = to;
	w.tile = tile;
	w.gm.shape[0] = 0;
	w.is_set = false;
	return w;
}

bool is_writer(const op_opnd &o)
{
	return o.what == OPND_TILE && o.loc == LOC_VEC &&
	       (o.role == ROLE_DST || o.role == ROLE_TMP);
}

/* Where in its slot a load took an element from; false where the tile has none of it. */
bool source_of(const writer &w, uint64_t at, int64_t *offset)
{
	uint64_t elem = (at - w.from) * 8 / w.tile.bits, row, col, rest;
	int64_t step;

	if (w.gm.shape[0] == 0 || w.tile.bits < 8 || w.tile.slayout != SL_NONE_BOX)
		return false;
	row = w.tile.blayout == BL_ROW_MAJOR ? elem / OPND_COLS(&w.tile)
					     : elem % OPND_ROWS(&w.tile);
	col = w.tile.blayout == BL_ROW_MAJOR ? elem % OPND_COLS(&w.tile)
					     : elem / OPND_ROWS(&w.tile);
	if (row >= OPND_VROW(&w.tile) || col >= w.gm.shape[4])
		return false;
	step = static_cast<int64_t>(col) * w.gm.stride[4];
	rest = row;
	for (int i = 3; i >= 0; i--) {
		step += static_cast<int64_t>(rest % w.gm.shape[i]) * w.gm.stride[i];
		rest /= w.gm.shape[i];
	}
	*offset = w.offset + step * (w.gm.bits / 8);
	return rest == 0;
}
} // namespace

void values_begin()
{
	n_writers = 0;
}

void values_op(const op_record &op, bool is_load)
{
	for (unsigned i = 0; i < op.n; i++) {
		const op_opnd &o = op.opnd[i];
		uint64_t bytes = (uint64_t(OPND_ROWS(&o)) * OPND_COLS(&o) * o.bits + 7) / 8;

		if (o.what == OPND_GM && o.role == ROLE_DST && o.slot != OPSTREAM_NO_SLOT)
			device_wrote(o, static_cast<int64_t>(op.word[i]));
		if (!is_writer(o))
			continue;
		writer &w = next_writer(o, op.word[i], op.word[i] + bytes);
		if (is_load && op.n > 1 && op.opnd[1].what == OPND_GM &&
			op.opnd[1].slot != OPSTREAM_NO_SLOT) {
			w.gm = op.opnd[1];
			w.offset = static_cast<int64_t>(op.word[1]);
		}
	}
}

void values_set(const op_opnd &tile, uint64_t at, uint64_t value)
{
	writer &w = next_writer(tile, at, at + tile.bits / 8);

	w.is_set = true;
	w.value = value;
}

const char *values_get(uint64_t at, unsigned bytes, void *out)
{
	static char why[80];

	for (uint64_t i = n_writers; i > 0 && i + WRITERS > n_writers; i--) {
		const writer &w = writers[(i - 1) % WRITERS];
		int64_t offset;

		if (at + bytes <= w.from || at >= w.to)
			continue;
		if (w.is_set) {
			memcpy(out, &w.value, bytes);
			return at == w.from && bytes == w.to - w.from ? nullptr : "was set in part";
		}
		if (!source_of(w, at, &offset))
			return "is computed on the device";
		if (slot_bytes(the_job.slots[w.gm.slot], offset, bytes, out))
			return nullptr;
		snprintf(why, sizeof(why),
			"was loaded from byte %lld of slot %u, which nobody supplied",
			static_cast<long long>(offset), w.gm.slot);
		return why;
	}
	return "was not written";
}
} // namespace incore
