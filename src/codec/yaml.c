/* SPDX-License-Identifier: Apache-2.0 */
/* yaml.c: builds a tree with limits from libyaml's events. */
#include "codec/yaml.h"

#include <yaml.h>

struct yaml_builder {
	yaml_parser_t parser;
	struct arena *arena;
	const char *path;
	struct incore_error *e;
	uint32_t n_nodes, n_documents;
	struct yaml_node *root;
	struct yaml_node *open[YAML_MAX_DEPTH]; /* open maps and lists */
	struct yaml_node *last[YAML_MAX_DEPTH]; /* last child of each */
	const char *key[YAML_MAX_DEPTH];	/* key whose value is not read yet */
	unsigned depth;
};

static bool yaml_fail_at(struct incore_error *e, const char *path, uint32_t line, uint32_t column,
	const char *message)
{
	err_file(e, "bad-yaml", path, INCORE_NO_OFFSET, "%s", message);
	if (e) {
		e->line = line;
		e->column = column;
	}
	return false;
}

static bool fail_mark(struct yaml_builder *b, const yaml_mark_t *m, const char *message)
{
	return yaml_fail_at(b->e, b->path, (uint32_t)m->line + 1, (uint32_t)m->column + 1, message);
}

bool(yaml_error)(
	const struct yaml_node *at, const char *path, struct incore_error *e, const char *fmt, ...)
{
	struct strbuf s = {0};
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&s, fmt, ap);
	va_end(ap);
	yaml_fail_at(e, path, at->line, at->column, s.p ? s.p : "");
	sb_free(&s);
	return false;
}

static bool yaml_is_repeated(const struct yaml_node *map, const char *key)
{
	for (const struct yaml_node *k = map->first; k; k = k->next)
		if (strcmp(k->key, key) == 0)
			return true;
	return false;
}

/* Attaches a node to the innermost open one. */
static bool attach(struct yaml_builder *b, struct yaml_node *node, const yaml_mark_t *at)
{
	unsigned top = b->depth - 1;

	if (b->depth == 0) {
		b->root = node;
		return true;
	}
	if (b->open[top]->kind == YAML_MAP) {
		if (!b->key[top])
			return fail_mark(b, at, "a key must be a scalar");
		node->key = b->key[top];
		b->key[top] = NULL;
	}
	if (b->last[top])
		b->last[top]->next = node;
	else
		b->open[top]->first = node;
	b->last[top] = node;
	b->open[top]->n++;
	return true;
}

static struct yaml_node *new_node(struct yaml_builder *b, enum yaml_kind kind,
	const yaml_event_t *ev, const unsigned char *anchor)
{
	struct yaml_node *n;

	if (anchor) {
		fail_mark(b, &ev->start_mark, "anchors are not supported");
		return NULL;
	}
	if (b->n_nodes++ >= YAML_MAX_NODES) {
		fail_mark(b, &ev->start_mark, "too many nodes");
		return NULL;
	}
	n = arena_zalloc(b->arena, 1, sizeof(*n));
	if (!n)
		return err_nomem_null(b->e);
	n->kind = kind;
	n->line = (uint32_t)ev->start_mark.line + 1;
	n->column = (uint32_t)ev->start_mark.column + 1;
	return n;
}

static bool add_scalar(struct yaml_builder *b, const yaml_event_t *ev)
{
	size_t len = ev->data.scalar.length;
	char *copy = arena_strndup(b->arena, (const char *)ev->data.scalar.value, len);
	struct yaml_node *n;

	if (!copy)
		return err_nomem(b->e);
	if (memchr(copy, 0, len))
		return fail_mark(b, &ev->start_mark, "a NUL character in a scalar");
	if (b->depth && b->open[b->depth - 1]->kind == YAML_MAP && !b->key[b->depth - 1]) {
		if (ev->data.scalar.anchor)
			return fail_mark(b, &ev->start_mark, "anchors are not supported");
		if (b->open[b->depth - 1]->n >= YAML_MAX_KEYS)
			return fail_mark(b, &ev->start_mark, "too many keys in one map");
		if (yaml_is_repeated(b->open[b->depth - 1], copy))
			return fail_mark(b, &ev->start_mark, "duplicate key in one map");
		b->key[b->depth - 1] = copy;
		return true;
	}
	n = new_node(b, YAML_SCALAR, ev, ev->data.scalar.anchor);
	if (!n)
		return false;
	n->text = (struct str){copy, len};
	n->is_quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return attach(b, n, &ev->start_mark);
}

static bool open_node(struct yaml_builder *b, const yaml_event_t *ev, enum yaml_kind kind)
{
	const unsigned char *anchor =
		kind == YAML_MAP ? ev->data.mapping_start.anchor : ev->data.sequence_start.anchor;
	struct yaml_node *n = new_node(b, kind, ev, anchor);

	if (!n || !attach(b, n, &ev->start_mark))
		return false;
	if (b->depth == YAML_MAX_DEPTH)
		return fail_mark(b, &ev->start_mark, "nested too deeply");
	b->open[b->depth] = n;
	b->last[b->depth] = NULL;
	b->key[b->depth] = NULL;
	b->depth++;
	return true;
}

static bool yaml_take_event(struct yaml_builder *b, const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return add_scalar(b, ev);
	case YAML_MAPPING_START_EVENT:
		return open_node(b, ev, YAML_MAP);
	case YAML_SEQUENCE_START_EVENT:
		return open_node(b, ev, YAML_LIST);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		b->depth--;
		return true;
	case YAML_ALIAS_EVENT:
		return fail_mark(b, &ev->start_mark, "aliases are not supported");
	case YAML_DOCUMENT_START_EVENT:
		if (b->n_documents++)
			return fail_mark(b, &ev->start_mark, "more than one document");
		return true;
	default:
		return true;
	}
}

static bool run_parser(struct yaml_builder *b)
{
	yaml_event_type_t type = YAML_NO_EVENT;

	while (type != YAML_STREAM_END_EVENT) {
		yaml_event_t ev;
		bool ok;

		if (!yaml_parser_parse(&b->parser, &ev)) {
			if (b->parser.error == YAML_MEMORY_ERROR)
				return err_nomem(b->e);
			return fail_mark(b, &b->parser.problem_mark,
				b->parser.problem ? b->parser.problem : "not YAML");
		}
		type = ev.type;
		ok = yaml_take_event(b, &ev);
		yaml_event_delete(&ev);
		if (!ok)
			return false;
	}
	return true;
}

bool yaml_parse(struct arena *a, struct str text, const char *path, struct yaml_node **out,
	struct incore_error *e)
{
	struct yaml_builder b = {.arena = a, .path = path, .e = e};
	bool ok;

	if (!yaml_parser_initialize(&b.parser))
		return err_nomem(e);
	yaml_parser_set_input_string(&b.parser, (const unsigned char *)text.p, text.n);
	ok = run_parser(&b);
	yaml_parser_delete(&b.parser);
	if (ok && !b.root) {
		b.root = arena_zalloc(a, 1, sizeof(*b.root));
		if (!b.root)
			return err_nomem(e);
		*b.root = (struct yaml_node){.kind = YAML_MAP, .line = 1, .column = 1};
	}
	if (ok)
		*out = b.root;
	return ok;
}

const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
	if (!map || map->kind != YAML_MAP)
		return NULL;
	for (const struct yaml_node *k = map->first; k; k = k->next)
		if (strcmp(k->key, key) == 0)
			return k;
	return NULL;
}
