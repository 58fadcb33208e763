/* SPDX-License-Identifier: Apache-2.0 */
/* report_svg.c: charts of a report: what each track did over time, and where the cycles went. */
#include "codec/markup.h"
#include "serve/report/report.h"
#include "serve/view/colors.h"
#include "serve/view/view_index.h"

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

static void put_label(struct strbuf *b, unsigned x, unsigned y, const char *anchor, struct str text)
{
	sb_printf(b, "<text x=\"%u\" y=\"%u\" text-anchor=\"%s\" fill=\"#222222\">", x, y, anchor);
	markup_text(b, str_sub(text, 0, 34));
	sb_puts(b, "</text>\n");
}

/* Finds the class that fills most of each cell; SLOT_COUNT: the cell is empty. */
static void cells_of(const struct view *v, track_idx track, uint8_t cells[CELLS])
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
static void put_lane(const struct view *v, track_idx track, unsigned y, struct strbuf *b)
{
	uint8_t cells[CELLS];

	cells_of(v, track, cells);
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
static void put_track(const struct view *v, track_idx track, unsigned y, struct strbuf *b)
{
	const struct track *t = &v->trace->tracks[track];
	struct strbuf name = {0};

	for (unsigned i = 0; !v->has_pipes && i < TRACK_LEVELS && v->trace->levels[i]; i++)
		sb_printf(&name, "%s%s %lld", i ? " " : "", v->trace->levels[i],
			(long long)t->coord[i]);
	put_label(b, LEFT - 6, y, "end", name.n ? str_of(name.p) : str_of(t->name));
	b->failed |= name.failed;
	sb_free(&name);
}

static void put_key(struct strbuf *b, unsigned i, unsigned n, unsigned y, const char *color)
{
	unsigned x = 4 + i * (WIDTH - 8) / n;

	sb_printf(b, "<rect x=\"%u\" y=\"%u\" width=\"10\" height=\"10\" fill=\"%s\"/>", x, y - 9,
		color);
}

static void put_slots(const struct view *v, unsigned y, struct strbuf *b)
{
	for (unsigned i = 0; i < SLOT_COUNT; i++) {
		put_key(b, i, SLOT_COUNT, y, colors_light(v->colors, i));
		put_label(b, 18 + i * (WIDTH - 8) / SLOT_COUNT, y, "start", str_of(slot_name(i)));
	}
}

bool report_svg_lanes(const struct view *v, struct strbuf *out, struct incore_error *e)
{
	const struct columns *c = v->columns;
	unsigned n = c->n_tracks < MAX_LANES ? c->n_tracks : MAX_LANES;
	unsigned height = n * LANE_HEIGHT + 44;

	if (n == 0 || c->end_cyc == 0)
		return true;
	open_svg(out, height, "what each track executed over time, by class");
	for (unsigned i = 0; i < n; i++)
		put_track(v, (track_idx)((uint64_t)i * c->n_tracks / n), 10 + i * LANE_HEIGHT, out);
	sb_printf(out, "<g fill=\"none\" stroke-width=\"%u\">\n", LANE_HEIGHT - 2);
	for (unsigned i = 0; i < n; i++)
		put_lane(v, (track_idx)((uint64_t)i * c->n_tracks / n), 6 + i * LANE_HEIGHT, out);
	sb_printf(out,
		"</g>\n<text x=\"%u\" y=\"%u\" fill=\"#222222\">0</text><text x=\"%u\" y=\"%u\" "
		"text-anchor=\"end\" fill=\"#222222\">",
		LEFT, height - 26, WIDTH - 4, height - 26);
	report_put_count(out, c->end_cyc);
	sb_puts(out, " cycles</text>\n");
	if (n < c->n_tracks)
		sb_printf(out, "<text x=\"4\" y=\"%u\" fill=\"#222222\">%u of %u tracks</text>\n",
			height - 26, n, c->n_tracks);
	put_slots(v, height - 8, out);
	sb_puts(out, "</svg>\n");
	return !out->failed || err_nomem(e);
}

static double share_of(const struct report_card *c, unsigned bucket)
{
	return 100.0 * (double)c->bucket[bucket] / (double)c->all_cyc;
}

void report_bucket_words(const struct report_card *c, struct strbuf *out)
{
	for (unsigned i = 0; c->all_cyc && i < BUCKET_COUNT; i++)
		sb_printf(out, "%s%s %.1f %%", i ? ", " : "", bucket_name(i), share_of(c, i));
}

bool report_svg_buckets(const struct report_card *card, const struct view *v, struct strbuf *out,
	struct incore_error *e)
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
		put_key(out, i, BUCKET_COUNT, y, color);
		sb_printf(&text, "%s ", bucket_name(i));
		report_put_count(&text, card->bucket[i]);
		sb_printf(&text, " cycles, %.1f %%", share_of(card, i));
		put_label(out, 18 + i * (WIDTH - 8) / BUCKET_COUNT, y, "start",
			(struct str){text.p, text.n});
		out->failed |= text.failed;
		sb_free(&text);
	}
	sb_puts(out, "</svg>\n");
	return !out->failed || err_nomem(e);
}
