/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.c: uses __cxa_demangle of the C++ runtime. Its recursion and its output grow with the
 * input, so long or deeply nested names are not demangled.
 */
#include "codec/demangle.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NAME 2048
#define MAX_DEPTH 256
#define MAX_TEXT (1u << 16)

char *__cxa_demangle(const char *name, char *buffer, size_t *n, int *status);

/* Number of letters that open a construct: an upper bound of the nesting depth. */
static size_t depth_of(const char *name)
{
	size_t depth = 0;

	for (; *name; name++)
		depth += strchr("INXJPRKLFMADTG", *name) != NULL;
	return depth;
}

const char *demangle(const char *name, struct arena *a)
{
	size_t n = strlen(name);
	int status = 0;
	char *text;
	const char *out;

	if (strncmp(name, "_Z", 2) != 0 || n > MAX_NAME || depth_of(name) > MAX_DEPTH)
		return "";
	text = __cxa_demangle(name, NULL, NULL, &status);
	if (!text)
		return "";
	n = strlen(text);
	out = n > MAX_TEXT ? "" : arena_strndup(a, text, n);
	free(text);
	return out;
}
