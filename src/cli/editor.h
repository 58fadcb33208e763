/* SPDX-License-Identifier: Apache-2.0 */
/*
 * editor.h: reads lines that a person types, with history and completion if libedit is available.
 * One at a time.
 */
#pragma once

#include "verbs/terminal.h"

extern const struct line_editor typed_lines;
