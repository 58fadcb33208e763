/* SPDX-License-Identifier: Apache-2.0 */
/* assets.h: the files of the viewer, from ui/. */
#pragma once

#include "base/asset.h"

extern const struct asset serve_assets[];
extern const size_t serve_n_assets;
