/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet_column.c: processes the values of a column in steps: nulls, minimum and maximum,
 * dictionary indices; and makes pages of them.
 *
 * Parts: indices of distinct values; pages; values in steps.
 */
#include "codec/parquet/parquet_column.h"

#include <math.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "codec/parquet/thrift.h"
#include "codec/varint.h"
#include "codec/zstd.h"

/* --- indices of distinct values --------------------------------------------------------------- */

/* Indices of distinct values. */

#define DIRECT 65536u /* smaller numbers are found without a hash */
#define SLOTS 65536u  /* at most half of them are used */

static bool parquet_dictionary_init(struct parquet_dictionary *d)
{
	d->entry = mem_alloc(DICTIONARY_MAX * sizeof(*d->entry));
	d->direct = mem_zalloc(DIRECT, sizeof(*d->direct));
	d->slot = mem_zalloc(SLOTS, sizeof(*d->slot));
	return d->entry && d->direct && d->slot;
}

static void parquet_dictionary_deinit(struct parquet_dictionary *d)
{
	mem_free(d->entry);
	mem_free(d->direct);
	mem_free(d->slot);
}

static uint32_t parquet_column_slot_of(const struct parquet_dictionary *d, uint64_t v)
{
	uint32_t at = (uint32_t)(v * 0x9e3779b97f4a7c15u >> 48);

	while (d->slot[at] && d->entry[d->slot[at] - 1] != v)
		at = (at + 1) % SLOTS;
	return at;
}

static void parquet_dictionary_clear(struct parquet_dictionary *d)
{
	bool has_slots = false;

	for (uint32_t i = 0; i < d->n; i++) {
		if (d->entry[i] < DIRECT)
			d->direct[d->entry[i]] = 0;
		else
			has_slots = true;
	}
	if (has_slots)
		memset(d->slot, 0, SLOTS * sizeof(*d->slot));
	d->n = 0;
}

/* Finds or adds a value and returns its index + 1; 0: the dictionary is full. */
static uint16_t parquet_column_place_of(struct parquet_dictionary *d, uint64_t v)
{
	uint16_t *at = v < DIRECT ? &d->direct[v] : &d->slot[parquet_column_slot_of(d, v)];

	if (!*at && d->n < DICTIONARY_MAX) {
		d->entry[d->n] = v;
		*at = (uint16_t)++d->n;
	}
	return *at;
}

/* Finds or adds n values and returns their indices; false: the dictionary is full. */
static bool parquet_dictionary_find(
	struct parquet_dictionary *d, const uint64_t *v, uint32_t n, uint16_t *out)
{
	const uint16_t *direct = d->direct;

	for (uint32_t i = 0; i < n; i++) {
		uint16_t at = v[i] < DIRECT ? direct[v[i]] : 0;

		if (!at)
			at = parquet_column_place_of(d, v[i]);
		if (!at)
			return false;
		out[i] = at - 1;
	}
	return true;
}

/* --- pages ------------------------------------------------------------------------------------ */

/* Writes runs, packed bits and deltas, and packs pages. */

#define ZSTD_LEVEL 1

#define BLOCK 128u /* values of a block of deltas, */
#define MINI 32u   /* and of a miniblock, which has its own width */

struct packer {
	uint8_t *p;
	uint64_t bits;
	unsigned have; /* pending bits, fewer than 32 */
};

/* Stores the lowest byte first; there is room for all eight. */
static inline void store_le(uint8_t *p, uint64_t v)
{
	uint8_t le[8];

	for (unsigned i = 0; i < 8; i++)
		le[i] = (uint8_t)(v >> 8 * i);
	memcpy(p, le, sizeof(le));
}

/* Appends a value of at most 32 bits; writes four bytes at a time. */
static inline void parquet_column_pack(struct packer *k, uint64_t v, unsigned width)
{
	k->bits |= v << k->have;
	k->have += width;
	if (k->have >= 32) {
		uint32_t out = (uint32_t)k->bits;
		uint8_t le[4] = {(uint8_t)out, (uint8_t)(out >> 8), (uint8_t)(out >> 16),
			(uint8_t)(out >> 24)};

		memcpy(k->p, le, sizeof(le));
		k->p += sizeof(le);
		k->bits >>= 32;
		k->have -= 32;
	}
}

static void pack_rest(struct packer *k)
{
	for (unsigned i = 0; i < k->have; i += 8)
		*k->p++ = (uint8_t)(k->bits >> i);
	k->have = 0;
}

/* Writes n values of `width` bits, the lowest first, padded with zeros to whole bytes. */
static void put_packed(struct strbuf *b, const uint64_t *v, uint32_t n, unsigned width)
{
	size_t size = ((size_t)n * width + 7) / 8;
	unsigned __int128 bits = 0;
	unsigned have = 0;
	uint8_t *p;

	if (!width || !sb_reserve(b, size + 8))
		return;
	p = (uint8_t *)b->p + b->n;
	b->n += size;
	if (width <= 32) {
		struct packer k = {.p = p};
		uint32_t i = 0;

		for (; width <= 8 && n - i >= 8; i += 8, k.p += width) {
			uint64_t eight = 0;

			for (unsigned j = 0; j < 8; j++)
				eight |= v[i + j] << j * width;
			store_le(k.p, eight);
		}
		for (; i < n; i++)
			parquet_column_pack(&k, v[i], width);
		pack_rest(&k);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		bits |= (unsigned __int128)v[i] << have;
		for (have += width; have >= 8; have -= 8) {
			*p++ = (uint8_t)bits;
			bits >>= 8;
		}
	}
	if (have)
		*p++ = (uint8_t)bits;
}

/* Writes groups of eight values; the last one may be padded. */
static void put_literals(struct strbuf *b, const uint16_t *v, uint32_t n, unsigned width)
{
	uint32_t groups = (n + 7) / 8, i = 0;
	struct packer k = {0};

	if (!n)
		return;
	bytes_put_varint(b, (uint64_t)groups << 1 | 1);
	if (!sb_reserve(b, (size_t)groups * width + 8))
		return;
	k.p = (uint8_t *)b->p + b->n;
	for (; width <= 8 && n - i >= 8; i += 8, k.p += width) {
		uint64_t eight = 0;

		for (unsigned j = 0; j < 8; j++)
			eight |= (uint64_t)v[i + j] << j * width;
		store_le(k.p, eight);
	}
	for (; i < n; i++)
		parquet_column_pack(&k, v[i], width);
	for (; i < groups * 8; i++)
		parquet_column_pack(&k, 0, width);
	pack_rest(&k);
	b->n += (size_t)groups * width;
}

/* Parquet_put_runs() for n equal values. */
static void parquet_put_run(struct strbuf *b, uint32_t v, uint32_t n, unsigned width)
{
	bytes_put_varint(b, (uint64_t)n << 1);
	for (unsigned i = 0; i < (width + 7) / 8; i++)
		bytes_put_u8(b, (uint8_t)(v >> 8 * i));
}

/* Are these eight values equal? */
static inline bool are_equal(const uint16_t *v)
{
	uint64_t w[2], all = v[0] * UINT64_C(0x0001000100010001);

	memcpy(w, v, sizeof(w));
	return ((w[0] ^ all) | (w[1] ^ all)) == 0;
}

/* The hybrid of runs and bit packing, for levels and dictionary indices; each value is less than
 * 2^width. */
static void parquet_put_runs(struct strbuf *b, const uint16_t *v, uint32_t n, unsigned width)
{
	uint32_t literals = 0, i = 0;

	while (n - i >= 8) {
		uint32_t end = i + 8;

		if (!are_equal(v + i)) {
			i += 8;
			continue;
		}
		while (n - end >= 8 && v[end] == v[i] && are_equal(v + end))
			end += 8;
		while (end < n && v[end] == v[i])
			end++;
		put_literals(b, v + literals, i - literals, width);
		parquet_put_run(b, v[i], end - i, width);
		literals = i = end;
	}
	put_literals(b, v + literals, n - literals, width);
}

static void parquet_column_put_block(struct strbuf *b, const uint64_t *v, uint32_t n)
{
	uint64_t delta[BLOCK] = {0};
	int64_t least = INT64_MAX;
	unsigned width[BLOCK / MINI] = {0};

	for (uint32_t i = 0; i < n; i++) {
		delta[i] = v[i + 1] - v[i];
		if ((int64_t)delta[i] < least)
			least = (int64_t)delta[i];
	}
	for (uint32_t i = 0; i < n; i++)
		delta[i] -= (uint64_t)least;
	for (unsigned i = 0; i < BLOCK / MINI; i++) {
		uint64_t any = 0;

		for (unsigned k = 0; k < MINI; k++)
			any |= delta[i * MINI + k];
		width[i] = parquet_bits(any);
	}
	bytes_put_zigzag(b, least);
	for (unsigned i = 0; i < BLOCK / MINI; i++)
		bytes_put_u8(b, (uint8_t)width[i]);
	for (unsigned i = 0; i < BLOCK / MINI && i * MINI < n; i++)
		put_packed(b, delta + (size_t)i * MINI, MINI, width[i]);
}

/* Deltas of neighbours, packed in blocks of 128. */
static void parquet_put_deltas(struct strbuf *b, const uint64_t *v, uint32_t n)
{
	bytes_put_varint(b, BLOCK);
	bytes_put_varint(b, BLOCK / MINI);
	bytes_put_varint(b, n);
	bytes_put_zigzag(b, n ? (int64_t)v[0] : 0);
	for (uint32_t i = 0; i + 1 < n; i += BLOCK)
		parquet_column_put_block(b, v + i, n - 1 - i < BLOCK ? n - 1 - i : BLOCK);
}

/* --- pages --- */

/* Fields of the format's structs. */
enum {
	PAGE_TYPE = 1,
	PAGE_SIZE = 2,
	PAGE_PACKED = 3,
	PAGE_DATA_HEAD = 5,
	PAGE_DICTIONARY_HEAD = 7
};
enum { HEAD_VALUES = 1, HEAD_ENCODING = 2, HEAD_LEVELS = 3, HEAD_REPEATS = 4 };

bool parquet_pager_init(struct parquet_pager *p)
{
	p->zstd = ZSTD_createCCtx();
	return p->zstd != NULL;
}

void parquet_pager_deinit(struct parquet_pager *p)
{
	ZSTD_freeCCtx(p->zstd);
	sb_free(&p->page);
	sb_free(&p->packed);
	sb_free(&p->head);
}

bool parquet_put_page(struct parquet_pager *p, enum parquet_page type, uint32_t n,
	enum parquet_encoding encoding, struct strbuf *out, uint64_t *plain, struct incore_error *e)
{
	struct thrift t = {.out = &p->head};
	struct strbuf *packed = &p->packed;

	sb_reset(packed);
	if (p->page.failed || p->page.n > INT32_MAX)
		return err_nomem(e);
	if (!zstd_pack_with(p->zstd, p->page.p ? p->page.p : "", p->page.n, ZSTD_LEVEL, packed, e))
		return false;
	sb_reset(&p->head);
	thrift_number(&t, PAGE_TYPE, THRIFT_I32, type);
	thrift_number(&t, PAGE_SIZE, THRIFT_I32, (int64_t)p->page.n);
	thrift_number(&t, PAGE_PACKED, THRIFT_I32, (int64_t)packed->n);
	thrift_struct(&t, type == PAGE_DATA ? PAGE_DATA_HEAD : PAGE_DICTIONARY_HEAD);
	thrift_number(&t, HEAD_VALUES, THRIFT_I32, n);
	thrift_number(&t, HEAD_ENCODING, THRIFT_I32, encoding);
	if (type == PAGE_DATA) {
		thrift_number(&t, HEAD_LEVELS, THRIFT_I32, ENCODING_RLE);
		thrift_number(&t, HEAD_REPEATS, THRIFT_I32, ENCODING_RLE);
	}
	thrift_end(&t);
	thrift_end(&t);
	*plain += p->head.n + p->page.n;
	sb_add(out, p->head.p, p->head.n);
	sb_add(out, packed->p, packed->n);
	return (!p->head.failed && !out->failed && packed->n <= INT32_MAX) || err_nomem(e);
}

/* --- values in steps -------------------------------------------------------------------------- */

#define STEP 1024u    /* values that are processed at once */
#define NARROW 65536u /* numbers of such a narrow range are short in a dictionary, too */
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
	k->places = mem_alloc(PARQUET_PAGE_ROWS * sizeof(*k->places));
	k->levels = mem_alloc(PARQUET_PAGE_ROWS * sizeof(*k->levels));
	intern_init(&k->words);
	parquet_column_clear(k);
	return k->places && k->levels && parquet_dictionary_init(&k->dictionary);
}

void parquet_column_deinit(struct parquet_column *k)
{
	mem_free(k->places);
	mem_free(k->values);
	mem_free(k->levels);
	parquet_dictionary_deinit(&k->dictionary);
	intern_deinit(&k->words);
	sb_free(&k->pages);
	sb_free(&k->clean);
}

void parquet_column_clear(struct parquet_column *k)
{
	k->n = k->rows = k->page_n = k->page_rows = 0;
	k->has_levels = false;
	k->has_places = true;
	k->encodings = 0;
	k->plain_bytes = 0;
	sb_reset(&k->pages);
	k->least = k->is_signed ? (uint64_t)INT64_MAX : UINT64_MAX;
	k->most = k->is_signed ? (uint64_t)INT64_MIN : 0;
	parquet_dictionary_clear(&k->dictionary);
	if (k->words.n) {
		intern_deinit(&k->words);
		intern_init(&k->words);
		memset(k->seen, 0, sizeof(k->seen));
	}
	k->word_bytes = 0;
}

/* --- a step of values --- */

/* The values of the vector that are not null, as bits, and their properties. */
struct parquet_step {
	uint64_t v[STEP];
	uint32_t n;
	bool is_same; /* all values are equal */
};

/* The text with U+FFFD for each byte that is not UTF-8. */
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

/* Index of a text among the words. Most texts come from a few pointers; comparing once per batch
 * detects a pointer that was reused for another text. */
static uint32_t parquet_column_word_of(struct parquet_column *k, const char *text)
{
	struct seen_word *s = &k->seen[((uintptr_t)text >> 3) % PARQUET_SEEN_WORDS];
	uint32_t before = k->words.n;

	if (s->p == text && s->batch == k->batch)
		return s->word;
	if (s->p == text && strcmp(k->words.strs[s->word].p, text) == 0) {
		s->batch = k->batch;
		return s->word;
	}
	*s = (struct seen_word){text, intern_add(&k->words, cleaned(k, text)), k->batch};
	if (k->clean.failed || s->word == INTERN_NONE) {
		s->p = NULL;
		return INTERN_NONE;
	}
	if (k->words.n > before)
		k->word_bytes += k->words.strs[s->word].n;
	return s->word;
}

/* Levels are stored from the first null of the page on: all rows before it have values. */
static void begin_levels(struct parquet_column *k)
{
	for (uint32_t i = 0; i < k->page_rows && !k->has_levels; i++)
		k->levels[i] = 1;
	k->has_levels = true;
}

static bool parquet_column_take_texts(
	struct parquet_column *k, const char *const *v, uint32_t n, struct parquet_step *s)
{
	uint32_t word = INTERN_NONE;

	if (k->is_nullable)
		begin_levels(k);
	s->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (k->is_nullable)
			k->levels[k->page_rows + i] = v[i] != NULL;
		if (!v[i] && k->is_nullable)
			continue;
		if (!i || v[i] != v[i - 1])
			word = parquet_column_word_of(k, v[i] ? v[i] : "");
		if (word == INTERN_NONE)
			return false;
		s->v[s->n++] = word;
	}
	return true;
}

/* Removes the nulls, which have the value `nothing`, and closes the gaps. */
static void drop_nothing(struct parquet_column *k, uint64_t nothing, struct parquet_step *s)
{
	uint16_t *level = k->levels + k->page_rows;
	uint32_t n = s->n;

	begin_levels(k);
	s->n = 0;
	s->is_same = false;
	for (uint32_t i = 0; i < n; i++) {
		level[i] = s->v[i] != nothing;
		s->v[s->n] = s->v[i];
		s->n += level[i];
	}
}

static void take_doubles(
	struct parquet_column *k, const double *v, uint32_t n, struct parquet_step *s)
{
	begin_levels(k);
	s->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		k->levels[k->page_rows + i] = isfinite(v[i]) != 0;
		if (isfinite(v[i]))
			memcpy(&s->v[s->n++], &v[i], sizeof(v[i]));
	}
}

/* Copies n values of a type and computes the OR and the AND of their bits. */
#define TAKE(TYPE)                                                                                 \
	do {                                                                                       \
		const TYPE *from = vector;                                                         \
		uint64_t *restrict to = s->v;                                                      \
		TYPE any = 0, all = from[0];                                                       \
                                                                                                   \
		for (uint32_t i = 0; i < n; i++) {                                                 \
			to[i] = (uint64_t)from[i];                                                 \
			any |= from[i];                                                            \
			all &= from[i];                                                            \
		}                                                                                  \
		s->is_same = any == all;                                                           \
		bits = any;                                                                        \
	} while (0)

static void parquet_column_take_numbers(
	struct parquet_column *k, const void *vector, uint32_t n, struct parquet_step *s)
{
	uint64_t bits; /* OR of all values */

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
	default:
		TAKE(uint64_t);
	}
	s->n = n;
	if (k->is_nullable && (k->is_signed ? (int64_t)bits < 0 : bits == NO_U64))
		drop_nothing(k, k->is_signed ? (uint64_t)NO_I64 : NO_U64, s);
}

static bool parquet_column_take(
	struct parquet_column *k, const void *vector, uint32_t n, struct parquet_step *s)
{
	if (k->column->type == COLUMN_TEXT) {
		if (!parquet_column_take_texts(k, vector, n, s))
			return false;
	} else if (k->column->type == COLUMN_F64) {
		take_doubles(k, vector, n, s);
	} else {
		parquet_column_take_numbers(k, vector, n, s);
	}
	if (k->has_levels && s->n == n) /* no nulls were dropped, so no levels were written */
		for (uint32_t i = 0; i < n; i++)
			k->levels[k->page_rows + i] = 1;
	return true;
}

/* --- encoding --- */

static bool is_less(const struct parquet_column *k, uint64_t a, uint64_t b)
{
	return k->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

/* Widens *least and *most to include these values. */
static void find_bounds(const struct parquet_column *k, const uint64_t *v, uint32_t n,
	uint64_t *least, uint64_t *most)
{
	for (uint32_t i = 0; i < n; i++) {
		*least = is_less(k, v[i], *least) ? v[i] : *least;
		*most = is_less(k, *most, v[i]) ? v[i] : *most;
	}
}

static bool parquet_column_is_number(const struct parquet_column *k)
{
	return k->physical == PHYSICAL_INT32 || k->physical == PHYSICAL_INT64;
}

/* For counters and times, which differ little from value to value. */
static bool are_deltas_shorter(const struct parquet_step *s, unsigned width)
{
	struct strbuf tried = {0};
	bool is_shorter;

	parquet_put_deltas(&tried, s->v, s->n);
	is_shorter = !tried.failed && tried.n * 8 < (size_t)s->n * width;
	sb_free(&tried);
	return is_shorter;
}

/* Is a dictionary better than values? Decided by the first values of the group, which have indices:
 * if every fourth is a new one, the dictionary would keep growing. */
static bool choose_places(const struct parquet_column *k, const struct parquet_step *s)
{
	uint64_t least = s->v[0], most = s->v[0], span;
	unsigned width;

	if (k->physical == PHYSICAL_BYTES)
		return k->words.n <= s->n / 2 + 1;
	if (!parquet_column_is_number(k))
		return k->physical != PHYSICAL_BOOLEAN;
	find_bounds(k, s->v, s->n, &least, &most);
	span = most - least;
	width = parquet_bits(span);
	if (k->dictionary.n > s->n / 4 + 1)
		return !are_deltas_shorter(s, 32);
	return width <= 4 || !are_deltas_shorter(s, span < NARROW ? width / 2 : 10);
}

static void parquet_column_put_value(const struct parquet_column *k, struct strbuf *b, uint64_t v)
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

void parquet_column_put_dictionary(const struct parquet_column *k, struct strbuf *out)
{
	bool is_text = k->physical == PHYSICAL_BYTES;

	for (uint32_t i = 0; i < parquet_column_entries(k); i++)
		parquet_column_put_value(k, out, is_text ? i : k->dictionary.entry[i]);
}

uint32_t parquet_column_entries(const struct parquet_column *k)
{
	if (k->physical != PHYSICAL_BYTES)
		return k->dictionary.n;
	return k->words.n < DICTIONARY_MAX ? k->words.n : DICTIONARY_MAX;
}

static void parquet_column_put_levels(const struct parquet_column *k, struct strbuf *page)
{
	size_t at = page->n, n;

	bytes_put_u32(page, 0);
	if (k->has_levels)
		parquet_put_runs(page, k->levels, k->page_rows, 1);
	else
		parquet_put_run(page, 1, k->page_rows, 1);
	if (page->failed)
		return;
	n = page->n - at - 4;
	for (unsigned i = 0; i < 4; i++)
		page->p[at + i] = (char)(n >> 8 * i);
}

static void put_bools(const struct parquet_column *k, struct strbuf *page)
{
	for (uint32_t i = 0; i < k->page_n; i += 8) {
		unsigned bits = 0;

		for (uint32_t j = i; j < k->page_n && j < i + 8; j++)
			bits |= (unsigned)(k->values[j] & 1) << (j - i);
		bytes_put_u8(page, (uint8_t)bits);
	}
}

static enum parquet_encoding parquet_column_put_places(
	const struct parquet_column *k, struct strbuf *page)
{
	unsigned width = parquet_bits(parquet_column_entries(k) - 1);

	bytes_put_u8(page, (uint8_t)width);
	if (width)
		parquet_put_runs(page, k->places, k->page_n, width);
	else
		parquet_put_run(page, 0, k->page_n, width);
	return ENCODING_DICTIONARY;
}

static enum parquet_encoding parquet_column_put_values(
	const struct parquet_column *k, struct strbuf *page)
{
	/* 32-bit deltas are signed */
	if (k->page_n && (k->physical == PHYSICAL_INT64 ||
				 (k->physical == PHYSICAL_INT32 && k->most <= INT32_MAX))) {
		parquet_put_deltas(page, k->values, k->page_n);
		return ENCODING_DELTA;
	}
	if (k->physical == PHYSICAL_BOOLEAN)
		put_bools(k, page);
	else
		for (uint32_t i = 0; i < k->page_n; i++)
			parquet_column_put_value(k, page, k->values[i]);
	return ENCODING_PLAIN;
}

bool parquet_column_end_page(
	struct parquet_column *k, struct parquet_pager *pager, struct incore_error *e)
{
	enum parquet_encoding encoding;

	if (!k->page_rows)
		return true;
	sb_reset(&pager->page);
	if (k->is_nullable)
		parquet_column_put_levels(k, &pager->page);
	/* if all values are null, there is no dictionary */
	encoding = k->has_places && k->page_n ? parquet_column_put_places(k, &pager->page)
					      : parquet_column_put_values(k, &pager->page);
	k->encodings |= 1u << encoding;
	if (!parquet_put_page(
		    pager, PAGE_DATA, k->page_rows, encoding, &k->pages, &k->plain_bytes, e))
		return false;
	k->page_n = k->page_rows = 0;
	k->has_levels = false;
	return true;
}

/* --- adding values --- */

/* Adds the dictionary indices of a step to the open page; false: the dictionary is full. */
static bool parquet_column_add_places(struct parquet_column *k, const struct parquet_step *s)
{
	uint16_t *to = k->places + k->page_n;

	if (k->physical == PHYSICAL_BYTES) {
		if (k->words.n > DICTIONARY_MAX)
			return false;
		for (uint32_t i = 0; i < s->n; i++)
			to[i] = (uint16_t)s->v[i];
		return true;
	}
	if (!s->n || !parquet_column_is_number(k) || !s->is_same)
		return parquet_dictionary_find(&k->dictionary, s->v, s->n, to);
	if (!parquet_dictionary_find(&k->dictionary, s->v, 1, to))
		return false;
	for (uint32_t i = 1; i < s->n; i++)
		to[i] = to[0];
	return true;
}

static bool add_values(struct parquet_column *k, const struct parquet_step *s)
{
	if (!k->values)
		k->values = mem_alloc(PARQUET_PAGE_ROWS * sizeof(*k->values));
	if (!k->values)
		return false;
	memcpy(k->values + k->page_n, s->v, s->n * sizeof(*s->v));
	find_bounds(k, s->v, s->n, &k->least, &k->most);
	return true;
}

/* Ends the open page with indices; from here on pages have values. */
static bool give_up_places(
	struct parquet_column *k, struct parquet_pager *pager, uint32_t n, struct incore_error *e)
{
	uint32_t rows = k->page_rows;
	bool has_levels = k->has_levels;

	if (!parquet_column_end_page(k, pager, e))
		return false;
	if (has_levels) /* the levels of the step are after those of the ended page */
		memmove(k->levels, k->levels + rows, n * sizeof(*k->levels));
	k->has_levels = has_levels;
	k->has_places = false;
	return true;
}

static bool add_step(struct parquet_column *k, struct parquet_pager *pager, const void *vector,
	uint32_t n, struct incore_error *e)
{
	struct parquet_step s;

	if (!parquet_column_take(k, vector, n, &s))
		return err_nomem(e);
	if (k->has_places &&
		(!parquet_column_add_places(k, &s) || (!k->n && s.n && !choose_places(k, &s))) &&
		!give_up_places(k, pager, n, e))
		return false;
	if (!k->has_places && !add_values(k, &s))
		return err_nomem(e);
	k->n += s.n;
	k->page_n += s.n;
	k->rows += n;
	k->page_rows += n;
	return k->page_rows < PARQUET_PAGE_ROWS || parquet_column_end_page(k, pager, e);
}

bool parquet_column_add(struct parquet_column *k, struct parquet_pager *pager, const void *vector,
	uint32_t n, struct incore_error *e)
{
	k->batch++;
	for (uint32_t done = 0, some; done < n; done += some) {
		uint32_t room = PARQUET_PAGE_ROWS - k->page_rows;

		some = n - done < STEP ? n - done : STEP;
		some = some < room ? some : room;
		if (!add_step(k, pager, (const char *)vector + done * k->width, some, e))
			return false;
	}
	return true;
}

/* --- bounds --- */

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
	uint64_t least = k->least, most = k->most, v;

	if (!k->n || k->physical == PHYSICAL_DOUBLE)
		return false;
	find_bounds(k, k->dictionary.entry, k->dictionary.n, &least, &most);
	v = is_most ? most : least;
	if (k->physical == PHYSICAL_BYTES)
		return word_bound(k, is_most, out);
	if (k->physical == PHYSICAL_BOOLEAN)
		return bytes_put_u8(out, (uint8_t)v);
	parquet_column_put_value(k, out, v);
	return !out->failed;
}
