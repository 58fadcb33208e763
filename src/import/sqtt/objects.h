/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.h: the code objects of a capture. Their executable 4-byte words are numbered
 * consecutively ("slots"), so that an address takes 32 bits and tables are arrays.
 * Owner: sqtt_objects_free(); names are in the trace's arena. Threads: read-only once loaded.
 */
#pragma once

#include "base/file.h"
#include "base/vec.h"
#include "codec/elf.h"
#include "codec/msgpack.h"
#include "import/sqtt/decoder.h"

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
};

/* Executable bytes; slots number the 4-byte words of all stretches consecutively. */
struct sqtt_stretch {
	uint32_t object; /* into sqtt_objects.v */
	uint32_t first_slot;
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
	const uint8_t *bytes;
	size_t left; /* bytes up to the end of the section */
};
struct sqtt_place sqtt_place_of(const struct sqtt_objects *o, uint32_t slot);
