/* SPDX-License-Identifier: Apache-2.0 */
/* ncu_names.h: names of the tables of an Nsight Compute report in a trace. */
#pragma once

#define NCU_TABLE_SECTIONS "sections"
#define NCU_TABLE_RULES "rules"
#define NCU_TABLE_METRICS "metrics"
#define NCU_TABLE_INSTANCES "instances"
