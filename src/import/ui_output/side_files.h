/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_files.h: files that rocprofv3 wrote around a ui_output directory: agent info, kernel trace,
 * results.json, stats csv, the capture's input yaml. Each is first parsed into struct side_reader; the
 * data of this capture goes to the trace at the end.
 * Owner: struct side_reader belongs to one read; its strings to the build's scratch arena.
 */
#pragma once

#include "import/ui_output/ui_output.h"

struct side_machine {
	bool is_known;
	int64_t node; /* Node_Id, the N of "Agent N" */
	struct trace_machine m;
	const char *arch, *source; /* "gfx950", and its source */
};

struct side_launch {
	bool is_known;
	int64_t node; /* of Agent_Id */
	struct trace_launch l;
};

struct side_reader {
	struct ui_build *b;
	const char *dir;	      /* parent of the capture's directory */
	VEC(const char *) agent_info; /* paths; those of a discovery run come last */
	VEC(const char *) kernel_trace;
	VEC(const char *) results;
	VEC(const char *) inputs;
	const char *stats;
	struct side_machine machine;
	struct side_launch launch, symbol; /* from the kernel trace, from results.json */
	const char *run;		   /* prefix of this run's results.json, or NULL */
	bool is_other_run;		   /* the kernel trace being read is of another run */
	const char *command;
	VEC(int64_t) traced;   /* dispatches that this run traced on this agent */
	VEC(const char *) pmc; /* requested counters that were ignored */
	int64_t yaml_cu;       /* att_target_cu; NO_VALUE: none or several */
	int64_t yaml_simds;    /* att_simd_select: gfx9 a mask, later a SIMD */
};

/* b->side is set while these run; each is a ui_parse_fn. */
bool ui_agent_info_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_kernel_trace_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_results_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_stats_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_input_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);

struct side_machine side_no_machine(void);
struct side_launch side_no_launch(void);
