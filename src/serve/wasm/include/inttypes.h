/* SPDX-License-Identifier: Apache-2.0 */
/* inttypes.h: how 64 bits are printed. */
#ifndef WASM_INTTYPES_H
#define WASM_INTTYPES_H

#include <stdint.h>

#define PRIu64 "llu"
#define PRId64 "lld"
#define PRIx64 "llx"

#endif
