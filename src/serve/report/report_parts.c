/* SPDX-License-Identifier: Apache-2.0 */
/* report_parts.c: packing of bytes, and texts common to both forms of the report. */
#include "codec/gzip.h"
#include "serve/report/report.h"
#include "trace/kind.h"

#define LINE_CHARS 120u

static void put_base64(struct strbuf *b, struct str bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = (const uint8_t *)bytes.p;

	for (size_t i = 0; i < bytes.n; i += 3) {
		unsigned left = bytes.n - i > 2 ? 3 : (unsigned)(bytes.n - i);
		uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
			     (left > 2 ? p[i + 2] : 0);
		char four[4] = {digits[v >> 18], digits[v >> 12 & 63], '=', '='};

		if (left > 1)
			four[2] = digits[v >> 6 & 63];
		if (left > 2)
			four[3] = digits[v & 63];

		sb_add(b, four, sizeof(four));
		if ((i / 3 + 1) * 4 % LINE_CHARS == 0)
			sb_putc(b, '\n');
	}
}

bool report_pack(struct str bytes, struct strbuf *out)
{
	struct strbuf packed = {0};
	bool ok = gzip_pack(bytes, &packed);

	if (ok && sb_reserve(out, packed.n / 3 * 4 + packed.n / 90 * 2 + 16))
		put_base64(out, (struct str){packed.p, packed.n});
	sb_free(&packed);
	return ok && !out->failed;
}

void report_put_count(struct strbuf *b, uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			sb_putc(b, ',');
		sb_putc(b, digits[i]);
	}
}

const char *report_evidence(const struct report *r)
{
	enum evidence a = r->view->trace->meta.evidence;

	if (r->second && r->second->trace->meta.evidence != a)
		return "The two rest on different evidence: what holds of one need not hold of the other.";
	switch (a) {
	case EVIDENCE_ESTIMATE:
		return "These figures are an estimate of a model, not a measurement.";
	case EVIDENCE_SYNTHETIC:
		return "A generator made this capture up: the figures are of no machine.";
	case EVIDENCE_VENDOR_SIMULATOR:
		return "These figures come from a vendor's simulator, not from hardware.";
	case EVIDENCE_HARDWARE_SAMPLE:
		return trace_kind(r->view->trace) == KIND_SAMPLES
			       ? "These figures are samples: cycles are samples x period, each with its sampling error."
			       : "These figures are samples: counts, not cycles.";
	case EVIDENCE_INSTRUMENTED:
		return "These figures were recorded by the kernel itself, which was changed for it: its own records take time too.";
	default:
		return "Cycles were measured by the hardware's thread trace on the waves named under coverage; sums and shares are derived from them, and what is modelled or inferred says so where it stands.";
	}
}
