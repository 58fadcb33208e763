/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pc_samples.h: PC samples of AMD's tools, summed by kernel and instruction, and the trace made
 * from those of one kernel. Readers add samples in any order; memory grows with the distinct
 * instructions only. Owner: samples_init() .. samples_deinit(). May fail: only when out of memory.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "trace/trace.h"

/* Reasons in addition to AMD's: host_trap samples do not state whether the wave issued. */
#define SAMPLE_ISSUED AMD_STALL_REASONS
#define SAMPLE_NOT_TOLD (AMD_STALL_REASONS + 1u)

struct sampled_kernel {
	const char *name; /* NULL: unknown */
	uint64_t id;	  /* id of the kernel in the run */
	uint64_t n_samples;
	bool is_listed;		    /* rows without samples are present, too */
	struct trace_launch launch; /* launch_count: how many launches were seen */
};

struct sampled_row {
	uint32_t kernel;      /* index */
	uint32_t text, where; /* into texts */
	uint64_t code_object, address;
	uint64_t number; /* of the row, if the file numbers its rows; else 0 */
	uint64_t n[AMD_STALL_REASONS + 2];
};

struct sample_set {
	struct arena arena; /* names of kernels */
	struct intern texts;
	VEC(struct sampled_kernel) kernels;
	VEC(struct sampled_row) rows;
	struct u64_map row_at;	  /* hash of a row's key -> its index + 1 */
	struct u64_map kernel_at; /* id -> index + 1, until samples_finish() */
	bool has_addresses;	  /* else instructions are distinguished only by their text */
	bool is_host_trap, is_synthetic;
};

bool samples_init(struct sample_set *s); /* text 0 is the empty text */
void samples_deinit(struct sample_set *s);
/* Finds or makes a kernel by its id and returns its index; UINT32_MAX when out of memory. */
uint32_t samples_kernel(struct sample_set *s, uint64_t id);
/* Adds `count` samples of a row (its n is ignored) with a reason of AMD's or one of the two
 * above. */
bool samples_add(
	struct sample_set *s, const struct sampled_row *row, unsigned reason, uint64_t count);
/* The number of a reason such as "..._NOT_ISSUED_REASON_WAITCNT"; unknown names count as no
 * reason. */
unsigned sample_reason_of(struct str name);
/* Drops kernels without samples and sorts the others, most samples first. */
bool samples_finish(struct sample_set *s);
/* Adds code, samples, launch and notes of one kernel to the trace. */
bool samples_build(
	const struct sample_set *s, uint32_t kernel, struct trace *t, struct incore_error *e);
