/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_types.h: the log that libincore-cuda writes while an application runs and import/cuda reads.
 * Each process has its own file: a cuda_log_head, then records: a cuda_record, its body, zeros up
 * to the next multiple of 8. Little-endian and append-only. A record with a wrong checksum ends
 * the log: the process died there.
 * Texts (kernels, reasons, metrics) are stored once, as a CUDA_TEXT; records refer to them by
 * cuda_text_id(), a hash of the text.
 */
#pragma once

#include <stdint.h>

#define CUDA_LOG_MAGIC "INCCUDA" /* with its NUL: 8 bytes */
#define CUDA_LOG_VERSION 1u
#define CUDA_LOG_ORDER 0x01020304u
#define CUDA_LOG_SUFFIX ".cudalog"
#define CUDA_RECORD_MAGIC 0x43434e49u

/* Environment variables that pass the request to the application. */
#define CUDA_ENV_LOG "INCORE_CUDA_LOG"		 /* folder of the logs */
#define CUDA_ENV_CUPTI "INCORE_CUDA_CUPTI"	 /* libcupti.so, if none is loaded */
#define CUDA_ENV_MODE "INCORE_CUDA_MODE"	 /* a word of cuda_mode_words */
#define CUDA_ENV_PERIOD "INCORE_CUDA_PERIOD"	 /* 5..31: 2^N cycles; otherwise CUPTI chooses */
#define CUDA_ENV_LAUNCHES "INCORE_CUDA_LAUNCHES" /* "2,5-8", from 1; serialised mode */
#define CUDA_ENV_WINDOW "INCORE_CUDA_WINDOW"	 /* "FROM:TO" in ms since the first context */

enum cuda_mode {
	CUDA_LOOK,	 /* only launches */
	CUDA_CONTINUOUS, /* PC samples; kernels run as usual */
	CUDA_SERIALISED, /* PC samples, one kernel at a time: each sample names its launch */
	CUDA_EXACT, /* executions by instruction; the code is patched, so times are meaningless */
	CUDA_MODES
};
#define CUDA_MODE_WORDS                                                                            \
	{                                                                                          \
		"look", "continuous", "serialised", "exact"                                        \
	}

enum cuda_record_type {
	CUDA_START = 1, /* cuda_start */
	CUDA_TEXT,	/* u64 id, the text */
	CUDA_DEVICE,	/* cuda_device */
	CUDA_REASONS,	/* cuda_reason[]: the names of the stall reasons */
	CUDA_CUBIN,	/* u64 crc, the bytes */
	CUDA_SAMPLES,	/* cuda_samples, then its cuda_pc, each with its cuda_stall[] */
	CUDA_LAUNCHES,	/* cuda_launch[] */
	CUDA_COUNTS,	/* cuda_count[] */
	CUDA_TROUBLE,	/* cuda_trouble, then a text */
	CUDA_CONTEXT,	/* cuda_context */
	CUDA_END,	/* empty: the process ended normally */
	CUDA_RECORD_TYPES
};

struct cuda_log_head {
	char magic[8];
	uint32_t version, order;
	uint64_t pid, start_unix_ns;
};

struct cuda_record {
	uint32_t magic, type;
	uint64_t body_bytes; /* without the padding */
	uint64_t time_ns;    /* CUPTI's clock, as for launches */
	uint32_t seq;	     /* from 0 */
	uint32_t crc;	     /* CRC-32C of this header, with 0 here, and the body */
};

struct cuda_start {
	uint32_t mode; /* enum cuda_mode */
	uint32_t cupti_version;
	uint32_t parent_pid;
	uint32_t is_synthetic; /* a stand-in, without a GPU and NVIDIA's CUPTI */
	uint64_t launches;     /* text: the wanted launches of each kernel, "2,5-8"; "": all */
};

struct cuda_device {
	uint32_t id, sms, warps_per_sm, warp_threads;
	uint32_t major, minor, clock_khz, shared_per_sm;
	uint32_t is_mig, gpu_instance, compute_instance, pad;
	uint64_t name; /* text */
};

struct cuda_context {
	uint32_t id, device;
	uint32_t period_log2; /* of its samples; 0: unknown */
	uint32_t pad;
};

struct cuda_reason {
	uint32_t context, index;
	uint64_t name;
};

struct cuda_samples {
	uint32_t context, n_pcs;
	uint64_t n_samples, n_dropped, n_foreign;
	uint32_t is_full; /* the hardware buffer was full: samples are missing */
	uint32_t pad;
};

struct cuda_pc {
	uint64_t cubin_crc, function, offset;
	uint32_t correlation; /* of its launch; 0: unknown */
	uint32_t n_stalls;
};

struct cuda_stall {
	uint32_t reason, samples;
};

struct cuda_launch {
	uint64_t start_ns, end_ns, name;
	uint32_t device, context, stream, correlation;
	uint32_t grid[3], block[3];
	uint32_t registers, static_shared, dynamic_shared, local_per_thread;
};

struct cuda_count {
	uint64_t cubin_crc, function, offset, metric, value;
};

enum cuda_trouble_kind {
	CUDA_NO_CUPTI,	    /* the library cannot be opened */
	CUDA_REFUSED,	    /* a call of CUPTI failed; the text names it, code is its result */
	CUDA_LOST_LAUNCHES, /* CUPTI dropped n launches */
	CUDA_LOST_RECORDS,  /* n records could not be written */
	CUDA_LOST_COUNTS,   /* CUPTI dropped n counts */
	CUDA_TROUBLES
};

struct cuda_trouble {
	uint32_t kind, code;
	uint64_t n;
};

/* FNV-1a. */
static inline uint64_t cuda_text_id(const char *p)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *p; p++)
		h = (h ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
	return h;
}
