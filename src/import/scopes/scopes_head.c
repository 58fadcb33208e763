/* SPDX-License-Identifier: Apache-2.0 */
/* scopes_head.c: the first line of a file of scopes. */
#include "codec/json_reader.h"
#include "import/scopes/scopes.h"

struct head_reading {
	struct json_reader r;
	struct trace *t;
	struct scope_head *head;
	uint64_t version;
};

static void read_text(struct head_reading *x, const char **to)
{
	struct str s;

	if (json_get_str(&x->r, &s) && !(*to = arena_strndup(&x->t->arena, s.p, s.n)))
		json_reject(&x->r, "no-memory", "no memory");
}

static void read_shape(struct head_reading *x, uint32_t to[3])
{
	unsigned n = 0;

	for (json_enter_array(&x->r); json_next_item(&x->r); n++)
		if (n < 3)
			json_get_u32(&x->r, &to[n]);
		else
			json_skip(&x->r);
	if (n != 3 && !x->r.is_failed)
		json_reject(&x->r, NULL, "a shape has three numbers");
}

static void read_names(struct head_reading *x)
{
	struct scope_head *h = x->head;

	h->names = arena_zalloc(&x->t->arena, SCOPE_MOST_NAMES, sizeof(*h->names));
	if (!h->names)
		json_reject(&x->r, "no-memory", "no memory");
	h->n_names = 0;
	for (json_enter_array(&x->r); json_next_item(&x->r); h->n_names++) {
		if (h->n_names == SCOPE_MOST_NAMES) {
			json_reject(&x->r, NULL, "more than %u names", SCOPE_MOST_NAMES);
			return;
		}
		read_text(x, &h->names[h->n_names]);
	}
}

static void read_member(struct head_reading *x, struct str key)
{
	static const struct {
		const char *key;
		size_t at;
	} numbers[] = {{"arch", offsetof(struct scope_head, arch)},
		{"sms", offsetof(struct scope_head, sms)},
		{"clock_khz", offsetof(struct scope_head, clock_khz)},
		{"warps", offsetof(struct scope_head, n_warps)},
		{"warps_lost", offsetof(struct scope_head, n_lost_warps)},
		{"ring", offsetof(struct scope_head, ring)}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (str_is(key, numbers[i].key)) {
			json_get_u32(&x->r, (uint32_t *)((char *)x->head + numbers[i].at));
			return;
		}
	if (str_is(key, "incore_scopes"))
		json_get_u64(&x->r, &x->version);
	else if (str_is(key, "kernel"))
		read_text(x, &x->head->kernel);
	else if (str_is(key, "device"))
		read_text(x, &x->head->device);
	else if (str_is(key, "grid"))
		read_shape(x, x->head->grid);
	else if (str_is(key, "block"))
		read_shape(x, x->head->block);
	else if (str_is(key, "names"))
		read_names(x);
	else
		json_skip(&x->r);
}

bool scopes_read_head(struct scope_file *f, struct trace *t, size_t *end, struct incore_error *e)
{
	const uint8_t *line = memchr(f->file.data, '\n', f->file.size);
	struct head_reading x = {.t = t, .head = &f->head};
	char *copy;
	struct str key;
	bool ok;

	if (!line)
		return err_file(
			e, "truncated", f->path, f->file.size, "the first line does not end");
	*end = (size_t)(line - f->file.data) + 1;
	/* the line is followed by arbitrary bytes, which the reader must not see */
	copy = arena_zalloc(&t->arena, *end + JSON_PAD, 1);
	if (!copy)
		return err_nomem(e);
	memcpy(copy, f->file.data, *end);
	json_init(&x.r, copy, *end, f->path, 0);
	for (json_enter_object(&x.r); json_next_key(&x.r, &key);)
		read_member(&x, key);
	if (!x.r.is_failed && x.version != 1)
		json_reject(&x.r, "version", "version %llu of the format is not known",
			(unsigned long long)x.version);
	ok = json_finish(&x.r, e);
	json_deinit(&x.r);
	return ok;
}
