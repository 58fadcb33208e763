/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql_result.h: output of a query result: as a text table or JSON once it is complete, as CSV row
 * by row. Owner: the caller; sql_out_deinit().
 */
#pragma once

#include "cli/cli.h"
#include "sql/sql.h"

struct sql_out {
	struct cli *c;
	struct arena arena;
	const char **names;
	unsigned n_columns;
	VEC(struct any) cells; /* row after row */
	uint64_t bytes, most_bytes;
	struct strbuf line; /* of CSV */
};

extern const struct record sql_record; /* what --json gives */

void sql_out_init(struct sql_out *o, struct cli *c, uint64_t most_bytes);
void sql_out_deinit(struct sql_out *o);
struct sql_sink sql_out_sink(struct sql_out *o);
/* Prints what was collected and clears it for the next result; CSV is printed already. */
bool sql_out_draw(struct sql_out *o);
/* Writes it to a Parquet file, whole or not at all, and reports that. */
bool sql_out_parquet(struct sql_out *o, const char *path, const struct sql_result *r);
void sql_out_forget(struct sql_out *o);
bool sql_out_json(struct sql_out *o, const struct trace *const *traces, size_t n_traces,
	const char *query, const struct sql_result *r);
/* Print the list of tables; print the columns of one, or of all tables of captures. */
bool sql_draw_tables(struct cli *c, const struct sql *s);
bool sql_draw_columns(struct cli *c, const struct sql *s, const char *name);
