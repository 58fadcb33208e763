/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqtt.h: the parts of the raw thread-trace importer around the decoder (decoder.h):
 * which files belong together (container.c), the code objects (objects.c), the decoded records of
 * one shader engine (sqtt.c), the code table and the rest of the trace (tables.c). Owner: struct
 * sqtt_build belongs to one read; longer-lived data goes to the trace's
 * arena or to struct sqtt_loader, which the trace frees through its loader.
 *
 * More than 150 lines because the parts of one read share its build.
 */
#pragma once

#include "base/file.h"
#include "base/vec.h"
#include "codec/elf.h"
#include "codec/msgpack.h"
#include "import/import.h"
#include "import/sqtt/container.h"
#include "import/sqtt/decoder.h"
#include "trace/trace.h"

/* --- code objects ----------------------------------------------------------------------------- */

/*
 * The code objects of a capture. Their executable 4-byte words are numbered consecutively
 * ("slots"), so that an address takes 32 bits and tables are arrays. Owner: sqtt_objects_free();
 * names are in the trace's arena. Threads: read-only once loaded.
 */

#define SQTT_NO_SLOT UINT32_MAX

struct sqtt_object {
	uint32_t id;
	const char *path;
	struct file_data file;
	struct elf_image elf;
	uint64_t moved; /* bytes by which its addresses exceed those in the file */
	struct code_facts facts;
	const char *gpu; /* "gfx950" or NULL */
	enum amd_arch arch;
	const struct sqtt_listing *listing; /* its code is text; NULL: an ELF image */
	uint32_t listing_id;		    /* the code object that those rows name */
	bool is_given;			    /* by --code */
};

/* Executable bytes; slots number the 4-byte words of all stretches consecutively. */
struct sqtt_stretch {
	uint32_t object; /* into sqtt_objects.v */
	uint32_t first_slot;
	const uint32_t *rows; /* by word: row of the object's listing + 1, or 0; NULL: no listing */
};

struct sqtt_objects {
	VEC(struct sqtt_object) v;
	VEC(struct sqtt_segment) segments;
	VEC(struct sqtt_stretch) stretches; /* same order */
	uint32_t n_slots;
	enum amd_arch arch;
	const char *gpu; /* from the code, else from meta.json, else NULL */
	const char *gpu_source;
	struct sqtt_code code;	   /* for the decoder */
	struct sqtt_places places; /* if the file states them */
};

struct sqtt_build;

/* Loads all readable objects; damage and missing objects become notes. False when out of memory. */
bool sqtt_objects_load(struct sqtt_build *b, struct incore_error *e);
void sqtt_objects_free(struct sqtt_objects *o);
/* The slot of a record's address; SQTT_NO_SLOT if no code is known there. `hint` starts at 0. */
uint32_t sqtt_slot_of(const struct sqtt_objects *o, uint32_t id, uint64_t pc, size_t *hint);
struct sqtt_place { /* a slot seen from its object */
	const struct sqtt_object *object;
	uint64_t vaddr;
	const uint8_t *bytes;		  /* of a listing: nothing but stand-ins */
	size_t left;			  /* bytes up to the end of the section */
	const struct amd_code_inst *inst; /* of a listing; NULL: decoded from the bytes */
	uint32_t row;			  /* of the listing, + 1; 0: it has none here */
};
struct sqtt_place sqtt_place_of(const struct sqtt_objects *o, uint32_t slot);
/* Reads one code object; the caller takes it with sqtt_objects_add(). */
bool sqtt_object_read(struct sqtt_build *b, const struct sqtt_object_file *f, struct sqtt_object *o,
	struct incore_error *why);
/* Chooses the target; the decoder then sees all objects that were added. */
void sqtt_objects_choose(struct sqtt_build *b);
/* Takes *o, unless it is code of another architecture, which becomes a note. */
bool sqtt_objects_add(struct sqtt_build *b, struct sqtt_object *o, struct incore_error *e);

/* --- code of which only the text is known: listing.c ------------------------------------------ */

/* Owner: struct sqtt_build, sqtt_listings_free(). */
struct sqtt_listing {
	const char *path;
	struct trace *text; /* its code, frames and sources */
	code_idx *order;    /* instruction rows by code object and address */
	uint32_t n;
	bool is_named; /* its rows name their code objects */
};

/* The row at a place, or NULL. */
const struct code_row *sqtt_listing_row(
	const struct sqtt_listing *l, uint32_t object, uint64_t address);
/* Takes code.json beside the streams and what --code names, for code objects that are not there. */
bool sqtt_more_code(struct sqtt_build *b, struct incore_error *e);
/* After decoding: finds which code object those without a number are. *is_new: there is more code,
 * so the streams are to be decoded again. */
bool sqtt_place_objects(struct sqtt_build *b, bool *is_new, struct incore_error *e);
bool sqtt_listing_segments(struct sqtt_build *b, uint32_t object);
void sqtt_listings_free(struct sqtt_build *b);

/* --- shader engines --------------------------------------------------------------------------- */

/*
 * The decoded stream of one shader engine. Waves are stored packed (5 to 8 bytes per instruction)
 * because a stream cannot be decoded from the middle: a track is unpacked on demand. Owner:
 * sqtt_engine_free(). Threads: one decodes an engine; read-only afterwards.
 */

struct sqtt_wave_ref {
	uint32_t engine; /* into sqtt_build.engines */
	uint16_t cu;
	uint8_t simd, slot;
	bool is_incomplete;
	uint32_t n_insts, n_spans;
	uint64_t begin_cyc, end_cyc;
	uint64_t at; /* byte in the engine's store */
	uint64_t entry_pc;
	uint32_t entry_object;
};

struct sqtt_entry { /* the entry of a program */
	uint32_t object;
	uint64_t pc;
	uint64_t starts, cycles; /* occupancy starts; lifetimes of traced waves */
};

struct sqtt_engine {
	uint32_t se;
	const char *path;
	uint64_t at;	       /* offset of the stream in the file */
	struct file_data file; /* until it is decoded */
	unsigned generation;   /* of the capture, sqtt_generation(); 0: any */
	bool is_bad;	       /* not a thread trace: see why */
	struct incore_error why;
	struct sqtt_stream stream;
	struct sqtt_result result;
	VEC(uint8_t) store; /* the packed waves; see sqtt.c */
	VEC(struct sqtt_wave_ref) waves;
	VEC(struct occupancy_event) events; /* sorted by time; kernel_id: index + 1 into entries */
	VEC(struct sqtt_entry) entries;	    /* in the order of their first event */
	uint64_t n_starts;		    /* starts of waves whose program is known */
	uint64_t first_start_cyc;	    /* the first of those; 0: none */
	VEC(struct sqtt_realtime) realtime;
	VEC(struct sqtt_perf) perf;
	VEC(struct sqtt_shaderdata) shaderdata;
	VEC(struct sqtt_other_simd) other_simd;
	VEC(struct dispatch_event) dispatches; /* kernel_id as above */
	uint32_t *hit;		  /* by slot: index + 1 into the two below; 0: never executed */
	VEC(uint32_t) first_hits; /* slots in the order of first execution */
	VEC(struct code_totals) totals; /* totals of first_hits */
	uint64_t n_clamped, n_out_of_order, n_no_slot;
	uint64_t n_open_starts; /* waves running before the first token */
	size_t hint;
	unsigned want; /* enum import_want */
	const struct sqtt_objects *objects;
	VEC(struct sqtt_inst) scratch;
};

/* --- the trace -------------------------------------------------------------------------------- */

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
	VEC(struct sqtt_listing *) listings;
	VEC(struct sqtt_object) unplaced; /* whose number is not known */
	VEC(struct file_data) others;	  /* files of the listings and of given objects */
	enum amd_arch arch;		  /* of most streams */
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
/* Makes the code table, texts and sources; needs all engines decoded. */
bool sqtt_rows_build(struct sqtt_build *b, struct incore_error *e);
bool sqtt_tables_build(struct sqtt_build *b, struct incore_error *e);
