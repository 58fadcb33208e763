/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h: arguments in words: what a user says to change them, and what is said about them.
 * Owner: the caller. May fail: where `e` is taken, with status 2 for a word that fits no slot.
 */
#pragma once

#include "args/args.h"

/* "SLOT=VALUE": a scalar in its recorded type (a number, 0x bits, true, inf, nan), or every element
 * of a tensor. */
bool args_set(struct args *a, const char *word, struct incore_error *e);
/* Checks that the slot holds bytes of the dump: an error for scalars, outputs, missing payload, set
 * slots. */
bool args_need_restored(const struct args *a, uint32_t slot, struct incore_error *e);
/* The slot of a number, of a name, or of a name of the .pto with or without its '%'; ARG_NONE:
 * none. */
uint32_t args_find(const struct args *a, struct str name);
/* "v2 (0 everywhere), v4 (256)": the slots with this kind of control value; nothing if none has. */
void args_control(const struct args *a, enum arg_control kind, struct strbuf *out);
/* Where the contents of a slot come from: "dump", "zeros", "not supplied", "set", "arg-spec",
 * "recipe", "made up". */
const char *args_origin(const struct args *a, const struct arg *s);
/* One line for people: every scalar with its bits in the first block and every supplied tensor,
 * each with its source, then the number of tensors that have no values. */
void args_workload(const struct args *a, struct strbuf *out);
/* Checks that every slot that the code of `source` reads (one bit each) is supplied. */
bool args_cover(const struct args *a, uint64_t read, const char *source, struct incore_error *e);
