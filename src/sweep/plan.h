/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h: what a sweep runs: a matrix of parameters, a command that they are inserted into, what a
 * cell needs, where it may run. incore-sweep(1) describes the keys.
 * A cell is one combination of parameters; a task is one repeat of a cell, the unit that runs.
 * Tasks are numbered over the whole matrix, including those that `exclude` leaves out, so that one
 * task can be expanded without the others.
 * Owner: struct sweep_plan owns all of it; sweep_plan_read() .. sweep_plan_deinit().
 * May fail: a plan that is wrong, with its file and line.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "codec/yaml.h"

#define SWEEP_MAX_TASKS 100000u
#define SWEEP_PLAN_COPY "plan.yaml" /* in the folder of a sweep */

enum sweep_kind { SWEEP_COMMAND, SWEEP_SHELL, SWEEP_CAPTURE, SWEEP_PROFILE, SWEEP_REPLAY };

struct sweep_text { /* with parameters in braces */
	const char *text;
	const struct yaml_node *at;
};
struct sweep_texts {
	struct sweep_text *v;
	size_t n;
};

struct sweep_pair {
	const char *name;
	struct sweep_text value;
};
struct sweep_pairs {
	struct sweep_pair *v;
	size_t n;
};

struct sweep_axis {
	struct sweep_pairs *values; /* each sets the same parameters */
	size_t n;
};

struct sweep_plan {
	struct arena arena;
	const char *path; /* for messages */
	const char *name; /* of the sweep; NULL: not said */
	struct sweep_axis *axes;
	size_t n_axes;
	struct sweep_pairs *excludes;
	size_t n_excludes;
	enum sweep_kind kind;
	struct sweep_texts command; /* argv, or the words after the verb; one text for a shell */
	struct sweep_texts outputs,
		captures;	    /* files that a task leaves, and those that are imported */
	struct sweep_texts records; /* variables whose values are kept */
	struct sweep_pairs env;
	struct sweep_text cwd; /* text NULL: the plan's folder */
	const char *store;     /* captures are added to it, see incore-store(1); may be NULL */
	uint64_t repeats, retries, timeout_ms;
	struct {
		uint64_t devices, cpus, memory_bytes;
		bool is_exclusive;
	} needs;
	struct {
		struct sweep_texts devices; /* n 0: those detected */
		struct sweep_texts health;
		bool has_no_health; /* not even the built-in check of the vendor's devices */
		uint64_t slots, memory_bytes, health_ms;
		const char *leases; /* NULL: the shared directory (lease.h) */
	} pool;
	struct {
		const char *partition, *gres; /* NULL: default; from needs.devices */
		struct sweep_texts options;
		uint64_t throttle, poll_ms;
	} slurm;
	uint64_t n_cells, n_tasks;
};

/* path is for messages. */
bool sweep_plan_read(
	struct sweep_plan *p, struct str text, const char *path, struct incore_error *e);
void sweep_plan_deinit(struct sweep_plan *p);

static inline uint64_t sweep_cell_of(const struct sweep_plan *p, uint64_t task)
{
	return task / p->repeats;
}
bool sweep_is_excluded(const struct sweep_plan *p, uint64_t cell);

/* Where a task runs. */
struct sweep_place {
	const char *out;     /* the folder of this attempt */
	const char *base;    /* the plan's folder */
	const char *devices; /* "0,1" */
	uint32_t attempt;
};

struct sweep_cell { /* in the arena; lists end with NULL */
	struct sweep_pairs params;
	const char *label; /* "kernel=gemm m=128" */
	const char *const *argv;
	const char *cwd;
	const char *const *env;			      /* "K=V" */
	const char *const *outputs, *const *captures; /* patterns of paths */
};
bool sweep_expand(const struct sweep_plan *p, uint64_t task, const struct sweep_place *at,
	struct arena *a, struct sweep_cell *out, struct incore_error *e);
/* The label alone. NULL: no memory. */
const char *sweep_label(const struct sweep_plan *p, uint64_t cell, struct arena *a);
/* The path of this program. NULL: no memory. */
const char *sweep_own_program(struct arena *a);
/* Replaces {device} in a text, for commands about a device. NULL: no memory. */
const char *sweep_device_text(const char *text, const char *device, struct arena *a);
