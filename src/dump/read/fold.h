/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h: groups records into tasks, slots and copies. Only open.c uses it. */
#pragma once

#include "dump/read/model.h"

/* Fills d->order, d->tasks, d->slots; called once, after all records and companion files were
 * read. */
bool dump_fold(struct dump *d, struct incore_error *e);
