/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h: a view and the answers made from it: pure functions from a trace with its columns and a
 * query to bytes. The server and the report in a browser call the same functions.
 *
 * Owner: the creator of a struct view; it is read-only while answers run, except for view_need(),
 * which builds an index on first use: one thread at a time, possibly while answers run that need
 * other parts, if view_index_make() was called before all of them. Another base replaces NEED_DIFF,
 * which nobody may be using then. May fail: USAGE for an invalid query, memory.
 */
#pragma once

#include "codec/json_writer.h"
#include "serve/view/query.h"
#include "trace/columns.h"
#include "trace/index.h"

#define VIEW_MAX_ROWS 4000u
#define VIEW_MAX_TRACKS 64u
#define VIEW_TILE_CELLS 512u
#define VIEW_MAX_LEVEL 40u
#define VIEW_MAX_LINKS 2000u
#define VIEW_TRACKS_A_PAGE 2000u

enum tile_mode { TILE_CLASS, TILE_BUCKET, TILE_CAUSE, TILE_KERNEL, TILE_DIFF };
#define TILE_MODES "class|bucket|cause|kernel|diff"

enum view_need {
	NEED_BUCKET = 1,
	NEED_CAUSE = 2,
	NEED_CODE = 4,
	NEED_DIFF = 8,
	NEED_WAITS = 16,
	NEED_MACHINE = 32
};

struct colors;
struct waits;
struct wait_tables;
struct view_index; /* view_index.c: what is built on first use */

struct view {
	const struct trace *trace;     /* NULL while loading */
	const struct columns *columns; /* NULL while loading */
	int64_t origin_cyc;
	char hash[33]; /* of the content, in hexadecimal */
	bool has_pipes;
	struct view_index *index;
	const struct colors *colors; /* set by the user, or NULL */
};

/* What a query needs besides the columns: mask of enum view_need. */
unsigned view_needs(const struct query *q);
bool view_index_make(struct view *v, struct incore_error *e);
bool view_need(struct view *v, unsigned needs, const struct view *base, struct incore_error *e);
/* Is all of that already built? */
bool view_has(const struct view *v, unsigned needs, const struct view *base);
void view_index_free(struct view *v);
/* Writes one digit per code row, and one for unknown code, as shown by mode=diff. May fail: rows
 * that cannot be aligned. */
bool view_diff_rows(
	const struct view *v, const struct view *base, struct strbuf *out, struct incore_error *e);
/* Begins a cursor over the split of a track by that mode. */
void view_split_begin(
	const struct view *v, enum tile_mode mode, track_idx track, struct split_cursor *k);

bool view_tile(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_slices(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_at(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_links(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_select(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_find(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_found(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_units(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_machine(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_resident(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_buckets(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_histogram(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_rows(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_code(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_derived(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_counters(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_source(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);
bool view_tables(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);

/* Append little-endian numbers. */
void put_u16(struct strbuf *b, uint16_t v);
void put_u32(struct strbuf *b, uint32_t v);
void put_u64(struct strbuf *b, uint64_t v);
