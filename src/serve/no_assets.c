/* SPDX-License-Identifier: Apache-2.0 */
/* no_assets.c: a server of data alone. */
#include "serve/assets.h"

const struct asset serve_assets[] = {{"/", "text/plain", "0", (const unsigned char *)"incore", 6}};
const size_t serve_n_assets = 1;
