/* SPDX-License-Identifier: Apache-2.0 */
/* ui_extra.h: the parts of a ui_output directory that are not code or waves, and helpers that both
 * writers share. */
#ifndef EXAMPLES_UI_EXTRA_H
#define EXAMPLES_UI_EXTRA_H

#include <stdio.h>

#include "codec/json_writer.h"
#include "ui_write.h"

/* Time of the common clock as shader engine se reads it. */
uint64_t ui_time(const struct ui_capture *c, unsigned se, uint64_t t);
FILE *ui_create(const char *dir, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool ui_finish(struct json_writer *w, FILE *f);
/* [a, b, ...], each an int64_t. */
void ui_ints(struct json_writer *w, unsigned n, ...);

void ui_put_counter_names(struct json_writer *w, const struct ui_capture *c);
void ui_put_extra_names(struct json_writer *w, const struct ui_capture *c);
bool ui_write_occupancy(const struct ui_capture *c, const char *dir);
bool ui_write_extra(const struct ui_capture *c, const char *dir);
bool ui_write_side_files(const struct ui_capture *c, const char *dir);

#endif
