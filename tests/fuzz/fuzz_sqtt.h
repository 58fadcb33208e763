/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_sqtt.h: fuzz input as a thread trace with code. Byte 0: rules; byte 1: words of code, which
 * follow; the rest is the stream, whose header the target sets. Every record is looked at, and what
 * is handed out must stay in proportion to what came in.
 */
#ifndef FUZZ_SQTT_H
#define FUZZ_SQTT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import/sqtt/decoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_seen {
	uint64_t insts, spans, others;
	int64_t sum;
};

static bool fuzz_wave(void *ctx, const struct sqtt_wave *w, struct incore_error *e)
{
	struct fuzz_seen *s = ctx;

	(void)e;
	for (size_t i = 0; i < w->n_insts; i++)
		s->sum ^= w->insts[i].time ^ w->insts[i].dur ^ (int64_t)w->insts[i].pc;
	for (size_t i = 0; i < w->n_spans; i++)
		s->sum ^= w->timeline[i].dur;
	s->insts += w->n_insts;
	s->spans += w->n_spans;
	return true;
}

static bool fuzz_occupancy(
	void *ctx, const struct sqtt_occupancy *o, size_t n, struct incore_error *e)
{
	(void)e;
	for (size_t i = 0; i < n; i++)
		((struct fuzz_seen *)ctx)->sum ^= o[i].time;
	((struct fuzz_seen *)ctx)->others += n;
	return true;
}

static bool fuzz_perf(void *ctx, const struct sqtt_perf *p, size_t n, struct incore_error *e)
{
	(void)e;
	for (size_t i = 0; i < n; i++)
		((struct fuzz_seen *)ctx)->sum ^= p[i].time;
	((struct fuzz_seen *)ctx)->others += n;
	return true;
}

/* The code stands at the address that PGM registers of 0x1000 give, and as code object 1. */
static void fuzz_decode(const uint8_t *data, size_t size, const uint8_t header[8])
{
	size_t n_code = size > 2 ? data[1] * 4u : 0, at = 2 + n_code;
	struct sqtt_segment segments[2] = {
		{0, 0, 0x100000, data + 2, n_code}, {1, 0, SQTT_NO_ADDR, data + 2, n_code}};
	struct sqtt_code code = {AMD_ARCH_UNKNOWN, 2, segments};
	struct sqtt_options o = {SQTT_RULES_RIGHT, &code, SQTT_TARGET_OF_STREAM};
	struct fuzz_seen seen = {0};
	struct sqtt_sink sink = {
		.ctx = &seen, .wave = fuzz_wave, .occupancy = fuzz_occupancy, .perf = fuzz_perf};
	struct incore_error e = {0};
	struct sqtt_result res;
	uint8_t *stream;

	if (size < 2 || size < at)
		return;
	o.rules = data[0] % 3;
	stream = malloc(8 + size - at); /* exact: ASan sees a read past the end */
	if (!stream)
		abort();
	memcpy(stream, header, 8);
	memcpy(stream + 8, data + at, size - at);
	if (!sqtt_decode(stream, 8 + size - at, &o, &sink, &res, &e))
		abort();
	/* at most 17 instructions and as many states from the 2 bytes of a token */
	if (seen.insts > 20 * size + 64 || seen.spans > 60 * size + 64 ||
		seen.others > 4 * size + 64)
		abort();
	incore_error_clear(&e);
	free(stream);
}

#endif
