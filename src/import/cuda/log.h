/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h: the log of libincore-cuda (cuda/log_types.h) as lists. A file may hold the logs of
 * several runs of one process one after the other: samples of one, exact counts of another. Owner:
 * points into the file's bytes; cuda_log_deinit() frees the lists. Threads: one reads. May fail:
 * on a bad file header and when out of memory; data after a damaged record is ignored.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "cuda/log_types.h"
#include "import/import.h"

struct cuda_section { /* one run */
	struct cuda_start start;
	uint64_t pid, start_unix_ns;
	bool has_start, has_end;
};

struct cuda_body { /* body of a record whose size was checked */
	uint32_t section;
	uint64_t time_ns;
	struct str bytes;
};

struct cuda_log_device {
	uint32_t section;
	struct cuda_device device;
};
struct cuda_log_context {
	uint32_t section;
	struct cuda_context context;
};
struct cuda_log_reason {
	uint32_t section;
	struct cuda_reason reason;
};
struct cuda_log_launch {
	uint32_t section;
	uint32_t ordinal; /* number among the launches of its kernel and device, by time, from 1 */
	struct cuda_launch launch;
};

/* The code of one kernel on one device, which becomes a capture. */
struct cuda_kernel {
	uint32_t device;
	uint64_t cubin_crc, name;
	uint64_t n_samples; /* issued and stalled */
	bool is_called;	    /* not a kernel but a function, maybe with several callers */
	uint64_t owner;	    /* of a function: name of its only calling kernel; 0: unknown */
};

struct cuda_log {
	const char *path;
	struct str bytes;
	VEC(struct cuda_section) sections;
	VEC(struct cuda_log_device) devices;
	VEC(struct cuda_log_context) contexts;
	VEC(struct cuda_log_reason) reasons;
	VEC(struct cuda_log_launch) launches; /* by section, device, name, start */
	VEC(struct cuda_body) samples, counts, troubles, cubins;
	VEC(struct str) texts;
	struct u64_map text_of, cubin_of; /* id -> index + 1 */
	VEC(struct cuda_kernel) kernels;  /* most samples first; functions with an owner last */
	uint32_t n_captures;		  /* kernels without an owner */
	const char *damage;		  /* why reading ended early; NULL: all was read */
	uint64_t damage_at;
};

bool cuda_log_read(struct cuda_log *l, struct str bytes, const char *path, struct incore_error *e);
void cuda_log_deinit(struct cuda_log *l);
/* The text of an id; "" if unknown. */
struct str cuda_log_text(const struct cuda_log *l, uint64_t id);
/* The context with that id in a section, or NULL. */
const struct cuda_context *cuda_log_context(
	const struct cuda_log *l, uint32_t section, uint32_t id);
/* The bytes of a cubin; empty if the log lacks it. */
struct str cuda_log_cubin(const struct cuda_log *l, uint64_t crc);

/* Calls fn for each PC of all wanted samples; false from fn ends the walk. */
struct cuda_sampled_pc {
	uint32_t section, device, context;
	struct cuda_pc pc;
	const uint8_t *stalls; /* pc.n_stalls struct cuda_stall, at any address */
};
typedef bool (*cuda_pc_fn)(void *ctx, const struct cuda_sampled_pc *pc);
bool cuda_log_each_pc(const struct cuda_log *l, cuda_pc_fn fn, void *ctx);
/* Is a launch of a section among the requested ones? */
bool cuda_launch_is_wanted(const struct cuda_log *l, const struct cuda_log_launch *x);

/* --- reasons --- */
/* The meaning of a count in a sample. */
struct cuda_reason_kind {
	uint32_t reason; /* index into names; CUDA_ISSUED: the instruction issued */
	bool is_not_issued;
};
#define CUDA_ISSUED UINT32_MAX
struct cuda_reason_list {
	VEC(struct str) names; /* distinct stall reasons in the order of the log */
	VEC(struct cuda_reason_kind) kinds;
	struct u64_map kind_of; /* private */
	bool has_not_issued;
};
bool cuda_reasons_read(struct cuda_reason_list *r, const struct cuda_log *l);
void cuda_reasons_deinit(struct cuda_reason_list *r);
/* The meaning of the k-th count of a PC; NULL: unknown reason. */
const struct cuda_reason_kind *cuda_count_of(const struct cuda_reason_list *r,
	const struct cuda_sampled_pc *x, uint32_t k, uint32_t *samples);
