/* SPDX-License-Identifier: Apache-2.0 */
/* profile_keys.h: the names of a profile's constants and of their reliability. Pure. */
#pragma once

#include "base/str.h"

enum prof_status { /* from most to least reliable */
	STATUS_DEVICE,
	STATUS_CAMODEL,
	STATUS_FIT,
	STATUS_GUESS,
	STATUS_COUNT
};
const char *prof_status_name(enum prof_status s);

enum prof_key {
	K_CLOCK_MHZ,
	K_AIC_CORES,
	K_AIV_CORES,
	K_UB_KIB,
	K_L1_KIB,
	K_L0A_KIB,
	K_L0B_KIB,
	K_L0C_KIB,
	K_QUEUE_DEPTH,
	K_FLAG_SET,
	K_FLAG_WAIT,
	K_S_SYNC,
	K_S_OP,
	K_S_STORE,
	K_S_LOAD,
	K_S_MISS,
	K_S_LOOP,
	K_S_GETV,
	K_S_CACHE,
	K_GM_RD_LAT,
	K_GM_UB_BW,
	K_GM_L1_BW,
	K_GM_WR_LAT,
	K_GM_WR_BW,
	K_DMA_GAP,
	K_DMA_SERIAL_FIX,
	K_DMA_SERIAL_BW,
	K_L0A,
	K_L0B,
	K_L1_BT_BW,
	K_MTE1_START,
	K_IMG2COL_START,
	K_MAD_HEAD,
	K_FP32_PASSES,
	K_FIX_FIXED,
	K_FIX_ROW,
	K_FIX_BW,
	K_FIX_PEN,
	K_FIX_GM_BW,
	K_V_B2B,
	K_V_COUNT,
	K_RX_FIX,
	K_CX_FIX,
	K_GIDX_ROW,
	K_GIDX_FIX,
	K_SORT_GROUP,
	K_SORT_FIX,
	K_MRG_KIB,
	K_MRG_MULTI_KIB,
	K_MRG_FIX,
	K_TR_ELEM,
	/* Behaviour under load; a profile may omit these: then they are 0 and have no effect. */
	K_FIRST_OPTIONAL,
	K_LAUNCH = K_FIRST_OPTIONAL,
	K_TASK_LAUNCH,
	K_S_FETCH,
	K_HBM_BW,
	K_HBM_LAT,
	K_L2_QUEUE,
	K_TASK_SWITCH,
	K_TASK_READY,
	K_COUNT
};
const char *prof_key_name(enum prof_key k);
/* K_COUNT: no such name. */
enum prof_key prof_key_find(struct str name);
