/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_column.c: values of a column gathered, and laid out as a dictionary with places, as
 * differences, or as they are. */
#include "codec/parquet/parquet_column.h"

#include <math.h>

#include "base/mem.h"
#include "codec/parquet/parquet_pages.h"
#include "codec/varint.h"

#define SPAN_MAX 65536u	     /* numbers in so narrow a range are found by their distance */
#define DICTIONARY_MAX 4096u /* of others */
#define SLOTS (2u * DICTIONARY_MAX)
#define TRIED 2048u /* values by which differences are compared with places */
#define BOUND_MAX 64u

bool parquet_column_init(struct parquet_column *k, const struct column *c, unsigned place)
{
	static const struct {
		enum parquet_physical physical;
		size_t width;
	} types[] = {
		[COLUMN_U64] = {PHYSICAL_INT64, sizeof(uint64_t)},
		[COLUMN_U32] = {PHYSICAL_INT32, sizeof(uint32_t)},
		[COLUMN_U16] = {PHYSICAL_INT32, sizeof(uint16_t)},
		[COLUMN_U8] = {PHYSICAL_INT32, sizeof(uint8_t)},
		[COLUMN_I64] = {PHYSICAL_INT64, sizeof(int64_t)},
		[COLUMN_F64] = {PHYSICAL_DOUBLE, sizeof(double)},
		[COLUMN_BOOL] = {PHYSICAL_BOOLEAN, sizeof(bool)},
		[COLUMN_TEXT] = {PHYSICAL_BYTES, sizeof(const char *)},
	};

	k->column = c;
	k->place = place;
	k->physical = types[c->type].physical;
	k->width = types[c->type].width;
	k->is_signed = c->type == COLUMN_I64;
	k->is_nullable = c->flags & (COLUMN_NULLABLE | COLUMN_OPTIONAL) || c->type == COLUMN_F64;
	k->value = mem_alloc(PARQUET_GROUP_ROWS * sizeof(*k->value));
	if (k->is_nullable)
		k->level = mem_alloc(PARQUET_GROUP_ROWS * sizeof(*k->level));
	intern_init(&k->words);
	parquet_column_clear(k);
	return k->value && (k->level || !k->is_nullable);
}

void parquet_column_deinit(struct parquet_column *k)
{
	mem_free(k->value);
	mem_free(k->level);
	intern_deinit(&k->words);
	sb_free(&k->clean);
}

void parquet_column_clear(struct parquet_column *k)
{
	k->n = k->rows = 0;
	k->has_levels = false;
	k->least = k->is_signed ? (uint64_t)INT64_MAX : UINT64_MAX;
	k->most = k->is_signed ? (uint64_t)INT64_MIN : 0;
	if (k->words.n) {
		intern_deinit(&k->words);
		intern_init(&k->words);
		memset(k->seen, 0, sizeof(k->seen));
	}
	k->word_bytes = 0;
}

/* --- gathering --- */

/* The same bytes with U+FFFD for each that is no UTF-8. */
static struct str cleaned(struct parquet_column *k, const char *text)
{
	struct str s = str_of(text);
	size_t i = 0;

	while (i < s.n && (unsigned char)s.p[i] < 0x80)
		i++;
	if (i == s.n)
		return s;
	sb_reset(&k->clean);
	for (i = 0; i < s.n;) {
		size_t n = utf8_length((const unsigned char *)s.p + i, s.n - i);

		if (n)
			sb_add(&k->clean, s.p + i, n);
		else
			sb_puts(&k->clean, "\xef\xbf\xbd");
		i += n ? n : 1;
	}
	return (struct str){k->clean.p, k->clean.n};
}

/* Place of a text among the words. Most come from few pointers; whoever reuses one for another text
 * is found out by comparing. */
static uint32_t word_of(struct parquet_column *k, const char *text)
{
	struct seen_word *s = &k->seen[((uintptr_t)text >> 3) % PARQUET_SEEN_WORDS];
	uint32_t before = k->words.n;

	if (s->p == text && strcmp(k->words.strs[s->word].p, text) == 0)
		return s->word;
	*s = (struct seen_word){text, intern_add(&k->words, cleaned(k, text))};
	if (k->clean.failed || s->word == INTERN_NONE) {
		s->p = NULL;
		return INTERN_NONE;
	}
	if (k->words.n > before)
		k->word_bytes += k->words.strs[s->word].n;
	return s->word;
}

/* Levels are kept once one row of the group has nothing: then all before had something. */
static void begin_levels(struct parquet_column *k)
{
	for (uint32_t i = 0; i < k->rows && !k->has_levels; i++)
		k->level[i] = 1;
	k->has_levels = true;
}

static bool add_texts(struct parquet_column *k, const char *const *v, uint32_t n)
{
	if (k->is_nullable)
		begin_levels(k);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t word;

		if (k->is_nullable)
			k->level[k->rows + i] = v[i] != NULL;
		if (!v[i] && k->is_nullable)
			continue;
		word = word_of(k, v[i] ? v[i] : "");
		if (word == INTERN_NONE)
			return false;
		k->value[k->n++] = word;
	}
	return true;
}

/* Those that are there move together; nothing is `nothing`. */
static void drop_nothing(struct parquet_column *k, uint32_t n, uint64_t nothing)
{
	uint64_t *v = k->value + k->n;
	uint32_t *level = k->level + k->rows, kept = 0;

	begin_levels(k);
	for (uint32_t i = 0; i < n; i++) {
		bool is_there = v[i] != nothing;

		level[i] = is_there;
		v[kept] = v[i];
		kept += is_there;
	}
	k->n += kept;
}

static void drop_not_finite(struct parquet_column *k, const double *v, uint32_t n)
{
	begin_levels(k);
	for (uint32_t i = 0; i < n; i++) {
		k->level[k->rows + i] = isfinite(v[i]) != 0;
		if (isfinite(v[i]))
			memcpy(&k->value[k->n++], &v[i], sizeof(v[i]));
	}
}

/* Copies n values of a type and finds the least and the greatest on the way. */
#define TAKE(TYPE)                                                                                 \
	do {                                                                                       \
		const TYPE *from = vector;                                                         \
		TYPE low = from[0], high = from[0];                                                \
                                                                                                   \
		for (uint32_t i = 0; i < n; i++) {                                                 \
			to[i] = (uint64_t)from[i];                                                 \
			low = from[i] < low ? from[i] : low;                                       \
			high = from[i] > high ? from[i] : high;                                    \
		}                                                                                  \
		least = (uint64_t)low;                                                             \
		most = (uint64_t)high;                                                             \
	} while (0)

static void take_bounds(struct parquet_column *k, uint64_t least, uint64_t most)
{
	if (k->is_signed ? (int64_t)least < (int64_t)k->least : least < k->least)
		k->least = least;
	if (k->is_signed ? (int64_t)most > (int64_t)k->most : most > k->most)
		k->most = most;
}

static void take_numbers(struct parquet_column *k, const void *vector, uint32_t n)
{
	uint64_t *to = k->value + k->n, least = 0, most = 0;
	uint64_t nothing = k->is_signed ? (uint64_t)NO_I64 : NO_U64;
	uint32_t before = k->n;

	switch (k->column->type) {
	case COLUMN_U32:
		TAKE(uint32_t);
		break;
	case COLUMN_U16:
		TAKE(uint16_t);
		break;
	case COLUMN_U8:
	case COLUMN_BOOL:
		TAKE(uint8_t);
		break;
	case COLUMN_I64:
		TAKE(int64_t);
		break;
	default:
		TAKE(uint64_t);
	}
	/* What stands for nothing is the least or the greatest of all that there are. */
	if (!k->is_nullable || (least != nothing && most != nothing)) {
		k->n += n;
		take_bounds(k, least, most);
		return;
	}
	drop_nothing(k, n, nothing);
	for (uint32_t i = before; i < k->n; i++)
		take_bounds(k, k->value[i], k->value[i]);
}

bool parquet_column_add(struct parquet_column *k, const void *vector, uint32_t n)
{
	uint32_t from = k->n;

	if (k->column->type == COLUMN_TEXT) {
		if (!add_texts(k, vector, n))
			return false;
	} else if (k->column->type == COLUMN_F64) {
		drop_not_finite(k, vector, n);
	} else {
		take_numbers(k, vector, n);
	}
	if (k->has_levels && k->n - from == n) /* nothing was dropped: nobody wrote them */
		for (uint32_t i = 0; i < n; i++)
			k->level[k->rows + i] = 1;
	k->rows += n;
	return true;
}

/* --- laying out --- */

bool parquet_scratch_init(struct parquet_scratch *d)
{
	d->place = mem_alloc(SPAN_MAX * sizeof(*d->place));
	d->of = mem_alloc(PARQUET_GROUP_ROWS * sizeof(*d->of));
	d->entry = mem_alloc(SPAN_MAX * sizeof(*d->entry));
	return d->place && d->of && d->entry;
}

void parquet_scratch_deinit(struct parquet_scratch *d)
{
	mem_free(d->place);
	mem_free(d->of);
	mem_free(d->entry);
}

static bool find_by_distance(const struct parquet_column *k, struct parquet_scratch *d)
{
	if (k->most == k->least) { /* all the same: their places are not looked at */
		d->entry[0] = k->least;
		d->n = 1;
		return true;
	}
	memset(d->place, 0, (size_t)(k->most - k->least + 1) * sizeof(*d->place));
	for (uint32_t i = 0; i < k->n; i++) {
		uint32_t *p = &d->place[k->value[i] - k->least];

		if (!*p) {
			d->entry[d->n] = k->value[i];
			*p = ++d->n;
		}
		d->of[i] = *p - 1;
	}
	return true;
}

static bool find_by_hash(const struct parquet_column *k, struct parquet_scratch *d)
{
	memset(d->place, 0, SLOTS * sizeof(*d->place));
	for (uint32_t i = 0; i < k->n; i++) {
		uint64_t v = k->value[i];
		uint32_t at = (uint32_t)(v * 0x9e3779b97f4a7c15u >> 51) % SLOTS;

		while (d->place[at] && d->entry[d->place[at] - 1] != v)
			at = (at + 1) % SLOTS;
		if (!d->place[at]) {
			if (d->n == DICTIONARY_MAX)
				return false;
			d->entry[d->n] = v;
			d->place[at] = ++d->n;
		}
		d->of[i] = d->place[at] - 1;
	}
	return true;
}

static bool is_number(const struct parquet_column *k)
{
	return k->physical == PHYSICAL_INT32 || k->physical == PHYSICAL_INT64;
}

static bool can_have_deltas(const struct parquet_column *k)
{
	return is_number(k) && (k->physical == PHYSICAL_INT64 || k->most <= INT32_MAX);
}

/* Counters and times: what differs little from value to value. */
static bool are_deltas_shorter(const struct parquet_column *k, unsigned width)
{
	uint32_t n = k->n < TRIED ? k->n : TRIED;
	struct strbuf tried = {0};
	bool is_shorter;

	if (!can_have_deltas(k))
		return false;
	parquet_put_deltas(&tried, k->value, n);
	is_shorter = !tried.failed && tried.n * 8 < (size_t)n * width;
	sb_free(&tried);
	return is_shorter;
}

/* Does it get a dictionary? Then *d has it. */
static bool find_places(const struct parquet_column *k, struct parquet_scratch *d)
{
	d->n = 0;
	if (k->physical == PHYSICAL_BOOLEAN || !k->n)
		return false;
	if (k->physical == PHYSICAL_BYTES) {
		for (uint32_t i = 0; i < k->n; i++)
			d->of[i] = (uint32_t)k->value[i];
		d->n = k->words.n;
		return d->n <= k->n / 2 + 1;
	}
	if (is_number(k) && k->most - k->least < SPAN_MAX) {
		unsigned width = parquet_bits(k->most - k->least);

		return !(width > 4 && are_deltas_shorter(k, width / 2)) && find_by_distance(k, d);
	}
	return !are_deltas_shorter(k, 10) && find_by_hash(k, d);
}

static void put_value(const struct parquet_column *k, struct strbuf *b, uint64_t v)
{
	if (k->physical == PHYSICAL_BYTES) {
		bytes_put_u32(b, (uint32_t)k->words.strs[v].n);
		sb_str(b, k->words.strs[v]);
	} else if (k->physical == PHYSICAL_INT32) {
		bytes_put_u32(b, (uint32_t)v);
	} else {
		bytes_put_u64(b, v);
	}
}

static void put_levels(const struct parquet_column *k, struct strbuf *page)
{
	struct strbuf runs = {0};

	if (k->has_levels)
		parquet_put_runs(&runs, k->level, k->rows, 1);
	else
		parquet_put_run(&runs, 1, k->rows, 1);
	bytes_put_u32(page, (uint32_t)runs.n);
	sb_add(page, runs.p, runs.n);
	page->failed |= runs.failed;
	sb_free(&runs);
}

static void put_bools(const struct parquet_column *k, struct strbuf *page)
{
	for (uint32_t i = 0; i < k->n; i += 8) {
		unsigned bits = 0;

		for (uint32_t j = i; j < k->n && j < i + 8; j++)
			bits |= (unsigned)(k->value[j] & 1) << (j - i);
		bytes_put_u8(page, (uint8_t)bits);
	}
}

static struct parquet_layout put_places(const struct parquet_column *k,
	const struct parquet_scratch *d, struct strbuf *dictionary, struct strbuf *page)
{
	unsigned width = parquet_bits(d->n - 1);

	for (uint32_t i = 0; i < d->n; i++)
		put_value(k, dictionary, k->physical == PHYSICAL_BYTES ? i : d->entry[i]);
	bytes_put_u8(page, (uint8_t)width);
	if (d->n == 1)
		parquet_put_run(page, 0, k->n, width);
	else
		parquet_put_runs(page, d->of, k->n, width);
	return (struct parquet_layout){ENCODING_DICTIONARY, d->n};
}

static struct parquet_layout put_values(const struct parquet_column *k, struct strbuf *page)
{
	if (k->n && can_have_deltas(k)) {
		parquet_put_deltas(page, k->value, k->n);
		return (struct parquet_layout){ENCODING_DELTA, 0};
	}
	if (k->physical == PHYSICAL_BOOLEAN)
		put_bools(k, page);
	else
		for (uint32_t i = 0; i < k->n; i++)
			put_value(k, page, k->value[i]);
	return (struct parquet_layout){ENCODING_PLAIN, 0};
}

struct parquet_layout parquet_column_put(const struct parquet_column *k, struct parquet_scratch *d,
	struct strbuf *dictionary, struct strbuf *page)
{
	if (k->is_nullable)
		put_levels(k, page);
	return find_places(k, d) ? put_places(k, d, dictionary, page) : put_values(k, page);
}

static bool word_bound(const struct parquet_column *k, bool is_most, struct strbuf *out)
{
	struct str best = k->words.strs[0];

	for (uint32_t i = 1; i < k->words.n; i++)
		if ((str_cmp(k->words.strs[i], best) > 0) == is_most)
			best = k->words.strs[i];
	return best.n <= BOUND_MAX && sb_str(out, best);
}

bool parquet_column_bound(const struct parquet_column *k, bool is_most, struct strbuf *out)
{
	uint64_t v = is_most ? k->most : k->least;

	if (!k->n || k->physical == PHYSICAL_DOUBLE)
		return false;
	if (k->physical == PHYSICAL_BYTES)
		return word_bound(k, is_most, out);
	if (k->physical == PHYSICAL_BOOLEAN)
		return bytes_put_u8(out, (uint8_t)v);
	put_value(k, out, v);
	return !out->failed;
}
