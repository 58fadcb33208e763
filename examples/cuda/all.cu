/* SPDX-License-Identifier: Apache-2.0 */
#define RUN_MAIN
#include "run.h"
