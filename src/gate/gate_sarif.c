/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_sarif.c: failures as SARIF 2.1.0: one result per gate, on the source line of the largest
 * cause, with the other causes as related places. Gates that passed are no results: SARIF viewers
 * show each result as a defect. The fingerprint is the gate, not the figures or the line, so that a
 * failure that persists is one alert.
 */
#include "base/sha256.h"
#include "gate/gate.h"

#define RULES_MAX 64u /* more than there are distinct metrics */

struct rules {
	const char *v[RULES_MAX];
	unsigned n;
};

static unsigned gate_sarif_rule_of(struct rules *x, const char *metric)
{
	unsigned i = 0;

	while (i < x->n && strcmp(x->v[i], metric) != 0)
		i++;
	if (i == x->n && i < RULES_MAX)
		x->v[x->n++] = metric;
	return i;
}

/* In a message braces must be doubled, and brackets before parentheses would be a link. */
static void gate_sarif_put_text(struct strbuf *b, const char *text)
{
	for (; *text; text++) {
		if (*text == '{' || *text == '}')
			sb_putc(b, *text);
		sb_putc(b, *text);
		if (text[0] == ']' && text[1] == '(')
			sb_putc(b, ' ');
	}
}

/* Frees the text. */
static void put_built(struct json_writer *w, const char *key, struct strbuf *text)
{
	json_w_kv_str(w, key, (struct str){text->p ? text->p : "", text->n});
	w->is_failed |= text->failed;
	sb_free(text);
}

static void put_message(struct json_writer *w, const char *key, struct strbuf *text)
{
	json_w_kv_row_object(w, key);
	put_built(w, "text", text);
	json_w_end(w);
}

static void put_rule_id(struct json_writer *w, const char *key, const char *metric)
{
	struct strbuf id = {0};

	sb_printf(&id, "incore/%s", metric);
	put_built(w, key, &id);
}

static void put_words(struct json_writer *w, const char *key, const char *text, const char *more)
{
	struct strbuf b = {0};

	gate_sarif_put_text(&b, text);
	gate_sarif_put_text(&b, more);
	put_message(w, key, &b);
}

static void put_rules(struct json_writer *w, const struct gate_report *r, const struct rules *x)
{
	json_w_kv_array(w, "rules");
	for (unsigned i = 0; i < x->n; i++) {
		json_w_object(w);
		put_rule_id(w, "id", x->v[i]);
		put_words(w, "shortDescription", x->v[i], " is beyond its limit");
		put_words(w, "fullDescription", "A gate does not hold for a kernel: ", x->v[i]);
		put_words(w, "help", r->help, "");
		json_w_kv_row_object(w, "defaultConfiguration");
		json_w_kv_cstr(w, "level", "error");
		json_w_end(w);
		json_w_kv_row_object(w, "properties");
		json_w_kv_row(w, "tags");
		json_w_cstr(w, "performance");
		json_w_end(w);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_artifact(struct json_writer *w, struct str path, uint64_t line)
{
	struct strbuf uri = {0};

	gate_put_uri(&uri, path);
	json_w_kv_object(w, "physicalLocation");
	json_w_kv_row_object(w, "artifactLocation");
	put_built(w, "uri", &uri);
	if (path.n && path.p[0] != '/')
		json_w_kv_cstr(w, "uriBaseId", "%SRCROOT%");
	json_w_end(w);
	json_w_kv_row_object(w, "region");
	json_w_kv_u64(w, "startLine", line);
	json_w_end(w);
	json_w_end(w);
}

/* The cause whose line to show: the first in local sources, else the first with a line; n: none. */
static size_t gate_sarif_choose(const struct gate_outcome *g, struct gate_place *out)
{
	const struct gate_cause *v = g->causes.v;
	size_t at = g->causes.n;
	struct gate_place p;

	for (size_t i = 0; i < g->causes.n; i++) {
		if (!v[i].source || !gate_place(v[i].source, &p))
			continue;
		if (at == g->causes.n || p.is_found) {
			at = i;
			*out = p;
		}
		if (p.is_found)
			break;
	}
	return at;
}

static void put_cause(struct strbuf *b, const struct gate_cause *c)
{
	sb_puts(b, c->figure);
	sb_puts(b, " of ");
	gate_sarif_put_text(b, c->what);
}

static void put_related(struct json_writer *w, const struct gate_outcome *g, size_t but)
{
	const struct gate_cause *v = g->causes.v;
	struct gate_place p;

	json_w_kv_array(w, "relatedLocations");
	for (size_t i = 0; i < g->causes.n; i++) {
		struct strbuf text = {0};

		if (i == but || !v[i].source || !gate_place(v[i].source, &p))
			continue;
		put_cause(&text, &v[i]);
		json_w_object(w);
		put_artifact(w, p.path, p.line);
		put_message(w, "message", &text);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_fingerprint(
	struct json_writer *w, const struct gate_report *r, const struct gate_outcome *g)
{
	const char *const parts[] = {r->verb, g->metric, g->name, g->kernel ? g->kernel : ""};
	struct sha256 s;
	char hex[65];

	sha256_init(&s);
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		sha256_add(&s, parts[i], strlen(parts[i]) + 1);
	sha256_hex(&s, hex);
	json_w_kv_row_object(w, "partialFingerprints");
	json_w_kv_cstr(w, "incoreGate/v1", hex);
	json_w_end(w);
}

static void put_locations(struct json_writer *w, const struct gate_outcome *g)
{
	struct gate_place p = {.path = str_of(g->input), .line = 1};
	size_t at = gate_sarif_choose(g, &p);

	json_w_kv_array(w, "locations");
	json_w_object(w);
	put_artifact(w, p.path, p.line);
	if (g->kernel) {
		json_w_kv_array(w, "logicalLocations");
		json_w_row_object(w);
		json_w_kv_cstr(w, "name", g->kernel);
		json_w_kv_cstr(w, "kind", "function");
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_end(w);
	put_related(w, g, at);
}

static void gate_sarif_put_result(struct json_writer *w, const struct gate_report *r,
	const struct gate_outcome *g, unsigned rule)
{
	const struct gate_cause *v = g->causes.v;
	struct strbuf text = {0};

	gate_sarif_put_text(&text, g->message);
	sb_puts(&text, "; evidence: ");
	gate_sarif_put_text(&text, g->evidence);
	for (size_t i = 0; i < g->causes.n; i++) {
		sb_puts(&text, i ? "; " : ". From ");
		put_cause(&text, &v[i]);
	}
	json_w_object(w);
	put_rule_id(w, "ruleId", g->metric);
	if (rule < RULES_MAX)
		json_w_kv_u64(w, "ruleIndex", rule);
	json_w_kv_cstr(w, "level", "error");
	put_message(w, "message", &text);
	put_locations(w, g);
	put_fingerprint(w, r, g);
	json_w_kv_object(w, "properties");
	json_w_key(w, "incore");
	record_json(r->record, g->row, w);
	json_w_end(w);
	json_w_end(w);
}

static void put_notification(struct json_writer *w, const char *level, const char *message)
{
	struct strbuf text = {0};

	gate_sarif_put_text(&text, message);
	json_w_object(w);
	json_w_kv_cstr(w, "level", level);
	put_message(w, "message", &text);
	json_w_end(w);
}

/* Reports losses while reading, and gates without a verdict. */
static void put_invocation(struct json_writer *w, const struct gate_report *r)
{
	json_w_kv_array(w, "invocations");
	json_w_object(w);
	json_w_kv_bool(w, "executionSuccessful", true);
	json_w_kv_u64(w, "exitCode", gate_count(r, GATE_FAILED) ? INCORE_NO : INCORE_OK);
	json_w_kv_array(w, "toolExecutionNotifications");
	for (size_t i = 0; i < r->n_warnings; i++)
		put_notification(w, "warning", r->warnings[i]);
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].state == GATE_UNTOLD)
			put_notification(w, "note", r->v[i].message);
	json_w_end(w);
	json_w_end(w);
	json_w_end(w);
}

void gate_put_sarif(const struct gate_report *r, struct strbuf *out)
{
	struct rules rules = {.n = 0};
	struct json_writer w;

	for (size_t i = 0; i < r->n; i++)
		gate_sarif_rule_of(&rules, r->v[i].metric);
	json_w_buf(&w, out, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	json_w_kv_cstr(&w, "version", "2.1.0");
	json_w_kv_array(&w, "runs");
	json_w_object(&w);
	json_w_kv_object(&w, "tool");
	json_w_kv_object(&w, "driver");
	json_w_kv_cstr(&w, "name", "incore");
	json_w_kv_cstr(&w, "version", INCORE_VERSION);
	put_rules(&w, r, &rules);
	json_w_end(&w);
	json_w_end(&w);
	put_invocation(&w, r);
	json_w_kv_array(&w, "results");
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].state == GATE_FAILED)
			gate_sarif_put_result(
				&w, r, &r->v[i], gate_sarif_rule_of(&rules, r->v[i].metric));
	json_w_end(&w);
	json_w_end(&w);
	json_w_end(&w);
	json_w_end(&w);
	out->failed |= !json_w_finish(&w, NULL);
	sb_putc(out, '\n');
}
