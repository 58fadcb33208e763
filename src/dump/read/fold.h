/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h: records to tasks, slots and copies. Used by open.c alone. */
#pragma once

#include "dump/read/model.h"

/* Fills d->order, d->tasks, d->slots; once, after all records and companions are there. */
bool dump_fold(struct dump *d, struct incore_error *e);
