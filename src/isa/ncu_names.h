/* SPDX-License-Identifier: Apache-2.0 */
/* ncu_names.h: what the tables of a report of Nsight Compute are called in a trace. */
#pragma once

#define NCU_TABLE_SECTIONS "sections"
#define NCU_TABLE_RULES "rules"
#define NCU_TABLE_METRICS "metrics"
#define NCU_TABLE_INSTANCES "instances"
