/* SPDX-License-Identifier: Apache-2.0 */
/* hot_internal.h: the collector of hot.h for traces whose tracks are pipes; used by hot.c only. */
#pragma once

#include "analysis/code/hot.h"

struct collector hot_pipes_collector(struct hot *h);
