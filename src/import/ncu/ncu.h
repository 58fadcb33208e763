/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ncu.h: reports of Nsight Compute (.ncu-rep), see incore-ncu(7). The file is a list of blocks of
 * protocol buffer messages; it is indexed without copying, and only the requested result is read.
 * Owner: everything points into the file's bytes; the index frees its lists. Threads: one reads.
 * May fail: on damage, with its offset, and when out of memory.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "codec/cubin.h"
#include "codec/protobuf.h"
#include "import/import.h"

enum ncu_kind { NCU_LAUNCH, NCU_RANGE, NCU_CMDLIST, NCU_GRAPH, NCU_KINDS };

struct ncu_place { /* a result */
	enum ncu_kind kind;
	struct str bytes; /* its message */
};

struct ncu_report {
	const char *path;
	struct str bytes;
	uint64_t version;
	bool is_synthetic;	       /* marked as made by a generator */
	VEC(struct ncu_place) results; /* in file order, as ncu numbers them */
	VEC(struct str) sources;       /* messages; several may belong to one binary */
	VEC(struct str) sessions;
	VEC(struct str)
	names;		    /* of metrics, by id: the concatenated lists of all blocks */
	uint64_t n_unknown; /* unknown fields of messages */
	uint64_t n_surplus; /* bytes of blocks beyond their stated content */
	bool is_cut;	    /* the file ends inside a message; earlier results are complete */
	bool is_cut_result; /* the truncated message is a result */
};

#define NCU_MAGIC "NVR" /* first bytes of a report, with their NUL */
bool ncu_index(struct ncu_report *r, struct str bytes, const char *path, struct incore_error *e);
void ncu_report_deinit(struct ncu_report *r);
/* Reports damage at p, a place in the file; always false. */
bool ncu_damaged(
	const struct ncu_report *r, const void *p, const char *what, struct incore_error *e);
/* Returns the next field of a message; numbers above `known` are counted as unknown. False at the
 * end; damage latches in m. */
bool ncu_next(struct ncu_report *r, struct pb_reader *m, uint32_t known, struct pb_field *f);

/* --- one result --- */

enum ncu_value_kind { NCU_NONE, NCU_TEXT, NCU_REAL, NCU_UINT };
struct ncu_value {
	enum ncu_value_kind kind;
	struct str text;
	double real;
	uint64_t uint;
};
double ncu_number(const struct ncu_value *v); /* NaN if there is no value, or a text */
/* Formatted as on ncu's raw page, without units; "" if there is no value. */
const char *ncu_value_text(const struct ncu_value *v, struct arena *a);

struct ncu_metric {
	struct str name;
	struct ncu_value value;
	struct str bytes; /* its message, for ncu_instances() */
	uint32_t n_instances;
	bool is_sampler; /* measured in time steps, or by the PC sampler */
};

struct ncu_result {
	struct ncu_report *report;
	enum ncu_kind kind;
	struct str mangled, function, demangled, renamed;
	uint64_t grid[3], block[3];
	uint64_t time_s;
	bool has_clock_status, is_lock_asked, is_locked;
	VEC(uint64_t) sources;		 /* ids */
	VEC(struct ncu_metric) metrics;	 /* one with instances is listed once */
	struct u64_map seen;		 /* private: id of a name -> metrics with instances */
	VEC(struct str) sections, rules; /* messages */
};

bool ncu_result_read(struct ncu_result *x, struct ncu_report *r, const struct ncu_place *p,
	struct incore_error *e);
void ncu_result_deinit(struct ncu_result *x);
const struct ncu_metric *ncu_find(const struct ncu_result *x, const char *name);
/* The value of a metric as an integer, or NO_VALUE. */
int64_t ncu_whole(const struct ncu_result *x, const char *name);

/* Calls fn for each instance; the kind of `id` is NCU_NONE if there is no correlation id. */
typedef bool (*ncu_instance_fn)(
	void *ctx, const struct ncu_value *id, const struct ncu_value *value);
bool ncu_instances(const struct ncu_result *x, const struct ncu_metric *m, ncu_instance_fn fn,
	void *ctx, struct incore_error *e);

/* --- parts of a trace --- */

struct ncu_build {
	struct trace *t;
	const struct import_options *options;
	struct ncu_report *report;
	struct ncu_result *result;
	struct arena scratch;
	/* By metric index: did it become samples, hits or figures of rows? */
	uint8_t *is_by_row;
	uint64_t n_unmapped; /* instances at addresses without a row */
	uint64_t n_absurd;   /* implausible counts of a row: left out, or clamped to their total */
};

/* Builds code rows, samples, hits, figures by row, sources, links. */
bool ncu_build_code(struct ncu_build *b, struct incore_error *e);
