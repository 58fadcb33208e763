/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colors.h: the colours of classes and buckets: those of the viewer, and those that a user put in
 * their place. The page has its own for the dark themes; pictures of a report are light.
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
	char own[THEME_COUNT][COLOR_COUNT][8]; /* "#rrggbb", or "": the viewer's */
};

const char *theme_name(enum theme t); /* "light", ... */
const char *color_name(unsigned i);   /* "scalar", ..., "drain" */
bool theme_of(struct str name, enum theme *out);
bool color_of_name(struct str name, unsigned *out);
/* False: text is not of the form #rrggbb. */
bool colors_set(struct colors *c, enum theme t, unsigned i, struct str text);
/* What a light picture is painted with; c may be NULL. */
const char *colors_light(const struct colors *c, unsigned i);
/* "colors": {theme: {name: "#rrggbb"}}, where the user has any; c may be NULL. */
void colors_json(const struct colors *c, struct json_writer *w);
