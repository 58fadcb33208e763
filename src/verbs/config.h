/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h: the user's settings: $XDG_CONFIG_HOME/incore/config, else ~/.config/incore/config.
 * Lines "key = value"; "#" begins a comment line. Without a file nothing is set. Errors name file,
 * line and column; a struct config is plain data.
 */
#pragma once

#include "serve/view/colors.h"

struct config {
	struct colors colors; /* color.THEME.NAME = #rrggbb */
};

bool config_read(struct config *out, struct incore_error *e);
