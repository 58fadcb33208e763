/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.c: the object "metadata" (insight) or "otherData" (chrome, clean) of a trace.json that
 * we wrote: the kind of evidence, the kernel, SoC and clock, and the producer's labels. Files of
 * other tools have no such object, or one without these keys.
 */
#include "import/ascend/ascend.h"

static bool keep_text(struct asc_build *b, struct str raw, const char **out)
{
	sb_reset(&b->scratch);
	if (str_is(raw, "null"))
		return true;
	if (!trace_event_text(&b->scratch, raw))
		return false;
	if (b->scratch.n)
		*out = arena_strndup(&b->trace->arena, b->scratch.p, b->scratch.n);
	return !b->scratch.n || *out;
}

static bool read_labels(struct asc_build *b, struct str object, const char *path)
{
	struct asc_table k;
	struct str key, value;
	size_t pos = 0;

	asc_table_open(b, &k, ASCEND_TABLE_LABELS, path, "key|value");
	while (trace_event_member(object, &pos, &key, &value)) {
		struct str *const part[2] = {&key, &value};

		for (int i = 0; i < 2; i++) {
			sb_reset(&b->scratch);
			if (!trace_event_text(&b->scratch, *part[i]))
				k.is_failed = true;
			asc_put(b, &k,
				(struct str){b->scratch.p ? b->scratch.p : "", b->scratch.n});
		}
	}
	return asc_table_close(b, &k);
}

static uint64_t number(struct str object, const char *key)
{
	uint64_t v;

	return str_to_u64(trace_event_find(object, key), &v) ? v : 0;
}

/* Finds the length of a cycle as written: insight states the clock as a fraction, or no clock and
 * writes 1 ns; chrome and clean describe "time" in words. Cleaned microseconds are the
 * simulator's. */
static void read_clock(struct asc_build *b, struct str object)
{
	struct str time = trace_event_find(object, "time");
	struct str clock = trace_event_find(object, "clock_mhz");
	double mhz = 0;

	b->clock_hz_num = number(object, "clock_hz_num");
	b->clock_hz_den = number(object, "clock_hz_den");
	if (clock.n && trace_event_number(clock, &mhz) && mhz > 0 && mhz < 1e5) {
		b->clock_hz_num = (uint64_t)(mhz * 1e6 + 0.5);
		b->clock_hz_den = 1;
	}
	b->is_cycle_1ns = time.p ? str_has(time, "cycle") : !b->clock_hz_den;
	b->has_metadata = b->is_cycle_1ns || b->clock_hz_den;
}

bool asc_read_metadata(struct asc_build *b, struct str object, const char *path)
{
	struct trace_meta *m = &b->trace->meta;
	struct str evidence = trace_event_find(object, "evidence");

	/* Several TRACE blocks are one run: the first one has its metadata. */
	if (!trace_event_find(object, "incore").p || b->has_metadata)
		return true;
	read_clock(b, object);
	if (evidence_of(evidence) != EVIDENCE_UNKNOWN)
		m->evidence = evidence_of(evidence);
	if (!keep_text(b, trace_event_find(object, "soc"), &m->arch) ||
		!keep_text(b, trace_event_find(object, "arch"), &m->arch) ||
		(!m->kernel && !keep_text(b, trace_event_find(object, "kernel"), &m->kernel)))
		return false;
	if (m->arch)
		m->arch_source = "metadata";
	return read_labels(b, trace_event_find(object, "labels"), path);
}
