/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the stream of one shader engine from the first byte to the last record. */
#include "import/sqtt/decoder.h"

#include "import/sqtt/internal.h"

/* gfx9: 16 CUs x 4 SIMDs x 16; gfx10+: 2 arrays x 16 WGPs x 4 SIMDs x 32 */
#define RUNNING_COUNT 4096u

static enum amd_arch arch_of(const struct sqtt_stream *s, const struct sqtt_code *code)
{
	if (code && code->arch != AMD_ARCH_UNKNOWN)
		return code->arch;
	switch (s->gfx_major) {
	case 9:
		return AMD_ARCH_GFX9;
	case 10:
		return AMD_ARCH_GFX10;
	case 11:
		return AMD_ARCH_GFX11;
	default:
		return s->is_mi400 ? AMD_ARCH_GFX1250 : AMD_ARCH_GFX12;
	}
}

static bool init(struct decoder *d, const struct sqtt_options *o)
{
	d->rules = o->rules;
	d->is_c16 = o->rules == SQTT_RULES_C16;
	d->stall_mask = d->is_c16 ? 0xffffff : UINT32_MAX;
	d->target_cu = o->target_cu == SQTT_TARGET_OF_STREAM ? d->stream.target_cu
							     : (unsigned)o->target_cu;
	d->user.places = o->places;
	d->phase = 15;
	for (unsigned i = 0; i < WAVE_COUNT; i++)
		d->waves[i].wraps = d->is_c16;
	d->claimed_off = d->swallowed_off = NO_OFF;
	for (unsigned i = 0; i < 64; i++)
		d->perf_last[i / 4][i % 4] = INT64_MIN;
	d->running = mem_zalloc(RUNNING_COUNT, sizeof(*d->running));
	if (!d->running)
		return err_nomem(d->e);
	return code_lines_init(&d->code, o->code, arch_of(&d->stream, o->code), d->is_c16, d->e);
}

static void deinit(struct decoder *d)
{
	for (unsigned i = 0; i < WAVE_COUNT; i++)
		wave_free(&d->waves[i]);
	code_lines_deinit(&d->code);
	userdata_deinit(&d->user);
	mem_free(d->running);
	VEC_FREE(&d->occupancy);
	VEC_FREE(&d->front);
	VEC_FREE(&d->realtime);
	VEC_FREE(&d->perf);
	VEC_FREE(&d->shaderdata);
	VEC_FREE(&d->other_simd);
	VEC_FREE(&d->event);
	VEC_FREE(&d->gaps);
	VEC_FREE(&d->gap_insts);
	VEC_FREE(&d->gap_spans);
}

static bool decode_stream(struct decoder *d)
{
	if (d->stream.is_unverified)
		sqtt_note(d, SQTT_NOTE_UNVERIFIED);
	if (d->stream.gfx_major == 9)
		sqtt_run_gfx9(d);
	else
		sqtt_run_gfx10(d);
	d->res->is_lost = d->is_lost;
	sqtt_flush(d, true);
	if (!d->is_failed && !d->code.is_failed)
		return true;
	/* a sink has set its error; for out of memory it is set here */
	return d->e && d->e->status != INCORE_OK ? false : err_nomem(d->e);
}

bool sqtt_decode(const uint8_t *data, size_t size, const struct sqtt_options *o,
	const struct sqtt_sink *sink, struct sqtt_result *out, struct incore_error *e)
{
	struct sqtt_stream stream;
	struct decoder *d;
	bool ok;

	if (!sqtt_recognise(data, size, &stream, e))
		return false;
	if (!(d = mem_zalloc(1, sizeof(*d))))
		return err_nomem(e);
	*out = (struct sqtt_result){.gfx_major = stream.gfx_major};
	d->data = data;
	d->size = size;
	d->stream = stream;
	d->sink = sink;
	d->res = out;
	d->e = e;
	ok = init(d, o) && decode_stream(d);
	deinit(d);
	mem_free(d);
	return ok;
}
