/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_column.c: processes the values of a column in steps: nulls, minimum and maximum,
 * dictionary indices; and makes pages of them. */
#include "codec/parquet/parquet_column.h"

#include <math.h>

#include "base/mem.h"
#include "codec/varint.h"

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
struct step {
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
static uint32_t word_of(struct parquet_column *k, const char *text)
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

static bool take_texts(struct parquet_column *k, const char *const *v, uint32_t n, struct step *s)
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
			word = word_of(k, v[i] ? v[i] : "");
		if (word == INTERN_NONE)
			return false;
		s->v[s->n++] = word;
	}
	return true;
}

/* Removes the nulls, which have the value `nothing`, and closes the gaps. */
static void drop_nothing(struct parquet_column *k, uint64_t nothing, struct step *s)
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

static void take_doubles(struct parquet_column *k, const double *v, uint32_t n, struct step *s)
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

static void take_numbers(struct parquet_column *k, const void *vector, uint32_t n, struct step *s)
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

static bool take(struct parquet_column *k, const void *vector, uint32_t n, struct step *s)
{
	if (k->column->type == COLUMN_TEXT) {
		if (!take_texts(k, vector, n, s))
			return false;
	} else if (k->column->type == COLUMN_F64) {
		take_doubles(k, vector, n, s);
	} else {
		take_numbers(k, vector, n, s);
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

static bool is_number(const struct parquet_column *k)
{
	return k->physical == PHYSICAL_INT32 || k->physical == PHYSICAL_INT64;
}

/* For counters and times, which differ little from value to value. */
static bool are_deltas_shorter(const struct step *s, unsigned width)
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
static bool choose_places(const struct parquet_column *k, const struct step *s)
{
	uint64_t least = s->v[0], most = s->v[0], span;
	unsigned width;

	if (k->physical == PHYSICAL_BYTES)
		return k->words.n <= s->n / 2 + 1;
	if (!is_number(k))
		return k->physical != PHYSICAL_BOOLEAN;
	find_bounds(k, s->v, s->n, &least, &most);
	span = most - least;
	width = parquet_bits(span);
	if (k->dictionary.n > s->n / 4 + 1)
		return !are_deltas_shorter(s, 32);
	return width <= 4 || !are_deltas_shorter(s, span < NARROW ? width / 2 : 10);
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

void parquet_column_put_dictionary(const struct parquet_column *k, struct strbuf *out)
{
	bool is_text = k->physical == PHYSICAL_BYTES;

	for (uint32_t i = 0; i < parquet_column_entries(k); i++)
		put_value(k, out, is_text ? i : k->dictionary.entry[i]);
}

uint32_t parquet_column_entries(const struct parquet_column *k)
{
	if (k->physical != PHYSICAL_BYTES)
		return k->dictionary.n;
	return k->words.n < DICTIONARY_MAX ? k->words.n : DICTIONARY_MAX;
}

static void put_levels(const struct parquet_column *k, struct strbuf *page)
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

static enum parquet_encoding put_places(const struct parquet_column *k, struct strbuf *page)
{
	unsigned width = parquet_bits(parquet_column_entries(k) - 1);

	bytes_put_u8(page, (uint8_t)width);
	if (width)
		parquet_put_runs(page, k->places, k->page_n, width);
	else
		parquet_put_run(page, 0, k->page_n, width);
	return ENCODING_DICTIONARY;
}

static enum parquet_encoding put_values(const struct parquet_column *k, struct strbuf *page)
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
			put_value(k, page, k->values[i]);
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
		put_levels(k, &pager->page);
	/* if all values are null, there is no dictionary */
	encoding = k->has_places && k->page_n ? put_places(k, &pager->page)
					      : put_values(k, &pager->page);
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
static bool add_places(struct parquet_column *k, const struct step *s)
{
	uint16_t *to = k->places + k->page_n;

	if (k->physical == PHYSICAL_BYTES) {
		if (k->words.n > DICTIONARY_MAX)
			return false;
		for (uint32_t i = 0; i < s->n; i++)
			to[i] = (uint16_t)s->v[i];
		return true;
	}
	if (!s->n || !is_number(k) || !s->is_same)
		return parquet_dictionary_find(&k->dictionary, s->v, s->n, to);
	if (!parquet_dictionary_find(&k->dictionary, s->v, 1, to))
		return false;
	for (uint32_t i = 1; i < s->n; i++)
		to[i] = to[0];
	return true;
}

static bool add_values(struct parquet_column *k, const struct step *s)
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
	struct step s;

	if (!take(k, vector, n, &s))
		return err_nomem(e);
	if (k->has_places && (!add_places(k, &s) || (!k->n && s.n && !choose_places(k, &s))) &&
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
	put_value(k, out, v);
	return !out->failed;
}
