/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml.h: a YAML document as a tree of nodes that know their line and column, for small files that
 * people write (machine profiles, configuration). Reads with libyaml's events.
 * Owner: the arena. May fail: yaml_parse() on text that is not YAML, has more than one document,
 * an anchor or alias (a small file could grow without bound), a repeated key, a key that is not a
 * scalar, or more than YAML_MAX_NODES nodes, YAML_MAX_DEPTH levels or YAML_MAX_KEYS keys.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#define YAML_MAX_NODES 100000
#define YAML_MAX_DEPTH 32
#define YAML_MAX_KEYS 4096 /* of one map */

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
	enum yaml_kind kind;
	bool is_quoted;	 /* a quoted scalar is never a number */
	const char *key; /* key of a map entry; NULL otherwise */
	struct str text; /* of a scalar; ends in NUL */
	uint32_t line, column;
	uint32_t n; /* children */
	struct yaml_node *first, *next;
};

/* An empty document gives an empty map. `path` is for messages and may be freed after the call. */
bool yaml_parse(struct arena *a, struct str text, const char *path, struct yaml_node **out,
	struct incore_error *e);
/* The entry of a map, or NULL (also if `map` is NULL or not a map). */
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);
/* Reports an error at the place of a node. Always false. */
bool yaml_error(const struct yaml_node *at, const char *path, struct incore_error *e,
	const char *fmt, ...) PRINTF_LIKE(4, 5);
#define yaml_error(...) err_false((yaml_error)(__VA_ARGS__))
