/* SPDX-License-Identifier: Apache-2.0 */
/* other_sources.h: the text of sources, also from another tree. Owner: the trace's arena. */
#pragma once

#include "import/import.h"

/* The text of a source file, copied. False: no memory. */
bool import_source_text(struct trace *t, source_idx i, const void *p, size_t n);
/* The text of sources that have none, from below the source roots, if sources are wanted. */
bool import_other_sources(const struct import_options *o, struct trace *t, struct incore_error *e);
