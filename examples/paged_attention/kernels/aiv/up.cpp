/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up.cpp: joins one cache block to the running softmax. Slots: 0 mij, 1 lij, 2 oi_new (of the block),
 * 3 mi, 4 li, 5 oi (running), 6 dst, 7 is_first, 8 is_last.
 */
#include "../slots.h"

using GmCol = GlobalTensor<float, Shape<1, 1, 1, TILE, 1>, Stride<TILE, TILE, TILE, 1, TILE>, Layout::DN>;
using GmMat = GlobalTensor<float, Shape<1, 1, 1, TILE, TILE>, Stride<256, 256, 256, TILE, 1>>;
using Col = Tile<TileType::Vec, float, TILE, 1, BLayout::ColMajor>;
using Row = Tile<TileType::Vec, float, 1, TILE>;
using Mat = Tile<TileType::Vec, float, TILE, TILE>;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const bool is_first = args[7] != 0, is_last = args[8] != 0;
	GmCol gmij(data_of<float>(args, 0)), glij(data_of<float>(args, 1));
	GmCol gmi(data_of<float>(args, 3)), gli(data_of<float>(args, 4));
	GmMat gnew(data_of<float>(args, 2)), goi(data_of<float>(args, 5)), gdst(data_of<float>(args, 6));
	Col mij, lij, mi, li, alpha_col, beta_col, m_out, l_out, l_col;
	Mat o_new, oi, scaled;
	Row mij_row, lij_row, mi_row, li_row, top, alpha, beta, l_old, l_new, l_sum;

	TASSIGN(mij, 0x0);
	TASSIGN(lij, 0x100);
	TASSIGN(mi, 0x200);
	TASSIGN(li, 0x300);
	TASSIGN(o_new, 0x400);
	TASSIGN(oi, 0x800);
	TASSIGN(scaled, 0xc00);
	TASSIGN(top, 0x1000);
	TASSIGN(alpha, 0x1100);
	TASSIGN(beta, 0x1200);
	TASSIGN(l_sum, 0x1300);

	TLOAD(mij, gmij);
	TLOAD(lij, glij);
	TLOAD(o_new, gnew);
	if (is_first) { /* the block is the state so far */
		set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		TASSIGN(m_out, 0x0);
		TASSIGN(l_out, 0x100);
		if (is_last) {
			TRESHAPE(l_col, lij);
			TROWEXPANDDIV(o_new, o_new, l_col);
		}
		set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		TSTORE(gmi, m_out);
		TSTORE(gli, l_out);
		if (is_last)
			TSTORE(gdst, o_new);
		else
			TSTORE(goi, o_new);
		pipe_sync();
		return;
	}
	TLOAD(mi, gmi);
	TLOAD(li, gli);
	TLOAD(oi, goi);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);

	TRESHAPE(mij_row, mij);
	TRESHAPE(lij_row, lij);
	TRESHAPE(mi_row, mi);
	TRESHAPE(li_row, li);
	TASSIGN(l_old, 0x1400);
	TASSIGN(l_new, 0x1500);
	TASSIGN(alpha_col, 0x1100);
	TASSIGN(beta_col, 0x1200);
	TASSIGN(l_col, 0x1300);

	TMAX(top, mi_row, mij_row);
	pipe_barrier(PIPE_V);
	TSUB(alpha, mi_row, top);
	pipe_barrier(PIPE_V);
	TEXP(alpha, alpha);
	TSUB(beta, mij_row, top);
	pipe_barrier(PIPE_V);
	TEXP(beta, beta);
	pipe_barrier(PIPE_V);
	TMUL(l_old, alpha, li_row);
	TMUL(l_new, beta, lij_row);
	pipe_barrier(PIPE_V);
	TADD(l_sum, l_old, l_new);
	TRESHAPE(alpha_col, alpha);
	TRESHAPE(beta_col, beta);
	TROWEXPANDMUL(scaled, oi, alpha_col);
	TROWEXPANDMUL(o_new, o_new, beta_col);
	pipe_barrier(PIPE_V);
	TADD(oi, scaled, o_new);
	TASSIGN(m_out, 0x1000);
	TASSIGN(l_out, 0x1300);
	if (is_last) {
		pipe_barrier(PIPE_V);
		TRESHAPE(l_col, l_sum);
		TROWEXPANDDIV(oi, oi, l_col);
	}
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(gmi, m_out);
	TSTORE(gli, l_out);
	if (is_last)
		TSTORE(gdst, oi);
	else
		TSTORE(goi, oi);
	pipe_sync();
}
