/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_answer.c: the fields of the answer of a PC-sample capture. */
#include "capture/cuda.h"

static const struct column run_columns[] = {
	COLUMN(cuda_run_row, name, UNIT_NONE, "purpose of the run", .words = "look|samples|exact"),
	COLUMN(cuda_run_row, command, UNIT_NONE, "command line of the application"),
	COLUMN(cuda_run_row, log, UNIT_NONE, "file with the output of the application"),
	COLUMN(cuda_run_row, status, UNIT_NONE, "exit status of the application"),
	COLUMN(cuda_run_row, wall_ms, UNIT_NONE, "duration of the run, in milliseconds"),
	COLUMN(cuda_run_row, processes, UNIT_COUNT, "processes that used CUDA"),
	COLUMN(cuda_run_row, unfinished, UNIT_COUNT, "processes that did not finish"),
};
static const struct record run_record = RECORD_OF(cuda_run_row, RECORD_BLOCK, run_columns);

static const struct column timing_columns[] = {
	COLUMN(cuda_timing, kernel, UNIT_NONE, "name of the kernel", .flags = COLUMN_WIDE),
	COLUMN(cuda_timing, launches, UNIT_COUNT, "number of launches of the kernel"),
	COLUMN(cuda_timing, total_us, UNIT_US, "time of all launches without the sampler",
		.digits = 3),
	COLUMN(cuda_timing, mean_us, UNIT_US, "mean time of one launch without the sampler",
		.digits = 3),
	COLUMN(cuda_timing, sampled_mean_us, UNIT_US, "mean time of one launch with the sampler",
		.digits = 3),
	COLUMN(cuda_timing, overhead, UNIT_PERCENT,
		"how much longer launches took with the sampler, except the first", .digits = 2),
	COLUMN(cuda_timing, is_chosen, UNIT_NONE, "the kernel was requested"),
};
const struct record cuda_timing_record = RECORD_OF(cuda_timing, RECORD_BLOCK, timing_columns);

static const struct column file_columns[] = {
	COLUMN(cuda_file, file, UNIT_NONE, "packed capture"),
	COLUMN(cuda_file, kernel, UNIT_NONE, "name of the kernel"),
	COLUMN(cuda_file, process, UNIT_INDEX, "number of the process of the application, from 0"),
	COLUMN(cuda_file, device, UNIT_INDEX, "number of the GPU in the process"),
	COLUMN(cuda_file, launches, UNIT_COUNT, "launches of the kernel in that process"),
	COLUMN(cuda_file, samples, UNIT_COUNT, "samples in the code of the kernel"),
	COLUMN(cuda_file, dropped, UNIT_COUNT,
		"samples of all kernels that the sampler of that GPU dropped"),
	COLUMN(cuda_file, is_exact, UNIT_NONE, "the capture also has exact counts"),
	COLUMN(cuda_file, verdict, UNIT_NONE, "verdict of incore check on the capture",
		.words = "ok|suspect|unusable"),
	COLUMN(cuda_file, health, UNIT_NONE, "verdict of incore check with errors and warnings"),
};
static const struct record file_record = RECORD_OF(cuda_file, RECORD_BLOCK, file_columns);

static const struct column cuda_columns[] = {
	COLUMN(cuda_result, library, UNIT_NONE, "library that was loaded into the application"),
	COLUMN(cuda_result, cupti, UNIT_NONE,
		"path of the CUPTI offered to the application; null: the application's own",
		NULLABLE),
	PART(cuda_result, place, &folder_record),
	COLUMN(cuda_result, mode, UNIT_NONE, "how samples were taken",
		.words = "continuous|serialised"),
	COLUMN(cuda_result, verdict, UNIT_NONE, "result of the capture",
		.words = "captured|nothing|listed|planned"),
	COLUMN(cuda_result, period_cyc, UNIT_CYCLES,
		"cycles between two samples; 0: no samples were taken"),
	COLUMN(cuda_result, period_because, UNIT_NONE, "reason for this period; null: it was given",
		NULLABLE),
	COLUMN(cuda_result, overhead, UNIT_PERCENT,
		"how much longer requested kernels took with the sampler, except first launches",
		.digits = 2),
	VECTOR(cuda_result, runs, "runs", &run_record, "runs of the application"),
	VECTOR(cuda_result, kernels, "kernels", &cuda_timing_record,
		"kernels that were launched, longest total time first"),
	VECTOR(cuda_result, captures, "captures", &file_record, "captures that were taken"),
};
const struct record cuda_record = RECORD_OF(cuda_result, RECORD_BLOCK, cuda_columns);
