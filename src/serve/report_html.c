/* SPDX-License-Identifier: Apache-2.0 */
/* report_html.c: the viewer, its data and a written first page in one file. */
#include <string.h>

#include "serve/assets.h"
#include "serve/report.h"

static struct str asset(const char *url)
{
	for (size_t i = 0; i < serve_n_assets; i++)
		if (strcmp(serve_assets[i].url, url) == 0)
			return (struct str){
				(const char *)serve_assets[i].data, serve_assets[i].size};
	return STR("");
}

static const char page_style[] =
	".written{max-width:62rem;margin:1.5rem auto;padding:0 1rem;font:15px/1.5 "
	"system-ui,sans-serif}"
	".written pre{overflow-x:auto;font:12px/1.45 ui-monospace,monospace;padding:.6rem .8rem;"
	"border:1px solid #8886;border-radius:4px}.written h1{font-size:1.4rem}.written "
	"h2{font-size:1.05rem;margin:1.4rem 0 .4rem}.written .verdict{font-size:1.05rem}"
	".written .note{border-left:4px solid #b8860b;padding:.2rem .8rem}.written "
	"svg{max-width:100%;height:auto}.written mark{font-weight:600}";

static void put_estimate(const struct trace *t, struct strbuf *b)
{
	const char *word = evidence_name(t->meta.evidence);

	sb_printf(b, "<p class=\"note\">Evidence: <strong>%s</strong>.", word);
	if (t->meta.evidence == EVIDENCE_ESTIMATE)
		sb_puts(b, " These figures are an estimate of a model, not a measurement.");
	if (t->meta.evidence == EVIDENCE_VENDOR_SIMULATOR)
		sb_puts(b, " These figures come from a vendor's simulator, not from hardware.");
	if (t->meta.evidence == EVIDENCE_HARDWARE_SAMPLE)
		sb_puts(b, " These figures are samples: counts, not cycles.");
	sb_puts(b, "</p>\n");
}

static void put_block(const struct report_block *block, bool is_first, struct strbuf *b)
{
	if (block->title.n) {
		sb_puts(b, "<h2>");
		report_escape(b, block->title);
		sb_puts(b, "</h2>\n");
	}
	sb_puts(b, !block->is_prose ? "<pre>" : is_first ? "<p class=\"verdict\">" : "<p>");
	report_escape(b, block->text);
	sb_puts(b, block->is_prose ? "</p>\n" : "</pre>\n");
}

static void put_source(const struct view *v, struct strbuf *b)
{
	struct report_source s;
	struct str line;

	if (!report_hottest_source(v, &s))
		return;
	sb_puts(b, "<h2>The costliest source line</h2>\n<p>");
	report_escape(b, str_of(s.path));
	sb_printf(b, ":%u</p>\n<pre>", s.marked);
	for (uint32_t n = s.first; str_cut(&s.lines, "\n", &line); n++) {
		sb_printf(b, "%s%5u  ", n == s.marked ? "<mark>" : "", n);
		report_escape(b, line);
		sb_puts(b, n == s.marked ? "</mark>\n" : "\n");
	}
	sb_puts(b, "</pre>\n");
}

static bool put_written(const struct report *r, struct strbuf *b, struct incore_error *e)
{
	const struct trace *t = r->view->trace;
	struct str rest = r->summary;
	struct report_block block;

	sb_puts(b, "<main class=\"written\">\n<h1>");
	report_escape(b, str_of(t->meta.kernel ? t->meta.kernel : "kernel of unknown name"));
	sb_puts(b, "</h1>\n");
	put_estimate(t, b);
	if (r->left_out.n) {
		sb_puts(b, "<p class=\"note\">Not in this file: ");
		report_escape(b, r->left_out);
		sb_puts(b, "</p>\n");
	}
	if (report_next_block(&rest, &block)) /* the verdict */
		put_block(&block, true, b);
	if (!report_svg_buckets(r->view, b, e) || !report_svg_lanes(r->view, b, e))
		return false;
	while (report_next_block(&rest, &block))
		put_block(&block, false, b);
	put_source(r->view, b);
	if (r->difference.n) {
		sb_puts(b, "<h2>Difference to the second capture</h2>\n<pre>");
		report_escape(b, r->difference);
		sb_puts(b, "</pre>\n");
	}
	sb_puts(b, "<h2>Findings</h2>\n<pre>");
	report_escape(b, r->health);
	sb_puts(b, "</pre>\n<h2>How to reproduce</h2>\n<pre>");
	report_escape(b, r->command);
	sb_puts(b, "</pre>\n</main>\n");
	return !b->failed || err_nomem(e);
}

/* A script may not hold its own end tag; in a string "<\/" is the same. */
static void put_script(struct strbuf *b, struct str js)
{
	ptrdiff_t at;

	while ((at = str_find(js, "</script")) >= 0) {
		sb_str(b, str_sub(js, 0, (size_t)at));
		sb_puts(b, "<\\/script");
		js = str_sub(js, (size_t)at + 8, js.n);
	}
	sb_str(b, js);
}

static bool put_data(struct strbuf *b, const char *id, struct str bytes, struct incore_error *e)
{
	sb_printf(b, "<script type=\"text/plain\" id=\"%s\">\n", id);
	if (!report_pack(bytes, b))
		return err_nomem(e);
	sb_puts(b, "\n</script>\n");
	return true;
}

static bool put_answers(const struct report *r, struct strbuf *b, struct incore_error *e)
{
	struct strbuf all = {0};
	struct json_writer w;
	bool ok;

	sb_putc(&all, '{');
	for (size_t i = 0; i < r->n_answers; i++) {
		struct strbuf key = {0};

		json_w_buf(&w, &key, 0);
		json_w_cstr(&w, r->answers[i].question);
		if (i)
			sb_puts(&all, ",\n");
		sb_add(&all, key.p ? key.p : "\"\"", key.p ? key.n : 2);
		sb_putc(&all, ':');
		sb_str(&all, r->answers[i].json);
		all.failed |= key.failed;
		sb_free(&key);
	}
	sb_putc(&all, '}');
	ok = !all.failed && put_data(b, "incore-answers", (struct str){all.p, all.n}, e);
	if (all.failed)
		err_nomem(e);
	sb_free(&all);
	return ok;
}

static void put_head(const struct report *r, struct strbuf *b)
{
	const char *nonce = r->view->hash;

	sb_puts(b, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	sb_printf(b,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'nonce-%s' 'wasm-unsafe-eval'; style-src 'nonce-%s'; img-src data: "
		"blob:; "
		"base-uri 'none'; form-action 'none'\">\n",
		nonce, nonce);
	sb_puts(b, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		   "<meta name=\"color-scheme\" content=\"light dark\">\n"
		   "<meta name=\"generator\" content=\"incore " INCORE_VERSION "\">\n<title>");
	report_escape(
		b, str_of(r->view->trace->meta.kernel ? r->view->trace->meta.kernel : "kernel"));
	sb_printf(b, " - incore</title>\n<style nonce=\"%s\">", nonce);
	sb_str(b, asset("/incore.css"));
	sb_puts(b, page_style);
	sb_puts(b, "</style>\n</head>\n<body data-report=\"1\">\n<div id=\"app\">\n");
}

bool report_html(const struct report *r, FILE *out, struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok;

	put_head(r, &b);
	ok = put_written(r, &b, e);
	sb_puts(&b, "</div>\n");
	ok = ok && put_answers(r, &b, e) && put_data(&b, "incore-columns", r->blob[0], e) &&
	     (!r->blob[1].n || put_data(&b, "incore-columns-1", r->blob[1], e)) &&
	     put_data(&b, "incore-core", asset("/incore-core.wasm"), e);
	sb_printf(&b, "<script nonce=\"%s\">", r->view->hash);
	put_script(&b, asset("/incore.js"));
	sb_puts(&b, "</script>\n</body>\n</html>\n");
	if (ok && b.failed)
		ok = err_nomem(e);
	if (ok && fwrite(b.p, 1, b.n, out) != b.n)
		ok = err_set(e, INCORE_FAILED, "write-failed", "the report cannot be written");
	sb_free(&b);
	return ok;
}
