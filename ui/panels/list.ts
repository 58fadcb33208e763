// SPDX-License-Identifier: Apache-2.0
// list.ts: the panels of the bottom row, in the order of their tabs and of the keys 1 to 9. The only list.
import { Panel } from '../app';

export const PANELS: readonly Panel[] = [];
