/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_answer.c: the fields of the answer of a PC-sample capture. */
#include "capture/cuda.h"

static const struct column run_columns[] = {
	COLUMN(cuda_run_row, name, UNIT_NONE, "what the run was for",
		.words = "look|samples|exact"),
	COLUMN(cuda_run_row, command, UNIT_NONE, "the application"),
	COLUMN(cuda_run_row, log, UNIT_NONE, "what it printed"),
	COLUMN(cuda_run_row, status, UNIT_NONE, "its exit status"),
	COLUMN(cuda_run_row, wall_ms, UNIT_NONE, "how long it ran, in milliseconds"),
	COLUMN(cuda_run_row, processes, UNIT_COUNT, "processes that used CUDA"),
	COLUMN(cuda_run_row, unfinished, UNIT_COUNT, "of which did not come to their end"),
};
static const struct record run_record = RECORD_OF(cuda_run_row, RECORD_BLOCK, run_columns);

static const struct column timing_columns[] = {
	COLUMN(cuda_timing, kernel, UNIT_NONE, "name of the kernel", .flags = COLUMN_WIDE),
	COLUMN(cuda_timing, launches, UNIT_COUNT, "how often it was launched"),
	COLUMN(cuda_timing, total_us, UNIT_US, "time of all launches, without the sampler",
		.digits = 3),
	COLUMN(cuda_timing, mean_us, UNIT_US, "time of a launch, without the sampler", .digits = 3),
	COLUMN(cuda_timing, sampled_mean_us, UNIT_US, "time of a launch, with the sampler",
		.digits = 3),
	COLUMN(cuda_timing, overhead, UNIT_PERCENT,
		"how much longer launches were with the sampler, the first apart", .digits = 2),
	COLUMN(cuda_timing, is_chosen, UNIT_NONE, "it is asked for"),
};
const struct record cuda_timing_record = RECORD_OF(cuda_timing, RECORD_BLOCK, timing_columns);

static const struct column file_columns[] = {
	COLUMN(cuda_file, file, UNIT_NONE, "packed capture"),
	COLUMN(cuda_file, kernel, UNIT_NONE, "name of the kernel"),
	COLUMN(cuda_file, process, UNIT_INDEX, "which process of the application, from 0"),
	COLUMN(cuda_file, device, UNIT_INDEX, "which GPU of the process"),
	COLUMN(cuda_file, launches, UNIT_COUNT, "launches of it in that process"),
	COLUMN(cuda_file, samples, UNIT_COUNT, "samples that fell into its code"),
	COLUMN(cuda_file, dropped, UNIT_COUNT,
		"samples that the sampler of that GPU dropped, of all kernels"),
	COLUMN(cuda_file, is_exact, UNIT_NONE, "it has exact counts, too"),
	COLUMN(cuda_file, verdict, UNIT_NONE, "what check says of it",
		.words = "ok|suspect|unusable"),
	COLUMN(cuda_file, health, UNIT_NONE, "the same with its errors and warnings"),
};
static const struct record file_record = RECORD_OF(cuda_file, RECORD_BLOCK, file_columns);

static const struct column cuda_columns[] = {
	COLUMN(cuda_result, library, UNIT_NONE, "what was put into the application"),
	COLUMN(cuda_result, cupti, UNIT_NONE, "CUPTI that was offered to it; null: its own",
		NULLABLE),
	PART(cuda_result, place, &folder_record),
	COLUMN(cuda_result, mode, UNIT_NONE, "how samples were taken",
		.words = "continuous|serialised"),
	COLUMN(cuda_result, verdict, UNIT_NONE, "what came of it",
		.words = "captured|nothing|listed|planned"),
	COLUMN(cuda_result, period_cyc, UNIT_CYCLES, "between two samples; 0: none was taken"),
	COLUMN(cuda_result, period_because, UNIT_NONE, "why this period; null: it was given",
		NULLABLE),
	COLUMN(cuda_result, overhead, UNIT_PERCENT,
		"how much longer the kernels that are asked for were with the sampler, first launches apart",
		.digits = 2),
	VECTOR(cuda_result, runs, "runs", &run_record, "runs of the application"),
	VECTOR(cuda_result, kernels, "kernels", &cuda_timing_record,
		"kernels that were launched, most time first"),
	VECTOR(cuda_result, captures, "captures", &file_record, "what was captured"),
};
const struct record cuda_record = RECORD_OF(cuda_result, RECORD_BLOCK, cuda_columns);
