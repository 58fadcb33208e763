/* SPDX-License-Identifier: Apache-2.0 */
/* att_answer.c: the fields of the answer of a thread-trace capture. */
#include "capture/att.h"

#define HEX .flags = COLUMN_HEX

static const struct column capture_columns[] = {
	COLUMN(att_capture, file, UNIT_NONE, "packed capture; null: it could not be read",
		NULLABLE),
	COLUMN(att_capture, kernel, UNIT_NONE, "kernel that its code names", NULLABLE),
	COLUMN(att_capture, agent, UNIT_INDEX, "handle of the agent that the kernel ran on",
		NULLABLE),
	COLUMN(att_capture, dispatch, UNIT_INDEX,
		"number of the dispatch, counted over the process", NULLABLE),
	COLUMN(att_capture, launch, UNIT_INDEX,
		"number of the launch of its kernel id, from 1, in the discovery run", NULLABLE),
	COLUMN(att_capture, waves, UNIT_WAVES, "waves with instruction detail"),
	COLUMN(att_capture, stream_bytes, UNIT_BYTES, "size of the raw streams"),
	COLUMN(att_capture, verdict, UNIT_NONE, "verdict of incore check on the capture",
		.words = "ok|suspect|unusable|unreadable"),
	COLUMN(att_capture, health, UNIT_NONE, "verdict of incore check with errors and warnings"),
};
static const struct record att_capture_record =
	RECORD_OF(att_capture, RECORD_BLOCK, capture_columns);

static const struct column attempt_columns[] = {
	COLUMN(att_attempt, number, UNIT_INDEX,
		"number of the attempt, from 1; 0: the discovery run"),
	COLUMN(att_attempt, because, UNIT_NONE, "reason for the settings of this attempt"),
	COLUMN(att_attempt, launches, UNIT_NONE,
		"launches that the attempt asks for, per kernel id"),
	COLUMN(att_attempt, cu, UNIT_INDEX,
		"number of the CU (WGP on RDNA) with instruction detail"),
	COLUMN(att_attempt, se_mask, UNIT_NONE, "mask of the traced shader engines", HEX),
	COLUMN(att_attempt, simd, UNIT_NONE,
		"SIMDs in the tool's notation; null: the tool's default",
		.flags = COLUMN_HEX | COLUMN_NULLABLE),
	COLUMN(att_attempt, buffer_bytes, UNIT_BYTES,
		"size of the buffer that all shader engines share"),
	PART(att_attempt, run, &rocprof_run_record),
	VECTOR(att_attempt, captures, "captures", &att_capture_record,
		"captures that the attempt produced"),
};
static const struct record att_attempt_record =
	RECORD_OF(att_attempt, RECORD_BLOCK, attempt_columns);

static const struct column kernel_columns[] = {
	COLUMN(seen_kernel, name, UNIT_NONE, "name of the kernel", .title = "kernel",
		.flags = COLUMN_WIDE),
	COLUMN(seen_kernel, id, UNIT_INDEX, "id of the kernel in its process", .title = "id"),
	COLUMN(seen_kernel, process, UNIT_INDEX,
		"number of the process of the application, from 0"),
	COLUMN(seen_kernel, launches, UNIT_COUNT, "number of launches of this kernel id"),
	COLUMN(seen_kernel, first_dispatch, UNIT_INDEX, "dispatch of the first launch"),
	COLUMN(seen_kernel, total_us, UNIT_US, "total time of all launches", .digits = 3),
	COLUMN(seen_kernel, mean_us, UNIT_US, "mean time of one launch", .digits = 3),
	COLUMN(seen_kernel, longest_us, UNIT_US, "time of the longest launch", .digits = 3),
	COLUMN(seen_kernel, share, UNIT_PERCENT, "share of the time of all kernels", .title = "%",
		.digits = 1),
	COLUMN(seen_kernel, is_chosen, UNIT_NONE, "the kernel is captured"),
};
const struct record att_kernel_record = RECORD_OF(seen_kernel, RECORD_BLOCK, kernel_columns);

static const struct column att_columns[] = {
	COLUMN(att_answer, tool, UNIT_NONE, "path of the rocprofv3 that was used"),
	COLUMN(att_answer, version, UNIT_NONE, "release of rocprofv3"),
	PART(att_answer, place, &folder_record),
	COLUMN(att_answer, verdict, UNIT_NONE, "whether a capture can be trusted",
		.words = "usable|unusable|wrong|listed|planned"),
	COLUMN(att_answer, chosen, UNIT_INDEX,
		"number of the attempt whose captures are the result; 0: none"),
	COLUMN(att_answer, repeat, UNIT_NONE, "command that takes the same capture again",
		NULLABLE),
	LIST(att_answer, kernels, &att_kernel_record,
		"kernels found by the discovery run, longest total time first"),
	VECTOR(att_answer, attempts, "attempts", &att_attempt_record, "all attempts"),
};
const struct record att_record = RECORD_OF(att_answer, RECORD_BLOCK, att_columns);
