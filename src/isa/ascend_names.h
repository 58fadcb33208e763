/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_names.h: names of the tables of an Ascend trace (trace.tables) and their columns; if no
 * columns are listed, the producer names them.
 */
#pragma once

#define ASCEND_TABLE_BLOCKS "blocks" /* offset, type, name, bytes, padding, version */
#define ASCEND_TABLE_INSTR                                                                         \
	"api-instr"		      /* Core + the columns of API_INSTR, a row per PC and core    \
				       */
#define ASCEND_TABLE_LINES "api-file" /* Core, Source + the columns of API_FILE */
#define ASCEND_TABLE_INSTR_CSV "instr-exe" /* Core + the columns of the CSV */
#define ASCEND_TABLE_CODE_CSV "code-exe"
#define ASCEND_TABLE_SUMMARY "summary-log"   /* core, name, value: all a summary log states */
#define ASCEND_TABLE_BUSY "stated-busy"	     /* core, unit, pipe (lane name), cycles, name */
#define ASCEND_TABLE_DETAILS "detail-blocks" /* type, json: blocks of details beside a trace */
#define ASCEND_TABLE_LABELS "labels"	   /* key, value: what the maker of the trace says of it */
#define ASCEND_TABLE_SLICES "slice-hashes" /* hash: a row per track; only inside a container */
#define ASCEND_TABLE_BASE "base-info"	   /* key, value */
#define ASCEND_TABLE_BLOCK_DETAIL "block-detail"
#define ASCEND_TABLE_COMPUTE "compute-load"	      /* 0x06 */
#define ASCEND_TABLE_COMPUTE_ALL "compute-load-table" /* 0x07 */
#define ASCEND_TABLE_MEMORY "memory-units"	      /* 0x08: core, path, from, to, request, ... */
#define ASCEND_TABLE_MEMORY_CORE "memory-cores"	      /* 0x08: L2 cache and cycles a core */
#define ASCEND_TABLE_MEMORY_ALL "memory-table"	      /* 0x09: block, table, row, column, value */
#define ASCEND_TABLE_OCCUPANCY "core-occupancy"	      /* 0x0C */
#define ASCEND_TABLE_ROOFLINE "roofline"	      /* 0x0D */
#define ASCEND_TABLE_CACHE "cacheline"		      /* 0x0E */
#define ASCEND_TABLE_STALL "top-stall"		      /* 0x0F */
#define ASCEND_TABLE_ADVICE "advice"		      /* block, text */
