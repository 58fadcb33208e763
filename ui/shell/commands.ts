// SPDX-License-Identifier: Apache-2.0
// commands.ts: what the keys do. The help dialog is made of this list, and the tests compare it with tests/ui/checklist.json.
import { App } from '../app';
import { UNITS } from '../base/format';
import { KeyBinding } from '../base/keys';
import { askJson, SliceInfo } from '../source';
import { ARROWS, MODES } from '../state';
import { hideLane, pinByName, pinLane } from '../timeline/labels';
import { TimelinePane } from '../timeline/pane';
import { Dock } from './dock';
import { PlaceCommands } from './places';
import { askWhere, help } from './dialogs';
import { chooseRange, narrow } from '../range';
import { Search } from './search';
import { rangeTable } from './slices';

export interface Parts { app: App; pane: TimelinePane | null; dock: Dock; search: Search; places: PlaceCommands; swap(): void }

function next<T>(all: readonly T[], now: T): T {
	return all[(all.indexOf(now) + 1) % all.length];
}

/** The lane that P and H mean: the selection's, else the one under the pointer. */
function laneOf(p: Parts): number | null {
	const view = p.pane?.view, track = p.app.store.get().selection?.track;
	if (!view) return null;
	const cursor = p.pane!.overlay.cursor, under = cursor ? view.rowUnder(cursor.y)?.lane : null;
	const lane = p.app.store.get().kind === 'units' && under ? under : track !== undefined ? view.lanes.find((l) => l.tracks.includes(track)) : under;
	if (!lane) p.app.say('Select a lane first');
	return lane ? lane.id : null;
}

let walking: Promise<void> = Promise.resolve();

/** One after the other, where keys come faster than answers: each begins where the one before ended. */
function execution(p: Parts, by: 'previous' | 'next'): void {
	walking = walking.then(() => walk(p, by)).catch((e: Error) => p.app.say(e.message));
}

async function walk(p: Parts, by: 'previous' | 'next'): Promise<void> {
	const s = p.app.store.get().selection;
	if (s?.kind !== 'slice') return p.app.say('Select a slice first');
	const c = p.app.trace.index || undefined, still = p.app.store.choose();
	const info = await askJson<SliceInfo>(p.app.source, 'at', { c, track: s.track, slice: s.slice });
	if (!still()) return;
	if (info[by] === null) return p.app.say(by === 'next' ? 'This was the last execution on this lane' : 'This was the first execution on this lane');
	await p.pane?.goSlice(s.track!, info[by]!);
}

function marker(p: Parts): void {
	const { store } = p.app, s = store.get(), sel = s.selection;
	const isRange = sel && (sel.kind === 'box' || sel.kind === 'range') && sel.t0 !== undefined;
	const t = isRange ? sel.t0! : p.pane?.input.pointerT ?? sel?.t0 ?? (s.t0 + s.t1) / 2;
	const n = s.markers.length;
	store.set({ markers: [...s.markers, { t: Math.max(0, Math.round(t)), dur: isRange ? Math.round(sel.t1! - sel.t0!) : 0, name: `marker ${n + 1}`, colour: n % 12 }] });
	p.app.say(`Marker ${n + 1} set`);
}

function range(p: Parts): void {
	const sel = p.app.store.get().selection;
	if (sel?.t0 === undefined || sel.t1 === undefined) return p.app.say('Select a slice first');
	chooseRange(p.app, { kind: 'range', t0: sel.t0, t1: sel.t1 });
}

function nextUnit(p: Parts): void {
	const { store, trace } = p.app, usable = UNITS.filter((u) => u !== 'us' || trace.clock.mhz);
	store.set({ unit: next(usable, store.get().unit) });
	if (!trace.clock.mhz) p.app.say('Microseconds are off: the clock of this capture is not known');
}

function scrollLanes(p: Parts, by: number): void {
	if (p.pane) p.pane.view.scroller.scrollTop += by * 60;
}

function compare(p: Parts): void {
	const { store, trace } = p.app, other = trace.captures.find((c) => c.index !== trace.index);
	if (!other) return p.app.say('Only one capture is open: incore view A B opens two');
	store.set({ base: store.get().base ? null : other.hash });
	p.app.say(store.get().base ? `Compared with ${other.path}` : 'Comparison off');
}

export function bindings(p: Parts): KeyBinding[] {
	const { app, pane } = p, { store } = app;
	const to = (id: string, keys: string[], does: string, group: string, run: () => void): KeyBinding => ({ id, keys, does, group, run });
	const list: KeyBinding[] = [
		to('zoom-in', ['W', '+', '='], 'zoom in at the pointer', 'View', () => pane?.input.zoom(1 / 1.6)),
		to('zoom-out', ['S', '-'], 'zoom out', 'View', () => pane?.input.zoom(1.6)),
		to('pan-left', ['A', 'ArrowLeft'], 'pan left', 'View', () => pane?.input.pan(-0.2)),
		to('pan-right', ['D', 'ArrowRight'], 'pan right', 'View', () => pane?.input.pan(0.2)),
		to('lanes-up', ['ArrowUp'], 'lanes up', 'View', () => scrollLanes(p, -1)),
		to('lanes-down', ['ArrowDown'], 'lanes down', 'View', () => scrollLanes(p, 1)),
		to('fit-selection', ['F'], 'fit the selection', 'View', () => pane?.fitSelection()),
		to('fit-all', ['0'], 'fit the whole trace', 'View', () => pane?.fitAll()),
		to('back', ['Backspace'], 'view back', 'View', () => store.undo() || app.say('No earlier view')),
		to('forward', ['Shift+Backspace'], 'view forward', 'View', () => store.redo() || app.say('No later view')),
		to('slice-previous', ['['], 'previous slice of the lane', 'Selection', () => pane?.step(-1)),
		to('slice-next', [']'], 'next slice of the lane', 'Selection', () => pane?.step(1)),
		to('execution-previous', [','], 'previous execution of this row', 'Selection', () => execution(p, 'previous')),
		to('execution-next', ['.'], 'next execution of this row', 'Selection', () => execution(p, 'next')),
		to('to-isa', ['Enter'], 'to the ISA row', 'Selection', () => app.openPanel('isa')),
		to('to-source', ['Shift+Enter'], 'to the source line', 'Selection', () => app.openPanel('source')),
		to('range', ['M'], "narrow all figures to the slice's time range", 'Selection', () => range(p)),
		to('clear', ['Escape'], 'clear the selection, then the range', 'Selection', () => {
			if (pane) pane.overlay.measure = null;
			if (store.get().selection) app.select(null);
			else narrow(app, null);
			pane?.overlay.draw();
		}),
		to('search', ['/', 'Ctrl+F'], 'search', 'Find', () => p.search.focus()),
		to('match-next', ['N'], 'next match', 'Find', () => p.search.step(1)),
		to('match-previous', ['Shift+N'], 'previous match', 'Find', () => p.search.step(-1)),
		to('go-to', ['G'], 'go to a cycle, range, address, line or lane', 'Find', () => askWhere(app)),
		to('place-back', ['Alt+ArrowLeft'], 'to the place before: row, lane or time', 'Find', () => p.places.step(-1)),
		to('place-forward', ['Alt+ArrowRight'], 'to the place after', 'Find', () => p.places.step(1)),
		to('places', ['V'], 'list of visited places', 'Find', () => void p.places.choose()),
		to('marker', ['K'], 'set a marker at the pointer or over the range', 'Lanes', () => marker(p)),
		to('pin', ['P'], 'pin or unpin the lane', 'Lanes', () => withLane(p, (id) => pinLane(pane!.view, id))),
		to('pin-name', ['Shift+P'], 'pin all lanes of this name', 'Lanes', () => withLane(p, (id) => pinByName(pane!.view, id))),
		to('hide', ['H'], 'hide the lane', 'Lanes', () => withLane(p, (id) => hideLane(pane!.view, id))),
		to('show-all', ['Shift+H'], 'show all lanes', 'Lanes', () => store.set({ hidden: [] })),
		to('arrows', ['L'], 'arrow mode: none, selection, visible', 'Lanes', () => {
			store.set({ arrows: next(ARROWS, store.get().arrows) });
			app.say('Arrows: ' + store.get().arrows);
		}),
		to('colour', ['C'], 'next colour mode', 'Looks', () => {
			store.set({ mode: next(MODES.filter((m) => m !== 'diff' || store.get().base), store.get().mode) });
			app.say('Colours by ' + store.get().mode);
		}),
		to('unit', ['U'], 'next unit: cycles, µs, %', 'Looks', () => nextUnit(p)),
		to('compare', ['X'], 'compare on or off', 'Looks', () => compare(p)),
		to('compare-swap', ['Shift+X'], 'swap the two captures', 'Looks', () => p.swap()),
		to('table', ['T'], 'visible range as a table', 'Panels', () => void (pane && rangeTable(app, pane.view, (t, s) => void pane.goSlice(t, s)))),
		to('bottom', ['B'], 'bottom panel on or off', 'Panels', () => store.set({ isBottomOpen: !store.get().isBottomOpen })),
		to('beside', ['Y'], 'two panels side by side, or one', 'Panels', () => p.dock.toggleBeside()),
		to('help', ['?'], 'this help', 'Panels', () => help(list, p.dock.panels)),
	];
	p.dock.panels.slice(0, 9).forEach((panel, i) => list.push(to('panel-' + (i + 1), [String(i + 1)], panel.title, 'Panels', () => app.openPanel(panel.id))));
	return list;
}

function withLane(p: Parts, f: (id: number) => void): void {
	const id = laneOf(p);
	if (id !== null) f(id);
}
