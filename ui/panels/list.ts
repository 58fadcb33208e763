// SPDX-License-Identifier: Apache-2.0
// list.ts: the panels of the bottom row, in the order of their tabs and of the keys 1 to 9. The only list.
import { Panel } from '../app';
import { panel as box } from './box/view';
import { panel as compare } from './compare/view';
import { panel as counters } from './counters/view';
import { panel as details } from './details/view';
import { panel as dispatches } from './dispatches/view';
import { panel as flame } from './flame/view';
import { panel as hotspots } from './hotspots/view';
import { panel as isa } from './isa/view';
import { panel as occupancy } from './occupancy/view';
import { panel as source } from './source/view';
import { panel as states } from './states/view';
import { panel as summary } from './summary/view';
import { panel as utilization } from './utilization/view';
import { panel as verdict } from './verdict/view';
import { panel as waits } from './waits/view';
import { panel as waves } from './waves/view';

export const PANELS: readonly Panel[] = [verdict, isa, source, hotspots, waits, waves, counters, occupancy, dispatches, summary, flame, compare, states, utilization, box, details];
