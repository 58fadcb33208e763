/* SPDX-License-Identifier: Apache-2.0 */
/* validate_internal.h: the published rows as data. */
#pragma once

#include "model/lab/validate.h"

enum v_work { W_VECTOR_ADD, W_GEMM, W_CONV, W_TOPK, W_MX, W_COUNT };
enum v_kind { V_END, V_TOTAL, V_BUSY_US, V_BUSY_PCT, V_BUSY_PER_OP };

struct v_measure {
	enum v_kind kind;
	enum op_pipe pipe;
	int64_t from, to; /* thousandths; to 0: equal to from */
	unsigned gate;	  /* permille */
};

struct v_case {
	const char *id, *name, *profile;
	enum validate_role role;
	const char *remark;
	enum v_work work;
	int64_t par[5];
	struct v_measure m[7];
};

extern const struct v_case VALIDATE_CASES[];
extern const size_t VALIDATE_CASES_N;

enum v_form {
	VF_PLAIN,
	VF_TWO,
	VF_SCALAR,
	VF_CVT,
	VF_REDUCE,
	VF_COLRED,
	VF_SEL,
	VF_LOAD,
	VF_STORE
};

struct v_op { /* a single op */
	const char *id, *name, *profile;
	const char *op;
	enum v_form form;
	enum op_dtype dtype, from;  /* from: source of TCVT */
	uint32_t rows, cols, vcols; /* of the tile; vcols 0: all */
	uint32_t gm[5];		    /* VF_LOAD, VF_STORE */
	bool is_dn;
	int64_t cyc, cyc_to; /* thousandths */
	bool may_fit;	     /* F: may set a constant of its op */
	bool is_serial;	     /* with dma_serial */
};

extern const struct v_op VALIDATE_OPS[];
extern const size_t VALIDATE_OPS_N;
