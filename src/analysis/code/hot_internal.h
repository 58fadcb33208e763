/* SPDX-License-Identifier: Apache-2.0 */
/* hot_internal.h: the collector of hot.h for traces whose tracks are pipes; for hot.c alone. */
#ifndef ANALYSIS_CODE_HOT_INTERNAL_H
#define ANALYSIS_CODE_HOT_INTERNAL_H

#include "analysis/code/hot.h"

struct collector hot_pipes_collector(struct hot *h);

#endif
