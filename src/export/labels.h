/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h: what the maker of a trace says of it (the table "labels" of isa/ascend.h: key, value),
 * as JSON. An estimate names its profile and calibration this way, and every file made of it does.
 */
#pragma once

#include "trace/trace.h"

/* One object {"key":"value",...}, "{}" where there are none. It holds no '[', not even in a string:
 * MindStudio Insight takes the text before the first one for the head of the file. False on lack of
 * memory. */
bool labels_put(const struct trace *t, struct strbuf *out);
/* The object "metadata" of a trace.json: evidence, kernel, SoC, clock and the labels; as above. */
bool labels_put_metadata(const struct trace *t, struct strbuf *out);
