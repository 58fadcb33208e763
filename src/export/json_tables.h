/* SPDX-License-Identifier: Apache-2.0 */
/* json_tables.h: the tables of a trace as members of a JSON object; for the json export. */
#pragma once

#include "codec/json_writer.h"
#include "trace/field_list.h"

void json_put_index(struct json_writer *w, uint32_t index); /* no index: null */
void json_put_value(struct json_writer *w, int64_t v);	    /* NO_VALUE: null */
/* Writes the fields of one row of a table into the open object. */
void json_put_members(struct json_writer *w, const struct field_table *d, const void *row);

void json_put_meta(struct json_writer *w, const struct trace *t);
void json_put_code(struct json_writer *w, const struct trace *t);
void json_put_sources(struct json_writer *w, const struct trace *t);
void json_put_clocks(struct json_writer *w, const struct trace *t);
/* occupancy, kernels, dispatches, counters, markers, other issue records, stated series, links */
void json_put_side_tables(struct json_writer *w, const struct trace *t);

/* The JSON Schema of the whole document: incore.trace/1. */
void export_json_schema(struct json_writer *w);
