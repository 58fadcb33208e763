/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_job.h: one run of incore hot: what cmd_hot.c computed and hot_text.c prints.
 * Owner: cmd_hot.c.
 */
#ifndef CLI_TEXT_HOT_JOB_H
#define CLI_TEXT_HOT_JOB_H

#include "analysis/code/hot.h"
#include "analysis/pipes/pipes.h"
#include "analysis/waves/causes.h"
#include "analysis/waves/producers.h"
#include "cli/cli.h"

struct hot_job {
	struct cli *c;
	struct trace *trace;
	struct selection selection;
	struct hot *hot;
	struct causes *causes;		      /* by cause */
	struct producers *producers;	      /* by instr, producer */
	struct pipes *pipes;		      /* of a trace of pipes, else NULL */
	const struct producer_edge **edge_of; /* by code row: the costliest edge into it */
	struct walk_result walk;
	struct arena arena;
	const char *by;
	enum attribution attribution;
	struct hot_group *groups;
	uint32_t n_groups, n_shown;
};

/* The row's largest loss, with the instruction it waited for. */
struct hot_loss hot_job_loss(const struct hot_job *j, const struct hot_group *g);
bool hot_job_is_by(const struct hot_job *j, const char *by);
/* Tables and footer, or CSV. */
bool hot_text_print(struct hot_job *j);

#endif
