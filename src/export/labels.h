/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h: the labels of a trace, set by its producer (the table "labels" of isa/ascend.h: key,
 * value), as JSON. An estimate and all files made from it name its profile and calibration here.
 */
#pragma once

#include "trace/trace.h"

/* Appends one object {"key":"value",...}, "{}" without labels. It contains no '[', not even in a
 * string: MindStudio Insight takes the text before the first '[' for the head of the file. False on
 * lack of memory. */
bool labels_put(const struct trace *t, struct strbuf *out);
/* Appends the object "metadata" of a trace.json: evidence, kernel, SoC, clock and the labels. It
 * contains no '[' either; false on lack of memory. */
bool labels_put_metadata(const struct trace *t, struct strbuf *out);
/* The value of a label; NULL: there is none. */
const char *labels_find(const struct trace *t, const char *key);
