/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcs.h: files of PC samples written by rocprofv3 and rocprofiler-compute: *_results.json, and
 * *_pc_sampling_{stochastic,host_trap}.csv with *_kernel_trace.csv beside it, *_code_obj_info.json
 * with the code (incore-rocprof_pcs(7)).
 * Host names and machine ids in such files are never read.
 */
#pragma once

#include "import/import.h"
#include "import/pc_samples.h"
#include "import/roctrace.h"

struct pcs_agent { /* as in the file; 0: not stated */
	uint64_t handle, node, simds, cus, ses, xccs, waves_per_simd, lds_kib, wave_size, mhz;
	const char *name, *product;
};

struct pcs_entry { /* start of a kernel's code in its code object */
	uint64_t code_object, address, kernel;
};

struct pcs {
	struct sample_set set;
	VEC(struct pcs_entry) entries;	/* of the first process, sorted */
	struct u64_map load_base;	/* of code objects */
	struct incore_error code_error; /* error of the listing, if it is damaged */
	VEC(struct pcs_agent) agents;	/* GPUs */
	struct u64_map node_of, pid_of; /* node by agent handle; pid by process */
	struct roctrace *timeline;	/* made if there are no samples; may be NULL */
	const char *command;		/* in the set's arena, or NULL */
	uint64_t n_dispatches;		/* dispatches that the file lists */
	uint64_t n_unplaced;		/* samples of unknown kernels */
};

/* Reads all samples of a file. */
bool pcs_read_json(
	struct pcs *p, const struct file_data *f, const char *path, struct incore_error *e);
/* The last kernel that begins at or before an offset in a code object, or NULL. */
const struct pcs_entry *pcs_entry_at(const struct pcs *p, uint64_t object, uint64_t offset);
/* Records a launch of a kernel; its size is kept as long as all launches have the same. */
void pcs_add_launch(struct sampled_kernel *k, const struct trace_launch *l);
