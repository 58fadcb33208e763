/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools.c: questions as tools. A tool takes the options of its question, except those that name
 * files outside of a capture; see result.c for its output.
 */
#include "answer/hot.h"
#include "mcp/internal.h"

struct tool {
	const char *name;
	const char *question; /* NULL: it asks no question */
	const char *preset;   /* preset options, as JSON; NULL: none */
	const char *hint;     /* for agents, in addition to the question's own summary */
};

/* Tools that differ from their question; every other question is a tool of the same name. */
static const struct tool special[] = {
	{"check", "check", NULL,
		"Ask this first: figures of a capture that cannot be trusted (is_no true) mean nothing."},
	{"summary", "summary", NULL,
		"The verdict: what bounds the kernel, with its evidence, and what to try."},
	{"waits", "hot", "{\"by\":\"producer\"}",
		"Whom the lost cycles waited for: the instructions whose results were not there, costliest first."},
	{"isa", "isa", NULL,
		"A window of the listing: with range (\"13-20\"), or around a row; without either around the costliest instruction."},
	{"diff", "diff", NULL,
		"a is before, b is after; gate fails (is_no true) where a condition does not hold, e.g. \"latency<=2%\"."},
};

/* --- the list of tools --- */

static const struct tool *special_tool(const char *name)
{
	EACH (const struct tool, t, special, sizeof(special) / sizeof(special[0]))
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

static bool find_tool(const char *name, struct tool *out)
{
	const struct tool *t = special_tool(name);
	const struct question *q = question_for(t ? t->question : name, REACH_AGENT);

	if (t)
		*out = *t;
	else if (q)
		*out = (struct tool){.name = q->name, .question = q->name};
	return q != NULL;
}

static bool is_pair(const struct question *q)
{
	return q->min_paths == 2 && q->max_paths >= 2 && strcmp(q->args, "A B") == 0;
}

static void put_choices(struct json_writer *w, const struct option_def *d)
{
	struct str rest = str_of(d->choices), word;

	json_w_kv_array(w, "enum");
	while (str_cut(&rest, "|", &word))
		json_w_str(w, word);
	json_w_end(w);
}

static void put_either(struct json_writer *w)
{
	json_w_kv_array(w, "type");
	json_w_cstr(w, "string");
	json_w_cstr(w, "integer");
	json_w_end(w);
}

static void put_option(struct json_writer *w, const struct option_def *d)
{
	json_w_key(w, d->name);
	json_w_object(w);
	switch (d->type) {
	case OPTION_FLAG:
		json_w_kv_cstr(w, "type", "boolean");
		break;
	case OPTION_COUNT:
		json_w_kv_cstr(w, "type", "integer");
		json_w_kv_u64(w, "minimum", 0);
		break;
	case OPTION_CHOICE:
		put_choices(w, d);
		break;
	case OPTION_MANY:
		json_w_kv_cstr(w, "type", "array");
		json_w_kv_object(w, "items");
		json_w_kv_cstr(w, "type", "string");
		json_w_end(w);
		break;
	default:
		put_either(w);
	}
	json_w_kv_cstr(w, "description", d->help);
	json_w_end(w);
}

static void put_options(struct json_writer *w, const struct option_def *table)
{
	for (; table && table->name; table++)
		if (table->reach & REACH_AGENT)
			put_option(w, table);
}

static void put_text_property(struct json_writer *w, const char *name, const char *doc)
{
	json_w_kv_object(w, name);
	json_w_kv_cstr(w, "type", "string");
	json_w_kv_cstr(w, "description", doc);
	json_w_end(w);
}

static void put_required(struct json_writer *w, const char *first, const char *second)
{
	json_w_kv_array(w, "required");
	json_w_cstr(w, first);
	if (second)
		json_w_cstr(w, second);
	json_w_end(w);
	json_w_kv_bool(w, "additionalProperties", false);
}

static void put_input(struct json_writer *w, const struct question *q)
{
	json_w_kv_object(w, "inputSchema");
	json_w_kv_cstr(w, "type", "object");
	json_w_kv_object(w, "properties");
	if (is_pair(q)) {
		put_text_property(w, "a", "the capture before");
		put_text_property(w, "b", "the capture after");
	} else {
		put_text_property(w, "path",
			q->inputs ? "a file or folder below the roots"
				  : "a capture, as the tool captures lists them");
	}
	put_options(w, q->options);
	put_options(w, q->groups & OPTIONS_SELECT ? request_select_options : NULL);
	put_options(w, q->groups & OPTIONS_TOP ? request_top_options : NULL);
	put_options(w, q->groups & OPTIONS_CAPTURE ? request_capture_options : NULL);
	json_w_kv_object(w, "limit");
	json_w_kv_cstr(w, "type", "integer");
	json_w_kv_u64(w, "minimum", 0);
	json_w_kv_u64(w, "maximum", RESULT_MOST_ROWS);
	json_w_kv_cstr(w, "description", "rows of a table to give [10]");
	json_w_end(w);
	json_w_kv_object(w, "tables");
	json_w_kv_cstr(w, "type", "array");
	json_w_kv_object(w, "items");
	json_w_kv_cstr(w, "type", "string");
	json_w_end(w);
	json_w_kv_cstr(
		w, "description", "rows of these tables alone [all, as far as they are small]");
	json_w_end(w);
	json_w_end(w);
	put_required(w, is_pair(q) ? "a" : "path", is_pair(q) ? "b" : NULL);
	json_w_end(w);
}

static void put_output(struct json_writer *w)
{
	static const char schema[] =
		"{\"type\":\"object\",\"properties\":{\"question\":{\"type\":\"string\"},"
		"\"is_no\":{\"type\":\"boolean\",\"description\":\"a negative answer: cannot be trusted, a gate failed\"},"
		"\"values\":{\"type\":\"object\",\"description\":\"single values by name\"},"
		"\"tables\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\",\"properties\":{"
		"\"total\":{\"type\":\"integer\"},\"columns\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
		"\"rows\":{\"type\":\"array\",\"items\":{\"type\":\"array\"}}},\"required\":[\"total\"]}},"
		"\"more\":{\"type\":\"string\"},\"warnings\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
		"\"required\":[\"question\",\"values\",\"tables\"]}";

	json_w_key(w, "outputSchema");
	json_w_raw(w, str_of(schema));
}

static void put_annotations(struct json_writer *w)
{
	json_w_kv_object(w, "annotations");
	json_w_kv_bool(w, "readOnlyHint", true);
	json_w_kv_bool(w, "openWorldHint", false);
	json_w_end(w);
}

static void put_tool(struct json_writer *w, const struct tool *t)
{
	const struct question *q = question_find(t->question);
	struct strbuf text = {0};
	char name[40];

	sb_printf(&text, "%s. %s", q->summary, t->hint ? t->hint : "");
	json_w_object(w);
	json_w_kv_cstr(w, "name", question_word(t->name, name, sizeof(name)));
	json_w_kv_cstr(w, "description", text.p ? text.p : q->summary);
	put_input(w, q);
	put_output(w);
	put_annotations(w);
	json_w_end(w);
	sb_free(&text);
}

static void put_captures_tool(struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_cstr(w, "name", "captures");
	json_w_kv_cstr(
		w, "description", "which captures there are below the roots, with their format");
	json_w_kv_object(w, "inputSchema");
	json_w_kv_cstr(w, "type", "object");
	json_w_kv_object(w, "properties");
	json_w_end(w);
	json_w_kv_bool(w, "additionalProperties", false);
	json_w_end(w);
	put_annotations(w);
	json_w_end(w);
}

void tools_list(struct json_writer *w)
{
	struct tool t;

	json_w_object(w);
	json_w_kv_array(w, "tools");
	put_captures_tool(w);
	EACH (const struct tool, s, special, sizeof(special) / sizeof(special[0]))
		put_tool(w, s);
	for (const struct question *const *q = question_table; *q; q++)
		if (!special_tool((*q)->name) && find_tool((*q)->name, &t))
			put_tool(w, &t);
	json_w_object(w);
	json_w_kv_cstr(w, "name", "sql");
	json_w_kv_cstr(w, "description", sql_description);
	json_w_key(w, "inputSchema");
	sql_schema(w);
	put_annotations(w);
	json_w_end(w);
	json_w_end(w);
	json_w_end(w);
}

/* --- calls --- */

struct call {
	struct mcp *m;
	struct arena *a;
	struct tool tool;
	const struct question *question;
	const char *paths[2];
	unsigned n_paths;
	struct strbuf options; /* JSON, as request_set_json() takes it */
	struct result_shape shape;
	bool has_place; /* isa: the caller gave a window */
};

static bool take_path(struct call *c, struct str value, unsigned at, struct incore_error *e)
{
	const char *name = json_text(value, c->a);

	if (!name)
		return err_set(e, INCORE_USAGE, "bad-type", "a path is a text");
	c->paths[at] = root_path(c->m, name, c->a, e);
	c->n_paths += c->paths[at] != NULL;
	return c->paths[at] != NULL;
}

static bool take_limit(struct call *c, struct str value, struct incore_error *e)
{
	if (!str_to_u64(value, &c->shape.limit) || c->shape.limit > RESULT_MOST_ROWS)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"limit expects a number up to %u", RESULT_MOST_ROWS);
	return true;
}

/* Reads an array of strings into the arena. */
static bool take_texts(
	struct call *c, struct str value, const char ***out, unsigned *n, struct incore_error *e)
{
	struct json_reader j;
	struct str text;
	size_t most = 2; /* one more than expected, so that the end of the array is read, too */

	for (size_t i = 0; i < value.n; i++)
		most += value.p[i] == ',';
	*out = arena_zalloc(c->a, most, sizeof(**out));
	if (!*out)
		return err_nomem(e);
	json_init(&j, value.p, value.n, NULL, 0);
	for (json_enter_array(&j); *n < most && json_next_item(&j) && json_get_str(&j, &text);)
		(*out)[(*n)++] = arena_strndup(c->a, text.p, text.n);
	if (!json_finish(&j, e)) {
		json_deinit(&j);
		e->status = INCORE_USAGE;
		return false;
	}
	json_deinit(&j);
	return true;
}

/* Adds paths of an option; they must be below the roots, too. */
static bool put_paths(struct call *c, struct str value, struct incore_error *e)
{
	const char **names;
	struct json_writer w;
	unsigned n = 0;

	if (!take_texts(c, value, &names, &n, e))
		return false;
	json_w_buf(&w, &c->options, 0);
	json_w_array(&w);
	for (unsigned i = 0; i < n; i++) {
		const char *path =
			names[i] ? root_path(c->m, names[i], c->a, e) : err_nomem_null(e);

		if (!path)
			return false;
		json_w_cstr(&w, path);
	}
	json_w_end(&w);
	return json_w_finish(&w, e);
}

static bool take_option(struct call *c, const char *name, struct str value, struct incore_error *e)
{
	const struct option_def *d = request_option(c->question, name);

	if (!d || !(d->reach & REACH_AGENT))
		return err_set(
			e, INCORE_USAGE, "unknown-option", "%s takes no '%s'", c->tool.name, name);
	c->has_place |= strcmp(name, "range") == 0 || strcmp(name, "around") == 0;
	sb_printf(&c->options, "%s\"%s\":", c->options.n > 1 ? "," : "", name);
	return d->names_file ? put_paths(c, value, e) : sb_str(&c->options, value) || err_nomem(e);
}

static bool take_argument(
	struct call *c, const char *name, struct str value, struct incore_error *e)
{
	const char **tables = NULL;

	if (is_pair(c->question) && (strcmp(name, "a") == 0 || strcmp(name, "b") == 0))
		return take_path(c, value, name[0] == 'b', e);
	if (!is_pair(c->question) && strcmp(name, "path") == 0)
		return take_path(c, value, 0, e);
	if (strcmp(name, "limit") == 0)
		return take_limit(c, value, e);
	if (strcmp(name, "tables") != 0)
		return take_option(c, name, value, e);
	if (!take_texts(c, value, &tables, &c->shape.n_tables, e))
		return false;
	c->shape.tables = tables;
	return true;
}

static bool take_arguments(struct call *c, struct str arguments, struct incore_error *e)
{
	struct json_reader j;
	struct str key;
	bool ok = sb_puts(&c->options, "{") || err_nomem(e);

	json_init(&j, arguments.p, arguments.n, NULL, 0);
	for (json_enter_object(&j); ok && json_next_key(&j, &key);) {
		const char *name = arena_strndup(c->a, key.p, key.n);
		const char *from;

		json_peek(&j);
		from = j.p;
		ok = json_skip(&j) && name &&
		     take_argument(c, name, (struct str){from, (size_t)(j.p - from)}, e);
	}
	json_deinit(&j);
	if (ok && c->tool.preset) /* {"by": ...}, without the braces */
		sb_printf(&c->options, "%s%.*s", c->options.n > 1 ? "," : "",
			(int)strlen(c->tool.preset) - 2, c->tool.preset + 1);
	ok = ok && sb_puts(&c->options, "}");
	if (ok && c->n_paths != (is_pair(c->question) ? 2u : 1u))
		return err_set(e, INCORE_USAGE, "missing-argument", "%s expects %s", c->tool.name,
			is_pair(c->question) ? "a and b" : "path");
	return ok || (!e->code && err_nomem(e));
}

static bool ask(struct call *c, const struct question *q, const char *options, struct answer *out,
	struct incore_error *e)
{
	struct request r;
	bool ok;

	memset(out, 0, sizeof(*out));
	if (!request_init(&r, q, e))
		return false;
	r.paths = c->paths;
	r.n_paths = c->n_paths;
	r.captures = &c->m->captures;
	r.pool = c->m->o->pool;
	r.progress = c->m->progress;
	r.is_for_people = true;
	ok = request_set_json(&r, options, c->a, e) && answer_ask(&r, out, e);
	request_deinit(&r);
	return ok;
}

/* Adds options for a window around the costliest instruction. */
static bool place_window(struct call *c, struct incore_error *e)
{
	struct answer answer;
	bool ok = ask(c, question_find("hot"), "{\"top\":1}", &answer, e);

	if (ok) {
		const struct hot_answer *h = answer.data;
		const struct hot_row *first =
			answer.record != question_find("hot")->records[0] ? NULL : h->rows.v;

		c->options.n--; /* drop the closing brace */
		if (first && h->rows.n && first->row != NO_VALUE)
			sb_printf(&c->options, "%s\"around\":%lld,\"context\":8",
				c->options.n > 1 ? "," : "", (long long)first->row);
		ok = sb_puts(&c->options, "}") || err_nomem(e);
	}
	answer_deinit(&answer);
	return ok;
}

static bool call_question(
	struct call *c, struct str arguments, struct strbuf *out, struct incore_error *e)
{
	struct answer answer;
	bool ok;

	if (!take_arguments(c, arguments, e))
		return false;
	if (strcmp(c->tool.name, "isa") == 0) {
		if (!c->has_place && !place_window(c, e))
			return false;
		c->shape.limit = c->shape.limit == RESULT_ROWS ? 40 : c->shape.limit;
	}
	ok = ask(c, c->question, c->options.p, &answer, e) &&
	     result_of_answer(&answer, &c->shape, out, e);
	answer_deinit(&answer);
	return ok;
}

static bool call_captures(
	struct mcp *m, struct arena *a, struct strbuf *out, struct incore_error *e)
{
	struct found_capture *v;
	struct json_writer w;
	size_t n;

	if (!root_captures(m, a, &v, &n, e))
		return false;
	json_w_buf(&w, out, 0);
	json_w_object(&w);
	json_w_kv_array(&w, "captures");
	EACH (const struct found_capture, c, v, n) {
		json_w_object(&w);
		json_w_kv_cstr(&w, "path", c->name);
		json_w_kv_cstr(&w, "format", c->format);
		if (c->dispatch != NO_VALUE)
			json_w_kv_i64(&w, "dispatch", c->dispatch);
		json_w_end(&w);
	}
	json_w_end(&w);
	if (n == MOST_CAPTURES)
		json_w_kv_cstr(
			&w, "more", "there may be more: start the server with a smaller root");
	json_w_end(&w);
	return json_w_finish(&w, e);
}

bool tools_call(
	struct mcp *m, const struct rpc_message *r, struct json_writer *w, struct incore_error *e)
{
	struct arena a;
	struct strbuf out = {0};
	struct call c = {.m = m, .a = &a, .shape = {.limit = RESULT_ROWS}};
	struct str arguments = json_member(r->params, "arguments");
	const char *name;
	bool ok, is_known = true;

	arena_init(&a);
	name = json_text(json_member(r->params, "name"), &a);
	arguments = arguments.n && arguments.p[0] == '{' ? arguments : STR("{}");
	if (name && strcmp(name, "captures") == 0)
		ok = call_captures(m, &a, &out, e);
	else if (name && strcmp(name, "sql") == 0)
		ok = sql_call(m, arguments, &a, &out, e);
	else if (name && find_tool(name, &c.tool))
		ok = (c.question = question_find(c.tool.question)) &&
		     call_question(&c, arguments, &out, e);
	else
		ok = is_known = err_set(
			e, INCORE_USAGE, "no-such-tool", "there is no tool '%s'", name ? name : "");
	if (is_known && ok)
		result_put(w, (struct str){out.p, out.n});
	else if (is_known)
		result_put_error(w, e);
	sb_free(&out);
	sb_free(&c.options);
	arena_deinit(&a);
	return is_known;
}
