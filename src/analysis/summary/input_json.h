/* SPDX-License-Identifier: Apache-2.0 */
/* input_json.h: the object `input` of every JSON answer: which capture, with which evidence. */
#ifndef ANALYSIS_SUMMARY_INPUT_JSON_H
#define ANALYSIS_SUMMARY_INPUT_JSON_H

#include "codec/json_writer.h"
#include "trace/trace.h"

void input_json(const struct trace *t, struct json_writer *w);

#endif
