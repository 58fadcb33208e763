/* SPDX-License-Identifier: Apache-2.0 */
/* backend_model.h: options of the embedded model as a backend. */
#pragma once

#include "replay/backend.h"

struct model_options {	     /* zero: the default */
	const char *profile; /* name or file */
	bool allow_unknown;
	bool is_unsafe; /* without walls (record.h) */
};
