/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ncu.h: reports of Nsight Compute (.ncu-rep), see incore-ncu(7). The file is a list of blocks of
 * protocol buffer messages; it is indexed without a copy, and of its many results the one that is
 * asked for is read. Owner: everything points into the file's bytes; the index frees its lists.
 * Threads: one reads. May fail: on damage, with the byte it is at, and on memory.
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
	bool is_synthetic;	       /* a generator made it up, and says so */
	VEC(struct ncu_place) results; /* in the order of the file, as ncu numbers them */
	VEC(struct str) sources;       /* messages; several may be of one binary */
	VEC(struct str) sessions;
	VEC(struct str)
	names;		    /* of metrics, by id: the lists of all blocks, one behind the other */
	uint64_t n_unknown; /* fields of messages that this reader does not know */
	uint64_t n_surplus; /* bytes of blocks behind what they announce */
	bool is_cut;	    /* the file ends inside a message: results before it are whole */
	bool is_cut_result; /* and that message is a result */
};

bool ncu_is_magic(const uint8_t *p, size_t n);
bool ncu_index(struct ncu_report *r, struct str bytes, const char *path, struct incore_error *e);
void ncu_report_deinit(struct ncu_report *r);
/* Damage at p, which lies in the file; false. */
bool ncu_damaged(
	const struct ncu_report *r, const void *p, const char *what, struct incore_error *e);
/* Fields of one message; numbers above `known` are counted. False at the end; damage stays in m. */
bool ncu_next(struct ncu_report *r, struct pb_reader *m, uint32_t known, struct pb_field *f);

/* --- result.c --- */

enum ncu_value_kind { NCU_NONE, NCU_TEXT, NCU_REAL, NCU_UINT };
struct ncu_value {
	enum ncu_value_kind kind;
	struct str text;
	double real;
	uint64_t uint;
};
double ncu_number(const struct ncu_value *v); /* not a number: none, or text */
/* As ncu's raw page has it, without units; "" for none. */
const char *ncu_value_text(const struct ncu_value *v, struct arena *a);

struct ncu_metric {
	struct str name;
	struct ncu_value value;
	struct str bytes; /* its message, for ncu_instances() */
	uint32_t n_instances;
	bool is_sampler; /* taken in time steps, or by the PC sampler */
};

struct ncu_result {
	struct ncu_report *report;
	enum ncu_kind kind;
	struct str mangled, function, demangled, renamed;
	uint64_t grid[3], block[3];
	uint64_t time_s;
	bool has_clock_status, is_lock_asked, is_locked;
	VEC(uint64_t) sources;		 /* ids */
	VEC(struct ncu_metric) metrics;	 /* none with instances twice */
	struct u64_map seen;		 /* private: id of a name -> metrics with instances */
	VEC(struct str) sections, rules; /* messages */
};

bool ncu_result_read(struct ncu_result *x, struct ncu_report *r, const struct ncu_place *p,
	struct incore_error *e);
void ncu_result_deinit(struct ncu_result *x);
const struct ncu_metric *ncu_find(const struct ncu_result *x, const char *name);
/* The value of a metric as a whole number, or NO_VALUE. */
int64_t ncu_whole(const struct ncu_result *x, const char *name);

/* Calls fn for each instance; `id` is NONE where there is no correlation. */
typedef bool (*ncu_instance_fn)(
	void *ctx, const struct ncu_value *id, const struct ncu_value *value);
bool ncu_instances(const struct ncu_result *x, const struct ncu_metric *m, ncu_instance_fn fn,
	void *ctx, struct incore_error *e);

/* --- code.c, counters.c, tables.c: parts of a trace --- */

struct ncu_build {
	struct trace *t;
	const struct import_options *options;
	struct ncu_report *report;
	struct ncu_result *result;
	struct arena scratch;
	/* Metrics that became samples, hits or figures of rows: by their place. */
	uint8_t *is_by_row;
	uint64_t n_unmapped; /* instances at addresses without a row */
	uint64_t n_absurd;   /* counts of a row that cannot be: left out, or cut to their whole */
};

/* Code rows, samples, hits, figures by row, sources, links. */
bool ncu_build_code(struct ncu_build *b, struct incore_error *e);
bool ncu_build_counters(struct ncu_build *b, struct incore_error *e);
bool ncu_build_tables(struct ncu_build *b, struct incore_error *e);
