/* SPDX-License-Identifier: Apache-2.0 */
/* report_svg.c: pictures of a report: what each track did over time, and where the cycles went. */
#include "serve/report.h"
#include "serve/view_index.h"

#define WIDTH 960u
#define LEFT 150u
#define CELLS 240u
#define LANE_HEIGHT 10u
#define MAX_LANES 48u
#define BAR_HEIGHT 26u

static const char *const slot_colors[SLOT_COUNT] = {"#594e03", "#a16309", "#02411d", "#5f966e",
	"#4597df", "#227284", "#e4743e", "#62284d", "#35037e", "#b2244b", "#0d1416", "#6c6865"};
static const char *const bucket_colors[BUCKET_COUNT] = {
	"#0397e1", "#7e0000", "#b88c27", "#6a6469", "#2e1181"};

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
	report_escape(b, str_sub(text, 0, 26));
	sb_puts(b, "</text>\n");
}

/* One track: runs of cells of one colour. */
static void put_lane(const struct view *v, track_idx track, unsigned y, struct strbuf *b)
{
	uint64_t sums[2][LANE_SUMS], end = v->columns->end_cyc;
	struct split_cursor k;
	unsigned run = 0, last = SLOT_COUNT;
	uint32_t begun;

	split_begin(&k, v->columns, NULL, track);
	split_at(&k, 0, sums[0], &begun);
	for (unsigned c = 0; c <= CELLS; c++) {
		uint64_t *a = sums[c % 2], *z = sums[(c + 1) % 2];
		unsigned best = SLOT_COUNT;

		if (c < CELLS) {
			split_at(&k, end * (c + 1) / CELLS, z, &begun);
			for (unsigned s = 0; s < SLOT_COUNT; s++)
				if (z[s] > a[s] &&
					(best == SLOT_COUNT || z[s] - a[s] > z[best] - a[best]))
					best = s;
		}
		if (best == last && c < CELLS)
			continue;
		if (last < SLOT_COUNT)
			sb_printf(b,
				"<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" "
				"fill=\"%s\"/>\n",
				LEFT + run * (WIDTH - LEFT) / CELLS, y,
				(c - run) * (WIDTH - LEFT) / CELLS, LANE_HEIGHT - 2,
				slot_colors[last]);
		last = best;
		run = c;
	}
}

static void put_legend(struct strbuf *b, unsigned y, const char *const *colors, unsigned n,
	const char *(*name)(unsigned))
{
	for (unsigned i = 0; i < n; i++) {
		unsigned x = 4 + i * (WIDTH - 8) / n;

		sb_printf(b, "<rect x=\"%u\" y=\"%u\" width=\"10\" height=\"10\" fill=\"%s\"/>", x,
			y - 9, colors[i]);
		put_label(b, x + 14, y, "start", str_of(name(i)));
	}
}

static const char *name_of_slot(unsigned i)
{
	return slot_name(i);
}

static const char *name_of_bucket(unsigned i)
{
	return bucket_name(i);
}

bool report_svg_lanes(const struct view *v, struct strbuf *out, struct incore_error *e)
{
	const struct columns *c = v->columns;
	unsigned n = c->n_tracks < MAX_LANES ? c->n_tracks : MAX_LANES;
	unsigned height = n * LANE_HEIGHT + 44;

	if (n == 0 || c->end_cyc == 0)
		return true;
	open_svg(out, height, "what each track executed over time, by class");
	for (unsigned i = 0; i < n; i++) {
		track_idx t = (track_idx)((uint64_t)i * c->n_tracks / n);

		put_label(out, LEFT - 6, 10 + i * LANE_HEIGHT, "end",
			str_of(v->trace->tracks[t].name));
		put_lane(v, t, 2 + i * LANE_HEIGHT, out);
	}
	sb_printf(out,
		"<text x=\"%u\" y=\"%u\" fill=\"#222222\">0</text><text x=\"%u\" y=\"%u\" "
		"text-anchor=\"end\" fill=\"#222222\">%llu cycles</text>\n",
		LEFT, height - 26, WIDTH - 4, height - 26, (unsigned long long)c->end_cyc);
	put_legend(out, height - 8, slot_colors, SLOT_COUNT, name_of_slot);
	sb_puts(out, "</svg>\n");
	return !out->failed || err_nomem(e);
}

bool report_svg_buckets(const struct view *v, struct strbuf *out, struct incore_error *e)
{
	uint64_t sums[BUCKET_COUNT] = {0}, all = 0, before = 0;

	for (track_idx t = 0; t < v->columns->n_tracks; t++) {
		uint64_t z[LANE_SUMS];
		struct split_cursor k;
		uint32_t begun;

		view_split_begin(v, TILE_BUCKET, t, &k);
		split_at(&k, UINT64_MAX, z, &begun);
		for (unsigned i = 0; i < BUCKET_COUNT; i++) {
			sums[i] += z[i];
			all += z[i];
		}
	}
	if (all == 0)
		return true;
	open_svg(out, BAR_HEIGHT + 30, "where the cycles went, by bucket");
	for (unsigned i = 0; i < BUCKET_COUNT; i++) {
		unsigned x = (unsigned)(before * WIDTH / all);

		before += sums[i];
		sb_printf(out,
			"<rect x=\"%u\" y=\"2\" width=\"%u\" height=\"%u\" fill=\"%s\">"
			"<title>%s %llu cycles</title></rect>\n",
			x, (unsigned)(before * WIDTH / all) - x, BAR_HEIGHT, bucket_colors[i],
			bucket_name(i), (unsigned long long)sums[i]);
	}
	put_legend(out, BAR_HEIGHT + 22, bucket_colors, BUCKET_COUNT, name_of_bucket);
	sb_puts(out, "</svg>\n");
	return !out->failed || err_nomem(e);
}
