/* SPDX-License-Identifier: Apache-2.0 */
/* ascend_table.c: lanes, opcodes that synchronise, clocks: the tables behind ascend.h. */
#include "isa/ascend_table.h"

/* pipe, name, cname, label, dataflow, per-core pid, is_work, is_compute, is_a5 */
const struct ascend_lane ascend_lane_table[] = {
	{PIPE_SCALAR, "SCALAR", "startup", "scalar unit", 60, 10, false, false, false},
	{PIPE_FLOWCTRL, "FLOWCTRL", "cq_build_passed", "branches", 70, 90, false, false, false},
	{PIPE_MTE1, "MTE1", "thread_state_running", "load L1->L0", 2, 50, true, false, false},
	{PIPE_CUBE, "CUBE", "background_memory_dump", "matmul", 3, 40, true, true, false},
	{PIPE_FIXP, "FIXP", "thread_state_unknown", "store L0C->GM/L1", 40, 80, true, false, false},
	{PIPE_MTE2, "MTE2", "thread_state_iowait", "load GM->L1/UB", 1, 60, true, false, false},
	{PIPE_VECTOR, "VECTOR", "cq_build_failed", "vector compute", 4, 30, true, true, false},
	{PIPE_MTE3, "MTE3", "rail_response", "store UB/L1->GM", 50, 70, true, false, false},
	{PIPE_CACHEMISS, "CACHEMISS", "thread_state_runnable", "instruction cache misses", 80, 110,
		false, false, false},
	{PIPE_SCALARLDST, "SCALARLDST", "startup", "scalar load and store", 61, 20, false, false,
		false},
	{PIPE_ALL, "ALL", "good", "all pipes", 90, 100, false, false, false},
	{PIPE_USERMARK, "USERMARK", "rail_load", "marked ranges", 91, 120, false, false, false},
	{PIPE_EVENT, "EVENT", "rail_animation", "issue events", 92, 0, false, false, false},
	{PIPE_RVECEX, "RVECEX", "thread_state_running", "register-vector execute", 6, 0, true, true,
		true},
	{PIPE_RVECLP, "RVECLP", "thread_state_iowait", "register-vector loop", 8, 0, true, true,
		true},
	{PIPE_RVECST, "RVECST", "thread_state_runnable", "register-vector store", 7, 0, true, true,
		true},
	{PIPE_RVECLD, "RVECLD", "startup", "register-vector load", 5, 0, true, true, true},
	{PIPE_PUSHQ, "PUSHQ", "thread_state_unknown", "VF and SIMT launches", 10, 0, true, true,
		true},
	{PIPE_RVECSU, "RVECSU", "yellow", "register-vector scalar", 9, 0, true, true, true},
};
const size_t ascend_lane_count = sizeof(ascend_lane_table) / sizeof(ascend_lane_table[0]);

const struct ascend_lane ascend_warp_lane = {
	PIPE_WARP0, "WARP", "thread_state_unknown", "SIMT warp", 11, 0, true, true, true};
const struct ascend_lane ascend_other_lane = {
	PIPE_OTHER0, "?", "thread_state_stopped", "unknown lane", 95, 0, true, false, false};

const struct ascend_name ascend_unit_names[] = {
	{"VECTOR0", PIPE_VECTOR},
	{"VEC0", PIPE_VECTOR},
	{"VEC", PIPE_VECTOR},
	{"FC", PIPE_FLOWCTRL},
	{"FIX_PIPE", PIPE_FIXP},
	{"ISSUE", PIPE_EVENT},
	{NULL, PIPE_NONE},
};

const struct ascend_sync_name ascend_sync_names[] = {
	{"SET_FLAG", SYNC_SET},
	{"set_event", SYNC_SET},
	{"WAIT_FLAG", SYNC_WAIT},
	{"wait_event", SYNC_WAIT},
	{"SET_FLAGI", SYNC_SET},
	{"WAIT_FLAGI", SYNC_WAIT},
	{"SET_INTRA_BLOCK", SYNC_SET_CROSS},
	{"SET_INTRA_BLOCKI", SYNC_SET_CROSS},
	{"WAIT_INTRA_BLOCK", SYNC_WAIT_CROSS},
	{"WAIT_INTRA_BLOCKI", SYNC_WAIT_CROSS},
	{"SET_CROSS_CORE", SYNC_SET_CROSS},
	{"FFTS_CROSS_CORE_SYNC", SYNC_SET_CROSS},
	{"WAIT_FLAG_DEV", SYNC_WAIT_CROSS},
	{"WAIT_FLAG_DEVI", SYNC_WAIT_CROSS},
	{"BAR", SYNC_BARRIER},
	{"BARRIER", SYNC_BARRIER},
	{"PIPE_BARRIER", SYNC_BARRIER},
	{"GET_BUF", SYNC_GET_BUF},
	{"GET_BUFI", SYNC_GET_BUF},
	{"RLS_BUF", SYNC_RLS_BUF},
	{"RLS_BUFI", SYNC_RLS_BUF},
	{"NOP_PIPE", SYNC_NOP},
	{NULL, SYNC_NONE},
};

const struct ascend_soc ascend_soc_table[] = {
	{"910B1", 1850, ASCEND_A2A3},
	{"910B2", 1800, ASCEND_A2A3},
	{"910B2C", 1800, ASCEND_A2A3},
	{"910B3", 1800, ASCEND_A2A3},
	{"910B4", 1650, ASCEND_A2A3},
	{"9591", 1800, ASCEND_A5},
	{"9592", 1800, ASCEND_A5},
	{"9595", 1800, ASCEND_A5},
	{"9596", 1800, ASCEND_A5},
	{"9599", 1800, ASCEND_A5},
	{"95A1", 1800, ASCEND_A5},
	{"95A2", 1800, ASCEND_A5},
	{"950X", 1650, ASCEND_A5},
	{"950Y", 1650, ASCEND_A5},
	{"950Z", 1650, ASCEND_A5},
	{"957", 1650, ASCEND_A5}, /* 957x */
	{"958", 1650, ASCEND_A5}, /* 958x */
	{"310P1", 1060, ASCEND_310P},
	{"310P2", 1060, ASCEND_310P},
	{"310P3", 1060, ASCEND_310P},
	{"310P4", 1060, ASCEND_310P},
	{"310P5", 800, ASCEND_310P},
	{"310P7", 550, ASCEND_310P},
	{"310B1", 1224, ASCEND_310B},
	{"310B2", 1224, ASCEND_310B},
	{"310B3", 1224, ASCEND_310B},
	{"310B4", 500, ASCEND_310B},
};
const size_t ascend_soc_count = sizeof(ascend_soc_table) / sizeof(ascend_soc_table[0]);
