/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_internal.h: what the methods share. */
#pragma once

#include "analysis/whatif/whatif_unit.h"

/* Sets does_nothing from the figures. */
void whatif_judge(struct whatif_result *r);
