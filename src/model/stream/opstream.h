/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opstream.h: what a kernel did, op by op, on one core instance; the only input of the engine.
 * opstream_types.h defines the records; this header has their tables in memory, readers and writers
 * for binary and JSON Lines (input is untrusted), and a builder.
 *
 * After opstream_load() or opstream_seal(): every index is inside its table, every string ends,
 * forms know their op of the op table (op_form.op) and operands their access, and `derived` has one
 * entry per form. So an engine prices forms once and walks ops:
 *
 *	for (size_t i = 0; i < s->ops.n; i++) {
 *		const struct op_exec *x = &s->ops.v[i];
 *		const struct op_form *f = &s->forms.v[x->form];
 *		const struct op_opnd *o = s->opnds.v + f->first_opnd;	// f->n_opnds of them
 *		const uint64_t *w = s->words.v + x->first_word; // as many: each an
 *		// address, an offset or bits
 *
 * Owner: whoever called opstream_init() or opstream_set_init(); the deinit frees everything.
 * Threads: a sealed stream is read-only. May fail: functions that take an error.
 */
#pragma once

#include <stdio.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/stream/opstream_types.h"

struct op_derived {
	uint64_t macs;	/* m * n * k of a matrix op */
	uint64_t bytes; /* moved, from valid sizes; 0 for ops that move nothing */
	uint64_t elems; /* valid elements of the destination (of the source for reductions) */
};

struct opstream {
	enum opstream_arch arch;
	enum opstream_core core;
	uint32_t lane;
	uint32_t block_idx, block_num;
	enum opstream_origin args_origin;
	bool is_complete; /* the kernel returned */
	bool is_mixed;	  /* see OPSTREAM_MIXED */
	uint64_t payload_slots, missing_slots;
	/* offsets in strings */
	uint32_t kernel, front_end, source_sha256, reason;

	VEC(struct op_slot) slots;
	VEC(struct op_site) sites;
	VEC(struct op_form) forms;
	VEC(struct op_opnd) opnds; /* of the forms */
	VEC(struct op_exec) ops;
	VEC(uint64_t) words;
	VEC(char) strings;		/* starts with NUL */
	VEC(struct op_derived) derived; /* one per form; made by opstream_seal() */

	/* of the builder: hash -> index + 1 */
	struct u64_map form_index, site_index, string_index;
};

/* What a file holds: the core instances of one or more blocks, in the order of the file. */
struct opstream_set {
	VEC(struct opstream) v;
};

static inline const char *opstream_str(const struct opstream *s, uint32_t off)
{
	return s->strings.v + off;
}

/* "aic", "aiv0", "aiv1". */
const char *opstream_core_name(const struct opstream *s);

/* --- making one --- */

bool opstream_init(struct opstream *s, struct incore_error *e);
void opstream_deinit(struct opstream *s);
void opstream_set_init(struct opstream_set *set);
void opstream_set_deinit(struct opstream_set *set);
/* Appends a stream to be filled; the pointer is valid until the next call. */
struct opstream *opstream_set_new(struct opstream_set *set, struct incore_error *e);

/* Offset of a string, which is stored only once; false: out of memory. */
bool opstream_add_str(struct opstream *s, struct str text, uint32_t *off, struct incore_error *e);

/* One op to be pushed: opnd[i] goes with word[i]. Start from op_desc_of(). */
struct op_desc {
	struct op_form form; /* name, first_opnd, op and n_opnds are filled in by opstream_push() */
	const char *name;
	uint32_t n_opnds;
	struct op_opnd opnd[OPSTREAM_MAX_OPNDS];
	uint64_t word[OPSTREAM_MAX_OPNDS];
	const char *file; /* NULL: "" */
	uint32_t line;
	const char *hint; /* NULL: none */
	uint32_t aux;
};

struct op_desc op_desc_of(enum op_kind kind, enum op_pipe pipe, const char *name, uint32_t line);
/* Adds a row-major (Vec) tile operand, whole valid; change op->opnd[op->n_opnds - 1] for others. */
struct op_opnd *op_desc_tile(struct op_desc *op, enum op_role role, enum op_dtype dtype,
	uint32_t rows, uint32_t cols, uint64_t addr);
/* Adds a contiguous ND view of rows x cols at a byte offset in a slot. */
struct op_opnd *op_desc_gm(struct op_desc *op, enum op_role role, enum op_dtype dtype,
	const uint32_t shape[5], unsigned slot, uint64_t offset_bytes);
struct op_opnd *op_desc_scalar(struct op_desc *op, enum op_role role, uint64_t bits);
struct op_desc op_desc_flag(
	enum op_kind kind, enum op_pipe src, enum op_pipe dst, int id, uint32_t line);

bool opstream_push(struct opstream *s, const struct op_desc *op, struct incore_error *e);
/* After the last push, once: op ids, access, derived figures. */
bool opstream_seal(struct opstream *s, struct incore_error *e);

/* --- files --- */

/* Reads either form (by its first bytes), checks all of it and seals. Status 3 with path and offset
 * (line for JSON Lines) on anything that violates the format. */
bool opstream_load(struct opstream_set *set, const char *path, struct incore_error *e);
bool opstream_read(struct opstream_set *set, const void *bytes, size_t n, const char *path,
	struct incore_error *e);
bool opstream_write_binary(const struct opstream_set *set, FILE *f, struct incore_error *e);
bool opstream_write_jsonl(const struct opstream_set *set, FILE *f, struct incore_error *e);

/* --- words --- */

/* NULL for a value out of range. */
const char *op_kind_name(unsigned kind);
const char *op_pipe_name(unsigned pipe); /* "MTE2", "V", "S", "ALL", "none" */
const char *op_what_name(unsigned what); /* "tile", "gm", "scalar" */
const char *op_role_name(unsigned role);
const char *op_loc_name(unsigned loc);
const char *op_dtype_name(unsigned dtype); /* "f32", "bf16" */
unsigned op_dtype_bits(unsigned dtype);
const char *op_blayout_name(unsigned v);
const char *op_slayout_name(unsigned v);
const char *op_pad_name(unsigned v);
const char *op_compact_name(unsigned v);
const char *op_layout_name(unsigned v);
const char *op_arch_name(unsigned arch); /* "a2a3", "a5" */

/* Text of an op, as shown in listings: "TADD Vec f32 64x64@0x0, ..." */
bool opstream_text(const struct opstream *s, const struct op_exec *x, struct strbuf *out);
