/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h: log messages of the library. debug: for developers; info: progress of long work;
 * warn: the user should act. An error is returned, not logged. Never log in a loop over slices. The
 * program installs the sink once at start.
 */
#pragma once

#include "base/error.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN };

typedef void (*log_sink)(enum log_level level, const char *module, const char *text);

void log_set_sink(log_sink sink, enum log_level least);
void log_msg(enum log_level level, const char *module, const char *fmt, ...) PRINTF_LIKE(3, 4);

#define log_debug(module, ...) log_msg(LOG_DEBUG, module, __VA_ARGS__)
#define log_info(module, ...) log_msg(LOG_INFO, module, __VA_ARGS__)
#define log_warn(module, ...) log_msg(LOG_WARN, module, __VA_ARGS__)
