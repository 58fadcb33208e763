/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ui_write.h: writes what the toy shader engine did as a ui_output directory, file by file, with
 * everything a real one holds: totals, states, waits, occupancy, clocks, sources, side files.
 */
#ifndef EXAMPLES_UI_WRITE_H
#define EXAMPLES_UI_WRITE_H

#include "sim.h"

enum ui_flags {
	UI_SIDE_FILES = 1,   /* compute/ with agent info, kernel trace, results.json */
	UI_NEW_COLUMNS = 2,  /* 14 columns, occupancy 3.1.0, counters, markers, other SIMDs, spm */
	UI_NO_WAVES = 4,     /* a shell: manifest without waves, no code */
	UI_NO_EVENTS = 8,    /* occupancy names no event */
	UI_MISS_TARGET = 16, /* no event on the target CU */
	UI_PC_SAMPLING = 32,
	UI_OPEN_END = 64,  /* cut waves have no end event */
	UI_UNMAPPED = 128, /* no source column */
};

struct ui_source {
	const char *path; /* absolute; NULL ends a list */
	const char *text;
};

struct ui_capture {
	struct sim sim;
	struct sim_program *program;
	unsigned flags;
	unsigned n_se;
	unsigned target_cu;
	unsigned other_cus[8], n_other_cus, other_waves_per_simd;
	uint64_t agent, dispatch;
	const char *arch; /* "gfx950" */
	unsigned kernel_vgprs, kernel_accum, kernel_sgprs, lds_bytes;
	unsigned workgroup_size, workgroups;
	const struct ui_source *sources;
	uint64_t clock_mhz;	   /* of the realtime samples */
	const char *second_kernel; /* that runs on all SEs but the first; or NULL */
};

/* Writes <parent>/ui_output_agent_A_dispatch_D and what stands beside it. */
bool ui_write(const struct ui_capture *c, const char *parent);

#endif
