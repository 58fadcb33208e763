/* SPDX-License-Identifier: Apache-2.0 */
/* inttypes.h: how 64 bits are printed. */
#ifndef SERVE_WASM_INCLUDE_INTTYPES_H
#define SERVE_WASM_INCLUDE_INTTYPES_H

#include <stdint.h>

#define PRIu64 "llu"
#define PRId64 "lld"
#define PRIx64 "llx"

#endif
