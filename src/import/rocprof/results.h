/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h: walks results.json of rocprofv3; shared by the readers of samples (pcs_json.c) and of
 * the timeline (results.c).
 */
#pragma once

#include "codec/json_fields.h"
#include "import/rocprof/pcs.h"

struct results {
	struct pcs *p;
	struct json_reader r;
	uint64_t process;	     /* its number in the file: ids are per process */
	struct u64_map kernel_of;    /* dispatch -> id of its kernel + 1 */
	struct u64_map texts, where; /* (process, index) -> text of the set */
	bool is_second_walk;
	struct lists *lists; /* for the timeline; or NULL */
};

/* Records: a number that is missing in the file stays at the maximum. */
struct size3 {
	uint64_t v[3];
};
struct results_info {
	uint64_t agent, queue, kernel, dispatch, lds, scratch;
	struct size3 workgroup, grid;
};
struct results_record {
	uint64_t kind, operation, thread, start_ns, end_ns, stack, agent;
	struct results_info info; /* of a launch */
};

uint64_t results_id(const struct results *x, uint64_t id);
int64_t results_known(uint64_t v); /* NO_VALUE for numbers above INT64_MAX */
bool results_no_memory(struct results *x);
bool results_put(struct results *x, struct u64_map *m, uint64_t key, uint64_t value);
bool results_get_id(const struct json_member *m);
bool results_get_record(const struct json_member *m);
bool results_next(struct results *x, struct results_record *d);
/* Records the size of a launch; returns its kernel, NULL when out of memory. */
struct sampled_kernel *results_launch(
	struct results *x, const struct results_record *d, struct trace_launch *l);
/* Reads every process of the file. */
bool results_walk(struct results *x, const struct file_data *f, const char *path,
	void (*read)(struct results *x), struct incore_error *e);

/* Fills the timeline of x->p, whose kernels, agents and processes are known. */
bool results_timeline(
	struct results *x, const struct file_data *f, const char *path, struct incore_error *e);
