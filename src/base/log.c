/* SPDX-License-Identifier: Apache-2.0 */
/* log.c: passes messages to the sink of the program; without one they are dropped. */
#include "base/log.h"

#include <stdatomic.h>
#include <stdio.h>

/* The only setting of the library that is not an argument: the program sets it before any work. */
static _Atomic(log_sink) current_sink;
static atomic_int least_level;

void log_set_sink(log_sink sink, enum log_level least)
{
	atomic_store(&least_level, (int)least);
	atomic_store(&current_sink, sink);
}

void log_msg(enum log_level level, const char *module, const char *fmt, ...)
{
	log_sink sink = atomic_load(&current_sink);
	char text[1024];
	va_list ap;

	if (!sink || (int)level < atomic_load(&least_level))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sink(level, module, text);
}
