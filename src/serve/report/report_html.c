/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_html.c: a report as one page of HTML. Parts: drawings; the page.
 */
#include <string.h>

#include "answer/verdict/summary.h"
#include "base/file.h"
#include "codec/markup.h"
#include "page/write.h"
#include "serve/report/report.h"
#include "serve/session/assets.h"
#include "serve/view/colors.h"
#include "serve/view/view_index.h"

/* --- drawings --------------------------------------------------------------------------------- */

/*
 * Charts of a report: what each track did over time, and where the cycles went.
 */

#define WIDTH 960u
#define LEFT 190u
#define CELLS 240u
#define LANE_HEIGHT 12u
#define MAX_LANES 24u /* fits on a screen together with the rest of the card */
#define BAR_HEIGHT 26u

static void open_svg(struct strbuf *b, unsigned height, const char *title)
{
	sb_printf(b,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" "
		"height=\"%u\" role=\"img\" font-family=\"sans-serif\" font-size=\"11\">"
		"<title>%s</title><rect width=\"%u\" height=\"%u\" fill=\"#ffffff\"/>\n",
		WIDTH, height, WIDTH, height, title, WIDTH, height);
}

static void report_svg_put_label(
	struct strbuf *b, unsigned x, unsigned y, const char *anchor, struct str text)
{
	sb_printf(b, "<text x=\"%u\" y=\"%u\" text-anchor=\"%s\" fill=\"#222222\">", x, y, anchor);
	markup_text(b, str_sub(text, 0, 34));
	sb_puts(b, "</text>\n");
}

/* Finds the class that fills most of each cell; SLOT_COUNT: the cell is empty. */
static void report_svg_cells_of(const struct view *v, track_idx track, uint8_t cells[CELLS])
{
	uint64_t sums[2][LANE_SUMS], end = v->columns->end_cyc;
	struct split_cursor k;
	uint32_t begun;

	split_begin(&k, v->columns, NULL, track);
	split_at(&k, 0, sums[0], &begun);
	for (unsigned c = 0; c < CELLS; c++) {
		uint64_t *a = sums[c % 2], *z = sums[(c + 1) % 2];
		unsigned best = SLOT_COUNT;

		split_at(&k, end * (c + 1) / CELLS, z, &begun);
		for (unsigned s = 0; s < SLOT_COUNT; s++)
			if (z[s] > a[s] && (best == SLOT_COUNT || z[s] - a[s] > z[best] - a[best]))
				best = s;
		cells[c] = (uint8_t)best;
	}
}

static unsigned x_of(unsigned cell)
{
	return LEFT + cell * (WIDTH - LEFT) / CELLS;
}

/* Draws a track: one broad line with gaps per colour. */
static void report_svg_put_lane(const struct view *v, track_idx track, unsigned y, struct strbuf *b)
{
	uint8_t cells[CELLS];

	report_svg_cells_of(v, track, cells);
	for (unsigned s = 0; s < SLOT_COUNT; s++) {
		bool is_open = false;

		for (unsigned c = 0, run; c < CELLS; c = run + (run == c)) {
			for (run = c; run < CELLS && cells[run] == s; run++)
				;
			if (run == c)
				continue;
			if (!is_open)
				sb_printf(
					b, "<path stroke=\"%s\" d=\"", colors_light(v->colors, s));
			sb_printf(b, "M%u %uh%u", x_of(c), y, x_of(run) - x_of(c));
			is_open = true;
		}
		if (is_open)
			sb_puts(b, "\"/>\n");
	}
}

/* Writes the position of a track on the machine, or its name. */
static void report_svg_put_track(
	const struct view *v, track_idx track, unsigned y, struct strbuf *b)
{
	const struct track *t = &v->trace->tracks[track];
	struct strbuf name = {0};

	for (unsigned i = 0; !v->has_pipes && i < TRACK_LEVELS && v->trace->levels[i]; i++)
		sb_printf(&name, "%s%s %lld", i ? " " : "", v->trace->levels[i],
			(long long)t->coord[i]);
	report_svg_put_label(b, LEFT - 6, y, "end", name.n ? str_of(name.p) : str_of(t->name));
	b->failed |= name.failed;
	sb_free(&name);
}

static void report_svg_put_key(
	struct strbuf *b, unsigned i, unsigned n, unsigned y, const char *color)
{
	unsigned x = 4 + i * (WIDTH - 8) / n;

	sb_printf(b, "<rect x=\"%u\" y=\"%u\" width=\"10\" height=\"10\" fill=\"%s\"/>", x, y - 9,
		color);
}

static void report_svg_put_slots(const struct view *v, unsigned y, struct strbuf *b)
{
	for (unsigned i = 0; i < SLOT_COUNT; i++) {
		report_svg_put_key(b, i, SLOT_COUNT, y, colors_light(v->colors, i));
		report_svg_put_label(
			b, 18 + i * (WIDTH - 8) / SLOT_COUNT, y, "start", str_of(slot_name(i)));
	}
}

/* report_svg.c: charts. Lanes of the whole capture by class; the cycles of the card by bucket. */
static bool report_svg_lanes(const struct view *v, struct strbuf *out, struct incore_error *e)
{
	const struct columns *c = v->columns;
	unsigned n = c->n_tracks < MAX_LANES ? c->n_tracks : MAX_LANES;
	unsigned height = n * LANE_HEIGHT + 44;

	if (n == 0 || c->end_cyc == 0)
		return true;
	open_svg(out, height, "what each track executed over time, by class");
	for (unsigned i = 0; i < n; i++)
		report_svg_put_track(
			v, (track_idx)((uint64_t)i * c->n_tracks / n), 10 + i * LANE_HEIGHT, out);
	sb_printf(out, "<g fill=\"none\" stroke-width=\"%u\">\n", LANE_HEIGHT - 2);
	for (unsigned i = 0; i < n; i++)
		report_svg_put_lane(
			v, (track_idx)((uint64_t)i * c->n_tracks / n), 6 + i * LANE_HEIGHT, out);
	sb_printf(out,
		"</g>\n<text x=\"%u\" y=\"%u\" fill=\"#222222\">0</text><text x=\"%u\" y=\"%u\" "
		"text-anchor=\"end\" fill=\"#222222\">",
		LEFT, height - 26, WIDTH - 4, height - 26);
	report_put_count(out, c->end_cyc);
	sb_puts(out, " cycles</text>\n");
	if (n < c->n_tracks)
		sb_printf(out, "<text x=\"4\" y=\"%u\" fill=\"#222222\">%u of %u tracks</text>\n",
			height - 26, n, c->n_tracks);
	report_svg_put_slots(v, height - 8, out);
	sb_puts(out, "</svg>\n");
	return !out->failed || err_nomem(e);
}

static double report_svg_share_of(const struct report_card *c, unsigned bucket)
{
	return 100.0 * (double)c->bucket[bucket] / (double)c->all_cyc;
}

void report_bucket_words(const struct report_card *c, struct strbuf *out)
{
	for (unsigned i = 0; c->all_cyc && i < BUCKET_COUNT; i++)
		sb_printf(out, "%s%s %.1f %%", i ? ", " : "", bucket_name(i),
			report_svg_share_of(c, i));
}

/* report_svg.c: charts. Lanes of the whole capture by class; the cycles of the card by bucket. */
static bool report_svg_buckets(const struct report_card *card, const struct view *v,
	struct strbuf *out, struct incore_error *e)
{
	uint64_t all = card->all_cyc, before = 0;

	if (all == 0)
		return true;
	open_svg(out, BAR_HEIGHT + 30, "where the cycles went, by bucket");
	for (unsigned i = 0; i < BUCKET_COUNT; i++) {
		unsigned x = (unsigned)(before * WIDTH / all), y = BAR_HEIGHT + 22;
		const char *color = colors_light(v->colors, COLOR_OF_BUCKET(i));
		struct strbuf text = {0};

		before += card->bucket[i];
		sb_printf(out, "<rect x=\"%u\" y=\"2\" width=\"%u\" height=\"%u\" fill=\"%s\"/>\n",
			x, (unsigned)(before * WIDTH / all) - x, BAR_HEIGHT, color);
		report_svg_put_key(out, i, BUCKET_COUNT, y, color);
		sb_printf(&text, "%s ", bucket_name(i));
		report_put_count(&text, card->bucket[i]);
		sb_printf(&text, " cycles, %.1f %%", report_svg_share_of(card, i));
		report_svg_put_label(out, 18 + i * (WIDTH - 8) / BUCKET_COUNT, y, "start",
			(struct str){text.p, text.n});
		out->failed |= text.failed;
		sb_free(&text);
	}
	sb_puts(out, "</svg>\n");
	return !out->failed || err_nomem(e);
}

/* --- the page --------------------------------------------------------------------------------- */

/*
 * The viewer, its data and a static first page in one file.
 */

static struct str asset(const char *url)
{
	for (size_t i = 0; i < serve_n_assets; i++)
		if (strcmp(serve_assets[i].url, url) == 0)
			return (struct str){
				(const char *)serve_assets[i].data, serve_assets[i].size};
	return STR("");
}

static const char page_style[] =
	"body{margin:0;background:#fff;color:#1c1d21}"
	".written{max-width:68rem;margin:1.5rem auto;padding:0 1rem;font:15px/1.5 "
	"system-ui,sans-serif;overflow-wrap:anywhere;color:#1c1d21}"
	".written pre,.written .scroll{overflow-x:auto}.written pre,.written td,.written "
	"th{font:12px/1.45 ui-monospace,monospace}.written pre{padding:.6rem .8rem;border:1px "
	"solid #8886;border-radius:4px}.written p{margin:.5rem 0}.written h1{font-size:1.6em;"
	"line-height:1.25;margin:0 0 .3rem}.written "
	"h2{font-size:1.17em;margin:1.6rem 0 .4rem;border-bottom:1px solid #8886}.written "
	"h3{font-size:1em;margin:1rem 0 .3rem}"
	".written .note{border-left:4px solid #b8860b;padding:.2rem .8rem}.written "
	"svg{display:block;max-width:100%;height:auto;margin:.7rem 0}.written "
	"table{border-collapse:collapse;margin:.3rem 0 .6rem}.written td,.written "
	"th{padding:.15rem .6rem;text-align:left;white-space:nowrap}.written "
	"thead th{border-bottom:1px solid #888}.written tbody "
	"tr:nth-child(even){background:#8881}.written .n{text-align:right}.written "
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}.written "
	"dt{font-weight:600}.written dd{margin:0}.written li{margin:.3rem 0}"
	".written .card{border:1px solid #d5d9e0;border-radius:10px;padding:1.1rem 1.4rem;"
	"margin:1rem 0;box-shadow:0 1px 3px #0001}.written .card h2{border:0;margin:.8rem 0 .2rem}"
	".written .verdict{margin:.4rem 0}.written .verdict dd:first-of-type{font-weight:600}.written "
	".launch{margin:0;font-size:1.15em}"
	".written code{font:.9em ui-monospace,monospace}.written .card svg{width:100%}"
	".written .try{margin:0;padding-left:1.3rem}.written .dim{color:#5b6270}"
	"@page{margin:14mm}@media print{.written{max-width:none;margin:0;padding:0;font-size:11px}"
	".written pre,.written td,.written th{font-size:8px}.written td,.written th{padding:.1rem "
	".35rem}.written .scroll{overflow:visible}.written pre{white-space:pre-wrap}.written "
	".card{box-shadow:none}.written h2,.written h3{break-after:avoid}.written svg,.written "
	"tr,.written li,.written dd{break-inside:avoid}.written noscript{display:none}}";

static void report_html_put_groups(const struct page *page, size_t at, struct strbuf *b)
{
	struct block_group g;

	while (page_next_group(page, &at, &g))
		group_write_html(&g, b);
}

/* --- the static page --- */

static void report_html_put_line(
	const struct report *r, const struct report_line *l, struct strbuf *b)
{
	sb_puts(b, "<h3>");
	markup_text(b, str_of(r->view->trace->sources[l->source].path));
	report_put_cost(r, l, b);
	sb_puts(b, "</h3>\n");
	if (!l->why.n) {
		html_text(b, l->text);
		return;
	}
	sb_puts(b, "<p>");
	markup_text(b, l->why);
	sb_puts(b, "</p>\n");
}

/* Writes the text of the h1 and of the window's title. */
static void report_html_put_title(const struct report *r, struct strbuf *b)
{
	struct strbuf title = {0};

	report_title(r, &title);
	markup_text(b, (struct str){title.p, title.n});
	b->failed |= title.failed;
	sb_free(&title);
}

/* Writes the heading of a card, if there are two. */
static void report_html_put_capture(const struct report *r, unsigned capture, struct strbuf *b)
{
	struct strbuf title = {0};

	report_capture_title(r, capture, &title);
	sb_puts(b, "<h2>");
	markup_text(b, (struct str){title.p, title.n});
	sb_puts(b, "</h2>\n");
	b->failed |= title.failed;
	sb_free(&title);
}

static void report_html_put_notes(const struct report *r, struct strbuf *b)
{
	sb_puts(b, "<p class=\"note\">Evidence: <strong>");
	report_evidence_words(r, b);
	sb_printf(b, "</strong>. %s</p>\n", report_evidence(r));
	if (r->left_out.n) {
		sb_puts(b, "<p class=\"note\">Not in this file: ");
		markup_text(b, r->left_out);
		sb_puts(b, "</p>\n");
	}
}

static void put_tries(const struct report_card *c, struct strbuf *b)
{
	if (!c->n_advice)
		return;
	sb_puts(b, "<h2>What to try first</h2>\n<ol class=\"try\">\n");
	for (size_t i = 0; i < c->n_advice; i++) {
		const struct advice_row *a = &c->advice[i];

		sb_puts(b, "<li><strong>");
		markup_text(b, str_of(a->rule));
		sb_puts(b, "</strong> (");
		markup_text(b, str_of(a->cause));
		sb_puts(b, "), ");
		markup_text(b, str_of(a->place));
		sb_puts(b, ": ");
		markup_text(b, str_of(a->experiment));
		sb_puts(b, " <span class=\"dim\">(");
		report_put_gain(a, b);
		sb_puts(b, ")</span></li>\n");
	}
	sb_puts(b, "</ol>\n");
}

static void put_screen(const struct verdict_screen *s, struct strbuf *b)
{
	sb_puts(b, "<p class=\"launch\"><strong>");
	markup_text(b, str_of(s->kernel));
	sb_puts(b, "</strong> ");
	markup_text(b, str_of(s->launch ? s->launch : ""));
	sb_puts(b, "</p>\n<dl class=\"verdict\">\n");
	for (unsigned i = 0; i < VERDICT_LINES; i++) {
		struct verdict_line l = verdict_line(s, i);

		if (!l.text)
			continue;
		sb_printf(b, "<dt>%s</dt><dd>", l.head);
		markup_text(b, str_of(l.text));
		sb_puts(b, "</dd>\n");
	}
	sb_puts(b, "</dl>\n");
}

/* Writes the first screen: the verdict, the split, the timeline, what to try. */
static bool report_html_put_card(
	const struct report *r, unsigned capture, struct strbuf *b, struct incore_error *e)
{
	const struct report_card *c = r->card[capture];
	const struct view *v = capture ? r->second : r->view;

	if (r->second)
		report_html_put_capture(r, capture, b);
	sb_puts(b, "<section class=\"card\">\n");
	put_screen(c->verdict, b);
	if (!report_svg_buckets(c, v, b, e) || !report_svg_lanes(v, b, e))
		return false;
	put_tries(c, b);
	sb_puts(b, "</section>\n");
	return true;
}

static bool put_written(const struct report *r, struct strbuf *b, struct incore_error *e)
{
	struct strbuf health = {0};

	sb_puts(b, "<main class=\"written\">\n<h1>");
	report_html_put_title(r, b);
	sb_puts(b, "</h1>\n");
	report_html_put_notes(r, b);
	if (r->difference) {
		sb_puts(b, r->is_compared ? "<h2>What changed from A to B</h2>\n" : "");
		report_html_put_groups(r->difference, 0, b);
	}
	if (!report_html_put_card(r, 0, b, e) || (r->second && !report_html_put_card(r, 1, b, e)))
		return false;
	if (r->second)
		sb_puts(b, "<h2>All of A</h2>\n");
	report_html_put_groups(r->summary, report_after_card(r->summary), b);
	report_html_put_groups(r->code, 0, b);
	if (!report_put_lines(r, "<h2>", "</h2>\n", report_html_put_line, b))
		return err_nomem(e);
	sb_puts(b, "<h2>All findings, with their evidence</h2>\n");
	blocks_as_text(r->health->blocks.v, r->health->blocks.n, &health);
	html_text(b, (struct str){health.p, health.n});
	b->failed |= health.failed;
	sb_free(&health);
	sb_puts(b, "<h2>How to reproduce</h2>\n");
	report_html_put_groups(r->again, 0, b);
	sb_puts(b, "<noscript><p class=\"note\">This is the written part of the report. With "
		   "scripts allowed the same file shows the timeline and all tables.</p></noscript>"
		   "\n</main>\n");
	return !b->failed || err_nomem(e);
}

/* Inserts the viewer's style and script. If the browser cannot run it, the static page stays. */
static const char boot_script[] =
	"(async()=>{const n=document.currentScript.nonce,get=async i=>new Response(new "
	"Blob([Uint8Array.from(atob(document.getElementById(i).textContent),c=>c.charCodeAt(0))])"
	".stream().pipeThrough(new DecompressionStream('gzip'))).text(),add=(t,p,x)=>{const "
	"e=document.createElement(t);e.nonce=n;e.textContent=x;p.append(e)};"
	"const x=await Promise.all([get('incore-style'),get('incore-script')]);"
	"add('style',document.head,x[0]);add('script',document.body,x[1])})()";

static bool put_data(struct strbuf *b, const char *id, struct str bytes, struct incore_error *e)
{
	sb_printf(b, "<script type=\"text/plain\" id=\"%s\">\n", id);
	if (!report_pack(bytes, b))
		return err_nomem(e);
	sb_puts(b, "\n</script>\n");
	return true;
}

static bool report_html_put_answers(
	const struct report *r, struct strbuf *b, struct incore_error *e)
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

static void report_html_put_head(const struct report *r, struct strbuf *b)
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
	report_html_put_title(r, b);
	sb_printf(b, " - incore</title>\n<style nonce=\"%s\">", nonce);
	sb_puts(b, page_style);
	sb_puts(b, "</style>\n</head>\n<body data-report=\"1\">\n<div id=\"app\">\n");
}

bool report_html(const struct report *r, FILE *out, struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok;

	report_html_put_head(r, &b);
	ok = put_written(r, &b, e);
	sb_puts(&b, "</div>\n");
	ok = ok && report_html_put_answers(r, &b, e) &&
	     put_data(&b, "incore-columns", r->blob[0], e) &&
	     (!r->blob[1].n || put_data(&b, "incore-columns-1", r->blob[1], e)) &&
	     put_data(&b, "incore-core", asset("/incore-core.wasm"), e);
	ok = ok && put_data(&b, "incore-style", asset("/incore.css"), e) &&
	     put_data(&b, "incore-script", asset("/incore.js"), e);
	sb_printf(&b, "<script nonce=\"%s\">%s</script>\n</body>\n</html>\n", r->view->hash,
		boot_script);
	if (ok && b.failed)
		ok = err_nomem(e);
	if (ok && fwrite(b.p, 1, b.n, out) != b.n)
		ok = err_write(e);
	sb_free(&b);
	return ok;
}
