/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.h: one buffer to one buffer; the same bytes every time. */
#pragma once

#include "base/str.h"

/* Appends the compressed form to out; false on lack of memory, or of more than 4 GiB. */
bool gzip_pack(struct str bytes, struct strbuf *out);
