/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h: what samples of a known period say in the terms of the accounting: a sample is that
 * many cycles of one scheduler group, its reason a cause, and links of the code tell whom a row
 * waited for. Nothing is lost: the causes of a capture add up to samples x period, and the samples
 * of a reason that names a producer go to its candidates, by how often those were executed, or to
 * (unknown).
 * For traces of which trace_is_sampled() is true. Pure; the filled structs keep their owners.
 */
#pragma once

#include "analysis/waves/causes.h"
#include "analysis/waves/producers.h"
#include "analysis/why/why.h"

/* Where a sampler's stall reason stands among causes and their parts, by its name, so that a sampled
 * capture and a traced one are read in the same words; docs/why.md has the table. */
struct sample_cause {
	const char *reason;
	enum cause_kind kind;
	enum bucket bucket;
	enum cause_family family;
	const char *name;   /* of the cause; "*": a class follows */
	enum why_word word; /* WHY_WORDS: the cause says all there is */
	bool has_class;	    /* the class of the row follows */
	bool has_producer;  /* somebody is waited for: the class of that one follows */
};
/* A word that no sampler is known to have is unknown here too. */
const struct sample_cause *sample_cause_of(const char *reason);
/* Its name with `of`, a class, in the place of the star. */
void sample_cause_name(const struct sample_cause *x, const char *of, char name[40]);

/* Cycles of a row by bucket; *exposed: samples of lost cycles in which nothing was issued. */
void samples_add_buckets(
	const struct trace *t, code_idx i, uint64_t bucket[BUCKET_COUNT], uint64_t *exposed);
bool samples_fill_causes(struct causes *c, struct incore_error *e);
bool samples_fill_producers(struct producers *p, struct incore_error *e);

/* Standard error of a count, in per cent of it; not a number for none. */
double samples_error_pct(uint64_t n);

/* The reason that a row lost most to: by exposed samples where they are known. NO_REASON: none. */
uint32_t samples_main_reason(const struct trace *t, const struct reason_count *counts);
