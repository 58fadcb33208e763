/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h: what the model assumes about a machine, read from profiles/<name>.yaml. Every value
 * keeps its unit, its source and its reliability; a profile may name a base whose values it
 * overrides. Values have at most four decimals and are held as integers x 10^4.
 * Owner: profile_deinit(). May fail: profile_load() on an unknown name or a file that is not a
 * profile (status 3, with line and column). Threads: read-only once loaded.
 */
#pragma once

#include "base/arena.h"
#include "base/asset.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/profile/profile_keys.h"
#include "model/stream/opstream_types.h"

#define PROF_ONE 10000 /* 1.0 */

struct prof_value {
	int64_t e4;
	const char *unit, *source;
	enum prof_status status;
	const char *origin; /* name of the profile that states it */
	bool is_set;
};

/* cycles = slope * R + fix, by op ("TADDS") if there is such an entry, else by instruction
 * ("vadd"). */
struct prof_vec {
	const char *name;
	int64_t slope_e4, slope16_e4; /* for elements of 4 bytes, of 2 bytes or less */
	int64_t fix_e4;
	const char *source;
	enum prof_status status;
};

struct prof_point {
	uint32_t cols;
	int64_t a_e4, b_e4;
};

/* cycles = a * rows + b; a and b depend on the columns and are interpolated between two points. */
struct prof_table {
	const char *op;
	unsigned bits; /* of an element: 32 or 16 */
	uint32_t n;
	struct prof_point *points;
	const char *source;
	enum prof_status status;
};

/* a5: cycles of a vector loop over n pieces of 256 B: p * n + q, or (p * inner + q) * outer + s. */
struct prof_loop {
	const char *name; /* "TADD", "TEXP_f16" */
	bool has_1d, has_2d;
	int64_t p1_e4, q1_e4, p2_e4, q2_e4, s2_e4;
	const char *source;
	enum prof_status status;
};

/* Device times as a share of the estimate, over kernels of a class that set no constant: four
 * fifths of them lie between low and high; [1]: with the load of the step, [0]: without. */
struct prof_residual {
	uint32_t kernels; /* number measured */
	int64_t low_e4[2], high_e4[2];
	const char *source;
};
enum kernel_kind { KIND_CUBE, KIND_VECTOR, KIND_MIXED, KERNEL_KINDS };
const char *kernel_kind_name(enum kernel_kind k); /* "cube", "vector", "mixed" */

struct profile {
	struct arena arena;
	const char *name; /* "910b1" */
	const char *soc;  /* "Ascend910B1", or the name */
	const char *path;
	const char
		*calibration; /* uncalibrated, published-constants, local-device, local-camodel */
	enum opstream_arch arch;
	char sha256[65]; /* over the file and its base */
	struct prof_value k[K_COUNT];
	VEC(struct prof_vec) vec;
	VEC(struct prof_table) tables;
	VEC(struct prof_loop) loops;
	struct prof_residual residuals[KERNEL_KINDS];
	bool v_overlap;	 /* consecutive vector ops cost no v_b2b */
	bool dma_serial; /* DMA never overlaps: dma_serial_fix + bytes / dma_serial_bw each */
};

/* Loads a profile by name ("910b1"; NULL: the default of the architecture) or, with a '/' or
 * ".yaml", by path. */
bool profile_load(
	struct profile *p, const char *name, enum opstream_arch arch, struct incore_error *e);
/* Reads a profile from the text of a file; its base is searched beside `path`. */
bool profile_read(struct profile *p, struct str text, const char *path, enum opstream_arch arch,
	struct incore_error *e);
void profile_deinit(struct profile *p);

const struct prof_vec *profile_vec(const struct profile *p, const char *name);
const struct prof_table *profile_table(const struct profile *p, const char *op, unsigned bits);
const struct prof_loop *profile_loop(const struct profile *p, const char *name);
/* A decimal number of at most four decimals, x 10^4; false on anything else. */
bool prof_number(struct str s, int64_t *e4);
