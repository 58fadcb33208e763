// SPDX-License-Identifier: Apache-2.0
// window.ts: puts one capture's window together and keeps it in step with the store and the address.
import { Keys } from '../base/keys';
import { fill, framed, h } from '../base/dom';
import { PANELS } from '../panels/list';
import { baseCapture, Source, SourceError, TraceInfo } from '../source';
import { decodeLink, encodeLink, initialState, Key, State, Store } from '../state';
import { TimelinePane } from '../timeline/pane';
import { Banner } from './banner';
import { bindings } from './commands';
import { askWhere, help, markers } from './dialogs';
import { Dock } from './dock';
import { listenDrop } from './drop';
import { Explorer } from './explorer';
import { savePng, saveSvg } from './export';
import { Inspector } from './inspector';
import { PlaceCommands, Places } from './places';
import { Search } from './search';
import { Session } from './session';
import { splitter } from './splitter';
import { keep, kept, onTheme } from './theme';
import { TitleBar } from './titlebar';

type Keys_ = ReadonlySet<Key | 'theme' | 'size'>;

const live = h('div', { class: 'sr-only', role: 'status', attrs: { 'aria-live': 'polite' } });
let toastTimer = 0;

function say(text: string, isQuiet = false): void {
	live.textContent = text;
	if (isQuiet) return;
	document.querySelector('.toast')?.remove();
	const toast = h('div', { class: 'toast', attrs: { 'aria-hidden': 'true' } }, text);
	document.body.appendChild(toast);
	clearTimeout(toastTimer);
	toastTimer = window.setTimeout(() => toast.remove(), 2200);
}

/** What the link asks for, over what was kept for this capture, over the first view. */
export function startState(trace: TraceInfo, fragment: string, stored: string | null, isReport: boolean): { state: State; told: string } {
	const link = decodeLink(fragment), own = stored ? decodeLink(stored) : {};
	// who is sent a report wants to know first what it says
	const first = !trace.counts.code && trace.has_pipes ? 'details' : trace.counts.code && !isReport ? 'isa' : 'summary';
	const fresh: State = { ...initialState(), panel: first, hash: trace.hash, t0: trace.span.begin, t1: Math.max(trace.span.end, trace.span.begin + 1) };
	const isOther = link.hash !== undefined && link.hash !== '' && link.hash !== trace.hash;
	const keptView: Partial<State> = own.hash === trace.hash ? { ...own, selection: own.selection ?? null } : {};
	const state = { ...fresh, ...(isOther || link.hash === undefined ? keptView : {}), ...(isOther ? { panel: link.panel ?? fresh.panel, unit: link.unit ?? fresh.unit } : link), hash: trace.hash };
	state.t1 = Math.min(Math.max(state.t1, state.t0 + 1), Math.max(trace.span.end, 1));
	if (state.t0 >= state.t1) state.t0 = 0;
	if (!baseCapture(trace, state.base)) state.base = null;
	if (state.selection?.track !== undefined && state.selection.track >= trace.tracks.length) state.selection = null;
	return { state, told: isOther ? 'This link was made for another capture: its view is not restored' : '' };
}

export interface Opened { close(): void; session: Session; pane: TimelinePane | null }

export function openWindow(host: HTMLElement, source: Source, trace: TraceInfo, openCapture: (index: number, base?: string) => void): Opened {
	const { state, told } = startState(trace, location.hash, kept('incore.view.' + trace.hash), source.kind === 'report');
	const store = new Store(state), session = new Session(source, store, trace);
	const wrong = (e: unknown) => {
		if (e instanceof SourceError && e.status !== 0) say('The lanes cannot be drawn: ' + e.message);
	};
	const missing = TimelinePane.missing(session);
	const pane = missing ? null : new TimelinePane(session, wrong, (i) => markers(session, i));
	if (pane) pane.view.settled = () => session.painted();
	setTimeout(() => session.painted(), pane ? 700 : 0);
	const go = (track: number, slice: number) => void pane?.goSlice(track, slice);
	const explorer = new Explorer(session), inspector = new Inspector(session, { goSlice: go }), dock = new Dock(session, PANELS);
	const search = new Search(session, { goSlice: go, marks: (codes, density, question, tracks) => {
		pane?.view.setMatches(codes, question, tracks);
		if (pane) pane.ruler.density = density;
		pane?.ruler.draw();
	} });
	const swap = () => {
		const other = baseCapture(trace, store.get().base) ?? trace.captures.find((c) => c.index !== trace.index);
		if (other) openCapture(other.index, store.get().base ? trace.hash : undefined);
		else say('Only one capture is open');
	};
	const places = new Places(store), placeCommands = new PlaceCommands(session, places);
	const keyTable = bindings({ app: session, pane, dock, search, places: placeCommands, swap });
	const title = new TitleBar(session, search.element, {
		help: () => help(keyTable, dock.panels), goTo: () => askWhere(session), places: () => void placeCommands.choose(), markers: () => markers(session, -1), openCapture,
		png: () => (pane ? savePng(session, pane) : say('There is no timeline to save')), svg: () => (pane ? saveSvg(session, pane) : say('There is no timeline to save')),
	});
	session.shows = {
		openPanel: (id) => store.set({ panel: id, isBottomOpen: true }), showTime: (a, b) => pane?.showTime(a, b), showTrack: (t) => pane?.showTrack(t), say,
	};
	const work = h('main', { class: 'work' + (pane ? '' : ' no-lanes') });
	const parts: { changed(s: Readonly<State>, k: Keys_): void }[] = [title, search, places, explorer, inspector, ...(pane ? [pane] : []), dock];
	const tell = (s: Readonly<State>, keys: Keys_) => {
		work.classList.toggle('no-bottom', !s.isBottomOpen);
		work.classList.toggle('no-side', !s.isSideOpen);
		work.classList.toggle('no-inspector', !s.isInspectorOpen);
		for (const p of parts) p.changed(s, keys);
	};
	const resized = framed(() => tell(store.get(), new Set<Key | 'size'>(['size'])));
	layOut(work, explorer.element, pane?.element ?? missing!, inspector.element, dock.element, resized);
	fill(host, title.element, new Banner(session).element, work, live);
	const stop = store.listen((s, keys) => {
		tell(s, keys);
		remember(trace, s);
	});
	onTheme(() => document.contains(work) && tell(store.get(), new Set<Key | 'theme'>([...(Object.keys(store.get()) as Key[]), 'theme'])));
	const keys = new Keys(keyTable), listener = (e: KeyboardEvent) => keys.handle(e);
	document.addEventListener('keydown', listener);
	tell(store.get(), new Set([...(Object.keys(store.get()) as Key[]), 'theme', 'size']));
	store.settle();
	if (told) say(told);
	restore(session, pane, state);
	const stopDrop = listenDrop(session);
	return { session, pane, close: () => {
		stop();
		stopDrop();
		document.removeEventListener('keydown', listener);
		pane?.close();
		dock.close();
	} };
}

/** A link names a slice by number: fill in the rest. Without any selection the heaviest row is brought into sight by its panel. */
function restore(session: Session, pane: TimelinePane | null, s: State): void {
	void session.code().catch(() => undefined).then(() => {
		if (s.selection?.kind === 'slice' && s.selection.slice !== undefined) void pane?.goSlice(s.selection.track!, s.selection.slice, false);
		else if (s.selection?.kind === 'code') session.select({ ...s.selection });
	});
}

let rememberTimer = 0;
function remember(trace: TraceInfo, s: Readonly<State>): void {
	clearTimeout(rememberTimer);
	rememberTimer = window.setTimeout(() => {
		const link = encodeLink(s);
		keep('incore.view.' + trace.hash, link);
		try {
			history.replaceState(null, '', '#' + link);
		} catch { /* some viewers of files forbid it */ }
	}, 250);
}

function layOut(work: HTMLElement, explorer: HTMLElement, timeline: HTMLElement, inspector: HTMLElement, dock: HTMLElement, moved: () => void): void {
	work.append(explorer, splitter(work, { name: 'side', label: 'Width of the explorer', property: '--side', isVertical: true, sign: 1, least: 120, most: () => innerWidth * 0.4, fallback: 220, moved }),
		timeline, splitter(work, { name: 'inspector', label: 'Width of the inspector', property: '--inspector', isVertical: true, sign: -1, least: 180, most: () => innerWidth * 0.5, fallback: innerWidth > 2200 ? 420 : 300, moved }), inspector,
		splitter(work, { name: 'bottom', label: 'Height of the panels', property: '--bottom', isVertical: false, sign: -1, least: 120, most: () => innerHeight - 260, fallback: Math.round(innerHeight * 0.42), moved }), dock);
}
