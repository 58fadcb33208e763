/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_part.h: which slices go into a report. Owner: report_part_deinit() frees. May fail: status
 * 2 where the options contradict each other or the capture, 3 where nothing of it could be read.
 */
#pragma once

#include "serve/report/blob.h"

#define REPORT_ALL_TRACKS UINT64_MAX

struct report_part_options {
	const char *waves;  /* tracks by number: "0,2-3"; NULL: all */
	const char *window; /* cycles "A-B"; NULL: all */
	uint64_t hottest;   /* so many that lose most cycles, or REPORT_ALL_TRACKS */
	bool no_source;	    /* only told: the text of sources is left out */
};

struct report_part {
	struct blob_part *parts; /* by track; NULL: all */
	uint64_t n_slices;	 /* that go in */
	struct strbuf left_out;	 /* said on the page; empty: nothing */
};

bool report_part_make(struct report_part *p, const struct report_part_options *o,
	const struct columns *x, struct incore_error *e);
void report_part_deinit(struct report_part *p);
