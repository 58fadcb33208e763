/* SPDX-License-Identifier: Apache-2.0 */
/* fields_dict.c: strings of a section by number; a separate file, because a report's core does not
 * need it. */
#include "trace/fields.h"

/* 0: NULL; 1: a new string follows; k + 2: the k-th string of this section. */
static void write_str(struct fields *f, const char *s)
{
	uint32_t n_before = f->dict.n, at;

	if (!s) {
		bytes_put_varint(f->out, 0);
		return;
	}
	at = intern_add(&f->dict, str_of(s));
	if (at == INTERN_NONE) {
		f->is_nomem = true;
	} else if (at < n_before) {
		bytes_put_varint(f->out, (uint64_t)at + 2);
	} else {
		bytes_put_varint(f->out, 1);
		bytes_put_str(f->out, str_of(s));
	}
}

static const char *read_str(struct fields *f)
{
	uint64_t k = bytes_varint(&f->in);
	struct str s;
	const char *copy;

	if (f->in.is_failed || k == 0)
		return NULL;
	if (k > 1) {
		if (k - 2 < f->strs.n)
			return f->strs.v[k - 2];
		f->is_failed = true;
		return NULL;
	}
	s = bytes_str(&f->in);
	if (f->in.is_failed || (s.n && memchr(s.p, 0, s.n))) {
		f->is_failed = true;
		return NULL;
	}
	copy = arena_strndup(f->arena, s.n ? s.p : "", s.n);
	if (!copy || !VEC_PUSH(&f->strs, copy)) {
		f->is_nomem = true;
		return NULL;
	}
	return copy;
}

static void dict_str(struct fields *f, const char **s)
{
	if (f->is_reading)
		*s = read_str(f);
	else
		write_str(f, *s);
}

void fields_use_dict(struct fields *f)
{
	f->dict_str = dict_str;
}
