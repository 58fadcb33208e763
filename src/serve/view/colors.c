/* SPDX-License-Identifier: Apache-2.0 */
/* colors.c: colours of classes and buckets. */
#include "serve/view/colors.h"

static const char *const light[SLOT_COUNT + BUCKET_COUNT] = {"#968f22", "#8e6547", "#6c995e",
	"#027f6f", "#4375d4", "#1299c6", "#954a06", "#916f97", "#615898", "#c24871", "#6b5b53",
	"#918c92", "#348dff", "#ae2d45", "#b88504", "#908d8f", "#5a5a85"};

static const char *theme_name(enum theme t)
{
	static const char *const names[THEME_COUNT] = {"light", "dark", "contrast"};

	return names[t];
}

static const char *color_name(unsigned i)
{
	return i < SLOT_COUNT ? slot_name(i) : bucket_name(i - SLOT_COUNT);
}

bool theme_of(struct str name, enum theme *out)
{
	for (*out = 0; *out < THEME_COUNT; ++*out)
		if (str_is(name, theme_name(*out)))
			return true;
	return false;
}

bool color_of_name(struct str name, unsigned *out)
{
	for (*out = 0; *out < COLOR_COUNT; ++*out)
		if (str_is(name, color_name(*out)))
			return true;
	return false;
}

bool colors_set(struct colors *c, enum theme t, unsigned i, struct str text)
{
	if (text.n != 7 || text.p[0] != '#')
		return false;
	for (unsigned k = 1; k < 7; k++)
		if (!((text.p[k] >= '0' && text.p[k] <= '9') ||
			    (text.p[k] >= 'a' && text.p[k] <= 'f') ||
			    (text.p[k] >= 'A' && text.p[k] <= 'F')))
			return false;
	memcpy(c->own[t][i], text.p, 7);
	c->own[t][i][7] = 0;
	return true;
}

const char *colors_light(const struct colors *c, unsigned i)
{
	return c && c->own[THEME_LIGHT][i][0] ? c->own[THEME_LIGHT][i] : light[i];
}

void colors_json(const struct colors *c, struct json_writer *w)
{
	static const struct colors none;

	if (!c || memcmp(c, &none, sizeof(none)) == 0)
		return;
	json_w_kv_object(w, "colors");
	for (unsigned t = 0; t < THEME_COUNT; t++) {
		json_w_kv_row_object(w, theme_name(t));
		for (unsigned i = 0; i < COLOR_COUNT; i++)
			if (c->own[t][i][0])
				json_w_kv_cstr(w, color_name(i), c->own[t][i]);
		json_w_end(w);
	}
	json_w_end(w);
}
