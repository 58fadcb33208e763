/* SPDX-License-Identifier: Apache-2.0 */
/* resources.c: resources that a client reads without a tool: captures, reports, answer schemas. */
#include "base/process.h"
#include "mcp/internal.h"

#define CAPTURE "incore://capture/"
#define REPORT "incore://report/"
#define SCHEMA "incore://schema/"
#define REPORT_LIMIT_MS 120000u

static void put_resource(
	struct json_writer *w, const char *kind, const struct found_capture *c, const char *mime)
{
	struct strbuf uri = {0};

	sb_printf(&uri, "incore://%s/%s", kind, c->name);
	json_w_object(w);
	json_w_kv_cstr(w, "uri", uri.p);
	json_w_kv_cstr(w, "name", uri.p ? uri.p + strlen("incore://") : NULL);
	json_w_kv_cstr(w, "description", c->format);
	json_w_kv_cstr(w, "mimeType", mime);
	json_w_end(w);
	sb_free(&uri);
}

bool resources_list(struct mcp *m, struct json_writer *w, struct incore_error *e)
{
	struct found_capture *v;
	struct arena a;
	size_t n;
	bool ok;

	arena_init(&a);
	ok = root_captures(m, &a, &v, &n, e);
	if (ok) {
		json_w_object(w);
		json_w_kv_array(w, "resources");
		EACH (const struct found_capture, c, v, n) {
			put_resource(w, "capture", c, "application/json");
			put_resource(w, "report", c, "text/markdown");
		}
		json_w_end(w);
		json_w_end(w);
	}
	arena_deinit(&a);
	return ok;
}

static void put_template(struct json_writer *w, const char *uri, const char *name, const char *doc)
{
	json_w_object(w);
	json_w_kv_cstr(w, "uriTemplate", uri);
	json_w_kv_cstr(w, "name", name);
	json_w_kv_cstr(w, "description", doc);
	json_w_end(w);
}

void resources_templates(struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_array(w, "resourceTemplates");
	put_template(w, CAPTURE "{+path}", "capture", "what a capture is, as incore info says");
	put_template(w, REPORT "{+path}", "report",
		"a written report on a capture, at most 60 lines of Markdown");
	put_template(w, SCHEMA "{question}", "schema",
		"what the JSON of a question holds, column by column");
	json_w_end(w);
	json_w_end(w);
}

static bool is_over(void *ctx)
{
	return progress_is_cancelled(((struct mcp *)ctx)->progress);
}

/* Makes a report by running the program itself, like any user. */
static bool read_report(struct mcp *m, const char *path, struct strbuf *out, struct incore_error *e)
{
	const char *const argv[] = {"/proc/self/exe", "report", "--format", "md", "--brief", "-q",
		"-o", "-", path, NULL};
	struct process_spec spec = {.argv = argv,
		.output = out,
		.limit_ms = REPORT_LIMIT_MS,
		.is_cancelled = is_over,
		.cancel_ctx = m};
	struct process_result r;

	if (!process_run(&spec, &r, e))
		return false;
	if (r.end == PROCESS_EXITED && r.code == 0)
		return true;
	return err_set(e, INCORE_FAILED, "no-report", "no report: %.*s",
		(int)(out->n < 400 ? out->n : 400), out->p ? out->p : "");
}

static bool read_info(struct mcp *m, const char *path, struct strbuf *out, struct incore_error *e)
{
	struct answer answer = {0};
	struct json_writer w;
	struct request r;
	bool ok;

	if (!request_init(&r, question_find("info"), e))
		return false;
	r.paths = &path;
	r.n_paths = 1;
	r.captures = &m->captures;
	r.pool = m->o->pool;
	r.progress = m->progress;
	ok = answer_ask(&r, &answer, e);
	if (ok) {
		json_w_buf(&w, out, 1);
		answer_json(&answer, &w);
		ok = json_w_finish(&w, e);
	}
	answer_deinit(&answer);
	request_deinit(&r);
	return ok;
}

static bool read_schema(const char *name, struct strbuf *out, struct incore_error *e)
{
	const struct question *q = question_find(name);
	struct json_writer w;

	if (!q)
		return err_set(
			e, INCORE_USAGE, "no-such-question", "there is no question '%s'", name);
	json_w_buf(&w, out, 1);
	envelope_schema(q->name, capture_inputs, q->records, &w);
	return json_w_finish(&w, e);
}

static const char *below(const char *uri, const char *prefix)
{
	return strncmp(uri, prefix, strlen(prefix)) == 0 ? uri + strlen(prefix) : NULL;
}

bool resources_read(struct mcp *m, const char *uri, struct json_writer *w, struct incore_error *e)
{
	const char *capture = below(uri, CAPTURE), *report = below(uri, REPORT),
		   *schema = below(uri, SCHEMA);
	const char *name = capture ? capture : report, *path;
	struct strbuf text = {0};
	struct arena a;
	bool ok;

	arena_init(&a);
	path = name ? root_path(m, name, &a, e) : NULL;
	if (schema)
		ok = read_schema(schema, &text, e);
	else if (!name)
		ok = err_set(e, INCORE_USAGE, "not-found", "there is no resource '%s'", uri);
	else
		ok = path &&
		     (report ? read_report(m, path, &text, e) : read_info(m, path, &text, e));
	if (ok) {
		json_w_object(w);
		json_w_kv_array(w, "contents");
		json_w_object(w);
		json_w_kv_cstr(w, "uri", uri);
		json_w_kv_cstr(w, "mimeType", report ? "text/markdown" : "application/json");
		json_w_kv_str(w, "text", (struct str){text.p, text.n});
		json_w_end(w);
		json_w_end(w);
		json_w_end(w);
	}
	sb_free(&text);
	arena_deinit(&a);
	return ok;
}
