/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_part.h: selects the slices of a report. Owner: report_part_deinit() frees. May fail:
 * status 2 if the options contradict each other or the capture, 3 if nothing of it could be read.
 */
#pragma once

#include "serve/report/blob.h"

#define REPORT_ALL_TRACKS UINT64_MAX

struct report_part_options {
	const char *waves;  /* tracks by number: "0,2-3"; NULL: all */
	const char *window; /* cycles "A-B"; NULL: all */
	uint64_t hottest;   /* number of tracks that lose most cycles, or REPORT_ALL_TRACKS */
	bool no_source;	    /* the text of sources is left out; only reported here */
};

struct report_part {
	struct blob_part *parts; /* by track; NULL: all */
	uint64_t n_slices;	 /* selected slices */
	struct strbuf left_out;	 /* text for the page; empty: nothing */
};

bool report_part_make(struct report_part *p, const struct report_part_options *o,
	const struct columns *x, struct incore_error *e);
void report_part_deinit(struct report_part *p);
