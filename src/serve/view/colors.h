/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colors.h: the colours of classes and buckets: the viewer's defaults and those set by the user.
 * The page has its own defaults for dark themes; charts of a report are light.
 * Pure functions; a struct colors is plain data, zeroed at first.
 */
#pragma once

#include "base/str.h"
#include "codec/json_writer.h"
#include "trace/class.h"

enum theme { THEME_LIGHT, THEME_DARK, THEME_CONTRAST, THEME_COUNT };
#define COLOR_COUNT ((unsigned)SLOT_COUNT + (unsigned)BUCKET_COUNT) /* slots, then buckets */
#define COLOR_OF_BUCKET(b) ((unsigned)SLOT_COUNT + (unsigned)(b))

struct colors {
	char own[THEME_COUNT][COLOR_COUNT][8]; /* "#rrggbb", or "": the viewer's default */
};

bool theme_of(struct str name, enum theme *out);
bool color_of_name(struct str name, unsigned *out);
/* False: text is not of the form #rrggbb. */
bool colors_set(struct colors *c, enum theme t, unsigned i, struct str text);
/* Colour in a light chart; c may be NULL. */
const char *colors_light(const struct colors *c, unsigned i);
/* Writes "colors": {theme: {name: "#rrggbb"}} with the user's colours; c may be NULL. */
void colors_json(const struct colors *c, struct json_writer *w);
