/* SPDX-License-Identifier: Apache-2.0 */
/* profile_keys.c: the names of the constants, and numbers as profiles write them. */
#include "model/profile/profile.h"

#include "base/str.h"

static const char *const KEYS[K_COUNT] = {
	[K_CLOCK_MHZ] = "clock_mhz",
	[K_AIC_CORES] = "aic_cores",
	[K_AIV_CORES] = "aiv_cores",
	[K_UB_KIB] = "ub_kib",
	[K_L1_KIB] = "l1_kib",
	[K_L0A_KIB] = "l0a_kib",
	[K_L0B_KIB] = "l0b_kib",
	[K_L0C_KIB] = "l0c_kib",
	[K_QUEUE_DEPTH] = "queue_depth",
	[K_FLAG_SET] = "flag_set",
	[K_FLAG_WAIT] = "flag_wait",
	[K_S_SYNC] = "s_sync",
	[K_S_OP] = "s_op",
	[K_S_STORE] = "s_store",
	[K_S_LOAD] = "s_load",
	[K_S_MISS] = "s_miss",
	[K_S_LOOP] = "s_loop",
	[K_S_GETV] = "s_getv",
	[K_S_CACHE] = "s_cache",
	[K_GM_RD_LAT] = "gm_rd_lat",
	[K_GM_UB_BW] = "gm_ub_bw",
	[K_GM_L1_BW] = "gm_l1_bw",
	[K_GM_WR_LAT] = "gm_wr_lat",
	[K_GM_WR_BW] = "gm_wr_bw",
	[K_DMA_GAP] = "dma_gap",
	[K_DMA_SERIAL_FIX] = "dma_serial_fix",
	[K_DMA_SERIAL_BW] = "dma_serial_bw",
	[K_L0A] = "l0a",
	[K_L0B] = "l0b",
	[K_L1_BT_BW] = "l1_bt_bw",
	[K_MTE1_START] = "mte1_start",
	[K_IMG2COL_START] = "img2col_start",
	[K_MAD_HEAD] = "mad_head",
	[K_FP32_PASSES] = "fp32_passes",
	[K_FIX_FIXED] = "fix_fixed",
	[K_FIX_ROW] = "fix_row",
	[K_FIX_BW] = "fix_bw",
	[K_FIX_PEN] = "fix_pen",
	[K_FIX_GM_BW] = "fix_gm_bw",
	[K_V_B2B] = "v_b2b",
	[K_V_COUNT] = "v_count",
	[K_RX_FIX] = "rx_fix",
	[K_CX_FIX] = "cx_fix",
	[K_GIDX_ROW] = "gidx_row",
	[K_GIDX_FIX] = "gidx_fix",
	[K_SORT_GROUP] = "sort_group",
	[K_SORT_FIX] = "sort_fix",
	[K_MRG_KIB] = "mrg_kib",
	[K_MRG_MULTI_KIB] = "mrg_multi_kib",
	[K_MRG_FIX] = "mrg_fix",
	[K_TR_ELEM] = "tr_elem",
	[K_LAUNCH] = "launch",
	[K_TASK_LAUNCH] = "task_launch",
	[K_S_FETCH] = "s_fetch",
	[K_HBM_BW] = "hbm_bw",
	[K_HBM_LAT] = "hbm_lat",
	[K_L2_QUEUE] = "l2_queue",
	[K_TASK_SWITCH] = "task_switch",
	[K_TASK_READY] = "task_ready",
};

const char *prof_key_name(enum prof_key k)
{
	return k < K_COUNT ? KEYS[k] : "?";
}

enum prof_key prof_key_find(struct str name)
{
	for (unsigned k = 0; k < K_COUNT; k++)
		if (str_is(name, KEYS[k]))
			return (enum prof_key)k;
	return K_COUNT;
}

const char *kernel_kind_name(enum kernel_kind k)
{
	static const char *const names[KERNEL_KINDS] = {"cube", "vector", "mixed"};

	return names[k];
}

const char *prof_status_name(enum prof_status s)
{
	static const char *const names[STATUS_COUNT] = {"device", "camodel", "fit", "guess"};

	return s < STATUS_COUNT ? names[s] : "?";
}

bool prof_number(struct str s, int64_t *e4)
{
	bool negative = s.n && s.p[0] == '-';
	size_t at = negative, digits = 0, decimals = 0;
	int64_t v = 0;
	bool point = false;

	for (; at < s.n; at++) {
		if (s.p[at] == '.' && !point) {
			point = true;
			continue;
		}
		if (s.p[at] < '0' || s.p[at] > '9' || (point && ++decimals > 4) || ++digits > 13)
			return false;
		v = v * 10 + (s.p[at] - '0');
	}
	if (digits == 0 || (point && decimals == 0))
		return false;
	for (; decimals < 4; decimals++)
		v *= 10;
	*e4 = negative ? -v : v;
	return true;
}
