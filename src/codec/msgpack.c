/* SPDX-License-Identifier: Apache-2.0 */
/* msgpack.c: reads MessagePack values from untrusted bytes, and kernel metadata from them. */
#include "codec/msgpack.h"

#include "base/vec.h"

#define MAX_DEPTH 32u
#define NOT_STATED (-1)

void msgpack_init(struct msgpack *m, struct str bytes)
{
	const uint8_t *p = (const uint8_t *)(bytes.p ? bytes.p : "");

	*m = (struct msgpack){p, p, p + bytes.n, false};
}

static uint64_t take_be(struct msgpack *m, unsigned n)
{
	uint64_t v = 0;

	if ((size_t)(m->end - m->p) < n) {
		m->is_failed = true;
		return 0;
	}
	for (unsigned i = 0; i < n; i++)
		v = v << 8 | *m->p++;
	return v;
}

static struct msgpack_value msgpack_number(uint64_t v)
{
	return (struct msgpack_value){
		.type = MSGPACK_INT, .number = v > INT64_MAX ? INT64_MAX : (int64_t)v, .bits = v};
}

static struct msgpack_value negative(uint64_t v, unsigned bits)
{
	uint64_t sign = (uint64_t)1 << (bits - 1);

	v = (v ^ sign) - sign;
	return (struct msgpack_value){.type = MSGPACK_INT, .number = (int64_t)v, .bits = v};
}

static struct msgpack_value text(struct msgpack *m, uint64_t n)
{
	struct msgpack_value v = {.type = MSGPACK_STRING};

	if (n > (uint64_t)(m->end - m->p)) {
		m->is_failed = true;
		return (struct msgpack_value){0};
	}
	v.text = (struct str){(const char *)m->p, (size_t)n};
	m->p += n;
	return v;
}

static struct msgpack_value container(struct msgpack *m, enum msgpack_type type, uint64_t n)
{
	/* each element takes at least one byte */
	if (n > (uint64_t)(m->end - m->p)) {
		m->is_failed = true;
		return (struct msgpack_value){0};
	}
	return (struct msgpack_value){.type = type, .n = (uint32_t)n};
}

static struct msgpack_value skip_bytes(struct msgpack *m, uint64_t n, enum msgpack_type type)
{
	struct msgpack_value v = text(m, n);

	v.type = m->is_failed ? MSGPACK_NONE : type;
	v.text = (struct str){NULL, 0};
	return v;
}

/* The codes from 0xc0 to 0xdf. */
static struct msgpack_value long_form(struct msgpack *m, unsigned code)
{
	switch (code) {
	case 0xc0:
		return (struct msgpack_value){.type = MSGPACK_NIL};
	case 0xc2:
	case 0xc3:
		return (struct msgpack_value){.type = MSGPACK_BOOL};
	case 0xc4:
	case 0xc5:
	case 0xc6:
		return text(m, take_be(m, 1u << (code - 0xc4)));
	case 0xc7:
	case 0xc8:
	case 0xc9: /* extension: a length, a type byte, the bytes */
		return skip_bytes(m, take_be(m, 1u << (code - 0xc7)) + 1, MSGPACK_NIL);
	case 0xca:
	case 0xcb:
		return skip_bytes(m, code == 0xca ? 4 : 8, MSGPACK_FLOAT);
	case 0xcc:
	case 0xcd:
	case 0xce:
	case 0xcf:
		return msgpack_number(take_be(m, 1u << (code - 0xcc)));
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return negative(take_be(m, 1u << (code - 0xd0)), 8u << (code - 0xd0));
	case 0xd4:
	case 0xd5:
	case 0xd6:
	case 0xd7:
	case 0xd8:
		return skip_bytes(m, ((uint64_t)1 << (code - 0xd4)) + 1, MSGPACK_NIL);
	case 0xd9:
	case 0xda:
	case 0xdb:
		return text(m, take_be(m, 1u << (code - 0xd9)));
	case 0xdc:
	case 0xdd:
		return container(m, MSGPACK_ARRAY, take_be(m, code == 0xdc ? 2 : 4));
	case 0xde:
	case 0xdf:
		return container(m, MSGPACK_MAP, take_be(m, code == 0xde ? 2 : 4));
	default: /* 0xc1: never used */
		m->is_failed = true;
		return (struct msgpack_value){0};
	}
}

struct msgpack_value msgpack_next(struct msgpack *m)
{
	struct msgpack_value v;
	unsigned code;

	if (m->is_failed || m->p == m->end) {
		m->is_failed = true;
		return (struct msgpack_value){0};
	}
	code = *m->p++;
	if (code < 0x80)
		v = msgpack_number(code);
	else if (code < 0x90)
		v = container(m, MSGPACK_MAP, code & 15);
	else if (code < 0xa0)
		v = container(m, MSGPACK_ARRAY, code & 15);
	else if (code < 0xc0)
		v = text(m, code & 31);
	else if (code < 0xe0)
		v = long_form(m, code);
	else
		v = negative(code, 8);
	if (m->is_failed)
		v = (struct msgpack_value){0};
	return v;
}

/* Iterative: `left[d]` values are still to come at depth d. */
bool msgpack_skip(struct msgpack *m)
{
	uint64_t left[MAX_DEPTH + 1] = {1};
	unsigned depth = 0;

	for (;;) {
		struct msgpack_value v;

		while (left[depth] == 0) {
			if (depth-- == 0)
				return true;
		}
		left[depth]--;
		v = msgpack_next(m);
		if (m->is_failed)
			return false;
		if (v.type != MSGPACK_ARRAY && v.type != MSGPACK_MAP)
			continue;
		if (depth == MAX_DEPTH) {
			m->is_failed = true;
			return false;
		}
		left[++depth] = v.type == MSGPACK_MAP ? (uint64_t)v.n * 2 : v.n;
	}
}

/* --- metadata of kernels --- */

struct facts_build {
	struct msgpack m;
	struct code_facts *out;
	struct arena *arena;
	VEC(struct kernel_facts) kernels;
	bool is_nomem;
};

static const char *msgpack_copy_text(struct facts_build *b, struct str s)
{
	const char *p = arena_strndup(b->arena, s.p ? s.p : "", s.n);

	if (!p)
		b->is_nomem = true;
	return p;
}

/* Reads a number; NOT_STATED for other values. */
static int64_t msgpack_read_number(struct facts_build *b)
{
	const uint8_t *start = b->m.p;
	struct msgpack_value v = msgpack_next(&b->m);

	if (v.type == MSGPACK_INT)
		return v.number < 0 ? NOT_STATED : v.number;
	b->m.p = start;
	msgpack_skip(&b->m);
	return NOT_STATED;
}

static const char *msgpack_read_text(struct facts_build *b)
{
	const uint8_t *start = b->m.p;
	struct msgpack_value v = msgpack_next(&b->m);

	if (v.type == MSGPACK_STRING)
		return msgpack_copy_text(b, v.text);
	b->m.p = start;
	msgpack_skip(&b->m);
	return NULL;
}

static void read_sizes(struct facts_build *b, struct kernel_facts *k)
{
	const uint8_t *start = b->m.p;
	struct msgpack_value v = msgpack_next(&b->m);

	if (v.type != MSGPACK_ARRAY || v.n != 3) {
		b->m.p = start;
		msgpack_skip(&b->m);
		return;
	}
	for (unsigned i = 0; i < 3; i++)
		k->workgroup[i] = msgpack_read_number(b);
}

static int64_t *msgpack_number_of(struct kernel_facts *k, struct str key)
{
	const struct {
		const char *name;
		int64_t *to;
	} numbers[] = {
		{".vgpr_count", &k->vgprs},
		{".agpr_count", &k->agprs},
		{".sgpr_count", &k->sgprs},
		{".group_segment_fixed_size", &k->lds_bytes},
		{".lds_size", &k->lds_bytes},
		{".private_segment_fixed_size", &k->scratch_bytes},
		{".scratch_memory_size", &k->scratch_bytes},
		{".kernarg_segment_size", &k->kernarg_bytes},
		{".wavefront_size", &k->wave_size},
		{".max_flat_workgroup_size", &k->max_workgroup},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (str_is(key, numbers[i].name))
			return numbers[i].to;
	return NULL;
}

static void msgpack_read_kernel(struct facts_build *b)
{
	struct kernel_facts k = {NULL, NULL, NOT_STATED, NOT_STATED, NOT_STATED, NOT_STATED,
		NOT_STATED, NOT_STATED, NOT_STATED, NOT_STATED,
		{NOT_STATED, NOT_STATED, NOT_STATED}};
	const uint8_t *start = b->m.p;
	struct msgpack_value v = msgpack_next(&b->m);

	if (v.type != MSGPACK_MAP) {
		b->m.p = start;
		msgpack_skip(&b->m);
		return;
	}
	for (uint32_t i = 0; i < v.n && !b->m.is_failed; i++) {
		struct msgpack_value key = msgpack_next(&b->m);
		int64_t *to = key.type == MSGPACK_STRING ? msgpack_number_of(&k, key.text) : NULL;

		if (key.type != MSGPACK_STRING)
			b->m.is_failed = true;
		else if (to)
			*to = msgpack_read_number(b);
		else if (str_is(key.text, ".name") || str_is(key.text, ".entry_point"))
			k.name = msgpack_read_text(b);
		else if (str_is(key.text, ".symbol"))
			k.symbol = msgpack_read_text(b);
		else if (str_is(key.text, ".reqd_workgroup_size"))
			read_sizes(b, &k);
		else
			msgpack_skip(&b->m);
	}
	if (!b->m.is_failed && k.name && !VEC_PUSH(&b->kernels, k))
		b->is_nomem = true;
}

/* "amdgcn-amd-amdhsa--gfx90a:sramecc+" -> "gfx90a" */
static void msgpack_read_target(struct facts_build *b)
{
	const char *text_of = msgpack_read_text(b);
	struct str s = str_of(text_of), name;
	ptrdiff_t dash = str_rfind_char(s, '-');

	/* a feature may end in '-': the name follows "--" */
	if (str_find(s, "--") >= 0)
		dash = str_find(s, "--") + 1;
	if (!text_of || dash < 0)
		return;
	s = str_sub(s, (size_t)dash + 1, s.n);
	if (str_cut(&s, ":", &name) && str_starts(name, "gfx"))
		b->out->target = msgpack_copy_text(b, name);
}

/* Enters the next container and returns its number of values; 0 if the next value has another
 * type. */
static uint32_t msgpack_enter(struct facts_build *b, enum msgpack_type type)
{
	struct msgpack_value v = msgpack_next(&b->m);

	if (v.type != type)
		b->m.is_failed = true;
	return b->m.is_failed ? 0 : v.n;
}

static bool goes_on(const struct facts_build *b)
{
	return !b->m.is_failed && !b->is_nomem;
}

static void read_hash(struct facts_build *b)
{
	uint32_t n = msgpack_enter(b, MSGPACK_ARRAY);

	for (uint32_t i = 0; i < n && goes_on(b); i++) {
		struct msgpack_value v = msgpack_next(&b->m);

		if (v.type != MSGPACK_INT || n != 2)
			b->m.is_failed = true;
		else
			b->out->pipeline_hash[i] = v.bits;
	}
}

/* A pipeline of a graphics driver: its hardware stages are the kernels. */
static void read_pipeline(struct facts_build *b)
{
	uint32_t n = msgpack_enter(b, MSGPACK_MAP);

	for (uint32_t i = 0; i < n && goes_on(b); i++) {
		struct msgpack_value key = msgpack_next(&b->m);

		if (str_is(key.text, ".internal_pipeline_hash")) {
			read_hash(b);
		} else if (str_is(key.text, ".hardware_stages")) {
			uint32_t n_stages = msgpack_enter(b, MSGPACK_MAP);

			for (uint32_t k = 0; k < n_stages && goes_on(b); k++)
				if (msgpack_skip(&b->m)) /* ".cs" */
					msgpack_read_kernel(b);
		} else {
			msgpack_skip(&b->m);
		}
	}
}

static void msgpack_read_list(struct facts_build *b, void (*read)(struct facts_build *b))
{
	uint32_t n = msgpack_enter(b, MSGPACK_ARRAY);

	for (uint32_t i = 0; i < n && goes_on(b); i++)
		read(b);
}

static void read_facts(struct facts_build *b)
{
	uint32_t n = msgpack_enter(b, MSGPACK_MAP);

	for (uint32_t i = 0; i < n && goes_on(b); i++) {
		struct msgpack_value key = msgpack_next(&b->m);

		if (key.type != MSGPACK_STRING) {
			b->m.is_failed = true;
		} else if (str_is(key.text, "amdhsa.target")) {
			msgpack_read_target(b);
		} else if (str_is(key.text, "amdhsa.kernels")) {
			msgpack_read_list(b, msgpack_read_kernel);
		} else if (str_is(key.text, "amdpal.pipelines")) {
			msgpack_read_list(b, read_pipeline);
		} else {
			msgpack_skip(&b->m);
		}
	}
}

bool code_facts_read(struct code_facts *f, struct str note, const char *path, struct arena *a,
	struct incore_error *e)
{
	struct facts_build b = {.out = f, .arena = a};
	bool ok;

	*f = (struct code_facts){0};
	msgpack_init(&b.m, note);
	read_facts(&b);
	if (b.kernels.n) {
		f->kernels = arena_memdup(a, b.kernels.v, b.kernels.n * sizeof(*b.kernels.v));
		b.is_nomem |= !f->kernels;
		f->n_kernels = f->kernels ? (uint32_t)b.kernels.n : 0;
	}
	ok = !b.is_nomem && !b.m.is_failed;
	if (b.is_nomem)
		err_nomem(e);
	else if (b.m.is_failed)
		err_file(e, "bad-metadata", path, INCORE_NO_OFFSET,
			"the kernel metadata note is damaged at byte %zu of %zu",
			(size_t)(b.m.p - b.m.start), note.n);
	VEC_FREE(&b.kernels);
	return ok;
}
