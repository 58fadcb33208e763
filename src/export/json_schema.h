/* SPDX-License-Identifier: Apache-2.0 */
/* json_schema.h: the JSON Schema of a whole trace as JSON. */
#pragma once

#include "codec/json_writer.h"

/* Writes the schema of incore.trace/1. */
void export_json_schema(struct json_writer *w);
