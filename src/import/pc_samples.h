/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pc_samples.h: PC samples of AMD's tools, summed up by kernel and instruction, and the trace that comes
 * of one kernel's. Whoever reads a file adds samples in any order; memory is that of the distinct
 * instructions.
 * Owner: samples_init() .. samples_deinit(). May fail: memory alone.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "trace/trace.h"

/* Of reasons beside AMD's own: host_trap samples do not say whether the wave issued. */
#define SAMPLE_ISSUED AMD_STALL_REASONS
#define SAMPLE_NOT_TOLD (AMD_STALL_REASONS + 1u)

struct sampled_kernel {
	const char *name; /* NULL: nothing names it */
	uint64_t id;	  /* of the run */
	uint64_t n_samples;
	bool is_listed;		    /* rows without samples are there, too */
	struct trace_launch launch; /* launch_count: how many launches were seen */
};

struct sampled_row {
	uint32_t kernel;      /* index */
	uint32_t text, where; /* into texts */
	uint64_t code_object, address;
	uint64_t number; /* of the row, where the file numbers them; 0: it does not */
	uint64_t n[AMD_STALL_REASONS + 2];
};

struct sample_set {
	struct arena arena; /* names of kernels */
	struct intern texts;
	VEC(struct sampled_kernel) kernels;
	VEC(struct sampled_row) rows;
	struct u64_map row_at;	  /* hash of what makes a row -> its index + 1 */
	struct u64_map kernel_at; /* id -> index + 1, until samples_finish() */
	bool has_addresses;	  /* else instructions are told apart by their text alone */
	bool is_host_trap, is_synthetic;
};

bool samples_init(struct sample_set *s); /* text 0 is the empty one */
void samples_deinit(struct sample_set *s);
/* A kernel, found or made by its id: an index; UINT32_MAX on lack of memory. */
uint32_t samples_kernel(struct sample_set *s, uint64_t id);
/* `count` samples of what the row says (its n is not looked at) with a reason of AMD's, or one of
 * the two above. */
bool samples_add(
	struct sample_set *s, const struct sampled_row *row, unsigned reason, uint64_t count);
/* "..._NOT_ISSUED_REASON_WAITCNT" as its number; what is unknown counts as none. */
unsigned sample_reason_of(struct str name);
/* Kernels without samples leave, the others are put in order: most samples first. */
bool samples_finish(struct sample_set *s);
/* Code, samples, launch and notes of one kernel. */
bool samples_build(
	const struct sample_set *s, uint32_t kernel, struct trace *t, struct incore_error *e);
