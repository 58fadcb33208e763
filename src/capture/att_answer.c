/* SPDX-License-Identifier: Apache-2.0 */
/* att_answer.c: the fields of the answer of a thread-trace capture. */
#include "capture/att.h"

#define HEX .flags = COLUMN_HEX

static const struct column capture_columns[] = {
	COLUMN(att_capture, file, UNIT_NONE, "packed capture; null: it could not be read",
		NULLABLE),
	COLUMN(att_capture, kernel, UNIT_NONE, "kernel that its code names", NULLABLE),
	COLUMN(att_capture, agent, UNIT_INDEX, "handle of the agent", NULLABLE),
	COLUMN(att_capture, dispatch, UNIT_INDEX, "dispatch, counted over the process", NULLABLE),
	COLUMN(att_capture, launch, UNIT_INDEX,
		"launch of its kernel id, from 1, by the discovery run", NULLABLE),
	COLUMN(att_capture, waves, UNIT_WAVES, "waves with instruction detail"),
	COLUMN(att_capture, stream_bytes, UNIT_BYTES, "size of its raw streams"),
	COLUMN(att_capture, verdict, UNIT_NONE, "what check says of it",
		.words = "ok|suspect|unusable|unreadable"),
	COLUMN(att_capture, health, UNIT_NONE, "the same with its errors and warnings"),
};
static const struct record att_capture_record =
	RECORD_OF(att_capture, RECORD_BLOCK, capture_columns);

static const struct column attempt_columns[] = {
	COLUMN(att_attempt, number, UNIT_INDEX,
		"number of the attempt, from 1; 0: the discovery run"),
	COLUMN(att_attempt, because, UNIT_NONE, "why it asks for what it asks for"),
	COLUMN(att_attempt, launches, UNIT_NONE, "launches that it asks for, per kernel id"),
	COLUMN(att_attempt, cu, UNIT_INDEX, "CU (WGP on RDNA) with instruction detail"),
	COLUMN(att_attempt, se_mask, UNIT_NONE, "mask of shader engines", HEX),
	COLUMN(att_attempt, simd, UNIT_NONE, "SIMDs as the tool takes them; null: as it does",
		.flags = COLUMN_HEX | COLUMN_NULLABLE),
	COLUMN(att_attempt, buffer_bytes, UNIT_BYTES, "buffer that all shader engines share"),
	PART(att_attempt, run, &rocprof_run_record),
	VECTOR(att_attempt, captures, "captures", &att_capture_record, "what it captured"),
};
static const struct record att_attempt_record =
	RECORD_OF(att_attempt, RECORD_BLOCK, attempt_columns);

static const struct column kernel_columns[] = {
	COLUMN(seen_kernel, name, UNIT_NONE, "name of the kernel", .title = "kernel",
		.flags = COLUMN_WIDE),
	COLUMN(seen_kernel, id, UNIT_INDEX, "id in its process", .title = "id"),
	COLUMN(seen_kernel, process, UNIT_INDEX, "which process of the application, from 0"),
	COLUMN(seen_kernel, launches, UNIT_COUNT, "how often this id was launched"),
	COLUMN(seen_kernel, first_dispatch, UNIT_INDEX, "dispatch of the first launch"),
	COLUMN(seen_kernel, total_us, UNIT_US, "time of all launches", .digits = 3),
	COLUMN(seen_kernel, mean_us, UNIT_US, "time of a launch", .digits = 3),
	COLUMN(seen_kernel, longest_us, UNIT_US, "time of the longest launch", .digits = 3),
	COLUMN(seen_kernel, share, UNIT_PERCENT, "of the time of all kernels", .title = "%",
		.digits = 1),
	COLUMN(seen_kernel, is_chosen, UNIT_NONE, "it is captured"),
};
const struct record att_kernel_record = RECORD_OF(seen_kernel, RECORD_BLOCK, kernel_columns);

static const struct column att_columns[] = {
	COLUMN(att_answer, tool, UNIT_NONE, "rocprofv3 that was used"),
	COLUMN(att_answer, version, UNIT_NONE, "its release"),
	PART(att_answer, place, &folder_record),
	COLUMN(att_answer, verdict, UNIT_NONE, "whether a capture can be trusted",
		.words = "usable|unusable|wrong|listed|planned"),
	COLUMN(att_answer, chosen, UNIT_INDEX, "attempt whose captures are the result; 0: none"),
	COLUMN(att_answer, repeat, UNIT_NONE, "command that takes the same capture again",
		NULLABLE),
	LIST(att_answer, kernels, &att_kernel_record,
		"kernels that the discovery run found, most time first"),
	VECTOR(att_answer, attempts, "attempts", &att_attempt_record, "every attempt"),
};
const struct record att_record = RECORD_OF(att_answer, RECORD_BLOCK, att_columns);
