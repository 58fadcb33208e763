/* SPDX-License-Identifier: Apache-2.0 */
/* other_sources.h: the text of source files, also from another source tree. Owner: the trace's
 * arena. */
#pragma once

#include "import/import.h"

/* Copies the text of a source file. False: out of memory. */
bool import_source_text(struct trace *t, source_idx i, const void *p, size_t n);
