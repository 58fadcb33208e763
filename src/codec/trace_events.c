/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_events.c: finds the next event. An event is scanned once, from brace to brace; anything
 * unexpected goes through the JSON reader, which reports the error.
 *
 * Parts: escapes in raw strings; events.
 */
#include "codec/trace_events.h"

#include <math.h>
#include <stdlib.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "codec/json_core.h"

/* --- escapes in raw strings ------------------------------------------------------------------- */

/* Resolves the escapes in raw strings of trace events. */

static bool trace_events_put_utf8(struct strbuf *out, uint32_t c)
{
	char b[4];
	size_t n;

	if (c < 0x80) {
		b[0] = (char)c;
		n = 1;
	} else if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		b[1] = (char)(0x80 | (c & 0x3f));
		n = 2;
	} else if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		b[1] = (char)(0x80 | (c >> 6 & 0x3f));
		b[2] = (char)(0x80 | (c & 0x3f));
		n = 3;
	} else {
		b[0] = (char)(0xf0 | c >> 18);
		b[1] = (char)(0x80 | (c >> 12 & 0x3f));
		b[2] = (char)(0x80 | (c >> 6 & 0x3f));
		b[3] = (char)(0x80 | (c & 0x3f));
		n = 4;
	}
	return sb_add(out, b, n);
}

static bool trace_events_hex4(struct str s, size_t at, uint32_t *out)
{
	uint32_t v = 0;

	if (at + 4 > s.n)
		return false;
	for (size_t i = at; i < at + 4; i++) {
		char c = s.p[i];
		int d = c >= '0' && c <= '9'   ? c - '0'
			: c >= 'a' && c <= 'f' ? c - 'a' + 10
			: c >= 'A' && c <= 'F' ? c - 'A' + 10
					       : -1;

		if (d < 0)
			return false;
		v = v << 4 | (uint32_t)d;
	}
	*out = v;
	return true;
}

/* Resolves the escape at s.p[at] (a backslash); returns the number of bytes used. */
static size_t trace_events_put_escape(struct strbuf *out, struct str s, size_t at)
{
	static const char from[] = "nrtbf\"\\/", to[] = "\n\r\t\b\f\"\\/";
	const char *k = at + 1 < s.n ? strchr(from, s.p[at + 1]) : NULL;
	uint32_t c, low;

	if (k && *k) {
		sb_putc(out, to[k - from]);
		return 2;
	}
	if (at + 1 < s.n && s.p[at + 1] == 'u' && trace_events_hex4(s, at + 2, &c) && c != 0) {
		if (c >= 0xd800 && c < 0xdc00 && at + 7 < s.n && s.p[at + 6] == '\\' &&
			s.p[at + 7] == 'u' && trace_events_hex4(s, at + 8, &low) && low >= 0xdc00 &&
			low < 0xe000) {
			trace_events_put_utf8(out, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
			return 12;
		}
		trace_events_put_utf8(out, c);
		return 6;
	}
	sb_putc(out, '\\');
	return 1;
}

bool trace_event_text(struct strbuf *out, struct str raw)
{
	for (size_t i = 0; i < raw.n;) {
		if (raw.p[i] == '\\') {
			i += trace_events_put_escape(out, raw, i);
		} else if (raw.p[i] == '\0') {
			i++;
		} else {
			sb_putc(out, raw.p[i++]);
		}
	}
	return !out->failed;
}

/* --- events ----------------------------------------------------------------------------------- */

#define MAX_SCAN_DEPTH 64
#define MAX_DIGITS 19

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && json_is_space(*p))
		p++;
	return p;
}

/* p is after the opening quote; returns the closing one, or NULL. */
static inline const char *find_quote(const char *p, const char *end)
{
	for (;;) {
#ifdef __SSE2__
		const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');

		while (p + 16 <= end) {
			__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
			int m = _mm_movemask_epi8(
				_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)));

			if (m) {
				p += __builtin_ctz((unsigned)m);
				break;
			}
			p += 16;
		}
#endif
		while (p < end && *p != '"' && *p != '\\')
			p++;
		if (p >= end)
			return NULL;
		if (*p == '"')
			return p;
		p += 2;
	}
}

static const char *skip_word(const char *p, const char *end)
{
	if (!strchr("-0123456789tfnNI", *p) || *p == '\0')
		return NULL;
	while (p < end && *p && !strchr(",:]}[{\" \t\r\n", *p))
		p++;
	return p;
}

/* Returns the end of a value that begins at p; NULL: not understood here. */
static const char *trace_events_skip_value(const char *p, const char *end)
{
	uint64_t is_object = 0; /* bit per open bracket, the innermost lowest */
	unsigned depth = 0;

	do {
		p = skip_space(p, end);
		if (p >= end)
			return NULL;
		if (*p == '"') {
			p = find_quote(p + 1, end);
			if (!p)
				return NULL;
			p++;
		} else if (*p == '{' || *p == '[') {
			if (++depth > MAX_SCAN_DEPTH)
				return NULL;
			is_object = is_object << 1 | (*p++ == '{');
		} else if (*p == '}' || *p == ']') {
			if (depth == 0 || (*p == '}') != (is_object & 1))
				return NULL;
			depth--;
			is_object >>= 1;
			p++;
		} else if (*p == ',' || *p == ':') {
			if (depth == 0)
				return NULL;
			p++;
		} else {
			p = skip_word(p, end);
			if (!p)
				return NULL;
		}
	} while (depth);
	return p;
}

/* Reads a scalar as raw text: a string without quotes, a number or word unchanged. */
static inline const char *scan_scalar(const char *p, const char *end, struct str *out)
{
	const char *start;

	if (*p == '"') {
		start = p + 1;
		p = find_quote(start, end);
		if (!p)
			return NULL;
		*out = (struct str){start, (size_t)(p - start)};
		return p + 1;
	}
	start = p;
	while (p < end && *p != ',' && *p != '}' && *p != ']' && !json_is_space(*p)) {
		if (*p == '{' || *p == '[' || *p == '"')
			return NULL;
		p++;
	}
	if (p == start)
		return NULL;
	*out = (struct str){start, (size_t)(p - start)};
	return p;
}

/* Reads any value at p as raw text: a string without quotes, others unchanged. */
static const char *scan_any(const char *p, const char *end, struct str *value)
{
	const char *stop;

	if (*p != '{' && *p != '[')
		return scan_scalar(p, end, value);
	stop = trace_events_skip_value(p, end);
	*value = (struct str){p, stop ? (size_t)(stop - p) : 0};
	return stop;
}

/* --- numbers --- */

static const long double powers[] = {1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L, 1e8L, 1e9L,
	1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L};

/* Parses numbers with an exponent, or with too many digits. */
static bool slow_number(struct str s, double *out)
{
	char buf[64], *stop;
	double v;

	if (s.n == 0 || s.n >= sizeof(buf) || strchr("NnIi+ xX", s.p[0]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("0123456789+-.eE", s.p[i]))
			return false;
	memcpy(buf, s.p, s.n);
	buf[s.n] = '\0';
	v = strtod(buf, &stop);
	if (stop != buf + s.n || !isfinite(v))
		return false;
	*out = v;
	return true;
}

bool trace_event_number(struct str s, double *out)
{
	const char *p = s.n ? s.p : "", *end = p + s.n; /* an absent value has no address */
	bool is_negative = s.n && *p == '-';
	uint64_t mantissa = 0;
	unsigned n = 0, fraction = 0;

	p += is_negative;
	if (p >= end || *p < '0' || *p > '9')
		return false;
	for (; p < end && *p >= '0' && *p <= '9'; p++, n++)
		mantissa = mantissa * 10 + (uint64_t)(*p - '0');
	if (p < end && *p == '.') {
		const char *dot = ++p;

		for (; p < end && *p >= '0' && *p <= '9' && n < MAX_DIGITS; p++) {
			mantissa = mantissa * 10 + (uint64_t)(*p - '0');
			n += mantissa != 0;
		}
		fraction = (unsigned)(p - dot);
		while (p < end && *p >= '0' && *p <= '9')
			p++; /* beyond the precision of a double */
	}
	if (p != end || n > MAX_DIGITS || fraction > 22)
		return slow_number(s, out);
	*out = (double)((long double)mantissa / powers[fraction]);
	if (is_negative)
		*out = -*out;
	return true;
}

/* --- one event --- */

static inline bool key_is(struct str k, const char *word, size_t n)
{
	return k.n == n && memcmp(k.p, word, n) == 0;
}

static struct str *arg_slot(struct trace_event *ev, struct str k)
{
	switch (k.n) {
	case 3:
		return key_is(k, "row", 3) ? &ev->row : NULL;
	case 4:
		return key_is(k, "code", 4)   ? &ev->code
		       : key_is(k, "name", 4) ? &ev->arg_name
					      : NULL;
	case 6:
		return key_is(k, "detail", 6) ? &ev->detail : NULL;
	case 7:
		return key_is(k, "pc_addr", 7) ? &ev->pc_addr : NULL;
	case 10:
		return key_is(k, "sort_index", 10) ? &ev->sort_index : NULL;
	case 13:
		return key_is(k, "process_bytes", 13) ? &ev->process_bytes : NULL;
	default:
		return NULL;
	}
}

/* The next "key":; *done at the closing brace. NULL: unexpected input. */
static inline const char *scan_key(
	const char *p, const char *end, struct str *key, bool is_first, bool *done)
{
	const char *q;

	p = skip_space(p, end);
	if (p < end && *p == '}') {
		*done = true;
		return p + 1;
	}
	if (!is_first) {
		if (p >= end || *p != ',')
			return NULL;
		p = skip_space(p + 1, end);
	}
	if (p >= end || *p != '"')
		return NULL;
	q = find_quote(p + 1, end);
	if (!q)
		return NULL;
	*key = (struct str){p + 1, (size_t)(q - p - 1)};
	p = skip_space(q + 1, end);
	if (p >= end || *p != ':')
		return NULL;
	p = skip_space(p + 1, end);
	return p < end ? p : NULL;
}

static const char *scan_args(const char *p, const char *end, struct trace_event *ev)
{
	const char *start = p;
	struct str key;
	bool done = false, is_first = true;

	if (*p != '{') /* "args":null and the like */
		return trace_events_skip_value(p, end);
	p++;
	for (;; is_first = false) {
		struct str *slot;

		p = scan_key(p, end, &key, is_first, &done);
		if (!p)
			return NULL;
		if (done)
			break;
		slot = arg_slot(ev, key);
		p = slot && *p != '{' && *p != '[' ? scan_scalar(p, end, slot)
						   : trace_events_skip_value(p, end);
		if (!p)
			return NULL;
	}
	ev->args = (struct str){start, (size_t)(p - start)};
	return p;
}

static struct str *event_slot(struct trace_event *ev, struct str k, struct str *ph)
{
	switch (k.n) {
	case 2:
		return k.p[0] == 'p' && k.p[1] == 'h'	? ph
		       : k.p[0] == 't' && k.p[1] == 's' ? &ev->ts_text
		       : k.p[0] == 'i' && k.p[1] == 'd' ? &ev->id
		       : k.p[0] == 'b' && k.p[1] == 'p' ? &ev->bp
							: NULL;
	case 3:
		return key_is(k, "pid", 3)   ? &ev->pid
		       : key_is(k, "tid", 3) ? &ev->tid
		       : key_is(k, "dur", 3) ? &ev->dur_text
		       : key_is(k, "cat", 3) ? &ev->cat
					     : NULL;
	case 4:
		return key_is(k, "name", 4) ? &ev->name : NULL;
	case 5:
		return key_is(k, "cname", 5)   ? &ev->cname
		       : key_is(k, "scope", 5) ? &ev->scope
					       : NULL;
	case 7:
		return key_is(k, "bind_id", 7)	 ? &ev->bind_id
		       : key_is(k, "flow_in", 7) ? &ev->flow_in
						 : NULL;
	case 8:
		return key_is(k, "group_id", 8)	  ? &ev->group_id
		       : key_is(k, "flow_out", 8) ? &ev->flow_out
						  : NULL;
	default:
		return NULL;
	}
}

/* Returns the end of the event that begins at p; NULL: the JSON reader shall report the error. */
static const char *scan_event(const char *p, const char *end, struct trace_event *ev)
{
	struct str key, ph = {NULL, 0};
	bool done = false, is_first = true;

	memset(ev, 0, sizeof(*ev));
	for (p++;; is_first = false) {
		struct str *slot;

		p = scan_key(p, end, &key, is_first, &done);
		if (!p)
			return NULL;
		if (done)
			break;
		slot = event_slot(ev, key, &ph);
		if (key_is(key, "args", 4))
			p = scan_args(p, end, ev);
		else if (slot && *p != '{' && *p != '[')
			p = scan_scalar(p, end, slot);
		else if (key_is(key, "id2", 3))
			p = scan_any(p, end, &ev->id2);
		else
			p = trace_events_skip_value(p, end);
		if (!p)
			return NULL;
	}
	ev->ph = '\0';
	if (ph.n)
		ev->ph = ph.p[0];
	if (ev->ts_text.p) {
		ev->has_ts = trace_event_number(ev->ts_text, &ev->ts);
		ev->is_ts_bad = !ev->has_ts;
	}
	if (ev->dur_text.p)
		ev->has_dur = trace_event_number(ev->dur_text, &ev->dur);
	return p;
}

bool trace_event_at(const char *p, const char *end, struct trace_event *ev)
{
	return p < end && *p == '{' && scan_event(p, end, ev);
}

/* --- the whole --- */

void trace_events_init(struct trace_events *r, const void *data, size_t size, const char *path)
{
	*r = (struct trace_events){.schema_version = -1};
	json_init(&r->json, data, size, path, JSON_TOLERANT);
}

void trace_events_deinit(struct trace_events *r)
{
	json_deinit(&r->json);
}

static bool trace_events_read_scalar(struct trace_events *r, struct str *out)
{
	const char *end = NULL;

	if (json_peek(&r->json) == JSON_STRING || json_peek(&r->json) == JSON_NUMBER)
		end = scan_scalar(r->json.p, r->json.end, out);
	return end ? json_end_value(&r->json, end) : json_skip(&r->json);
}

static bool trace_events_read_object(struct trace_events *r, struct str *out)
{
	bool is_object = json_peek(&r->json) == JSON_OBJECT;
	const char *start = r->json.p;

	if (!json_skip(&r->json))
		return false;
	if (is_object)
		*out = (struct str){start, (size_t)(r->json.p - start)};
	return true;
}

/* Reads top-level members up to the events, or to the end. */
static void trace_events_read_top(struct trace_events *r)
{
	struct str key, text = {NULL, 0};
	double v;

	while (json_next_key(&r->json, &key)) {
		if (str_is(key, "traceEvents")) {
			if (json_peek(&r->json) != JSON_ARRAY) {
				json_skip(&r->json);
				continue;
			}
			r->has_events = json_enter_array(&r->json);
			r->state = TRACE_EVENTS_INSIDE;
			return;
		}
		if (str_is(key, "profilingType"))
			trace_events_read_scalar(r, &r->profiling_type);
		else if (str_is(key, "displayTimeUnit"))
			trace_events_read_scalar(r, &r->display_unit);
		else if (str_is(key, "clockMHz"))
			trace_events_read_scalar(r, &r->clock_mhz);
		else if (str_is(key, "metadata"))
			trace_events_read_object(r, &r->metadata);
		else if (str_is(key, "otherData"))
			trace_events_read_object(r, &r->other_data);
		else if (!str_is(key, "schemaVersion"))
			json_skip(&r->json);
		else if (trace_events_read_scalar(r, &text) && text.p &&
			 trace_event_number(text, &v) && fabs(v) < 1e9)
			r->schema_version = (int64_t)v;
	}
	r->state = TRACE_EVENTS_DONE;
}

static void trace_events_start(struct trace_events *r)
{
	enum json_type type = json_peek(&r->json);

	if (type == JSON_ARRAY) {
		r->is_bare_array = r->has_events = json_enter_array(&r->json);
		r->state = TRACE_EVENTS_INSIDE;
	} else if (json_enter_object(&r->json)) {
		trace_events_read_top(r);
	} else {
		r->state = TRACE_EVENTS_DONE;
	}
}

/* False: the open array has no more items. */
static bool next_inside(struct trace_events *r, struct trace_event *ev)
{
	while (json_next_item(&r->json)) {
		const char *at = r->json.p, *end;

		if (at >= r->json.end || *at != '{') {
			r->n_not_objects++;
			if (!json_skip(&r->json))
				return false;
			continue;
		}
		end = scan_event(at, r->json.end, ev);
		if (!end) {
			/* NaN is not JSON; anything else that stops the scan is an error. */
			json_skip(&r->json);
			if (!r->json.is_failed)
				json_reject(
					&r->json, "bad-json", "this event is too deep or damaged");
			return false;
		}
		ev->offset = (uint64_t)(at - r->json.start);
		json_end_value(&r->json, end);
		return true;
	}
	return false;
}

bool trace_events_next(struct trace_events *r, struct trace_event *ev)
{
	if (r->state == TRACE_EVENTS_START)
		trace_events_start(r);
	while (r->state == TRACE_EVENTS_INSIDE) {
		if (next_inside(r, ev))
			return true;
		if (r->json.is_failed || r->is_bare_array)
			r->state = TRACE_EVENTS_DONE;
		else
			trace_events_read_top(r);
	}
	return false;
}

bool trace_events_finish(struct trace_events *r, struct incore_error *e)
{
	if (r->json.is_failed && r->has_events && r->json.fail_code &&
		strcmp(r->json.fail_code, "truncated") == 0) {
		r->is_cut = true;
		return true;
	}
	return json_finish(&r->json, e);
}

/* --- raw values --- */

bool trace_event_member(struct str object, size_t *pos, struct str *key, struct str *value)
{
	const char *p, *end;
	bool done = false;

	if (object.n < 2 || *pos >= object.n || object.p[0] != '{')
		return false;
	p = object.p + *pos;
	end = object.p + object.n;
	p = scan_key(*pos == 0 ? p + 1 : p, end, key, *pos == 0, &done);
	if (!p || done)
		return false;
	p = scan_any(p, end, value);
	if (!p)
		return false;
	*pos = (size_t)(p - object.p);
	return true;
}

bool trace_event_item(struct str array, size_t *pos, struct str *value)
{
	const char *p, *end;

	if (array.n < 2 || *pos >= array.n || array.p[0] != '[')
		return false;
	p = array.p + *pos;
	end = array.p + array.n;
	p = skip_space(*pos == 0 ? p + 1 : p, end);
	if (p < end && *pos != 0 && *p == ',')
		p = skip_space(p + 1, end);
	if (p >= end || *p == ']')
		return false;
	p = scan_any(p, end, value);
	if (!p)
		return false;
	*pos = (size_t)(p - array.p);
	return true;
}

struct str trace_event_find(struct str object, const char *key)
{
	struct str k, v;
	size_t pos = 0;

	while (trace_event_member(object, &pos, &k, &v))
		if (str_is(k, key))
			return v;
	return (struct str){NULL, 0};
}
