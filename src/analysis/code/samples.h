/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h: samples of a known period in terms of the accounting. A sample stands for one period
 * of cycles of one scheduler group, its reason is a cause, and the links of the code say which row
 * was waited for. Nothing is lost: the causes of a capture add up to samples x period. Samples of a
 * reason that names a producer are split among the candidates by how often those were executed, or
 * go to (unknown). For traces with KIND_SAMPLES. Pure; the filled structs keep their owners.
 */
#pragma once

#include "analysis/waves/causes.h"
#include "analysis/waves/producers.h"
#include "analysis/why/why.h"

/* Maps a sampler's stall reason, by name, to a cause and its part, so that sampled and traced
 * captures use the same words; docs/why.md has the table. */
struct sample_cause {
	const char *reason;
	enum cause_kind kind;
	enum bucket bucket;
	enum cause_family family;
	const char *name;   /* of the cause; "*": a class follows */
	enum why_word word; /* WHY_WORDS: there is no finer part than the cause */
	bool has_class;	    /* the class of the row follows */
	bool has_producer;  /* a producer is waited for: its class follows */
};
/* A reason that no sampler is known to use maps to unknown. */
const struct sample_cause *sample_cause_of(const char *reason);
/* Writes its name, with the class name `of` in place of "*". */
void sample_cause_name(const struct sample_cause *x, const char *of, char name[40]);

/* Adds the cycles of a row by bucket; *exposed: samples of lost cycles in which nothing was
 * issued. */
void samples_add_buckets(
	const struct trace *t, code_idx i, uint64_t bucket[BUCKET_COUNT], uint64_t *exposed);
bool samples_fill_causes(struct causes *c, struct incore_error *e);
bool samples_fill_producers(struct producers *p, struct incore_error *e);

/* Standard error of a count, in per cent of the count; NaN for 0. */
double samples_error_pct(uint64_t n);

/* The stall reason a row lost most to, by exposed samples where they are known; NO_REASON if it
 * lost nothing. */
uint32_t samples_main_reason(const struct trace *t, const struct reason_count *counts);
