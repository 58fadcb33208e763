/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqtt.h: the parts of the raw thread-trace importer around the decoder (decoder.h), one file per
 * task: which files belong together (container.c), the code objects (objects.c), the decoded
 * records of one shader engine (collect.c), the code table (rows.c), the rest of the trace
 * (tables.c). Owner: struct sqtt_build belongs to one read; longer-lived data goes to the trace's
 * arena or to struct sqtt_loader, which the trace frees through its loader.
 */
#pragma once

#include "import/import.h"
#include "import/sqtt/container.h"
#include "import/sqtt/engine.h"

extern const struct import_ops import_sqtt;

/* --- the trace --- */

struct sqtt_loader { /* trace.loader_ctx */
	struct sqtt_engine *engines;
	uint32_t n_engines;
	struct sqtt_wave_ref *waves; /* by track */
	uint32_t *row_of_slot;	     /* row + 1; 0: none */
	uint32_t n_slots;
	const uint8_t *class_lut;
	unsigned gfx_major;
};

struct sqtt_build {
	struct trace *trace;
	const struct import_options *options;
	const void *from; /* input of `find`, or NULL */
	struct arena scratch;
	struct sqtt_container container;
	struct sqtt_meta meta;
	struct sqtt_objects objects;
	struct sqtt_loader *loader;
	unsigned want;
	enum sqtt_rules rules;
};

/* sqtt.c: reads the trace of the container that `find` puts into the build. */
typedef bool (*sqtt_find_fn)(struct sqtt_build *b, const char *path, struct incore_error *e);
bool sqtt_read_found(sqtt_find_fn find, const void *from, const char *path,
	const struct import_options *o, struct trace *t, struct incore_error *e);
/* Loads the bytes of stream i into its engine, unless already loaded. */
bool sqtt_stream_load(struct sqtt_build *b, uint32_t i, struct incore_error *e);
/* rows.c: code table, texts, sources; needs all engines decoded. */
bool sqtt_rows_build(struct sqtt_build *b, struct incore_error *e);
/* tables.c */
bool sqtt_tables_build(struct sqtt_build *b, struct incore_error *e);
/* counters.c: false when out of memory */
bool sqtt_counters_build(struct sqtt_build *b);
/* notes.c: everything the decoder lost, cut or could not place */
bool sqtt_notes_build(struct sqtt_build *b, struct incore_error *e);
/* load.c */
bool sqtt_track_load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e);
