/* SPDX-License-Identifier: Apache-2.0 */
/* option.c: checks and stores values of options. */
#include "answer/option.h"

#include <stdio.h>
#include <string.h>

#include "base/vec.h"

struct str option_choice(const struct option_def *d, unsigned i)
{
	struct str rest = str_of(d->choices), word;

	while (str_cut(&rest, "|", &word))
		if (i-- == 0)
			return word;
	return (struct str){0};
}

const char *option_purpose(const struct option_def *d, char buf[OPTION_TEXT_SIZE])
{
	if (d->help)
		return d->help;
	snprintf(buf, OPTION_TEXT_SIZE, "the same as --%s", d->alias_of);
	return buf;
}

static unsigned choice_of(const struct option_def *d, const char *value)
{
	struct str rest = str_of(d->choices), word;

	for (unsigned i = 0; str_cut(&rest, "|", &word); i++)
		if (str_is(word, value))
			return i;
	return NO_CHOICE;
}

bool option_check(const struct option_def *d, const char *value, struct incore_error *e)
{
	uint64_t number;

	if (d->type == OPTION_COUNT && !str_to_u64(str_of(value), &number))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--%s expects a whole number, not '%s'", d->name, value);
	if (d->type == OPTION_CHOICE && choice_of(d, value) == NO_CHOICE)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--%s expects one of %s, not '%s'", d->name, d->choices, value);
	if (d->type == OPTION_TOP && strcmp(value, "all") != 0 &&
		!str_to_u64(str_of(value), &number))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--%s expects a whole number or 'all', not '%s'", d->name, value);
	return true;
}

bool option_store(const struct option_def *d, const char *value, void *fields)
{
	char *field = (char *)fields + d->offset;
	uint64_t number = NO_COUNT;

	if (!d->is_stored)
		return true;
	switch (d->type) {
	case OPTION_FLAG:
		*(bool *)field = value != NULL;
		break;
	case OPTION_TEXT:
		*(const char **)field = value;
		break;
	case OPTION_TOP:
	case OPTION_COUNT:
		if (d->type == OPTION_TOP && value && strcmp(value, "all") == 0)
			number = TOP_ALL;
		else if (value && !str_to_u64(str_of(value), &number))
			number = NO_COUNT;
		*(uint64_t *)field = number;
		break;
	case OPTION_CHOICE:
		*(unsigned *)field = value ? choice_of(d, value) : NO_CHOICE;
		break;
	case OPTION_MANY:
		return !value || VEC_PUSH((struct text_list *)field, value);
	}
	return true;
}

void options_reset(const struct option_def *table, void *fields)
{
	for (; table && table->name; table++)
		option_store(table, table->type == OPTION_TOP ? NULL : table->fallback, fields);
}

void options_deinit(const struct option_def *table, void *fields)
{
	for (; table && table->name; table++)
		if (table->type == OPTION_MANY && table->is_stored)
			VEC_FREE((struct text_list *)((char *)fields + table->offset));
}

const struct option_def *option_find(const struct option_def *table, const char *name)
{
	for (; table && table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}
