/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_events.h: the events of a Chrome-trace JSON (object with "traceEvents", or a bare array),
 * one at a time, at the speed of a byte scan. Strings are borrowed from the input and raw: escapes
 * are kept (trace_event_text() resolves them); a number used as pid, tid or id is returned as its
 * text. Numbers and numeric strings are equivalent; NaN and other words are not numbers.
 *
 *	struct trace_events r;
 *	struct trace_event ev;
 *	trace_events_init(&r, data, size, path);
 *	while (trace_events_next(&r, &ev))
 *		...;
 *	ok = trace_events_finish(&r, e);
 *
 * A truncated file yields the events before the cut and sets `is_cut`. Owner: the caller; the
 * bytes must be followed by JSON_PAD readable bytes. trace_events_deinit() in all cases.
 */
#pragma once

#include "codec/json_reader.h"

struct trace_event {
	char ph;	      /* first character of "ph"; 0: none */
	bool has_ts, has_dur; /* present and a finite number */
	bool is_ts_bad;	      /* present, but not a finite number */
	double ts, dur;	      /* as written (microseconds) */
	struct str name, cat, id, pid, tid, group_id, cname, bp;
	struct str id2, scope;		       /* id2: the whole value, "{...}" */
	struct str bind_id, flow_in, flow_out; /* the flows of a slice */
	struct str ts_text, dur_text;	       /* as written, without quotes */
	struct str args;		       /* the whole value, "{...}"; n 0: none */
	/* Members of args that every reader uses; p NULL: absent. */
	struct str detail, code, pc_addr, process_bytes, arg_name, sort_index, row;
	uint64_t offset; /* of its '{' in the input */
};

struct trace_events {
	struct json_reader json;
	enum { TRACE_EVENTS_START, TRACE_EVENTS_INSIDE, TRACE_EVENTS_DONE } state;
	struct str profiling_type; /* top level, raw; also found after the events */
	int64_t schema_version;	   /* -1: not a number */
	struct str display_unit;
	struct str clock_mhz;  /* of our exporter: "clockMHz"; p NULL: absent */
	struct str metadata;   /* of our exporter: the raw object "metadata"; p NULL: absent */
	struct str other_data; /* the raw object "otherData"; p NULL: absent */
	bool is_bare_array, has_events;
	bool is_cut;		/* the input ends inside the events */
	uint64_t n_not_objects; /* array items that are not objects and were skipped */
};

void trace_events_init(struct trace_events *r, const void *data, size_t size, const char *path);
void trace_events_deinit(struct trace_events *r);
bool trace_events_next(struct trace_events *r, struct trace_event *ev);
/* Reads the event whose '{' is at p, as next() returned it before; false: there is no event at
 * p. */
bool trace_event_at(const char *p, const char *end, struct trace_event *ev);
/* Call it after next() returned false: true if the input was valid (or only truncated). */
bool trace_events_finish(struct trace_events *r, struct incore_error *e);

/* Appends the raw string with its escapes resolved; invalid escapes are kept. */
bool trace_event_text(struct strbuf *out, struct str raw);
/* Parses a JSON number or numeric text; false if it is not finite or has other characters. */
bool trace_event_number(struct str text, double *out);
/* Returns the next member of a raw object ("{...}"), starting with *pos = 0; strings come without
 * quotes. */
bool trace_event_member(struct str object, size_t *pos, struct str *key, struct str *value);
/* The next item of a raw array ("[...]"), likewise. */
bool trace_event_item(struct str array, size_t *pos, struct str *value);
/* The member of that name; p NULL: absent. */
struct str trace_event_find(struct str object, const char *key);
