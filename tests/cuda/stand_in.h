/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stand_in.h: a CUDA driver and a CUPTI without a GPU. app.c says what happens; stand_in.c tells it
 * to whoever subscribed, and hands out samples, launches and counts through the calls of CUPTI that
 * libincore-cuda makes. STAND_IN_FAIL="NAME=RESULT,..." makes calls fail, by the names of
 * CUPTI_FUNCTIONS in src/cuda/cupti.h. STAND_IN_TOLD=FILE: a line for all samples that were fetched
 * and must be in the log by now.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define API __attribute__((visibility("default")))

/* As cuInit() does: loads what CUDA_INJECTION64_PATH names. */
API void stand_in_init(void);
API void stand_in_device(uint32_t id, const char *name, uint32_t mig_instance);
API void stand_in_context(uint32_t id, uint32_t device);
API void stand_in_end_context(uint32_t id);
API void stand_in_module(uint32_t context, const void *cubin, size_t n);
API void stand_in_unload(uint32_t context, const void *cubin, size_t n);
/* A launch that left samples at the first n_pcs instructions, 10 * (i + 1) at the i-th: one of them
 * issued, the rest stalled for the i-th reason, half of those without any issue. */
API void stand_in_launch(uint32_t context, const char *kernel, uint64_t crc, uint32_t n_pcs);
API void stand_in_drop(uint32_t context, uint64_t n, int is_full);
API uint64_t stand_in_crc(const void *cubin, size_t n);
