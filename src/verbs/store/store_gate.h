/* SPDX-License-Identifier: Apache-2.0 */
/* store_gate.h: the answer of `incore store gate`, for those who write it to files for CI. */
#pragma once

#include "verbs/store/store_verbs.h"

struct store_gate_answer {
	struct store_gates gates; /* the described value */
	struct store_ask rule;	  /* by which they were judged; its store is closed */
};
