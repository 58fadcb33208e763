/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_kind.h: the kind of an AMD instruction below its class: "read 16 B" of an LDS access,
 * "load 4 B", "MFMA". Instructions of one kind cost alike, so costs are listed by it. Pure.
 */
#pragma once

#include "base/str.h"
#include "trace/class.h"

/* Appends class and kind: "VMEM-load 16 B", "LDS read 8 B", "MFMA", "VALU". False on lack of
 * memory (through the strbuf). */
bool amd_kind_put(struct strbuf *out, enum inst_class c, struct str text);
/* Bytes that one lane moves, from the mnemonic: 16 for global_load_dwordx4; 0: not said. */
unsigned amd_access_bytes(struct str mnemonic);
